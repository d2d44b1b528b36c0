"""What rules ask of a shape: levels, rises after the best point, departures, with evidence."""

import math
from typing import TYPE_CHECKING

import numpy as np

from runlens.arrays import median
from runlens.history import FloatArray
from runlens.signals.noise import MEDIAN_LOSS
from runlens.signals.shape.chance import above, either, t_tail
from runlens.signals.shape.data import NAN, NOWHERE, Change, Effect, Level, Point

if TYPE_CHECKING:
    from runlens.signals.shape.shape import Shape

EXTREMES = np.errstate(over="ignore", invalid="ignore")  # values near the largest float
FEWEST = 4  # points below which no question has an answer
UNCHANGED = Effect()
NO_CHANGE = Change(NOWHERE, NOWHERE, UNCHANGED, 1.0)
TAIL_SHARE = 0.1  # of the points, where no flat phase ends the curve


@EXTREMES
def final_level(shape: "Shape") -> Level:
    """Return the level at the end: of a last flat, where a last fall or rise leads, else a median.

    The standard error is of a median, widened by the memory of the noise; that of the end of a
    line is twice that of its middle.
    """
    value, step = shape.value, shape.step
    if len(value) < FEWEST:
        return Level(
            float(value[-1]) if len(value) else NAN, NAN, int(step[-1]) if len(step) else 0
        )
    last = next((p for p in reversed(shape.phases) if p.kind != "gone"), None)
    count = max(2, round(TAIL_SHARE * len(value)))
    if last is not None and last.kind in {"flat", "frozen"}:
        inside = int(np.sum((step >= last.first.step) & (step <= last.last.step)))
        count = max(1, inside)
    if last is not None and last.kind in {"fall", "rise"} and shape.phases[-1] is last:
        course = value[step >= last.first.step]
        return Level(float(shape.trend[-1]), 2.0 * _error(shape, course), int(last.first.step))
    tail = value[-count:]
    return Level(float(median(tail)), _error(shape, tail), int(step[-count]))


def _error(shape: "Shape", some: FloatArray) -> float:
    memory = shape.noise.memory
    sigma = _sigma_at(shape, float(median(some)))
    return MEDIAN_LOSS * sigma * math.sqrt((1 + memory) / (1 - memory) / len(some))


def _sigma_at(shape: "Shape", level: float) -> float:
    """Return the noise of one point in the unit of the curve, at a level."""
    return shape.noise.sigma * abs(level) if shape.scale == "log" else shape.noise.sigma


@EXTREMES
def rose_after_best(shape: "Shape", *, higher: bool) -> Change:
    """Return how far the end lies on the bad side of the best point."""
    sign = -1.0 if higher else 1.0
    value = sign * shape.value
    if len(value) < FEWEST:
        return NO_CHANGE
    at = int(np.argmin(value))
    best = point(shape, at)
    after = value[at + 1 :]
    if not len(after):
        return Change(best, best, Effect(), 1.0)
    count = max(1, min(len(after), max(2, round(TAIL_SHARE * len(value)))))
    tail = after[-count:]
    level = float(median(tail))
    sigma = _sigma_at(shape, abs(float(value[at])))
    luck = sigma * _lucky(min(_near(value, at, sigma), len(value)))
    change = max(level - float(value[at]) - luck, 0.0)
    error = sigma * math.sqrt(1.0 + 1.0 / count)
    free = max(len(value) - 3, 1)
    by_size = t_tail((level - float(value[at]) - luck) / error, free) / 2 if error > 0 else 0.0
    chance = either(by_size, _later(value, at)) if change > 0 else 1.0
    return Change(
        best, point(shape, len(value) - 1), effect(shape, sign * change, best.value), chance
    )


def _near(value: FloatArray, at: int, sigma: float) -> int:
    """Return how many points lie so near the best that any of them could have been it."""
    return int(np.sum(value <= value[at] + 3.0 * sigma))


def _lucky(count: int) -> float:
    """Return how many noises the lowest of `count` lies below their mean (Blom 1958)."""
    if count <= 1:
        return 0.0
    return math.sqrt(2.0) * _inverse_erf(1.0 - 2.0 * (1.0 - 0.375) / (count + 0.25))


def _inverse_erf(y: float) -> float:
    """Return the inverse error function, by Winitzki's formula (2008), to 2e-3."""
    a, part = 0.147, math.log(1.0 - y * y)
    head = 2.0 / (math.pi * a) + part / 2.0
    return math.sqrt(math.sqrt(head * head - part / a) - head)


def _later(value: FloatArray, at: int) -> float:
    """Return the chance that the values after the best lie above those around it, by ranks."""
    after = value[at + 1 :]
    half = len(after) // 2
    early, late = after[:half], after[half:]
    if len(after) < FEWEST:
        return 1.0
    return above(np.append(early, value[at]), late)


@EXTREMES
def fell_overall(shape: "Shape") -> Change:
    """Return the change from the first value as logged to the final level."""
    if len(shape.value) < FEWEST:
        return NO_CHANGE
    end = final_level(shape)
    start = float(shape.value[0])
    sigma = _sigma_at(shape, max(abs(start), abs(end.value)))
    error = math.hypot(sigma, 0.0 if math.isnan(end.error) else end.error)
    change = end.value - start
    free = max(len(shape.value) - 2, 1)
    chance = t_tail(change / error, free) if error > 0 else float(change == 0)
    return Change(
        point(shape, 0), point(shape, len(shape.value) - 1), effect(shape, change, start), chance
    )


def point(shape: "Shape", at: int) -> Point:
    """Return a finite point by its place among the finite ones."""
    return Point(int(shape.index[at]), int(shape.step[at]), float(shape.value[at]))


def effect(shape: "Shape", change: float, base: float) -> Effect:
    """Return a change in the unit of the curve, four ways."""
    span = float(np.ptp(shape.trend)) if len(shape.trend) else 0.0
    scaled, whole = change, span
    low = float(shape.trend.min(initial=math.inf))  # 0 where the trend falls below any number
    if shape.scale == "log" and base > 0 and base + change > 0 and low > 0:
        scaled = math.log1p(change / base)
        whole = math.log(float(shape.trend.max()) / low)
    sigma = shape.noise.sigma
    return Effect(
        change,
        change / abs(base) if base else 0.0,
        scaled / whole if whole > 0 else 0.0,
        scaled / sigma if sigma > 0 else 0.0,
    )
