"""What constant clipping does to a run, why it happens, and what to do about it."""

import numpy as np

from runlens import fixes
from runlens.diagnosis import Confidence, Fix
from runlens.history import Curve
from runlens.knowledge.in_force import scale_matters
from runlens.rules.rule import LANGUAGE_TASKS
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.trend import mann_kendall, theil_sen
from runlens.usual_rates import limit_at_fault
from runlens.wording import number, percent, times

TREND_P = 0.01
CONSTANT = 0.995  # share of clipped steps that is written as all of them
MEAN_LOSS = 12.5  # ln of 262,144, the largest vocabulary in use: a mean over tokens starts below
MUCH_LONGER = "steps of SGD grow with the limit"
LARGE = 100.0  # norm over limit that no learning rate explains: a sum, or a loss scale


def confidence(norms: int, *, known: bool) -> Confidence:
    """Return how sure constant clipping is: by the norms, less where the limit is a default."""
    told = "max_grad_norm is configured" if known else "max_grad_norm is the framework's default"
    points = min(1.0, 0.6 + norms / 250)
    return Confidence(round(points * (1.0 if known else 0.7), 2), f"{told}, {norms:,} norms")


def headline(run: Run, judged: Curve, share: float, median: float, limit: float, since: str) -> str:
    """Say at how many of the steps gradients were clipped; a norm that is NaN was not.

    Where the limit is a default that nobody recorded, say what is known: where the norm lay.
    """
    logged = run.curve("grad_norm").after(int(judged.step[0])).value
    every = "every step" if np.isfinite(logged).all() else "every step with a finite norm"
    often = f"{percent(share)} of the logged steps" if share < 1 else every
    if run.number("max_grad_norm") is not None:
        at, told = f"Gradients were clipped at {often}{since}.", f"max_grad_norm is {number(limit)}"
        return f"{at} The median gradient norm was {number(median)}, and {told}."
    above = f"The gradient norm was above {number(limit)}, at which clipping begins by default,"
    its = f"Its median was {number(median)}, and max_grad_norm is not recorded"
    return f"{above} at {often}{since}. {its}."


def heading(share: float) -> str:
    """Return what it is called where the title of the rule would say too much."""
    return "" if share >= CONSTANT else "Frequent gradient clipping"


def grow(norms: Curve, growth: float) -> bool:
    """Whether gradient norms grew by a factor over their curve, by their trend."""
    log = np.log(np.maximum(norms.value, 1e-12))
    change = theil_sen(norms.step, log) * float(norms.step[-1] - norms.step[0])
    return bool(change >= np.log(growth) and mann_kendall(log)[1] < TREND_P)


def meanwhile(*, learns: bool, fell: bool) -> str:
    """Say what the loss did; `fell`: by more than its noise, `learns`: below its start too."""
    if learns:
        return "fell"
    return "did not fall below its start" if fell else "did not clearly fall"


def seen(run: Run, *, learns: bool, fell: bool, loud: bool) -> str:
    """Say what being clipped all the time does to this run."""
    if learns and (loud or scale_matters(run)):
        if scale_matters(run):
            return "The loss still fell."
        told = "Adam rescales its gradients, so clipping has done little harm"
        return f"The loss still fell. {told}."
    if learns:
        return "With Adam, clipping alone does little harm."
    told = meanwhile(learns=learns, fell=fell)
    return f"While gradients were clipped, the loss {told}."


def is_mean(run: Run, signals: Signals) -> bool:
    """Whether a cross-entropy is low enough for a mean: to average it would change nothing."""
    entropy = run.task in LANGUAGE_TASKS | {"classification"}
    return entropy and signals.levels("train_loss").start <= MEAN_LOSS


def cures(
    run: Run, signals: Signals, limit: float, ratio: float, *, fell: bool, loud: bool
) -> tuple[Fix, ...]:
    """Return what to change: nothing that shortens the steps of a run whose loss falls.

    `limit` is max_grad_norm in force, `ratio` the median norm over it, `fell` whether the loss
    ended below its start, `loud` whether the norms alone are a warning.
    """
    if fell and not loud:
        if ratio >= LARGE:
            over = "tokens" if run.task in LANGUAGE_TASKS else "samples"
            what = "Unscale the gradient before clipping"
            if scale_matters(run) and not is_mean(run, signals):
                what += f", and average the loss over {over}"
            return (fixes.action(what, f"the norm is {times(ratio)} the limit"),)
        return ()
    wide = fixes.wider_clipping(run, signals)
    peak = signals.peak_learning_rate
    if wide and (loud or not fell) and limit_at_fault(run, peak, limit, limit * ratio):
        longer = "Compare the first 50 steps with the old ones"
        return (*wide, *((fixes.look(longer, MUCH_LONGER),) if scale_matters(run) else ()))
    if fell and scale_matters(run):
        scale = (
            "Average the loss instead of summing it, and scale targets and inputs to unit variance"
        )
        why = f"the norm is {times(ratio)} the limit"
        if is_mean(run, signals):
            larger = "Raise max_grad_norm, and divide the learning rate by the same factor"
            return (fixes.action(larger, why),)
        both = "If you raise max_grad_norm, divide the learning rate by the same factor"
        kept = "otherwise each update grows by that factor"
        return (fixes.action(scale, why), fixes.action(both, kept))
    if fell:
        return wide
    lower = fixes.learning_rate(run, signals, 1 / 2, "shorter steps need less clipping")
    return (*wide, *lower) if limit <= fixes.TIGHTER_CLIP else lower
