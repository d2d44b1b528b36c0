"""Points of a curve made ready for drawing: stretches, running median, thinning, paths."""

import math
from bisect import bisect_left, insort
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from runlens.diagnosis import Mark, ThinCurve

Point = tuple[float, float]
Points = np.ndarray[Any, np.dtype[np.float64]]  # steps and values, or pixels; shape (n, 2)
WINDOW = 9  # points of the running median at least
SHARE = 50  # ... and this part of all points, so that a long curve becomes readable
FINEST = 10  # coordinates are written in tenths of a pixel


def finite_stretches(curve: ThinCurve) -> list[Points]:
    """Return the finite points, in parts between values that are not finite."""
    points = np.array((curve.step, curve.value), dtype=np.float64).T
    finite = np.isfinite(points[:, 1])
    if finite.all():
        return [points] if len(points) else []
    parts = np.split(points, np.flatnonzero(finite[1:] != finite[:-1]) + 1)
    return [part for part in parts if np.isfinite(part[0, 1])]


def not_finite(curve: ThinCurve) -> list[float]:
    """Return the steps at which the value is NaN or infinite."""
    return [
        step
        for step, value in zip(curve.step, curve.value, strict=True)
        if not math.isfinite(value)
    ]


def window(curve: ThinCurve, start: float, end: float) -> ThinCurve:
    """Return the points from `start` to `end`, both included."""
    first = bisect_left(curve.step, start)
    last = bisect_left(curve.step, math.nextafter(end, math.inf))
    return curve._replace(step=curve.step[first:last], value=curve.value[first:last])


def distance(mark: Mark, curve: ThinCurve) -> float:
    """Return how far a labeled point is from a curve, in the unit of the curve.

    Infinite where the curve has no number near it.
    """
    if not curve.step:
        return math.inf
    index = bisect_left(curve.step, mark.step)
    near = curve.value[max(0, index - 1) : index + 2]
    return min(
        (abs(value - mark.value) for value in near if math.isfinite(value)), default=math.inf
    )


def window_of(points: int) -> int:
    """Return how many points of a curve the running median takes: odd, at least 9."""
    return max(WINDOW, points // SHARE) | 1


def running_median(points: Points, width: int = WINDOW) -> Points:
    """Return the centered median of `width` points; a mean would pull a jump toward its past."""
    half = width // 2
    values = points[:, 1].tolist()
    near = sorted(values[:half])
    made = points.copy()
    middle = []
    for index in range(len(values)):
        if index + half < len(values):
            insort(near, values[index + half])
        if index > half:
            del near[bisect_left(near, values[index - half - 1])]
        middle.append(near[len(near) // 2])
    made[:, 1] = middle
    return made


def thinned(
    points: Points, start: float, width: float, fewest: int, cited: frozenset[float]
) -> Points:
    """Keep the lowest and the highest point of each pixel column, the ends and the cited steps.

    A column is `width` steps wide, the first begins at `start`; up to `fewest` points stay as
    they are. No spike is lost, and a line begins and ends where its values do.
    """
    if len(points) <= fewest:
        return points
    step, value = points.T
    column = ((step - start) / width).astype(np.int64)
    begins = np.append(True, column[1:] != column[:-1])
    place = np.cumsum(begins) - 1  # of a point: its column among those that have one
    kept = np.array([one in cited for one in step.tolist()])
    kept[[0, -1]] = True
    for extreme in (np.minimum, np.maximum):
        ends = np.flatnonzero(value == extreme.reduceat(value, np.flatnonzero(begins))[place])
        kept[ends[np.append(True, place[ends[1:]] != place[ends[:-1]])]] = True
    shown: Points = points[kept]
    return shown


def fewer(curve: ThinCurve, most: int) -> ThinCurve:
    """Keep the lowest and the highest of each stretch of a curve, and where it is no number.

    About `most` points stay; up to that many, the curve stays as it is.
    """
    size = len(curve.step)
    if size <= most:
        return curve
    value, kept = curve.value, {0, size - 1}
    every = -(-2 * size // most)
    for first in range(0, size, every):
        inside = range(first, min(size, first + every))
        finite = [index for index in inside if math.isfinite(value[index])]
        odd = [index for index in inside if not math.isfinite(value[index])]
        kept.update(odd[:1], odd[-1:])
        if finite:
            kept |= {min(finite, key=value.__getitem__), max(finite, key=value.__getitem__)}
    shown = sorted(kept)
    return curve._replace(
        step=tuple(curve.step[index] for index in shown), value=tuple(value[i] for i in shown)
    )


def medians(curve: ThinCurve, blocks: int) -> ThinCurve:
    """Return the median of each of `blocks` stretches at its last step; NaN where it has none.

    A curve of up to `blocks` points stays as it is.
    """
    size = len(curve.step)
    if size <= blocks:
        return curve
    edges = [size * index // blocks for index in range(blocks + 1)]
    middles = []
    for first, last in pairwise(edges):
        near = sorted(one for one in curve.value[first:last] if math.isfinite(one))
        middles.append(near[len(near) // 2] if near else math.nan)
    return curve._replace(
        step=tuple(curve.step[edge - 1] for edge in edges[1:]), value=tuple(middles)
    )


@cache
def tenths(amount: int) -> str:
    """Write tenths of a pixel as short as SVG allows: ``-0.5`` is ``-.5``."""
    whole, rest = divmod(abs(amount), FINEST)
    digits = f"{whole}.{rest}" if whole and rest else f".{rest}" if rest else str(whole)
    return f"-{digits}" if amount < 0 else digits


def path(places: Sequence[Point] | Points) -> str:
    """Return the data of an SVG path through `places` (pixels), as short relative moves.

    A single place becomes a dot, which a round line cap makes visible. Of a level stretch its ends
    are named alone.
    """
    corners = np.rint(np.asarray(places, dtype=np.float64) * FINEST).astype(np.int64)
    if len(corners) > 2:  # noqa: PLR2004 - two ends and what lies between them
        moved = np.diff(corners, axis=0)
        (went, rose), (on, up) = moved[:-1].T, moved[1:].T
        bends = (up != 0) | (rose != 0) | (on * went < 0)
        corners = corners[np.concatenate(([True], bends, [True]))]
    x, y = corners[0].tolist()
    moves = (corners[1:] - corners[:-1]).tolist() or [[1, 0]]
    line = " ".join([f"{tenths(right)} {tenths(down)}" for right, down in moves])
    return f"M{tenths(x)} {tenths(y)}l" + line.replace(" -", "-")
