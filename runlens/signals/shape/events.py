"""Sudden changes: spikes off the course, and jumps between two phases."""

from collections.abc import Mapping

import numpy as np

from runlens.arrays import median, quantile
from runlens.history import FloatArray, IntArray
from runlens.signals.noise import GAUSSIAN
from runlens.signals.shape.axis import Coarse, unscaled
from runlens.signals.shape.data import Event, EventKind, Point
from runlens.signals.shape.segments import Pieces

TALL = 8.0  # noises from which a point is off the course, and
TAIL = 4.0  # multiples of the 95th percentile of the residuals: heavy tails are no spikes
OF_COURSE = 0.01  # share of the range of the course that counts as noise at least: corners
WIDEST = 0.015  # share of the curve that a spike may last; longer ones are phases
REGAINED = 0.3  # share of the jump that the next piece goes back: a new start goes the old way
BACK = 0.35  # share of the first range within which a curve that jumped back starts anew


def spikes(
    step: IntArray, value: FloatArray, course: FloatArray, scaled: FloatArray, taken: set[int]
) -> list[Event]:
    """Return what stands out of its course for a few points; arrays of shape (n,).

    Not what stands beside a jump, whose first points are in `taken`.
    """
    residual = scaled - course
    noise = GAUSSIAN * float(median(np.abs(residual - median(residual))))
    noise = max(noise, OF_COURSE * float(np.ptp(course)), 1e-12)
    size = np.abs(residual)
    tail = quantile(size, 0.95) if len(size) >= 60 else noise  # noqa: PLR2004 - 3 points
    hit = size > max(TALL * noise, TAIL * tail)
    if not hit.any():
        return []
    inside = np.flatnonzero(hit)
    groups = np.split(inside, np.flatnonzero(np.diff(inside) > 2) + 1)  # noqa: PLR2004 - one between
    longest = max(2.0, WIDEST * len(value))
    return [
        _spike(step, value, course, residual, group, noise)
        for group in groups
        if not taken.intersection(range(group[0] - 2, group[-1] + 3))
        and group[-1] - group[0] + 1 <= longest
        and group[0] > 0
        and group[-1] < len(value) - 1
    ]


def _spike(
    step: IntArray,
    value: FloatArray,
    course: FloatArray,
    residual: FloatArray,
    group: IntArray,
    noise: float,
) -> Event:
    first, last = int(group[0]), int(group[-1])
    peak = int(group[np.argmax(np.abs(residual[group]))])
    before, after = value[first - 1], value[last + 1]
    base = float(median(value[max(0, first - 5) : first]))
    del course
    return Event(
        "spike",
        Point(first - 1, int(step[first - 1]), float(before)),
        Point(first, int(step[first]), float(value[first])),
        Point(peak, int(step[peak]), float(value[peak])),
        level_before=base,
        level_after=float(after),
        noise=float(residual[peak] / noise),
        share=_share(float(value[peak]), base),
        lasts=int(step[last + 1] - step[first]),
        recovers=True,
    )


def jumps(
    step: IntArray,
    value: FloatArray,
    grid: Coarse,
    pieces: Pieces,
    places: Mapping[int, tuple[int, bool]],
) -> list[Event]:
    """Return the jumps between pieces; values of shape (n,), places as `borders` finds them."""
    return [
        _jump(step, value, grid, pieces, (first, end, last), places[end][0])
        for (first, end), (_, last) in zip(pieces.cuts, pieces.cuts[1:], strict=False)
        if places[end][1]
    ]


def _jump(
    step: IntArray,
    value: FloatArray,
    grid: Coarse,
    pieces: Pieces,
    cut: tuple[int, int, int],
    where: int,
) -> Event:
    _, end, last = cut
    height = float(pieces.fitted[end] - pieces.fitted[end - 1])
    before = unscaled(float(pieces.fitted[end - 1]), grid.scale)
    after = unscaled(float(pieces.fitted[end]), grid.scale)
    stop = int(grid.start[last]) if last < len(grid.start) else len(value)
    beyond = value[where:stop] if stop > where else value[where : where + 1]
    peak = where + int(np.argmax(beyond) if height > 0 else np.argmin(beyond))
    kind, back = _kind(value, where, before, after, height)
    regained = -float(pieces.fitted[last - 1] - pieces.fitted[end]) / height
    kind = kind if regained >= REGAINED else "jump"
    return Event(
        kind,
        Point(where - 1, int(step[where - 1]), float(value[where - 1])),
        Point(where, int(step[where]), float(value[where])),
        Point(peak, int(step[peak]), float(value[peak])),
        level_before=before,
        level_after=after,
        noise=height / max(pieces.sigma, 1e-12),
        share=_share(after, before),
        lasts=int((step[back] if back is not None else step[-1]) - step[where]),
        recovers=back is not None,
    )


def _kind(
    value: FloatArray, where: int, before: float, after: float, height: float
) -> tuple[EventKind, int | None]:
    """Return what kind of step it is, and the index at which the curve is back at its level."""
    home = before + 0.1 * (after - before)
    ahead = value[where:] <= home if height > 0 else value[where:] >= home
    lasting = ahead[:-1] & ahead[1:]
    back = where + int(np.argmax(lasting)) if lasting.any() else None
    start, reach = float(value[0]), abs(float(value[0]) - before)
    anew = height * (start - before) > 0 and abs(after - start) <= BACK * reach
    return ("restart" if anew and reach > 0 else "jump"), back


def _share(now: float, base: float) -> float:
    return (now - base) / abs(base) if base else 0.0
