"""Evaluation curves side by side with training loss: what the rules of this folder share.

A run may evaluate on several sets (``eval_loss:<set>``). Each is judged on its own; of those
with the pattern only the worst is reported, or one fault would be counted several times.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from runlens.arrays import median
from runlens.diagnosis import SEVERITIES, UNLOGGED, Outcome
from runlens.history import Curve, FloatArray
from runlens.metrics import base
from runlens.records import NamedTuple
from runlens.rules.rule import unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import MEDIAN_LOSS, odd, running_median, sigma_bend
from runlens.signals.trend import mann_kendall

FEW = 6  # evaluations whose noise can be told
GOES = 0.05  # chance of an order from which evaluations rise
MANY = 20  # evaluations from which they are smoothed: single batches are as noisy as training
OUTLIER = (
    4.0  # standard deviations of a point from its level: one in 16,000 is so far off by chance
)
ON_TRAINING_DATA = {"train", "training"}  # sets by these names hold nothing out


class Bottom(NamedTuple):
    """Where evaluation loss was best, and what came after."""

    at: int
    lowest: float  # as logged
    best: float  # the lowest and one noise scale: what the end is compared with
    end: float
    noise: float

    @property
    def share(self) -> float:
        """The rise over the best, as a share of the best."""
        return (self.end - self.best) / max(abs(self.best), 1e-12)


class Train(NamedTuple):
    """Training loss around a step and at the end of the run: medians, and as logged."""

    start: float
    then: float
    end: float
    logged_then: float
    logged_end: float  # the last of its level: a spike at the very end is not where it came to
    error: float  # twice the standard error of the difference of two levels


class Pair(NamedTuple):
    """Training loss beside the evaluations."""

    start: float  # at the start of the run
    first: float  # at the first evaluation
    last: float
    error: float  # standard error of one of these levels
    epochs: float  # passes over the data before the first evaluation; 0.0 where unknown

    @property
    def fall(self) -> float:
        """How far training loss fell between the first evaluation and the end."""
        return self.first - self.last


def evaluation_sets(run: Run) -> list[str]:
    """Return the evaluation losses of held-out sets, the unnamed one first."""
    names = [name for name in run.history.metrics if base(name) == "eval_loss"]
    return [name for name in names if name.partition(":")[2] not in ON_TRAINING_DATA]


def evaluations(signals: Signals, metric: str) -> Curve:
    """Return the evaluations of a set, without one of other weights at the end.

    Where the best model is loaded at the end, or a test set is looked at, one more evaluation is
    written: at the step of the last, or with the lowest loss again to the last digit. It would
    hide how far the loss had risen.
    """
    evals = signals.curve(metric)
    if not len(evals):
        return evals
    evals = evals.at(slice(0, int(np.searchsorted(evals.step, evals.step[-1])) + 1))
    before, last = evals.value[:-2], float(evals.value[-1])
    if not len(before) or last == evals.value[-2]:
        return evals
    chosen = signals.run.flag("load_best_model_at_end") and bool((before == last).any())
    again = chosen or last == evals.value[:-1].min()
    return evals.at(slice(0, -1)) if again else evals


def counted_as(run: Run, metric: str) -> str:
    """Call what is left of a set's evaluations: finite ones where some are NaN."""
    lost = not np.isfinite(run.curve(metric).value).all()
    return "finite evaluation" if lost else "evaluation"


def spoken(metric: str) -> str:
    """Name an evaluation loss in a sentence: ``eval loss``, ``eval loss (math)``."""
    _, _, of_set = metric.partition(":")
    return f"eval loss ({of_set})" if of_set else "eval loss"


def worst_set(run: Run, judge: Callable[[str], Outcome]) -> Outcome:
    """Judge each evaluation set; report the one farthest beyond its limit."""
    outcomes = {metric: judge(metric) for metric in evaluation_sets(run)}
    bad = {metric: one for metric, one in outcomes.items() if one.status == "found"}
    if bad:
        chosen = max(bad.values(), key=_excess)
        worst = chosen.findings[0]
        if len(outcomes) > 1:
            others = ", ".join(metric.partition(":")[2] or metric for metric in bad)
            seen = f"{worst.seen} {len(bad)} of {len(outcomes)} evaluation sets show it: {others}."
            worst = replace(worst, seen=seen.strip())
        return chosen._replace(findings=(worst,))
    for status in ("passed", "unmet"):
        for one in outcomes.values():
            if one.status == status:
                return one
    return unmet(UNLOGGED + "eval_loss")


def _excess(outcome: Outcome) -> tuple[bool, int, float]:
    finding = outcome.findings[0]
    first = finding.evidence[0]
    own, loud = not outcome.yields_to, -SEVERITIES.index(finding.severity)
    if isinstance(first.value, str) or not first.limit:
        return own, loud, 0.0
    ratio = first.value / first.limit
    return own, loud, ratio if first.above else 1 / max(ratio, 1e-12)


def bottom_of(evals: Curve) -> Bottom:
    """Return the bottom of an evaluation curve; the luck of its lowest value is taken off.

    From 20 evaluations on the bottom is sought on a running median, then placed on the lowest
    evaluation within half its window, or on the lowest of all where its surroundings are as low.
    One that lies alone far below what it stands between is no bottom.
    """
    value = _without_lone(evals.value)
    count = len(value)
    width = odd(count // 8) if count >= MANY else 1
    shown = running_median(value, width)
    lowest = np.flatnonzero(shown == shown.min())  # of a running median several may be
    first = max(0, int(lowest[0]) - width // 2)
    index = first + int(np.argmin(value[first : int(lowest[-1]) + width // 2 + 1]))
    overall = int(np.argmin(value))
    if shown[overall] <= shown.min() + sigma_bend(value):  # as low around it: what is logged counts
        index = overall
    after = value[index:]
    lucky = sigma_bend(after if len(after) >= FEW else value)  # the lowest of many is lucky
    best = float(value[index]) + lucky
    later = max(1, min(3, count - index - 1))
    return Bottom(
        index, float(value[index]), best, float(median(shown[-later:])), sigma_bend(value)
    )


def _without_lone(value: FloatArray) -> FloatArray:
    """Return evaluations with the lowest at its neighbors' level where it is a blip between them.

    What follows must lie together, farther above it than from each other, go nowhere, and be where
    the evaluation before it was: what a model came to know and lost, it did not know before.
    """
    at = int(np.argmin(value))
    before, after = value[:at], value[at + 1 :]
    if not len(before) or len(after) < FEW:
        return value
    low, high = float(after.min()), float(after.max())
    alone = low - value[at] > high - low and low <= before[-1] <= high
    tau, chance = mann_kendall(after)
    if not alone or (tau > 0 and chance / 2 < GOES):
        return value
    kept = value.copy()
    kept[at] = median(np.array([before[-1], after[0]]))
    return kept


def train_around(signals: Signals, step: float) -> Train | None:
    """Return training loss up to `step` and at the end; None below 3 points."""
    train = signals.curve("train_loss")
    if len(train) < 3:  # noqa: PLR2004 - a start, a turn and an end
        return None
    width = min(max(3, len(train) // 20), len(train) // 3)  # the ends share no point
    upto = train.before(int(step) + 1).value[-width:]
    then = upto if len(upto) else train.value[:1]
    sigma = signals.sigma("train_loss")
    end = train.value[-width:]
    near = end[np.abs(end - median(end)) <= OUTLIER * sigma]
    return Train(
        float(median(train.value[:width])),
        float(median(then)),
        float(median(end)),
        float(then[-1]),
        float(near[-1] if len(near) else end[-1]),
        2 * MEDIAN_LOSS * sigma / width**0.5,
    )


def pair_of(signals: Signals, evals: Curve) -> Pair:
    """Return training loss at the start, at the first of these evaluations, and at the end."""
    train = signals.curve("train_loss")
    width = max(3, len(train) // 20)
    at = int(np.searchsorted(train.step, evals.step[0]))
    around = train.value[max(0, at - width) : at + width]
    per, first = signals.steps_per_epoch, float(evals.step[0])
    return Pair(
        float(median(train.value[:3])),
        float(median(around)) if len(around) else float(train.value[-1]),
        float(median(train.value[-width:])),
        MEDIAN_LOSS * signals.sigma("train_loss") / width**0.5,
        signals.inputs.passes_at(first) or (first / per if per else 0.0),
    )


def train_level(signals: Signals, steps: FloatArray) -> FloatArray:
    """Return smooth training loss at evaluation steps, shape of `steps`; NaN below 3 points.

    Before its first point training loss is not known: NaN there too.
    """
    train = signals.curve("train_loss")
    if len(train) < 3:  # noqa: PLR2004 - nothing to smooth
        return np.full(len(steps), np.nan)
    level = np.interp(steps, train.step, signals.smooth("train_loss"))
    return np.where(steps < train.step[0], np.nan, level)
