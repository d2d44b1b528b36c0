"""What kind of zero a training loss has come to: masked, read off the input, memorized.

Whether it came soon is told by the same step that the report names as the onset: in its first
pass over the data no model can have memorized them.
"""

from math import inf
from typing import Literal

import numpy as np
from msgspec import Struct

from runlens.arrays import median
from runlens.diagnosis import Severity
from runlens.history import Curve, FloatArray
from runlens.metrics import quality, spoken
from runlens.naming import words
from runlens.naming.equations import of_equation
from runlens.records import NamedTuple
from runlens.rules.rule import LANGUAGE_TASKS
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.held_out import as_share
from runlens.signals.noise import sigma_diff
from runlens.wording import count, loss, number, percent

Kind = Literal["masked", "leaked", "shared", "memorised", "rehearsed", "separable", "sanity"]
NEARLY_ALL = 0.95  # of the points that are exactly 0: memorising leaves small numbers, not zeros
LEAST_GUESS, MOST_GUESS = 0.69, 13.8  # ln 2; ln of a million
ONE_BATCH = 2.0  # steps of an epoch: small data are trained on as one batch, of any task
A_HANDFUL, A_HUNDRED = 10.0, 100.0  # steps of an epoch, and epochs, of a set learned by heart
# Keras clips probabilities at 1e-7 from 1 (K.epsilon), which is 1.19e-7 in single precision: a
# median of that is as good as exactly 0, and no loss that is merely small
CLIPPED = 1.2e-7
FULL_SCORE = 0.99  # of a score from 0 to 1: nothing is left to learn
RIGHT = frozenset({"acc", "acc1"})  # words of a share of right answers
FEWEST_SCORES = 3  # values of a level
WRONG_MOSTLY = 0.5  # a share of right answers below it leaves much to learn
RISE, ERRORS = 0.05, 4.0  # of that share, and noise scales of single values: less is no rise
BEHIND = 0.8  # eval accuracy of a memorised training set below which it is far behind (eval-gap)


DECIMALS = 6  # at most, to which a logger rounds
SINGLE = 1e-7  # relative error of a number in single precision


class Limits(Struct, frozen=True):
    """What may be tuned."""

    level: float = 0.02
    share: float = 0.02
    fewest: int = 3
    least_share: float = 0.10
    near_zero: float = 0.05
    as_zero: float = 0.005
    perfect: float = 0.999
    sanity_steps: float = 2.0
    by_heart: float = 0.10
    many_epochs: float = 5.0


class Zero(NamedTuple):
    """The kind, and what tells it."""

    kind: Kind
    severity: Severity
    why: str
    harmless: bool = False  # whether the evaluation shows that nothing is lost


class Reached(NamedTuple):
    """When the loss came down to zero for good."""

    epoch: float | None  # passes over the data until then; None where they are not known
    share: float  # of the run

    @property
    def soon(self) -> bool:
        """Whether it came within the first pass over the data, or a tenth of the run."""
        return self.share <= 0.1 if self.epoch is None else self.epoch <= 1  # noqa: PLR2004 - a tenth

    @property
    def words(self) -> str:
        """When that was: ``reached after 4.1 epochs``."""
        if self.epoch is None:
            return f"that took {percent(self.share)} of the run"
        if self.epoch <= 1:
            return f"that took {percent(self.epoch)} of the first epoch"
        return f"that took {number(self.epoch, 2)} epochs"


def reached(run: Run, signals: Signals, step: float) -> Reached:
    """Say when in the run a step was."""
    per_epoch = signals.steps_per_epoch
    return Reached(step / per_epoch if per_epoch else None, step / max(run.last_step, 1))


def kind_of(run: Run, signals: Signals, curve: Curve, at: int, limits: Limits) -> Zero | str:
    """Tell the kind of zero from index `at` on; a text says why it is none to report."""
    norm = run.curve("grad_norm").after(int(curve.step[at])).value
    if (curve.value[at:] == 0).mean() >= NEARLY_ALL and not norm.any():
        told = "the gradient norm is 0 as well" if len(norm) else ""
        return Zero("masked", "critical", told)
    per_epoch, evals = signals.steps_per_epoch, signals.curve("eval_loss").value
    rows = run.task == "classification" and per_epoch == 1  # or a row an epoch, in a log by epochs
    few = 0.0 if rows or len(evals) else per_epoch or 0.0  # a test on a few batches has no held-out
    if 0 < few <= limits.sanity_steps:
        steps = count(1, "step") if round(few) == 1 else f"{number(few)} steps"
        why = f"an epoch has {steps}, as in a test on a few batches"
        # of language models such a test ends there: one that goes on as long is a training
        goes_on = run.task in LANGUAGE_TASKS and run.last_step >= 2 * int(curve.step[at])
        return Zero("sanity", "info", why, harmless=not goes_on)
    when = reached(run, signals, float(curve.step[at]))
    if run.task == "classification":
        return _of_classes(signals, when, limits)
    if len(evals) and float(median(evals[-3:])) <= limits.near_zero:
        return _on_both(signals, when, limits)
    return _of_rise(signals) or _memorised(signals, when, limits)


def of_unknown(run: Run, signals: Signals, zero: Zero, curve: Curve, at: int) -> Zero | str:
    """Judge the zero of an unknown task: an info where a loss fell from where guesses lie.

    No cross-entropy starts below ln 2, nor above that of a vocabulary of a million; what begins
    elsewhere may be an error in a unit of its own, but for exact zeros, which have none, beside an
    evaluation that got worse, and for those beside a score of answers that never rose. So may be
    what a network that is held to an equation leaves over of it. Zeros from
    nearly the first point on teach nothing in any task. What is not exactly zero and was never
    evaluated may be a task that is solved.
    """
    at_once = at <= max(1, (1 - NEARLY_ALL) * len(curve))
    exact = not curve.value[at:].any()
    if at_once and (zero.kind == "masked" or (exact and not len(signals.curve("eval_loss")))):
        return zero
    if not float(median(curve.value[at:])) and (rose := _of_rise(signals)):
        return rose._replace(harmless=False)
    if still := _still_score(signals):
        return Zero(zero.kind, "warning", still)
    if run.framework == "deepxde" or any(map(of_equation, run.history.metrics)):
        return "it is what an equation leaves over, which has no floor above 0"
    if not LEAST_GUESS <= curve.value[0] <= MOST_GUESS:
        return "what is trained is not known, nor whether its loss has a floor"
    open_ = not len(signals.curve("eval_loss")) and float(median(curve.value[at:])) > CLIPPED
    begun = int(curve.step[at])
    few, epoch = signals.steps_per_epoch or inf, reached(run, signals, begun).epoch
    if epoch is not None and epoch <= 1 and run.last_step > 2 * begun:
        open_ = False  # within the first pass over the data, and trained on: too easy, or leaked
    if ONE_BATCH < few <= A_HANDFUL and run.last_step > A_HUNDRED * few:
        open_ = False  # no task is learned from a handful of batches that are seen so often
    solved = zero.kind == "shared"  # evaluation ends as low: no entropy is known to forbid it
    return zero._replace(severity="info", harmless=zero.harmless or open_ or solved)


def _still_score(signals: Signals) -> str:
    """Say that an accuracy beside the loss is low and never rose; "" where none is logged.

    What is memorised, or solved, raises it: a loss that vanishes alone is of no use.
    """
    for name in signals.run.history.metrics:
        value = signals.curve(name).value
        if not RIGHT & set(words(name)) or len(value) < 2 * FEWEST_SCORES:
            continue
        share = as_share(value)
        first = float(median(share[:FEWEST_SCORES]))
        end = float(median(share[-FEWEST_SCORES:]))
        rose = float(share[FEWEST_SCORES:].max()) - first
        if end <= WRONG_MOSTLY and rose <= max(RISE, ERRORS * sigma_diff(share)):
            return f"{spoken(name)} was {percent(first)} at first and {percent(end)} at the end"
    return ""


def _on_both(signals: Signals, when: Reached, limits: Limits) -> Zero | str:
    """Judge a language task whose evaluation loss is low as well."""
    evals = signals.curve("eval_loss").value
    low = f"eval loss ended at {loss(float(evals[-1]))}"
    why = f"{when.words}, and {low}"
    nothing_left = float(median(evals[-3:])) <= limits.as_zero
    if when.soon and nothing_left:
        return Zero("leaked", "critical", why)
    score = _unfinished_score(signals)
    if nothing_left and not score:
        return Zero("shared", "warning", why)
    end = loss(signals.levels("train_loss").end)
    floor = "the floor of a task whose answers repeat most of the input"
    return f"train loss ended at {end}, {when.words}, and {low}{score}: {floor}"


def _unfinished_score(signals: Signals) -> str:
    """Return the words for a score of the answers that is not full, if one is logged."""
    for metric in signals.run.history.metrics:
        told, value = quality(metric), signals.curve(metric).value
        if told and told.sign > 0 and len(value):
            last = float(value[-1]) / (100 if value.max() > 1 else 1)
            if last < FULL_SCORE:
                return f" ({spoken(metric)} {percent(last)})"
    return ""


def _of_rise(signals: Signals) -> Zero | None:
    """Leave to the evaluation loss what it tells, and better."""
    evals = signals.curve("eval_loss").value
    bottom = int(np.argmin(evals)) if len(evals) else 0
    if len(evals) - bottom > 2 and evals[-1] > evals[bottom]:  # noqa: PLR2004 - one is no trend
        why = f"eval loss rose from {loss(float(evals[bottom]))} to {loss(float(evals[-1]))}"
        return Zero("memorised", "info", why, harmless=True)  # hockey-stick tells what it costs
    return None


def _memorised(signals: Signals, when: Reached, limits: Limits) -> Zero:
    """Judge a language task by the passes over the data; its evaluation loss is high or unknown."""
    evals = signals.curve("eval_loss").value
    if len(evals):
        why = f"{when.words}, and eval loss ended at {loss(float(evals[-1]))}"
        return Zero("memorised", "warning", why)
    if when.epoch is None:
        return Zero("memorised", "warning", "no evaluation is logged")
    if when.epoch >= 1:
        return Zero("memorised", "warning", when.words)
    if signals.levels("train_loss").end > limits.as_zero:  # or a task that repeats its input
        return Zero("leaked", "info", when.words)
    return Zero("leaked", "warning", when.words)


def _of_classes(signals: Signals, when: Reached, limits: Limits) -> Zero:
    """Judge a classifier: one that separates its classes is at zero on all data, rightly."""
    accuracy = signals.curve("eval_accuracy").value
    evals = signals.curve("eval_loss").value
    low = float(median(evals[-3:])) if len(evals) else float("inf")
    if len(accuracy) and accuracy[-1] >= limits.perfect:
        why = f"eval accuracy was {percent(float(accuracy[-1]))}"
        if when.epoch is not None and when.soon:
            return Zero("leaked", "warning", f"{why} within the first epoch")
        return Zero("separable", "info", why, harmless=True)
    if low <= limits.near_zero:
        why = f"{when.words}, and eval loss ended at {loss(float(evals[-1]))}"
        nothing_left = low <= limits.as_zero and when.soon
        if nothing_left:
            return Zero("leaked", "critical", why)
        return Zero("separable", "info", why, harmless=True)
    if risen := _of_rise(signals):
        return risen
    if len(evals):
        ended = f"eval loss ended at {loss(float(evals[-1]))}"
        return Zero("memorised", "info", ended, harmless=True)
    unknown = not len(accuracy) or float(median(accuracy[-3:])) >= BEHIND
    return Zero("memorised", "info", when.words, harmless=unknown)


def shown(value: FloatArray, end: float) -> str:
    """Write the level at the end; a zero of a logger that rounds is a small loss."""
    if end:
        return f", and its median from then on was {loss(end)}"
    for digits in range(1, DECIMALS + 1):
        if value[0] and (np.abs(value - np.round(value, digits)) <= SINGLE * np.abs(value)).all():
            least = number(0.5 * 10.0**-digits)
            return f", and stayed below {least} (0 as logged, to {count(digits, 'digit')})"
    return " and was 0 from then on"
