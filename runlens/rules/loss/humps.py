"""Slow rises of a positive loss that came back: humps of its smooth course."""

import numpy as np

from runlens.history import FloatArray
from runlens.rules.loss.spike_forms import BACK, CLEAR, NONE, SETTLED, SHORT, Limits, Seen, floored
from runlens.rules.rule import drawn
from runlens.signals.changes import Climb, climb
from runlens.signals.held_out import SCATTERS
from runlens.signals.noise import sigma_diff, smooth
from runlens.signals.shape import Shape


def hump(shape: Shape, limits: Limits) -> Seen:
    """Return the largest slow rise that came back, of a positive loss; what it was is left open."""
    found = _hump(shape, limits, limits.sharp_ratio)
    return NONE if found is None else _seen(shape.value, found, found[0].low)


def lone(shape: Shape, limits: Limits) -> Seen:
    """Return a hump whose smooth course is as high as a tall spike of an unknown task.

    And four times all that the course, once it had settled, rises elsewhere: one that wanders so
    far goes up and down at other times too. Nothing says that data are so much harder.
    """
    found = _hump(shape, limits, limits.other_ratio)
    if found is None:
        return NONE
    rise, last = found
    value, logs = shape.value, np.log(smooth(shape.value))
    fall = max(float(logs[0] - logs[rise.low]), 0.0)
    settled = int(np.argmax(logs <= logs[rise.low] + SETTLED * fall))
    others = max(climb(logs[settled : rise.low + 1]).height, climb(logs[last:]).height)
    clear = float(value[rise.low]) + CLEAR * sigma_diff(value)
    flat = np.flatnonzero(value[rise.low : rise.top] <= clear)
    seen = _seen(value, found, rise.low + int(flat[-1]))  # the course rises before the points do
    high = seen.peak >= limits.other_ratio * floored(value, seen.base)
    return seen.kept(high & (rise.height > SCATTERS * others))


def _hump(shape: Shape, limits: Limits, ratio: float) -> tuple[Climb, int] | None:
    """Return the largest rise of the course, and the index at which half of it is undone.

    One whose top lies in the first rows, of which no spike is told, is the start of the run, as of
    a running mean of its first batches.
    """
    value = shape.value
    course = smooth(value)
    if len(value) < SHORT or course.min() <= 0:
        return None
    rise = climb(np.log(course))
    least = max(np.log(ratio), limits.z * sigma_diff(np.log(np.maximum(value, 1e-12))))
    if not rise.height >= least or rise.left > BACK:  # NaN, where losses beyond 1e307 were summed
        return None
    if rise.top < limits.early * len(value):
        return None
    half = course[rise.low] + BACK * (course[rise.top] - course[rise.low])
    return rise, rise.top + int(np.argmax(course[rise.top :] <= half))


def _seen(value: FloatArray, found: tuple[Climb, int], low: int) -> Seen:
    """Return a hump whose level is that of the point `low`, the last one before it."""
    base, last = float(value[low]), found[1]
    peak = float(value[low + 1 : last + 1].max())
    row = (low + 1, peak / max(base, 1e-12), peak, base, last - low - 1)
    return Seen(*np.array([row], dtype=float).T)


BAD = (
    drawn(
        "a slow hump, and evaluation with it",
        (400, 450),
        severity="warning",
        train_loss="0:3 400:1.4 500:2.1 600:2.1 700:1.4 1200:1.2",
        eval_loss="50:2.9 400:1.5 500:2.1 600:2.1 700:1.5 1200:1.3",
    ),
    drawn(
        "far above its level late in the run, bit by bit, and far below its first rows",
        (900, 930),
        0.001,
        severity="warning",
        task="other",
        train_loss="0:2e6 30:5e5 60:4e4 120:2.2e4 400:1.9e4 900:1.8e4 930:2e5 945:4e5 960:1e5 "
        "980:2.5e4 1000:2.4e4",
    ),
)
GOOD = (
    drawn(
        "a slow hump of harder data",
        train_loss="0:3 400:1.4 500:2.1 600:2.1 700:1.4 1200:1.2",
        eval_loss="50:2.9 400:1.5 1200:1.3",
    ),
    drawn(
        "next to nothing of its first rows",
        noise=0.001,
        task="other",
        train_loss="0:2e6 30:5e5 60:4e4 120:2.2e3 400:1.9e3 900:1.8e3 930:2e4 945:3e4 960:1e4 "
        "980:2.5e3 1000:2.4e3",
    ),
    drawn(
        "wanders as far at other times",
        noise=0.001,
        task="other",
        train_loss="0:2e6 30:5e5 60:4e4 120:2.2e4 400:1.9e4 430:6e4 500:6e4 530:2e4 900:1.8e4 "
        "930:2e5 945:4e5 960:1e5 980:2.5e4 1000:2.4e4",
    ),
)
