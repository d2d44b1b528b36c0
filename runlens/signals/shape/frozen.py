"""Values that repeat exactly to the end, or from the start: not flat but standing still."""

import numpy as np

from runlens.history import FloatArray

FEWEST = 5  # equal points
SHARE = 0.03  # of the curve
RARE = 1e-3  # chance that a log rounded as this one repeats so often


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
