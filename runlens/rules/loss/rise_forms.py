"""The forms in which a training loss rises for good: blown up, never back, from its best."""

from typing import Literal, NamedTuple

import numpy as np

from runlens.history import FloatArray
from runlens.rules.loss import surroundings
from runlens.signals import noise
from runlens.signals.changes import biggest_jump, hinge, last_false
from runlens.wording import loss

ROUNDING = 1e-9  # of the best: no rise, but the last digit of a mean


class Bounds(NamedTuple):
    """The limits of the rule that its forms need; explained on its page."""

    noise_multiple: float
    fall_share: float
    level_share: float
    end_share: float
    held: float
    never_back: float
    never_back_noise: float
    fewest_never_back: int
    never_back_share: float
    jump_share: float
    fewest_slow: int
    slow_noise: float
    slow_share: float
    blown: float
    blown_peak: float


class Rise(NamedTuple):
    """A rise to the end of the curve."""

    at: int  # index of the onset
    best: float  # the level it rose from
    best_at: int
    start: float
    end: float
    fall: float  # from the start to the best
    needed: float  # rise that counts
    jump: bool
    kind: Literal["from best", "from start", "slow"]

    @property
    def height(self) -> float:
        """The rise over the best."""
        return self.end - self.best


def rise_of(value: FloatArray, limits: Bounds, factor: float) -> Rise | str:
    """Look for a rise in all its forms; a text says why there is none."""
    return (
        _blown_up(value, limits)
        or _never_back(value, limits, factor)
        or _from_best(value, limits, factor)
    )


def _blown_up(value: FloatArray, limits: Bounds) -> Rise | None:
    """Look for a loss that left its first level by powers of ten and fell back only in part."""
    count = len(value)
    if count < limits.fewest_never_back or value.min() <= 0:
        return None
    early = value[: max(5, count // 20)]
    at = int(np.argmax(early[1:] > limits.blown * early[0])) + 1
    start = float(np.median(early[:at]))
    end = float(np.median(value[-max(5, count // 10) :]))
    fell_back = float(early.max()) >= limits.blown_peak * end
    if end < limits.blown * start or value[at:].min() < limits.blown * start or not fell_back:
        return None
    return Rise(at, start, 0, start, end, 0.0, limits.blown * start, jump=True, kind="from start")


def _never_back(value: FloatArray, limits: Bounds, factor: float) -> Rise | None:
    """Look for a rise from the first points that was never undone."""
    count = len(value)
    if count < limits.fewest_never_back:
        return None
    head = max(float(np.median(value[:3])), float(np.median(value[:5])))
    end = float(np.median(value[-max(5, round(0.1 * count)) :]))
    scale = noise.sigma(value)
    needed = max(factor * limits.never_back * abs(head), factor * limits.never_back_noise * scale)
    above = value[max(3, int(0.02 * count)) :] > head + 2 * min(scale, 0.1 * abs(head))
    if end - head < needed or above.mean() < limits.never_back_share or value[:3].max() >= end:
        return None
    at = int(np.argmax(value > head + 0.5 * (end - head)))
    return Rise(at, head, 0, head, end, 0.0, needed, jump=True, kind="from start")


def _from_best(value: FloatArray, limits: Bounds, factor: float) -> Rise | str:
    """Look for a rise from the best level to the end; a text says why there is none."""
    count = len(value)
    levels, smooth = noise.levels(value), noise.smooth(value)
    best, best_at, fall = levels.best, levels.best_index, levels.fall
    least = max(5.0, 0.05 * count)
    tail = value[-max(5, round(0.1 * count)) :]
    end = float(np.median(tail))
    scatter, least_rise = noise.sigma_long(value), limits.level_share * abs(best)
    full = max(limits.noise_multiple * scatter, limits.fall_share * fall, least_rise)
    slow = max(limits.slow_noise * scatter, _late_fall(value, best), least_rise)
    patient = count >= limits.fewest_slow and slow < full
    needed = factor * (slow if patient else full)
    if end - best <= ROUNDING * abs(best):
        return "loss is best at the end"
    if end - best < needed:
        return f"loss ends {loss(end - best)} above its best {loss(best)}; {loss(needed)} counts"
    if count - best_at < least:
        return "loss is best at the end"
    scale = noise.sigma(value)
    if fall < 3 * scale and end < levels.start + 3 * scale:
        return f"loss ends at {loss(end)}, within the noise {loss(3 * scale)} of its start"
    if float(np.mean(tail > best + 0.5 * (end - best))) < limits.end_share:
        return "loss came down again before the end"
    slow_form = end - best < factor * full
    below = last_false(smooth > best + limits.held * (end - best))
    if count - below < (limits.slow_share * count if slow_form else least):
        return "loss rose only in the last points"
    if slow_form:
        at = _ramp(value, smooth, best_at, below, end - best)
        return Rise(at, best, best_at, levels.start, end, fall, needed, jump=False, kind="slow")
    at, jump = _onset(value, smooth, best_at, below, end - best, limits)
    return Rise(at, best, best_at, levels.start, end, fall, factor * full, jump, "from best")


def _late_fall(value: FloatArray, best: float) -> float:
    """Return how far the loss fell after the first tenth of the run."""
    tenth = len(value) // 10
    return float(np.median(value[tenth : tenth + max(3, tenth // 2)])) - best


def _onset(
    value: FloatArray, smooth: FloatArray, best_at: int, below: int, height: float, limits: Bounds
) -> tuple[int, bool]:
    """Return (index, whether it is a jump) of where the rise begins."""
    reach = noise.window(len(value))
    first = max(0, below - reach)
    where, jumped = biggest_jump(value[first : below + reach + 5])
    if jumped >= limits.jump_share * height:
        near = max(first + where - surroundings.NORMS, 0)
        return near + 1 + int(np.argmax(np.diff(value[near : near + 10]))), True
    return _ramp(value, smooth, best_at, below, height), False


def _ramp(value: FloatArray, smooth: FloatArray, best_at: int, below: int, height: float) -> int:
    """Return the index at which a climb begins.

    A hinge comes late on a rise that speeds up, a crossing on one that slows down.
    """
    quiet = max(0.05 * height, 2 * noise.sigma(value) / noise.window(len(value)) ** 0.5)
    crossing = last_false(smooth[: below + 2] > smooth[best_at] + quiet)
    return min(best_at + hinge(smooth[best_at:]), max(crossing, best_at))
