"""Where something begins, on the points as logged: one way for each kind of pattern.

A level that is held begins where most that does not hold lies behind; a slow rise where it leaves
the noise about its lowest level; teeth at the foot of the first of them.
"""

import math
from itertools import pairwise

import numpy as np

from runlens.arrays import median
from runlens.history import BoolArray, Curve, FloatArray
from runlens.signals.noise import odd, running_median, sigma_diff, smooth, window
from runlens.signals.shape.data import Swing
from runlens.signals.shape.swings import turning

HALF = 0.5  # a mask holds where more of its points do than do not
ERRORS = 2.0  # standard errors of a smooth course: beyond it, 1 of 20 by chance
TOOTH = 0.6  # of the usual height: a smaller one before the others is none of them
APART = 2.0  # times the period, and its share, within which the tooth before belongs to them
SMOOTH = 8  # of a period: so narrow a median leaves teeth as they are


def held_from(value: FloatArray, least: float, between: float) -> int | None:
    """Return the index from which a curve, shape (n,), keeps `least` on average up to its end.

    Of all such, the one with the most above `between` behind it: single points that are as high
    long before the others are left out, as those between them cost more than they bring.
    """
    following = np.cumsum(value[::-1])[::-1] / np.arange(len(value), 0, -1)
    held = np.flatnonzero((value >= least) & (following >= least))
    if not len(held):
        return None
    gained = np.cumsum((value - between)[::-1])[::-1]
    return int(held[np.argmax(gained[held])])


def stays_from(mask: BoolArray, share: float) -> int | None:
    """Return the index from which `mask`, shape (n,), holds at a share of the points to its end."""
    return held_from(mask.astype(np.float64), share, HALF)


def left_noise(value: FloatArray, lowest: int, seen: int, room: float) -> int:
    """Return the index of the first point of a rise that is seen at index `seen`.

    The last point on the smooth course that lies within its own noise of the level at `lowest`, or
    within `room` where that is less, is the last before it.
    """
    course, width = smooth(value), window(len(value))
    error = sigma_diff(value[: seen + 1]) / math.sqrt(width)
    near = np.flatnonzero(course[lowest : seen + 1] <= course[lowest] + min(room, ERRORS * error))
    return min(lowest + int(near[-1]) + 1, seen) if len(near) else seen  # none where sums overflow


def first_tooth(curve: Curve, swing: Swing, since: float) -> float:
    """Return the step at which the first tooth of a swing begins to rise; `since` where none does.

    The swing was found from step `since` on: teeth before it belong to it as long as the next one
    follows in about a period.
    """
    step, points = curve.step, swing.period / float(median(np.diff(curve.step)))
    value = running_median(curve.value, odd(max(points / SMOOTH, 1.0)))
    turns = turning(value, TOOTH * swing.amplitude)
    feet = [at for at, top in pairwise(turns) if value[top] > value[at]]
    starts = step[np.array(feet, dtype=np.int64)]
    at = int(np.searchsorted(starts, since - swing.period / 2))
    if at == len(starts):
        return since
    while at and swing.period / APART <= starts[at] - starts[at - 1] <= APART * swing.period:
        at -= 1
    return float(step[feet[at] + 1])
