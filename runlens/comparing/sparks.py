"""The curves of many runs in one cell each: on one scale, so that cells of a table compare."""

from collections.abc import Sequence

import numpy as np

from runlens.history import Curve, FloatArray
from runlens.run import Run

POINTS, HEIGHT = 24, 20  # across the longest run, and from the lowest value to the highest
NOTHING = -1  # no number


def heights(runs: Sequence[Run], metric: str, *, lower: bool) -> list[tuple[int, ...]]:
    """Return the values at 24 places of the longest run as 0 to 20, up to each run's end.

    One scale for all: from the best value to the worst one of the median run; what lies beyond is
    cut off, so that an explosion does not flatten the others. -1 where there is no number.
    """
    curves = [run.curve(metric).finite() for run in runs]
    longest = max((int(one.step[-1]) for one in curves if len(one)), default=0)
    drawn = [_at_places(one, longest) for one in curves]
    sign = 1.0 if lower else -1.0
    known = [sign * one[np.isfinite(one)] for one in drawn]
    known = [one for one in known if len(one)]
    if not known:
        return [() for _ in runs]
    best = min(float(one.min()) for one in known)
    worst = float(np.median([one.max() for one in known]))
    low, high = (best, worst) if lower else (-worst, -best)
    width = high - low or 1.0
    return [_drawn(one, low, width) for one in drawn]


def _at_places(curve: Curve, longest: int) -> FloatArray:
    """Return the values at the places, shape (up to 24,); NaN before the first."""
    if not len(curve):
        return np.empty(0)
    at = np.linspace(0, longest, POINTS)
    at = at[at <= curve.step[-1] + longest / (POINTS - 1) / 2]
    value = np.interp(at, curve.step, curve.value)
    return np.where(at < curve.step[0], np.nan, value)


def _drawn(value: FloatArray, low: float, width: float) -> tuple[int, ...]:
    share = np.clip((value - low) / width, 0, 1)
    whole = np.where(np.isnan(share), NOTHING, np.round(HEIGHT * np.nan_to_num(share)))
    return tuple(whole.astype(int).tolist())
