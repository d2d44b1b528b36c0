"""Two lines that meet, for few points: a corner costs less evidence than two lines apart."""

import numpy as np

from runlens.history import FloatArray
from runlens.signals.shape.limits import corner_limit

MOST_POINTS = 24  # beyond, lines apart are found as well


def corners(step: FloatArray, y: FloatArray) -> list[tuple[int, FloatArray, float]]:
    """Return the best curve of each form as (knot, fitted, limit), shapes (m,), m of 5 and more.

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
        found.append((int(knots[best]), fitted[best], corner_limit(count, slopes)))
    return found
