"""The coarse curve on which phases are looked for: block medians on a linear or log scale."""

import math

import numpy as np

from runlens.arrays import median, medians
from runlens.history import FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.signals.noise import GAUSSIAN
from runlens.signals.shape.data import Scale

MOST_BLOCKS = 144  # a border is good to 0.7 % of the run, a fourth of what is asked
LARGEST = 700.0  # a logarithm whose number is still finite
BELOW = 100.0  # lowest block over the lowest point that counts in full
DECADE = 8.0  # highest over lowest from which a logarithm may be the better scale
ROUNDED = 1e-3  # share of the range below which a difference is rounding, not noise


class Coarse(NamedTuple):
    """At most 144 blocks of equal length; arrays of shape (m,), in units of the scale."""

    start: IntArray  # index of the first point of each block
    step: FloatArray  # median step
    value: FloatArray  # median value, on the scale
    size: int  # points a block
    total: int  # points of the curve
    scale: Scale
    low: float  # values below it are cut on a logarithm: single points near zero say little


def coarse(step: IntArray, value: FloatArray) -> Coarse:
    """Return the block medians of finite values, shape (n,), on the scale that suits them.

    Single blocks that stand out are cut: a spike is no phase.
    The last, unfilled block is joined to the one before it.
    """
    count = len(value)
    size = -(-count // MOST_BLOCKS)
    y = block_medians(value, size)
    start = np.arange(len(y)) * size
    x = (step[start] + step[start + size - 1]) / 2.0
    calm = clipped(y)
    scale: Scale = "log" if float(value.min()) > 0 and _by_size(calm) else "linear"
    low = float(y.min()) / BELOW if scale == "log" else 0.0
    return Coarse(start, x, clipped(to_scale(y, scale)), size, count, scale, low)


def block_medians(value: FloatArray, size: int) -> FloatArray:
    """Return the medians of blocks of `size` values; a last, unfilled block is left out."""
    if size == 1:
        return value
    used = len(value) // size * size
    return medians(value[:used].reshape(-1, size))


def _by_size(y: FloatArray) -> bool:
    """Whether a logarithm suits: the values span a decade, and the noise grows with the level."""
    low, high = float(y.min()), float(y.max())
    if low <= 0 or high < DECADE * low:
        return False
    second = np.abs(np.diff(y, 2)) if len(y) > 2 else np.zeros(0)  # noqa: PLR2004 - none
    if len(second) < 8:  # noqa: PLR2004 - too few to compare their noise
        return True
    middle = y[1:-1]
    by_level = np.argsort(middle, kind="stable")
    half = len(by_level) // 2
    quiet, loud = second[by_level[:half]], second[by_level[half:]]
    span = float(median(middle[by_level[half:]]) / median(middle[by_level[:half]]))
    return bool(median(loud) >= np.sqrt(span) * median(quiet))


def unscaled(value: float, scale: Scale) -> float:
    """Return a value of the scale in the unit of the curve."""
    return math.exp(min(value, LARGEST)) if scale == "log" else value


def all_unscaled(value: FloatArray, scale: Scale) -> FloatArray:
    """Return values of the scale in the unit of the curve."""
    return np.exp(np.minimum(value, LARGEST)) if scale == "log" else value


def to_scale(value: FloatArray, scale: Scale, low: float = 0.0) -> FloatArray:
    """Return values on the scale; what lies below `low`, or has no logarithm, lies there."""
    least = max(low, float(np.finfo(np.float64).tiny))
    return np.log(np.maximum(value, least)) if scale == "log" else value


def rough_noise(y: FloatArray) -> float:
    """Return a first guess of the noise, by second differences: blind to lines and knees.

    At least a thousandth of the range of most: smooth curves have knees that are no noise.
    """
    if len(y) < 3:  # noqa: PLR2004 - no second difference
        return 0.0
    second = np.abs(np.diff(y, 2))
    scatter = GAUSSIAN * float(median(second)) / math.sqrt(6.0)
    edge = len(y) // 20
    ranked = np.partition(y, (edge, len(y) - 1 - edge))
    low, high = float(ranked[edge]), float(ranked[len(y) - 1 - edge])
    return max(scatter, ROUNDED * (high - low))


def clipped(y: FloatArray) -> FloatArray:
    """Return y with single points that stand out of their four neighbors cut to 3 noises.

    A point on a steep course lies between its neighbors and stays; so do the ends.
    """
    if len(y) < 7:  # noqa: PLR2004 - every point is needed
        return y
    near = np.stack([y[:-4], y[1:-3], y[3:-1], y[4:]])
    room = 3.0 * rough_noise(y)
    kept = y.copy()
    kept[2:-2] = np.clip(y[2:-2], near.min(axis=0) - room, near.max(axis=0) + room)
    return kept


def axes(step: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (linear, logarithmic) axis of steps, both 0 to 1.

    Logarithmic: of the step, or of the steps done where the curve begins at the start.
    """
    span = max(float(step[-1] - step[0]), 1.0)
    spacing = span / max(len(step) - 1, 1)
    begun = step[0] > 1.5 * spacing
    log = np.log(step) if begun else np.log(step - step[0] + spacing)
    return (step - step[0]) / span, (log - log[0]) / max(float(log[-1] - log[0]), 1e-12)
