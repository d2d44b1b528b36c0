"""Axes: ranges, ticks, and the step from values to pixels."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from runlens.arrays import Vector
from runlens.records import NamedTuple
from runlens.wording import number

MARGIN = 0.06  # of the range, above and below the curves
FLAT = 1e-9  # a range this small beside its values is one value
TINY = 1e-280  # a range this small cannot be divided by
HUGE = 1e300  # larger values are drawn at this one, so that no sum overflows
MOST_TICKS = 40  # a guard: `nice` returns about as many as were wanted
FINER = 4  # ticks that may be asked for beyond those that have room, so that there are two
MANY, MILLIONS = 1e4, 1e7  # from here and up to there ticks count thousands
FEW_DECADES = 3  # an axis with fewer powers of ten has ticks between them
ROW = 26  # pixels that a tick needs
DECADES = 6  # more ticks than this and every second one is left out


class Scale(NamedTuple):
    """The y axis of a panel: from value to pixel. `low` and `high` are exponents where `log`."""

    low: float
    high: float
    log: bool
    top: float  # pixel
    bottom: float

    def place(self, value: float) -> float:
        """Return the pixel of `value`; values beyond the axis are drawn at its end."""
        if self.log:
            value = math.log10(value) if value > 0 else self.low
        share = (max(-HUGE, min(HUGE, value)) - self.low) / (self.high - self.low)
        return self.bottom - max(-MARGIN, min(1 + MARGIN, share)) * (self.bottom - self.top)

    def places(self, values: Vector) -> Vector:
        """Return the pixels of finite values inside the axis, shape (n,); as `place`, but fast."""
        if self.log or not (np.abs(values) < HUGE).all():
            return np.array([self.place(value) for value in values.tolist()])
        factor = (self.bottom - self.top) / (self.high - self.low)
        return self.bottom + self.low * factor - values * factor

    def ticks(self, written: Callable[[float], str] = number) -> list[tuple[float, str]]:
        """Return the ticks as (value, label)."""
        if not self.log:
            wanted = max(2, round((self.bottom - self.top) / 48))
            choices = (nice(self.low, self.high, wanted + more) for more in range(FINER))
            # an axis with one number has no scale
            shown = next((some for some in choices if len(some) > 1), [])
            shown = shown or nice(self.low, self.high, wanted)
            return [(value, written(value)) for value in shown]
        powers = list(range(math.ceil(self.low), math.floor(self.high) + 1))
        every = max(1, math.ceil(len(powers) / DECADES))
        if len(powers) < FEW_DECADES and (few := self._few()):
            return [(value, written(value)) for value in few]
        return [(10.0**power, power_label(power)) for power in powers[::every]]

    def _few(self) -> list[float]:
        """Return the values 1, 2, 5, 10, 20 ... on the axis, as many as have room."""
        span = [10.0**self.low, 10.0**self.high]
        first, last = math.floor(self.low), math.ceil(self.high)
        made = [m * 10.0**power for power in range(first, last + 1) for m in (1, 2, 5)]
        shown = [value for value in made if span[0] <= value <= span[1]]
        room = max(2, round((self.bottom - self.top) / ROW))
        return shown[:: math.ceil(len(shown) / room)] if shown else []


def power_label(power: int) -> str:
    """Return 1, 10, 100, then 1e3: short enough for an axis."""
    return number(10.0**power) if power < 3 else f"1e{power}"  # noqa: PLR2004 - see above


def axis_number(value: float) -> str:
    """Return a tick as it stands beside an axis, where five digits and more have no room: 10k."""
    thousands = MANY <= abs(value) < MILLIONS
    return f"{number(value / 1000)}k" if thousands else number(value)


def scale_for(
    low: float, high: float, *, log: bool, zero: bool, top: float, bottom: float
) -> Scale:
    """Return the axis for values from `low` to `high`, with a margin on both sides."""
    low, high = max(low, -HUGE), min(high, HUGE)
    if log:
        low, high = math.log10(low), math.log10(high)
    size = max(abs(low), abs(high))
    if high - low > max(FLAT * size, TINY):
        pad = (high - low) * MARGIN
    else:
        pad = 0.3 if log else size * 0.1 if size > TINY else 0.5
    if zero and not log:
        low, pad_low = min(0.0, low), 0.0 if low >= 0 else pad
        return Scale(low - pad_low, max(high + pad, low + 1e-12), log, top, bottom)
    # what is never negative gets no negative axis
    floor = 0.0 if not log and 0 <= low < pad else low - pad
    return Scale(floor, high + pad, log, top, bottom)


def nice(low: float, high: float, wanted: int) -> list[float]:
    """Return about `wanted` round values from `low` to `high`."""
    raw = (high - low) / max(1, wanted)
    if not raw > 0 or not math.isfinite(raw):
        return [low]
    size = 10.0 ** math.floor(math.log10(raw))
    unit = next((m * size for m in (1, 2, 2.5, 5) if m * size >= raw), 10 * size)
    if unit <= 0 or not math.isfinite(low / unit):
        return [low]
    first, last = math.ceil(low / unit - 1e-9), math.floor(high / unit + 1e-9)
    return [unit * index for index in range(first, min(last, first + MOST_TICKS) + 1)]


def step_ticks(start: float, end: float, pixels: float, *, whole: bool = True) -> list[float]:
    """Return the ticks of the step axis: as many as have room, all `whole` if so asked."""
    room = 7.0 * len(number(end)) + 26
    wanted = max(1, int(pixels / room))
    shown = nice(start, end, wanted)
    while len(shown) > max(2, wanted + 1):
        shown = shown[::2]
    return [step for step in shown if not whole or step.is_integer()] or [start]


def needs_log(values: Sequence[float], beyond: float) -> bool:
    """Whether values span so much that a linear axis would hide the small ones."""
    if not beyond or not values:
        return False
    low, high = min(values), max(values)
    return low > 0 and high / low > beyond


def hides(values: Sequence[float], beyond: float) -> bool:
    """Whether the highest value is so far above the usual one that a linear axis shows it alone."""
    alive = sorted(value for value in values if value > 0)
    return bool(beyond and alive) and alive[-1] > beyond * alive[len(alive) // 2]
