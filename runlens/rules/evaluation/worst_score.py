"""A score at its worst possible value at each evaluation, late in a run: mAP 0, word error rate 1.

In the first epochs that is usual: a detector finds nothing yet, and CTC writes only blanks. What
tells it from a fault is how far the run is, and that no other score of the evaluation is better.
"""

import numpy as np

from runlens.arrays import median
from runlens.history import Curve
from runlens.metrics import Quality, quality, spoken
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.rules.evaluation.sets import evaluations
from runlens.rules.loss import chance
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.wording import number

FEWEST, MANY = 2, 6  # evaluations: late in a run; where neither epoch nor plan says how late
# epochs, and share of the plan, from which a score of nothing is no slow start: detectors and CTC
# from scratch show a first answer within three to five epochs
EPOCHS, DONE = 10.0, 0.3
UPDATES = 500  # with a working rate a loss leaves chance within some hundred, as stuck-at-chance
# an answer that must match to the last character may stay wrong while a model learns
STRICT = frozenset({"em", "exact_match"})
ACCURACIES = frozenset({"acc", "accuracy"})
# scores of what was found and what was there; those of a ranking, at 10, are low in health
OF_OBJECTS = frozenset({"map", "ap", "iou", "miou", "io_u", "dice", "f1", "f_1"})
RANKED = lazy_re(r"ap_?(?!50|75|95)\d")
LOW = 0.2  # of 1: four of five that were found, or were there, are wrong
GAINED = 0.5  # of a score at the end: with more of it won since the start it is on its way


class Worst(NamedTuple):
    """A score that is at its worst at each evaluation."""

    metric: str
    evals: Curve
    wrong: bool  # it is a rate of errors
    late: bool  # for certain


def of(run: Run, signals: Signals) -> Worst | None:
    """Return the first such score; None where there is none, or where any score is better."""
    scores = {
        metric: (score, evaluations(signals, metric).finite())
        for metric in run.history.metrics
        if (score := quality(metric)) and metric.startswith("eval_") and "best" not in score.of
    }
    held = {name: one for name, one in scores.items() if len(one[1])}
    bad = {name: at for name, (score, at) in held.items() if at_worst(score, at)}
    better = [name for name, (score, _) in held.items() if name not in bad and _tells(score)]
    told = [
        name for name, at in bad.items() if len(at) >= FEWEST and held[name][0].kind not in STRICT
    ]
    if better or not told:
        return None
    metric = min(told, key=lambda name: held[name][0].of != "")  # of the whole set
    evals = bad[metric]
    done = _done(run, evals)
    if done is False or (done is None and len(evals) < MANY):
        return None
    late = done is True and chance.updates(run) >= UPDATES
    return Worst(metric, evals, held[metric][0].sign < 0, late)


def low(run: Run, signals: Signals) -> str:
    """Say that the best score of objects stayed low, late in a run; "" where it did not."""
    scores = {
        metric: evaluations(signals, metric).finite()
        for metric in run.history.metrics
        if (score := quality(metric)) and score.kind in OF_OBJECTS and not RANKED.search(metric)
    }
    held = {metric: curve for metric, curve in scores.items() if len(curve) >= MANY}
    if not held:
        return ""
    metric = max(held, key=lambda name: float(held_out.as_share(held[name].value).max()))
    evals = held[metric]
    share = held_out.as_share(evals.value)
    start, end = float(median(share[:3])), float(median(share[-3:]))
    if share.max() > LOW or end - start >= GAINED * end or _done(run, evals) is False:
        return ""
    return f"but {spoken(metric)} is {number(float(evals.value.max()))} at best"


def at_worst(score: Quality, evals: Curve) -> bool:
    """Whether a score is 0 to the last digit at each evaluation, a rate of errors exactly 1."""
    worst = 0.0 if score.sign > 0 else 1.0
    unit = 100.0 if score.sign < 0 and evals.value.max() > held_out.PERCENT else 1.0
    return bool((evals.value == worst * unit).all())


def _tells(score: Quality) -> bool:
    """Whether a score above its worst says that something is right: a frequent class is not."""
    return score.kind not in ACCURACIES


def _done(run: Run, evals: Curve) -> bool | None:
    """Whether the last evaluation is late; None where neither an epoch nor a plan says it."""
    share, epoch = run.state.done_share, float(evals.epoch[-1])
    if share is None and np.isnan(epoch):
        return None
    return (share is not None and share >= DONE) or epoch >= EPOCHS
