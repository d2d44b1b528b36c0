"""Values that repeat exactly: at an end, or again and again: not flat but standing still."""

import math

import numpy as np

from runlens.arrays import median
from runlens.history import FloatArray
from runlens.records import NamedTuple

FEWEST = 5  # equal points
SHARE = 0.03  # of the curve
RARE = 1e-3  # chance that a log rounded as this one repeats so often
AGAIN = 0.95  # of the points: at its borders an epoch may show a bar that is half refreshed
DECIMALS = 7  # beyond them a float32 shows its own rounding, not the log's
SAMPLED = 100  # distinct values that show how a log rounds
LIVE = 0.01  # of its level: a loss on batches scatters at least so far (half of it for epochs)


def frozen_ends(value: FloatArray) -> tuple[int, int]:
    """Return how many points stand still at the start and at the end, shape (n,); 0 for none.

    Of a curve that never changes all points stand still at the start.
    """
    change = np.flatnonzero(value[1:] != value[:-1]) + 1
    if not len(change):
        return len(value), 0
    start, end = int(change[0]), len(value) - int(change[-1])
    inner = value[start : len(value) - end]
    equal = float(np.mean(inner[1:] == inner[:-1])) if len(inner) > 1 else 0.0
    least = max(FEWEST, SHARE * len(value))

    def still(points: int) -> int:
        return points if points >= least and equal ** (points - 1) * len(value) < RARE else 0

    return still(start), still(end)


def exact_period(value: FloatArray) -> int:
    """Return after how many points a curve comes again as it was, digit for digit; 0 if never.

    The last points are sought in what came before. From there to the end nearly all points must
    equal those one period earlier, over a whole period at least and more than chance gives: a log
    that rounds to few values shows the same one often.
    """
    count = len(value)
    if count < 3 * FEWEST or not np.ptp(value):
        return 0
    probe = value[-FEWEST:]
    windows = np.lib.stride_tricks.sliding_window_view(value[:-1], FEWEST)
    if len(np.unique(probe)) == 1:
        return 0
    for at in np.flatnonzero((windows == probe).all(axis=1))[::-1].tolist():
        lag = count - FEWEST - at
        if lag < FEWEST:
            continue
        if 2 * lag > count:
            break
        same = value[lag:] == value[:-lag]
        _, counts = np.unique(value, return_counts=True)
        by_chance = float(((counts / count) ** 2).sum())
        hits = int(same.sum())
        if hits >= AGAIN * len(same) and _at_least(hits, len(same), by_chance) < RARE:
            return int(lag)
    return 0


class Recurrence(NamedTuple):
    """How many values equal an earlier one to the last digit, and the chance of as many."""

    repeats: int
    chance: float


def recurrence(value: FloatArray) -> Recurrence:
    """Count the values that came before, of a log of this rounding, shape (n,).

    Weights that do not move give the same batches the same losses: digit for digit in each epoch.
    A value that is only shown again (a bar that is refreshed seldom) stands beside its like, so
    neighbors count once where anything changes. The chance is binomial: each value hits one of
    the distinct ones in as many cells of the log's rounding as the values spread over.
    """
    known, counts = np.unique(value, return_counts=True)
    if len(known) > 1:
        value = value[np.append(True, value[1:] != value[:-1])]
        known, counts = np.unique(value, return_counts=True)
    repeats, distinct = int((counts - 1).sum()), len(known)
    if not repeats:
        return Recurrence(0, 1.0)
    spread = max(float(np.ptp(value)), LIVE * float(median(np.abs(value))))
    if not spread:  # nothing but zeros, which tell of no rounding
        return Recurrence(repeats, 1.0)
    some = known[:: 1 + distinct // SAMPLED].tolist()
    hit = min(1.0, distinct * float(median([_rounding(one) for one in some])) / spread)
    return Recurrence(repeats, _at_least(repeats, len(value) - 1, hit))


def _rounding(value: float) -> float:
    """Return the last decimal place that a value has, as a step of it."""
    for places in range(DECIMALS):
        if round(value, places) == value:
            return 10.0**-places
    return max(abs(value) * float(np.finfo(np.float32).eps), 10.0**-DECIMALS)


def _at_least(hits: int, tries: int, share: float) -> float:
    """Return the upper bound of a binomial tail by Chernoff; 1 where no more than expected."""
    rate = hits / tries
    if rate <= share:
        return 1.0
    if share <= 0:
        return 0.0
    away = rate * math.log(rate / share)
    away += (1 - rate) * math.log((1 - rate) / (1 - share)) if rate < 1 else 0.0
    return math.exp(-tries * away)
