"""Where something began: jumps, hinges, crossings, spikes. Indices into the curve given."""

import numpy as np

from runlens.arrays import median, quantile, unique
from runlens.history import BoolArray, Curve, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.signals.latest import latest
from runlens.signals.noise import odd, running_median, sigma_diff

HALF = 0.5
GAP = 4.0  # from one residual to the next: those above are no noise
RECOVERED = 0.3  # share of a spike's height below which it is over


class Spikes(NamedTuple):
    """Outliers upwards; arrays of shape (k,), one entry a spike."""

    first: IntArray  # index of its first point
    peak: FloatArray  # highest value in it
    base: FloatArray  # local level under it
    width: IntArray  # points above base + 30 % of the height
    recovered: BoolArray  # back near the base in the window after it

    def at(self, kept: BoolArray) -> "Spikes":
        """Return some of the spikes."""
        return Spikes._make(column[kept] for column in self)


def spikes(value: FloatArray, z_limit: float = 8.0, tail_multiple: float = 4.0) -> Spikes:
    """Find points far above their surroundings.

    A point counts when it is `z_limit` local noise scales above the running median and
    `tail_multiple` times the 95th percentile of the upward residuals (its three largest left
    out), which keeps heavy-tailed noise quiet. Neighbors are joined.
    """
    width = odd(min(max(11, len(value) // 20), 51))
    base, residual, local, tail = _around(np.asarray(value, dtype=np.float64), width)
    hit = (residual > z_limit * local) & (residual > tail_multiple * tail)
    starts = np.flatnonzero(hit & ~np.concatenate([[False], hit[:-1]]))
    return _described(starts, value, base, width)


@latest(1)  # a rule asks with several limits in turn
def _around(value: FloatArray, width: int) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return base, residual and local noise of values, shape (n,), and the upper tail."""
    base = running_median(value, width)
    residual = value - base
    noise = max(sigma_diff(value), 1e-12)
    local = np.maximum(1.4826 * running_median(np.abs(residual), 2 * width + 1), 0.5 * noise)
    return base, residual, local, upper_tail(residual, noise)


def upper_tail(residual: FloatArray, noise: float) -> float:
    """Return the 95th percentile of the positive residuals, the three largest left out.

    So are all above a gap in their upper fifth: noise, however heavy its tail, leaves none there.
    """
    positive = np.sort(residual[residual > 0])[:-3]
    if len(positive) < 20:  # noqa: PLR2004 - no tail
        return noise
    upper = positive[4 * len(positive) // 5 :]
    gaps = np.flatnonzero(upper[1:] > GAP * upper[:-1])
    apart = len(upper) - 1 - int(gaps[0]) if len(gaps) else 0
    return quantile(positive[: len(positive) - apart], 0.95)


def _described(starts: IntArray, value: FloatArray, base: FloatArray, width: int) -> Spikes:
    peaks, widths, back, kept, free = [], [], [], [], 0
    for start in starts.tolist():  # spikes are few; points are not looped over
        if start < free:
            continue
        ahead = value[start : start + 4 * width]
        height = float(np.max(ahead[: max(3, width // 4)])) - base[start]
        over = ahead > base[start] + RECOVERED * height
        length = int(np.argmin(over)) if not over.all() else len(over)
        after = value[start + length : start + length + width]
        free = start + max(1, length)
        kept.append(start)
        peaks.append(float(np.max(ahead[: max(1, length)])))
        widths.append(length)
        back.append(len(after) > 1 and bool(median(after) < base[start] + RECOVERED * height))
    index = np.array(kept, dtype=np.int64)
    return Spikes(
        index,
        np.array(peaks, dtype=float),
        base[index] if len(index) else np.array([], dtype=float),
        np.array(widths, dtype=np.int64),
        np.array(back, dtype=bool),
    )


class Climb(NamedTuple):
    """The largest rise of a course over the lowest that it had been before."""

    low: int  # index of the lowest
    top: int
    height: float
    left: float  # share of it that is left at the lowest point after the top


def climb(course: FloatArray) -> Climb:
    """Find the largest rise, shape (n,); what it was, a hump or the end, `left` says."""
    lowest = np.minimum.accumulate(course)
    top = int(np.argmax(course - lowest))
    height = float(course[top] - lowest[top])
    left = float(course[top:].min() - lowest[top]) / height if height else 0.0
    return Climb(int(np.argmin(course[: top + 1])), top, height, left)


def last_false(mask: BoolArray) -> int:
    """Return the index of the last False; -1 if all are True: `mask` holds from there + 1 on."""
    wrong = np.flatnonzero(~mask)
    return int(wrong[-1]) if len(wrong) else -1


def halved(curve: Curve) -> float | None:
    """Return the step from which a curve is below half of its first value for good; else None."""
    if not len(curve):
        return None
    low = curve.step[last_false(curve.value < HALF * curve.value[0]) + 1 :]
    return float(low[0]) if len(low) else None


def hinge(value: FloatArray) -> int:
    """Return the index at which a flat curve begins to climb, by a least-squares fit.

    The flat part lies at the first value; 40 places are tried, so the answer is good to 2.5 %.
    """
    count = len(value)
    if count < 8:  # noqa: PLR2004 - too few points for a fit
        return 0
    corners = unique(np.linspace(0, count - 4, min(count - 3, 40)).astype(int))
    after = (count - 1 - corners).astype(float)  # points on each ramp 1, 2, 3...
    # sum of ramp * height above the first value, for a ramp from each point on
    along = np.cumsum(np.cumsum((value - value[0])[:0:-1]))[::-1]
    explained = along[corners] ** 2 / (after * (after + 1) * (2 * after + 1) / 6)
    return int(corners[int(np.argmax(explained))])
