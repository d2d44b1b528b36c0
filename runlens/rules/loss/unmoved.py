"""Second signs that no weight moved: gradient, rate, evaluations, or losses that come again."""

from math import log

import numpy as np

from runlens import fixes
from runlens.diagnosis import Evidence, Fix
from runlens.history import Curve, FloatArray
from runlens.records import NamedTuple
from runlens.rules.loss import beside_loss, surroundings
from runlens.rules.loss.falls import ONE_SIDED, Fall, only_noise, part_of_run
from runlens.rules.rule import Case, drawn
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.shape import RARE, Recurrence, kendall, recurrence
from runlens.signals.trend import mann_kendall
from runlens.usual_rates import least, usual_rates
from runlens.wording import loss, number, percent

MEAN_ALONE = 0.02  # of the variance explained: R² is 0 by definition where the mean is the answer
GUESS = 1.25  # times exp(-loss): few held-out samples scatter by as much
GUESSED = 0.6  # accuracies above are no guesses, whatever the loss
CONSTANT = 0.97  # of the loss of one answer for all: what is learned from the inputs lies below
PLAIN = 0.75  # an accuracy from which its entropy says little: a little noise in it moves it much
FEW = 2  # evaluations that one answer for all is told from: no trend is needed
REST = 4  # of the points the first quarter is the start, and what follows tells whether it falls on
PERCENT = 2.0  # accuracies above this are written in percent


class Signs(NamedTuple):
    """The limits of the rule that its second signs need; explained on its page."""

    fewest: int
    poor: float
    active: float
    low_factor: float
    undecided: float
    trend_p: float


def sign(run: Run, signals: Signals, train: Curve, limits: Signs) -> bool:
    """Whether a second sign says so: losses, gradient, rate, evaluation or accuracy."""
    norms, rate = signals.curve("grad_norm").value, signals.curve("learning_rate").value
    explained = signals.curve("eval_r2").value
    return bool(
        held_out.same(signals)
        or again(signals, train)
        or guess(run, signals, limits.fewest, limits.poor)
        or (len(explained) >= limits.fewest and float(np.abs(explained).max()) <= MEAN_ALONE)
        or (len(norms) and float(np.mean(norms == 0)) > limits.active)
        or (len(rate) and float(np.mean(rate > 0)) < 1 - limits.active)
        or surroundings.too_low(run, signals, limits.low_factor)
    )


def no_denoiser(run: Run, signals: Signals, limits: Signs) -> str:
    """Say why no level of a GAN, a VAE or a denoiser is judged; empty where nothing moved.

    One that is fine-tuned stands at its noise from the first step on, in health; and adversaries
    stand as long as they are as strong. So a sign beside the loss must say that no weight moved.
    """
    if run.task != "gan-diffusion":
        return ""
    if reason := surroundings.no_level(run, signals):
        return reason
    still = sign(run, signals, surroundings.judged(signals), limits)
    return "" if still else "a sound denoiser may stand at its noise, and no second sign is logged"


def unproved(run: Run, value: FloatArray, fall: Fall, limits: Signs, *, dead: bool) -> str | None:
    """Say why nothing shows that it is a fault; empty: it is one, None: loss may have fallen."""
    unknown = "what is trained is not known, and no second sign says that nothing moved"
    why = unknown if run.task == "other" and not dead else ""
    if fall.height + ONE_SIDED * fall.error < fall.needed:
        return why
    undecided = ONE_SIDED * fall.error > limits.undecided * fall.start
    still = abs(fall.height) < 2 * fall.error and mann_kendall(value)[1] > limits.trend_p
    if undecided and still and dead:
        return why
    if fall.height > 0 and not only_noise(value, fall.height):
        return None
    return f"its noise of {loss(2 * fall.error)} would hide a fall"


def little(value: FloatArray, fall: Fall, trend_p: float) -> str:
    """Say that a loss fell by less than counts as learning, and no longer falls; else empty.

    Its noise does not exclude that it was as much, so that nothing more is said of it.
    """
    rest = value[len(value) // REST :]
    tau, chance = kendall(rest)
    if not 0 < fall.height < fall.needed or (tau < 0 and chance < trend_p):
        return ""
    return f"it fell by {percent(fall.height / fall.start)} of its start at first, and no further"


def guess(run: Run, signals: Signals, fewest: int, poor: float) -> Evidence | None:
    """Return the best accuracy, or the like, of a run that never beats guessing; else None.

    One below `poor`, or no better than exp(-loss), which is what a model has that gives all inputs
    the same chances (Jensen; equal where they are uniform). A learned model lies far above it.
    Of two classes one that always gives the share of the larger has the entropy of that share as
    its loss; a calibrated model that tells inputs apart has less (Jensen).
    """
    for metric in ("eval_accuracy", "train_accuracy", *beside_loss.scores(run)):
        curve, height = signals.curve(metric), signals.curve("train_loss").value
        if metric.startswith("eval_") and len(signals.curve("eval_loss")):
            height = signals.curve("eval_loss").value
        if len(curve) < FEW or not len(height):
            continue
        unit = 100.0 if curve.value.max() > PERCENT else 1.0
        best, lowest = float(curve.value.max()) / unit, float(height.min())
        if metric.endswith("accuracy") and GUESSED <= best < PLAIN:
            one = _entropy(best)
            if lowest < CONSTANT * one:
                return None
            source = f"one answer for all has a loss of {loss(one)} there, the run {loss(lowest)}"
            return Evidence(f"Best {metric}", best, source=source, where=metric)
        if len(curve) < fewest:
            continue
        limit = max(poor, min(GUESS * float(np.exp(-lowest)), GUESSED))
        if not 0 < best < limit:
            return None
        source = "a fifth, or what guessing at that loss gives"
        return Evidence(f"Best {metric}", best, limit, source, metric, above=False)
    return None


def _entropy(share: float) -> float:
    """Return the loss of one answer for all of two classes, in nats, by the larger's share."""
    return -share * log(share) - (1 - share) * log(1 - share)


def again(signals: Signals, train: Curve) -> Recurrence | None:
    """Return how many losses equal an earlier one, where chance would not show as many."""
    if part_of_run(signals.run):
        return None
    seen = signals.keep(("again", len(train)), lambda: recurrence(train.value))
    return seen if seen.chance < RARE else None


def evidence(
    run: Run, signals: Signals, train: Curve, fall: Fall, share: float, limits: Signs
) -> tuple[Evidence, ...]:
    """Return the fall that is missing, and the second signs that can be counted."""
    rows = [
        Evidence(
            "Change in train loss",
            -fall.height / fall.start,
            -share,
            "less than 3 % of its start",
            "train_loss",
            float(train.step[-1]),
            unit="%",
        ),
        Evidence("Train loss in the first tenth", fall.start, where="train_loss"),
        *surroundings.norm_evidence(signals),
    ]
    if signals.peak_learning_rate is not None:
        peak = signals.peak_learning_rate
        rows.append(Evidence("Peak learning rate", peak, where="learning_rate"))
    if seen := again(signals, train):
        why = "to the last digit; on weights that move, batches seldom give one loss twice"
        what = "Train losses that equal an earlier one"
        rows.append(Evidence(what, float(seen.repeats), source=why, where="train_loss"))
    if best := guess(run, signals, limits.fewest, limits.poor):
        rows.append(best)
    return tuple(rows)


def medians(fall: Fall) -> str:
    """Say where the loss began and where it ended, as medians."""
    start, end = loss(fall.start), loss(fall.end)
    if start == end:
        return f"Its median was {start} in the first tenth and in the last third"
    return f"Its median was {start} in the first tenth and {end} in the last third"


def verb(fall: Fall, *, noisy: bool) -> str:
    """Say whether the loss fell: as little as it may be, a fall that is told as one is one."""
    none = percent(fall.height / fall.start) in {percent(0.0), percent(1e-9)}
    return "did not fall" if noisy or none or fall.height <= 0 else "hardly fell"


def cures(run: Run, signals: Signals, low_factor: float, *, dead: bool) -> tuple[Fix, ...]:
    """Return what to look at, and the rate that moves something."""
    groups = fixes.look(
        "Check requires_grad and the optimizer's parameter groups", "some parts may be frozen"
    )
    made = [*surroundings.first_checks(run), groups]
    usual = usual_rates(run)
    low, old = usual.low if usual else least(run), signals.peak_learning_rate
    if low and old and surroundings.too_low(run, signals, low_factor):
        why = f"usual rates begin at {number(low)}"
        if usual:
            why = f"the usual range is {number(low)} to {number(usual.high)}"
        made.insert(0, Fix("Raise the learning rate", "learning_rate", old, low, why))
    elif not dead and old:
        if run.number("label_smoothing_factor"):
            what, why = "Switch label smoothing off", "its entropy is a floor under the loss"
            made.append(fixes.setting(run, "label_smoothing_factor", 0.0, what, why))
        made.append(
            fixes.action(
                "Run a learning-rate range test over 100 steps",
                "this shows at which rates the loss falls",
            )
        )
    return tuple(made)


def _denoiser(name: str, train: str, rate: str = "0:2e-8 900:2e-8") -> Case:
    """Draw the loss of a denoiser with its learning rate."""
    return drawn(
        name,
        (0, 50),
        noise=0.006,
        task="gan-diffusion",
        severity="warning",
        train_loss=train,
        learning_rate=rate,
    )


AT_FIRST = "0:19.2 1:19.55 2:19.53 3:18.96 4:18.95 5:19.04 6:19.06 7:19.04 8:18.97"
BAD = (
    _denoiser("a denoiser at a rate of almost nothing", "0:1.03 900:1.03"),
    drawn(
        "fell by less than learning is in the first steps, and stands",
        (0, 0),
        noise=0,
        task="other",
        severity="info",
        train_loss=f"{AT_FIRST} 9:18.93 10:19.01 11:19 /1",
    ),
)
GOOD = (
    drawn(
        "fell by as little, and falls on",
        noise=0,
        task="other",
        train_loss="0:19.55 1:19.5 2:19.58 3:19.3 4:19.42 5:19.2 6:19.28 7:19.05 8:19.15 9:18.98 "
        "10:19.06 11:18.95 /1",
    ),
    _denoiser("a denoiser that stands at its noise", "0:0.12 900:0.12", "0:1e-5 900:1e-5"),
    _denoiser("a denoiser that learns", "0:1.03 900:0.3"),
    drawn(
        "adversaries that are as strong as each other",
        task="gan-diffusion",
        train_loss="0:0.69 900:0.69",
        learning_rate="0:2e-8 900:2e-8",
        d_loss="0:0.7 900:0.7",
        g_loss="0:0.7 900:0.7",
    ),
)
