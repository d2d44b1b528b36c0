"""Whether two runs of which nothing is recorded are one configuration, by how they came down.

Two seeds of one configuration come down alike: over the first two thirds the mean of B - A is a few
times the jitter of both at most. Another learning rate parts them there already; the last third is
what is judged. In 4,896 pairs without settings of 204 kinds of trainings the odds that they are one
go with that ratio r as 1.2 / (r + 0.1)^0.57: 3 in 4 for the closest twelfth of the pairs, 1 in 8
for the furthest. Asked of evaluations alone: a training curve wanders with its batches, and its
jitter does not tell how far.
"""

import math

import numpy as np

from runlens.history import FloatArray

FEWEST = 5  # values that both have: three before the end, three bends
HALF = 6  # values, or half of them if that is more, whose bends tell the jitter
BEFORE_END = 2 / 3  # of the curve, in which runs of other settings part
CLOSE = 0.1  # of the jitter: what lies closer is no closer
AS_LIKELY, FALL = 1.2, 0.57  # the odds of a pair one jitter apart, and the power that they go by
LEAST, MOST = 0.1, 0.75  # as low and as high as it was over twelfths of those pairs


def one_configuration(a: FloatArray, b: FloatArray, before: float) -> float:
    """Return the probability that two curves, shape (n,) at common places, have one configuration.

    `before`: the same before they were seen; where nothing can be told it stays.
    """
    count = len(a)
    if count < FEWEST or not 0 < before < 1:
        return before
    early = max(HALF, count // 2)
    jitter = math.hypot(_jitter(a[:early]), _jitter(b[:early]))
    if jitter <= 0:
        return before
    apart = abs(float(np.mean((b - a)[: int(BEFORE_END * count)]))) / jitter
    odds = float(before / (1 - before) * AS_LIKELY / (apart + CLOSE) ** FALL)
    return min(max(odds / (1 + odds), LEAST), MOST)


def _jitter(value: FloatArray) -> float:
    """Return the deviation of one value about a line through its neighbours."""
    return float(np.sqrt(np.mean(np.diff(value, 2) ** 2) / 6))
