"""A training loss that rises for good, read from its shape."""

import math
from typing import Literal, NamedTuple

import numpy as np

from runlens.signals.shape import Shape
from runlens.wording import loss

ROUNDING = 1e-9  # of the best: no rise, but the last digit of a mean
CROSSED = 0.1  # of the rise: the course lies above it for good from the onset on
UNDONE = 0.5  # of the peak: a loss that fell back by more and falls on is in a new stage
LASTS = 0.03  # share of the points behind the onset that a rise must cover; two points at least
LONG = 0.2  # share of the points that a small rise must last
HUGE = 10.0  # times the best: a rise that no later point has to confirm


class Bounds(NamedTuple):
    """The limits of the rule that the reading needs; explained on its page."""

    level: float
    gain: float
    gain_alone: float
    errors: float
    slow: float


class Rise(NamedTuple):
    """A rise to the end of the curve. Indices are those of the finite points."""

    at: int  # index of the onset
    best: float  # the level it rose from
    best_at: int
    start: float
    end: float
    fall: float  # what had been gained at the best
    needed: float  # rise that counts
    jump: bool
    kind: Literal["from best", "from start", "slow"]

    @property
    def height(self) -> float:
        """The rise over the best."""
        return self.end - self.best


def rise_of(shape: Shape, limits: Bounds, factor: float) -> Rise | str:
    """Look for a rise to the end; a text says why there is none."""
    best, end = shape.best_level(), shape.final_level()
    height = end.value - best.value
    if height <= ROUNDING * abs(best.value):
        return "loss is best at the end"
    start = float(shape.first.value)
    until = shape.trend[shape.trend_step <= best.since]
    fall = max(float(until.max(initial=start)), start) - best.value
    needed = factor * _needed(best.value, fall, limits)
    error = limits.errors * math.hypot(best.error, end.error)
    best_at = int(np.searchsorted(shape.step, best.since))
    at, jump = _onset(shape, best_at, best.value, height)
    behind = len(shape.value) - at
    slow = height < needed
    if slow:
        needed = factor * limits.slow * abs(best.value)
        if behind < LONG * len(shape.value):
            needed = float("inf")
    if height < max(needed, error):
        least = max(factor * _needed(best.value, fall, limits), error)
        return f"loss ends {loss(height)} above its best {loss(best.value)}; {loss(least)} counts"
    if behind < max(2.0, LASTS * len(shape.value)) and not _confirmed(shape, at):
        return "loss rose only in the last points"
    if reason := _came_down(shape, best.value, height, fall):
        return reason
    kind: Literal["from best", "from start", "slow"] = "slow" if slow else "from best"
    if not slow and best_at == 0:
        kind = "from start"
    return Rise(at, best.value, best_at, start, end.value, fall, needed, jump, kind)


def _needed(best: float, fall: float, limits: Bounds) -> float:
    """Return the rise that counts: a share of the gain, smaller where the level rises much."""
    return min(limits.gain_alone * fall, max(limits.level * abs(best), limits.gain * fall)) or (
        limits.level * abs(best)
    )


def _came_down(shape: Shape, best: float, height: float, fall: float) -> str:
    """Say that most of the rise is undone and the loss still falls: a new stage of the task."""
    last = shape.phases[-1]
    after = shape.trend[shape.trend_step >= last.first.step]
    peak = max(last.highest.value, float(after.max()) if len(after) else best) - best
    if last.kind == "fall" and height < UNDONE * peak and height < fall:
        return f"loss falls again, to {loss(best + height)} from {loss(best + peak)}"
    return ""


def _confirmed(shape: Shape, at: int) -> bool:
    """Whether the last point alone is beyond doubt."""
    before = shape.value[:at]
    return bool(len(before)) and float(shape.value[at:].min()) > HUGE * float(before.max())


def _onset(shape: Shape, best_at: int, best: float, height: float) -> tuple[int, bool]:
    """Return (index, whether it is a jump) of where the rise begins, on the points as logged.

    The course does not come below a tenth of the rise again after it; a jump there dates it.
    """
    low = np.flatnonzero(shape.trend <= best + CROSSED * height)
    crossed = float(shape.trend_step[low[-1]]) if len(low) else float(shape.step[best_at])
    reach = max(3.0 * float(np.median(np.diff(shape.trend_step))), 1.0)
    for event in shape.events:
        size = event.level_after - event.level_before
        if event.kind in {"jump", "restart"} and size >= 0.5 * height:
            near = crossed - reach <= event.after.step <= crossed + 2 * reach
            if near and event.after.step > shape.step[best_at]:
                return int(np.searchsorted(shape.step, event.after.step)), True
    at = int(np.searchsorted(shape.step, crossed, side="right"))
    at = min(max(at, best_at + 1), len(shape.value) - 1)
    leap = float(shape.value[at] - shape.value[at - 1]) if at else 0.0
    return at, leap >= 0.5 * height
