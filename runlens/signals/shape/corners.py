"""Two lines that meet, for few points: a corner costs less evidence than two lines apart."""

import numpy as np

from runlens.history import FloatArray

NEAR = 0.07  # share of the curve by which a corner may lie off the border of two pieces
SEEN = 0.2  # share of the curve on either side that decides where it lies
MOST_POINTS = 24  # beyond, lines apart are found as well


def corners(step: FloatArray, y: FloatArray) -> list[tuple[int, FloatArray, int]]:
    """Return the best curve of each form as (knot, fitted, slopes), shapes (m,), m of 5 and more.

    The forms: a slope and then flat, flat and then a slope, two slopes. The knot is the last point
    of the first part.
    """
    count = len(y)
    if not 5 <= count <= MOST_POINTS:  # noqa: PLR2004 - below, no corner leaves a point to judge by
        return []
    knots = np.arange(1, count - 2)
    away = (step[None, :] - step[knots][:, None]) / (step[-1] - step[0] or 1.0)  # (k, m)
    ones, left, right = np.ones_like(away), np.minimum(away, 0.0), np.maximum(away, 0.0)
    found = []
    for slopes, parts in ((1, (ones, left)), (1, (ones, right)), (2, (ones, left, right))):
        design = np.stack(parts, axis=2)  # (k, m, p)
        fitted = (design @ (np.linalg.pinv(design) @ y)[:, :, None])[:, :, 0]
        best = int(np.argmin(((fitted - y) ** 2).sum(axis=1)))
        found.append((int(knots[best]), fitted[best], slopes))
    return found


def corner_near(
    step: FloatArray, y: FloatArray, border: int, bounds: tuple[int, int], flat: tuple[bool, bool]
) -> int:
    """Return the first block after the corner at which two lines meet best, near a border.

    Pieces apart leave the border where noise, or a bend before the corner, happens to put it.
    `bounds` are the first block of the part before and the end of the part after, `flat` says
    which of them lies flat. The border itself where there is no room.
    """
    near, seen = round(NEAR * len(y)), round(SEEN * len(y))
    low, high = max(bounds[0], border - seen), min(bounds[1], border + seen)
    knots = np.arange(max(low + 2, border - near), min(high - 2, border + near + 1))
    if len(knots) < 2 or high - low < 8:  # noqa: PLR2004 - no corner to choose
        return border
    x, some = step[low:high], y[low:high]
    away = (x[None, :] - step[knots][:, None]) / (x[-1] - x[0] or 1.0)
    parts = [np.ones_like(away)]
    parts += [] if flat[0] else [np.minimum(away, 0.0)]
    parts += [] if flat[1] else [np.maximum(away, 0.0)]
    design = np.stack(parts, axis=2)
    fitted = (design @ (np.linalg.pinv(design) @ some)[:, :, None])[:, :, 0]
    return int(knots[np.argmin(((fitted - some) ** 2).sum(axis=1))]) + 1
