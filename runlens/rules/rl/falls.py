"""Where the fall of a reward begins, and by what chance its order is that of a fall."""

from math import exp, lgamma

import numpy as np

from runlens.history import BoolArray, FloatArray
from runlens.signals.noise import counts
from runlens.signals.trend import ranked

BEGUN = 0.3  # of the drop: where the fall begins, as for divergence
MOSTLY = 0.5
BACK, BACK_SHARE = 5, 0.05  # points, share of those after the best: so long it came back


def lasting_fall(below: BoolArray) -> int:
    """Return where the fall begins after which the level of the best is not held again."""
    least = max(1, min(BACK, len(below) // 4), round(BACK_SHARE * len(below)))
    back = np.flatnonzero(counts(~below, least) == least)
    ended = int(back[-1]) + least if len(back) else 0
    start = ended if below[ended:].any() else 0
    return start + int(np.argmax(below[start:]))


def main_fall(smooth: FloatArray, at: int, end: float, noise: float) -> int:
    """Return the peak of the main fall: an earlier one as high as the best, lost for longer.

    Of a reward that was lost early and came back late for a while, the run lay low from the first
    fall on: most points between both peaks lie as low as what the second fell to.
    """
    high = np.flatnonzero(smooth[:at] >= smooth[at] - noise)
    if not len(high):
        return at
    fallen = smooth[at] - BEGUN * (smooth[at] - end)
    low = smooth[high[0] : at] < fallen
    return int(high[0]) if low.mean() > MOSTLY else at


def by_order(value: FloatArray, at: int) -> float:
    """Return the chance that points in no order rise to the peak and fall after it as these do.

    One-sided on either side; the peak may lie anywhere: each place is one more look.
    """
    (up, rises), (down, falls) = ranked(value[: at + 1]), ranked(value[at:])
    if down >= 0:
        return 1.0
    return min(1.0, falls / 2 * (rises / 2 if up > 0 else 1.0) * len(value))


def of_level(value: FloatArray) -> float:
    """Return the chance that points in no order lie so: the first ones above all that follow.

    What falls at once, and then stays, has many points of one level and few pairs in order. Up to
    half of the points may be the first ones: each such number is one more look.
    """
    many, half = len(value), len(value) // 2
    lowest = np.minimum.accumulate(value)[:half]  # of the first points
    highest = np.maximum.accumulate(value[::-1])[::-1][1 : half + 1]  # of all that follow them
    above = np.flatnonzero(lowest > highest)
    if not len(above):
        return 1.0
    first = int(above[-1]) + 1  # the more of them, the fewer orders have them so
    orders = lgamma(many + 1) - lgamma(first + 1) - lgamma(many - first + 1)  # in logarithms
    return min(1.0, exp(-orders) * half)
