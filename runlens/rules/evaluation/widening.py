"""Whether evaluation loss leaves training loss behind it, and how far above it counts."""

import numpy as np

from runlens.history import FloatArray
from runlens.metrics import spoken
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import sigma_diff
from runlens.signals.trend import ranked
from runlens.wording import loss

NOTHING = 0.1  # of the gap at the end: so little at first is no offset
ERRORS = 4.0  # noise scales of single evaluations that such a gap must have grown by
TIMES, CHANCE = 3.0, 1e-3  # of the first gap, that has no steady trend; that its order is luck
TWICE = 2.0  # evaluation over training loss from which most of what was learned stays behind
# a loss that begins below it is none of guesses in nats: those of two classes cost ln 2 = 0.69
OWN_UNIT = 0.3


def least(signals: Signals, metric: str, train: FloatArray, share: float, nats: float) -> float:
    """Return the gap at the end from which on it is one.

    `share` of training loss and `nats`. Of a loss in its own unit nats say nothing: there
    evaluation must be twice as high.
    """
    if not len(train):
        return float(np.inf)
    end = float(abs(train[-1]))
    began = [signals.curve(name).value[:3] for name in ("train_loss", metric)]
    own = all(0 < one.max(initial=0.0) < OWN_UNIT for one in began) and not signals.partial
    return (TWICE - 1) * end if own else max(share * end, nats)


def opened(gap: FloatArray, start: float, end: float) -> bool:
    """Whether a gap that is wide at the end was hardly there at first: it was no offset.

    It may have opened early and stayed, which has no trend over the whole run.
    """
    return start < NOTHING * end and end - start > ERRORS * sigma_diff(gap)


def grew(gap: FloatArray, start: float, end: float, train: FloatArray) -> bool:
    """Whether a gap is several times as wide at the end, and that is no chance of swings.

    Or evaluation came to lie twice as high as training loss, `train` beside it, and did not at
    first.
    """
    tau, by_chance = ranked(gap)
    apart = (TWICE - 1) * train
    far = end > TIMES * start > 0 or (start < apart[:3].max() and end >= apart[-1] > 0)
    return far and tau > 0 and by_chance < CHANCE


def widest_part(run: Run, signals: Signals) -> str:
    """Say which part of both losses ends farthest above its training; "" where none is twice."""
    ends: dict[str, tuple[float, float]] = {}
    for metric in run.history.metrics:
        part = metric.removeprefix("eval_")
        train, evals = signals.curve(part).value, signals.curve(metric).value
        known = part != metric and part.endswith("_loss") and len(train) and len(evals)
        if known and 0 < TWICE * train[-1] <= evals[-1]:
            ends[part] = float(train[-1]), float(evals[-1])
    if not ends:
        return ""
    worst = max(ends, key=lambda part: ends[part][1] / ends[part][0])
    train_end, eval_end = (loss(one) for one in ends[worst])
    return f" Its part {spoken(worst)} ended at {eval_end}, and at {train_end} in training."
