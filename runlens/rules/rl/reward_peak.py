"""Where a reward was best, what came before and after."""

import numpy as np

from runlens.arrays import quantile
from runlens.history import FloatArray
from runlens.records import NamedTuple
from runlens.rules.rl import policy
from runlens.rules.rl.falls import BEGUN, by_order, lasting_fall, main_fall
from runlens.signals.noise import inflation, mad, sigma_long
from runlens.signals.shape import Shape

CONFIRMED = 0.5  # of the fall that the phases of the shape must show
TENTH = 10  # of the way to the peak: the first steps gain much that is soon gained again
SURE = 1e-3  # chance of a fall that is judged by itself, as that of the order of points
FEW_RETURNS = 200  # from which a tenth has 20 points, and its mean an error
ERRORS = 3.0  # standard errors: less is no fall
TENTHS = 2.563  # standard deviations from the first to the last tenth of a normal distribution


class Peak(NamedTuple):
    """Where the reward was best, what came before and after; levels are medians."""

    at: int
    best: float
    start: float
    early: float  # a tenth of the way to the peak
    end: float
    noise: float
    onset: int
    chance: float  # that noise alone shows such a fall
    late: int  # points of a fall within the last tenth; 0 for none

    @property
    def gain(self) -> float:
        """What had been gained at the peak."""
        return max(self.best - self.start, 0.0)

    @property
    def drop(self) -> float:
        """What was lost after it."""
        return self.best - self.end


def peak_of(shape: Shape, *, classic: bool) -> Peak:
    """Find the peak of a reward; `classic`: of episodes, whose rewards may be of two kinds."""
    value = shape.value
    course = policy.course(value)
    at = int(np.argmax(course))
    late = _late(shape)
    best, end = float(course[at]), policy.last_level(value, late)
    if len(value) < policy.FEW:
        end = float(value[-2:].max())  # one last point alone is no fall
    start = min(float(course[0]), shape.level_at(float(shape.step[0])))
    onset = _begins(value, course, at, end)
    # after the fall a reward of 0 has no noise: take it from before as well
    before = value[: onset + 1] - course[: onset + 1]
    noise = max(mad(before), sigma_long(value) if len(value) >= policy.FEW else 0.0)
    if classic:  # episodes of two kinds: their median scatter is that of one kind
        noise = max(noise, (quantile(before, 0.9) - quantile(before, 0.1)) / TENTHS)
    first = at if late or len(value) < policy.FEW else main_fall(course, at, end, noise)
    if first < at:
        at, best, onset = first, float(course[first]), _begins(value, course, first, end)
    early = float(course[at // TENTH])
    fell = shape.level_at(float(shape.step[at])) - shape.final_level().value
    chance = by_order(value, at)
    if fell >= CONFIRMED * (best - end):
        chance = min(chance, shape.rose_after_best(higher=True).chance)
    if late:
        chance = min(chance, shape.phases[-1].chance)
    return Peak(at, best, start, early, end, noise, onset, chance, late)


def _begins(value: FloatArray, course: FloatArray, at: int, end: float) -> int:
    """Return the index at which the fall from a peak to the end begins."""
    fallen = course[at] - BEGUN * (course[at] - end)
    onset = at + lasting_fall(course[at:] < fallen)
    return onset + int(
        np.argmax(value[onset:] < fallen)
    )  # as logged: a mean falls before its points


class Means(NamedTuple):
    """Mean returns of tenths of a run, of which the last lies far below an earlier one."""

    at: int  # index of the first point after the last tenth that kept half of it
    best: float
    last: float


def means_lost(value: FloatArray, share: float) -> Means | None:
    """Return the means if that of the last tenth lies far below that of a tenth before.

    By more than a share of what had been gained, and more than their errors. A return is a mean:
    what medians leave out, episodes that fail, is a part of it.
    """
    tenths = np.array_split(value, TENTH)
    means = np.array([float(tenth.mean()) for tenth in tenths])
    errors = [float(part.std()) * inflation(part) / len(part) ** 0.5 for part in tenths]
    best = int(np.argmax(means))
    lost, error = means[best] - means[-1], (errors[best] ** 2 + errors[-1] ** 2) ** 0.5
    if lost <= share * (means[best] - means[0]) or lost <= ERRORS * error:
        return None
    held = int(np.flatnonzero(means >= means[best] - lost / 2)[-1])
    after = sum(len(tenth) for tenth in tenths[: held + 1])
    return Means(after, float(means[best]), float(means[-1]))


def _late(shape: Shape) -> int:
    """Return how many points a fall has that begins within the last tenth; 0 for none."""
    last, size = shape.phases[-1], len(shape.value)
    points = size - last.first.index
    fell = last.kind == "fall" and last.chance < SURE and size >= 2 * policy.FEW
    return points if fell and policy.FEW <= points < policy.tail(size) else 0
