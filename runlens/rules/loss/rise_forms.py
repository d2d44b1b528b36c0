"""A training loss that rises for good, read from its shape."""

import math
from typing import Literal

import numpy as np
from msgspec import Struct

from runlens.arrays import median
from runlens.history import FloatArray
from runlens.records import NamedTuple
from runlens.signals.noise import (
    GAUSSIAN,
    MEDIAN_LOSS,
    sigma,
    sigma_diff,
    sigma_long,
    smooth,
    window,
)
from runlens.signals.onsets import ERRORS, left_noise
from runlens.signals.shape import Shape, student
from runlens.signals.shape.chance import T_995
from runlens.wording import loss, percent

NOTHING = 0.01  # of the level: as stuck-at-chance has it
ROUNDING = 1e-9  # of the best: no rise, but the last digit of a mean
CROSSED = 0.1  # of the rise: the course lies above it for good from the onset on
UNDONE = 0.5  # of the peak: a loss that fell back by more and falls on is in a new stage
STILL = 0.05  # of the peak in the second half behind it: the loss falls on
LASTS = 0.03  # share of the points behind the onset that a rise must cover; two points at least
LONG = 0.2  # share of the points that a small rise must last
HALF = 0.5  # of the rise at one point: a jump
SUMMED, ALIKE = 100.0, 10.0  # times the first: a sum over more steps than the first row has
OWN = 1.25  # times a first value that no later one comes near: it is a level of its own
WANDERS = 2.0  # scales of slow wandering that the rise must exceed as well
TENTH = 10  # of the points: the level at the end
FEW = 12  # points below which each one counts for itself
FEW_ERRORS = 1.5  # on the error of few points, which errs to the small side
RISES, BY_CHANCE = 3, 0.005  # points behind the best of a turn; its chance, as that of T_995
SELDOM, TWICE = 0.1, 2  # share of the points, and times, that a loss lay at a level it only visits
LEVEL, FLOOR = 0.25, 0.05  # of the level, as of a rise that counts; of the start: none lies lower
HUGE = 10.0  # times the best: a rise that no later point has to confirm


class Limits(Struct, frozen=True):
    """What may be tuned."""

    level: float = 0.25
    gain: float = 0.10
    gain_alone: float = 0.33
    errors: float = 4.0
    slow: float = 0.10
    all_lost: float = 0.25
    other_factor: float = 2.0
    won: float = 0.05
    grew: float = 2.0


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
    falls: str = ""  # says that most of it is undone and the loss still falls

    @property
    def height(self) -> float:
        """The rise over the best."""
        return self.end - self.best


class Ends(NamedTuple):
    """The best and the last level of a curve, with the standard error of their difference."""

    best: float
    best_at: int
    end: float
    error: float
    left: bool = False  # the very next point is above it, and all behind that


def _ends(shape: Shape, errors: float) -> Ends:
    """Return the best and the last level: of smooth courses, of points where there are few."""
    value = shape.value
    if len(value) >= FEW:
        course, tail = smooth(value), value[-max(3, len(value) // TENTH) :]
        end = float(median(tail))
        edge = min(window(len(value)) // 2, len(value) // TENTH)  # it leans on repeated values
        at = edge + int(np.argmin(course[edge:]))
        best = float(course[at])
        scale = shape.noise.sigma * (abs(best) if shape.scale == "log" else 1.0)
        widened = math.sqrt((1 + shape.noise.memory) / (1 - shape.noise.memory) / len(tail))
        before = min(scale, sigma(value[: at + 1])) if at >= FEW else scale  # it may have grown
        if (first := _left(value, max(edge, 1), end)) is not None:
            return Ends(first, 0, end, 0.0)  # that none comes near is the evidence
        error = math.hypot(before / 2, MEDIAN_LOSS * scale * widened)
        # a tenth of the run all far above whatever came before: no noise explains it
        beyond = float(tail.min()) > HUGE * float(value[: at + 1].max()) > 0
        return Ends(best, at, end, 0.0 if beyond else error)
    at = int(np.argmin(value))
    tail = value[max(at + 1, len(value) - 3) :]
    end_level = float(median(tail)) if len(tail) else float(value[at])
    if shape.phases[-1].kind == "rise":
        end_level = max(end_level, shape.final_level().value)
    error = FEW_ERRORS * _scatter(value)
    if left := _turns(value) or (not at and _apart(value)) or _escalates(value):
        error = 0.0
    elif at:  # what the points before it leave open is no less exact, and knows no ramp
        error = min(error, student(np.diff(value[: at + 1])) / errors)
    error *= math.sqrt(1 + 1 / max(len(tail), 1))
    return Ends(float(value[at]), at, end_level, error, left and not _escalates(value))


def _left(value: FloatArray, edge: int, end: float) -> float | None:
    """Return the level of first points that no later one comes near; None where there is none."""
    highest = np.maximum.accumulate(value[:edge])
    later = np.minimum.accumulate(value[::-1])[::-1][1 : edge + 1]
    apart = np.flatnonzero((later > OWN * highest) & (highest > 0))
    if not len(apart):
        return None
    first = float(median(value[: int(apart[-1]) + 1]))
    summed = float(later[apart[-1]]) > SUMMED * first and value.max() < ALIKE * end
    return None if summed else first


def _apart(value: FloatArray) -> bool:
    """Whether a first point lies off all later ones by more than their scatter leaves open.

    Student's t on logarithms, 1 in 200; the least of the later ones is well above it, too.
    """
    first, later = float(value[0]), value[1:]
    summed = later.min() > SUMMED * first and later.max() < ALIKE * later.min()
    if first <= 0 or later.min() <= OWN * first or summed:
        return False
    logs = np.log(later / first)
    scatter = float(logs.std(ddof=1)) * math.sqrt(1 + 1 / len(later))
    return float(logs.mean()) > T_995[len(later) - 2] * scatter


def _escalates(value: FloatArray) -> bool:
    """Whether the last two points each lie far above all before: no odd batch does that twice."""
    earlier, last = float(value[:-2].max(initial=0.0)), value[-2:]
    return 0 < HUGE * earlier < float(last[0]) and HUGE * float(last[0]) < float(last[1])


def _turns(value: FloatArray) -> bool:
    """Whether points fall one by one to the best and rise one by one behind it, thrice or more.

    Of n points in a random order 2 ** (n - 1) of n! do: fewer than 1 in 200 from eight on.
    """
    steps, at = np.diff(value), int(np.argmin(value))
    likely = 2 ** (len(value) - 1) / math.factorial(len(value)) > BY_CHANCE
    return (
        not likely
        and len(steps) - at >= RISES
        and bool((np.sign(steps[at:]) > 0).all() and (steps[:at] < 0).all())
    )


def _wandering(value: FloatArray) -> float:
    """Return the noise of levels: what wanders slowly looks like a rise; 0.0 for few points."""
    return sigma_long(value) if len(value) >= FEW else 0.0


def _scatter(value: FloatArray) -> float:
    """Return the noise of few points: of neighbors, or about a line, without the largest change.

    One jump and one ramp leave at least one of the two alone; it errs to the small side.
    """
    steps, bends = np.sort(np.abs(np.diff(value)))[:-1], np.sort(np.abs(np.diff(value, n=2)))
    level = GAUSSIAN * float(median(steps)) / math.sqrt(2.0)
    slope = GAUSSIAN * float(median(bends[: max(1, len(bends) - 2)])) / math.sqrt(6.0)
    return min(level, slope)


def rise_of(shape: Shape, limits: Limits, factor: float) -> Rise | str:
    """Look for a rise to the end; a text says why there is none."""
    ends = _ends(shape, limits.errors)
    best, best_at, height = ends.best, ends.best_at, ends.end - ends.best
    if height <= ROUNDING * abs(best):
        return "loss is best at the end"
    start = float(shape.first.value)
    fall = max(start - best, 0.0)
    needed = factor * _needed(best, fall, limits)
    error = limits.errors * ends.error
    if best_at and ends.error:
        error = max(error, WANDERS * _wandering(shape.value))
    at, jump = _onset(shape.value, best_at, best, height, left=ends.left)
    if visited := _dipped(shape.value[:at], best, ends.end):
        return visited
    behind = len(shape.value) - at
    slow = height < needed
    if slow:
        needed = factor * limits.slow * abs(best)
        if behind < LONG * len(shape.value) or factor > 1:
            needed = float("inf")
    if height < max(needed, error):
        least = max(factor * _needed(best, fall, limits), error)
        return f"loss ends {loss(height)} above its best {loss(best)} (threshold {loss(least)})"
    if behind < max(2.0, LASTS * len(shape.value)) and not _confirmed(shape, at):
        return "loss rose only in the last points"
    kind: Literal["from best", "from start", "slow"] = "slow" if slow else "from best"
    if not slow and best_at == 0:
        kind = "from start"
    back = _came_down(shape, at, best, height, fall)
    return Rise(at, best, best_at, start, ends.end, fall, needed, jump, kind, back)


def _needed(best: float, fall: float, limits: Limits) -> float:
    """Return the rise that counts: a third of the gain, less where the level itself grows much.

    Of a loss that was never below its start there is no gain, nor where it was by what no practice
    calls learning: a share of the level counts.
    """
    if fall <= NOTHING * abs(best):
        return limits.slow * abs(best)
    return min(limits.gain_alone * fall, max(limits.level * abs(best), limits.gain * fall))


def _dipped(before: FloatArray, best: float, end: float) -> str:
    """Say that a loss lay at its best only at times, and as high as at its end all else.

    It had left it before: so do data in an order, one text easier than the others, not a model
    that learned and lost it. One that unlearned once was low for longer, or once.
    """
    course = smooth(before)
    low = course < best + HALF * (end - best)
    if len(before) < FEW or low.mean() > SELDOM or float(median(before)) < end:
        return ""
    side = np.sign(np.where(low, -1, course >= end))  # 0 between both: neither
    turns = side[side != 0]
    visits = int((np.diff(turns, prepend=1) < 0).sum())
    if visits < TWICE:
        return ""
    share = percent(float(low.mean()))
    return f"loss was at {loss(best)} at times, {visits} times in {share} of the points"


def _came_down(shape: Shape, at: int, best: float, height: float, fall: float) -> str:
    """Say that most of the rise is undone and the loss still falls: a new stage of the task."""
    course = smooth(shape.value)[at:]
    top = int(np.argmax(course))
    peak, halfway = float(course[top]) - best, float(course[(top + len(course)) // 2]) - best
    if len(course) - top <= len(course) // 10:
        return ""  # it is still rising
    if height < UNDONE * peak and height < fall and halfway - height >= STILL * peak:
        return f"loss falls again, to {loss(best + height)} from {loss(best + peak)}"
    return ""


def _confirmed(shape: Shape, at: int) -> bool:
    """Whether the last point alone is beyond doubt."""
    before = shape.value[:at]
    return bool(len(before)) and float(shape.value[at:].min()) > HUGE * float(before.max())


def _onset(
    value: FloatArray, best_at: int, best: float, height: float, *, left: bool
) -> tuple[int, bool]:
    """Return (index, whether it is a jump) of where the rise begins, on the points as logged.

    From there on the smooth course stays above a tenth of the rise, or its noise so far where that
    is more; or above the noise about the best where that is less; or above the best, where that is
    `left` beyond doubt. Few points that rise by orders of magnitude leave their level, whose share
    is the border, long before a tenth of that. The lowest row of all is none of a rise.
    """
    course = value if len(value) < FEW else smooth(value)
    known, half = value[: best_at + 1], HALF * height
    scatter = sigma_diff(known) if len(known) >= FEW else 0.0
    clear = min(max(CROSSED * height, ERRORS * scatter / math.sqrt(window(len(value)))), half)
    if len(value) < FEW and height > HUGE * best:
        clear = min(clear, LEVEL * max(best, FLOOR * float(value[0])))
    below = np.flatnonzero(course[best_at:] <= best + (0.0 if left else clear))
    low = best_at + (int(below[-1]) if len(below) else 0)
    reach = 0 if len(value) < FEW or half < ERRORS * scatter else window(len(value)) // 2
    near = np.flatnonzero(value[max(low - reach, 0) + 1 : low + reach + 2] > best + half)
    crossed = low + 1 if not len(near) else max(low - reach, 0) + 1 + int(near[0])
    at = min(max(min(crossed, low + 1), best_at + 1), len(value) - 1)
    near_by = at + int(np.argmin(value[at : at + window(len(value)) // 2 + 1]))
    if len(value) >= FEW and near_by < len(value) - 1 and value[near_by] <= value.min():
        at = near_by + 1
    if float(value[at] - value[at - 1]) >= max(half, ERRORS * scatter):
        return at, True
    if len(value) < FEW or left:
        return at, False
    # an earlier rise that was undone is one of its own: what lasts begins behind it
    undone = np.flatnonzero(course[best_at:at] > best + half)
    lowest = best_at
    if len(undone):
        lowest += int(undone[-1])
        lowest += int(np.argmin(course[lowest : at + 1]))
    return left_noise(value, lowest, at, clear), False
