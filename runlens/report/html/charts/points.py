"""Points of a curve made ready for drawing: stretches, running median, thinning, paths."""

import math
from bisect import bisect_left, insort
from collections.abc import Sequence
from functools import cache
from itertools import groupby, pairwise

from runlens.diagnosis import Mark, ThinCurve

Point = tuple[float, float]
WINDOW = 9  # points of the running median at least
SHARE = 50  # ... and this part of all points, so that a long curve becomes readable
FINEST = 10  # coordinates are written in tenths of a pixel


def finite_stretches(curve: ThinCurve) -> list[list[Point]]:
    """Return the finite points, a list for each stretch between values that are not finite."""
    stretches: list[list[Point]] = [[]]
    for step, value in zip(curve.step, curve.value, strict=True):
        if math.isfinite(value):
            stretches[-1].append((step, value))
        elif stretches[-1]:
            stretches.append([])
    return stretches if stretches[-1] else stretches[:-1]


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
    """Return how far a labelled point is from a curve, in the unit of the curve.

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


def running_median(points: list[Point], width: int = WINDOW) -> list[Point]:
    """Return the centred median of `width` points; a mean would pull a jump towards its past."""
    half = width // 2
    values = [value for _, value in points]
    near = sorted(values[:half])
    made: list[Point] = []
    for index, (step, _) in enumerate(points):
        if index + half < len(values):
            insort(near, values[index + half])
        if index > half:
            del near[bisect_left(near, values[index - half - 1])]
        made.append((step, near[len(near) // 2]))
    return made


def thinned(
    points: list[Point], start: float, width: float, fewest: int, cited: frozenset[float]
) -> list[Point]:
    """Keep the lowest and the highest point of each pixel column, the ends and the cited steps.

    A column is `width` steps wide, the first begins at `start`; up to `fewest` points stay as
    they are. No spike is lost, and a line begins and ends where its values do.
    """
    if len(points) <= fewest:
        return points
    kept = {0, len(points) - 1}
    kept.update(index for index, (step, _) in enumerate(points) if step in cited)
    value = [value for _, value in points]
    columns = [int((step - start) / width) for step, _ in points]
    for _, same in groupby(range(len(points)), key=columns.__getitem__):
        inside = list(same)
        kept.add(min(inside, key=value.__getitem__))
        kept.add(max(inside, key=value.__getitem__))
    return [points[index] for index in sorted(kept)]


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


def path(places: Sequence[Point]) -> str:
    """Return the data of an SVG path through `places` (pixels), as short relative moves.

    A single place becomes a dot, which a round line cap makes visible.
    """
    x, y = (round(pixel * FINEST) for pixel in places[0])
    parts = [f"M{tenths(x)} {tenths(y)}l"]
    for at_x, at_y in places[1:]:
        new_x, new_y = round(at_x * FINEST), round(at_y * FINEST)
        parts.append(f"{tenths(new_x - x)} {tenths(new_y - y)}")
        x, y = new_x, new_y
    if len(parts) == 1:
        parts.append(".1 0")
    return parts[0] + " ".join(parts[1:]).replace(" -", "-")
