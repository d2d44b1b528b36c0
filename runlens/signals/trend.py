"""Trends: how far a curve moved, and whether that is more than its noise."""

import math
from functools import lru_cache

import numpy as np

from runlens.arrays import median
from runlens.history import BoolArray, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.signals.noise import block_medians, inflation
from runlens.signals.shape import chance

MOST_PAIRS = 300  # points whose pairs are all compared
MOST_RANKED = 400  # points of which all pairs are ranked
FEWEST = 4


class Trend(NamedTuple):
    """A monotone trend. `tau` -1 to 1 is the effect size beside `p`: read both."""

    slope: float  # per step, Theil-Sen
    tau: float  # Kendall's
    p: float  # two-sided, variance inflated for autocorrelation


def theil_sen(step: FloatArray | IntArray, value: FloatArray) -> float:
    """Return the median slope of all pairs, on at most 300 block medians; 0.0 if undefined."""
    x, y = block_medians(step.astype(float), value, MOST_PAIRS)
    first, second = np.triu_indices(len(y), 1)
    run = x[second] - x[first]
    usable = run > 0
    if not usable.any():
        return 0.0
    return float(median((y[second] - y[first])[usable] / run[usable]))


def kendall(value: FloatArray) -> float:
    """Return Kendall's tau against time, on at most 400 block medians; 0.0 below 2 points."""
    _, y = block_medians(np.arange(len(value), dtype=float), value, MOST_RANKED)
    pairs = len(y) * (len(y) - 1) / 2
    return _agreeing(y) / pairs if pairs else 0.0


def _agreeing(value: FloatArray) -> float:
    """Return how many pairs rise, less those that fall; NaN where a value is."""
    if np.isnan(value).any():
        return float("nan")
    rises, later = value[None, :] > value[:, None], _later(len(value))
    return float(np.count_nonzero(rises & later) - np.count_nonzero(rises.T & later))


@lru_cache(maxsize=8)
def _later(count: int) -> BoolArray:
    """Return which of two points is the later one, shape (count, count)."""
    mask: BoolArray = np.triu(np.ones((count, count), dtype=np.bool_), 1)
    mask.flags.writeable = False
    return mask


def mann_kendall(value: FloatArray) -> tuple[float, float]:
    """Return (tau, p) of a monotone trend, on at most 400 block medians; (0, 1) below 4 points.

    The variance is inflated by (1 + r) / (1 - r), r the lag-1 autocorrelation about a straight
    line: Hamed & Rao (1998), J. Hydrology 204, in its AR(1) form.
    """
    _, y = block_medians(np.arange(len(value), dtype=float), value, MOST_RANKED)
    count = len(y)
    if count < FEWEST or not np.isfinite(y).all():
        return 0.0, 1.0
    total = _agreeing(y)
    at = np.arange(count, dtype=float) - (count - 1) / 2
    residual = y - y.mean() - at * float((at * y).sum() / (at * at).sum())
    variance = count * (count - 1) * (2 * count + 5) / 18 * inflation(residual) ** 2
    score = (total - np.sign(total)) / math.sqrt(variance)
    return total / (count * (count - 1) / 2), math.erfc(abs(score) / math.sqrt(2))


def ranked(value: FloatArray) -> tuple[float, float]:
    """Return (tau, two-sided p) of a monotone trend: exact for few points, else Mann-Kendall's.

    Few are those of which all orders are counted (`chance.EXACT`); their memory is not known.
    """
    return (chance.kendall if len(value) <= chance.EXACT else mann_kendall)(value)


def trend(step: IntArray, value: FloatArray) -> Trend:
    """Return the trend of a curve; all zero with p = 1 below 4 points."""
    if len(value) < FEWEST:
        return Trend(0.0, 0.0, 1.0)
    slope = theil_sen(step, value)
    tau, p = mann_kendall(value)
    return Trend(slope, tau, p)
