"""What numpy does with arrays of any kind, for plain vectors of numbers: the same, and at once.

Rules and shapes ask some hundred medians of a few hundred points, of which numpy spends most on
axes, masks and subclasses: a median takes 4 µs in place of 16, and `np.median` and `np.unique`
import `numpy.ma` besides, which takes 9 ms.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

Vector = np.ndarray[Any, np.dtype[np.float64]]
Numbers = Sequence[float] | np.ndarray[Any, Any]
# values up to which numpy ranks several places at once in less time than one; beyond, it ranks one
# in a sixth of the time
FEW = 2_000


def median(value: Numbers) -> np.float64:
    """Return the median of values, shape (n,); NaN where one is NaN, and of none."""
    return ranking_median(np.array(value, dtype=np.float64))


def ranking_median(ranked: Vector) -> np.float64:
    """Return the median of values, shape (n,), as `median` does; their order is lost."""
    count = len(ranked)
    if not count:
        return np.float64(np.nan)
    half = count // 2
    if count > FEW:
        ranked.partition(half)
        below: np.float64 = ranked[:half].max() if count % 2 == 0 else ranked[half]
        last: np.float64 = ranked[half:].max()
    else:
        ranked.partition((half, count - 1) if count % 2 else (half - 1, half, count - 1))
        below, last = ranked[half - 1], ranked[-1]
    middle: np.float64 = ranked[half] if count % 2 else (below + ranked[half]) / 2
    return last if last != last else middle  # noqa: PLR0124 - NaN, which comes last


def mean(value: np.ndarray[Any, Any]) -> np.float64:
    """Return the mean of values, shape (n,), n at least 1."""
    total: np.float64 = np.add.reduce(value, dtype=np.float64) / len(value)
    return total


def quantile(value: Vector, share: float) -> float:
    """Return a quantile of finite values, shape (n,), n at least 1, between points by a line."""
    place = share * (len(value) - 1)
    at = int(place)
    after = min(at + 1, len(value) - 1)
    if len(value) > FEW and after > at:
        ranked = np.partition(value, at)
        above = float(ranked[after:].min())
    else:
        ranked = np.partition(value, (at, after))
        above = float(ranked[after])
    below, part = float(ranked[at]), place - at
    if part < 0.5:  # noqa: PLR2004 - as numpy: exact at either end
        return below + (above - below) * part
    return above - (above - below) * (1 - part)


def repeated_ends(value: Vector, left: int, right: int) -> Vector:
    """Return values, shape (n,), n at least 1, with the first and the last one repeated."""
    return np.concatenate([np.repeat(value[:1], left), value, np.repeat(value[-1:], right)])


def mirrored_ends(value: Vector, width: int) -> Vector:
    """Return values, shape (n,), continued on both sides by fewer than n, turned about the ends."""
    before = 2 * value[:1] - value[width:0:-1]
    after = 2 * value[-1:] - value[-2 : -2 - width : -1]
    return np.concatenate([before, value, after])


def medians(rows: np.ndarray[Any, Any]) -> Vector:
    """Return the median of each row of finite values, shape (m, k), k at least 1; shape (m,)."""
    half = rows.shape[1] // 2
    if rows.shape[1] % 2:
        middle: Vector = np.partition(rows, half, axis=1)[:, half]
        return middle
    if rows.size > FEW:
        ranked = np.partition(rows, half, axis=1)
        return np.asarray((ranked[:, :half].max(axis=1) + ranked[:, half]) / 2)
    ranked = np.partition(rows, (half - 1, half), axis=1)
    return np.asarray((ranked[:, half - 1] + ranked[:, half]) / 2)


def unique(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the different values, shape (n,), in ascending order; of NaN one."""
    ranked = np.sort(value)
    new = np.ones(len(ranked), dtype=np.bool_)
    new[1:] = ranked[1:] != ranked[:-1]
    if len(ranked) and ranked[-1] != ranked[-1]:
        new[np.searchsorted(ranked, ranked[-1]) + 1 :] = False
    return ranked[new]


def stretches_of(mask: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return (first, end) of each stretch of True in a mask, shape (n,); shape (m, 2)."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return np.flatnonzero(edges).reshape(-1, 2)


def among(
    value: np.ndarray[Any, Any], known: np.ndarray[Any, Any]
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which values, shape (n,), are among those that are known, shape (k,)."""
    if not len(known):
        return np.zeros(len(value), dtype=np.bool_)
    ranked = np.sort(known)
    near = np.minimum(np.searchsorted(ranked, value), len(ranked) - 1)
    return np.asarray(ranked[near] == value)
