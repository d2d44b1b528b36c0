"""What a curve does, as plain data: phases, events, noise, and effect beside chance."""

from typing import Literal

from msgspec import Struct

PhaseKind = Literal["fall", "flat", "rise", "swing", "frozen", "gone"]
EventKind = Literal["jump", "spike", "restart"]
Scale = Literal["linear", "log"]

NAN = float("nan")


class Point(Struct, frozen=True):
    """One logged number; `index` counts the points of the curve given, NaN and infinities too."""

    index: int = -1
    step: int = 0
    value: float = NAN


NOWHERE = Point()  # of a curve without points


class Noise(Struct, frozen=True):
    """What the phases leave over."""

    sigma: float = 0.0  # standard deviation of a point, robust, in units of the scale
    relative: float = 0.0  # share of the level that this is
    memory: float = 0.0  # lag-1 autocorrelation between neighbouring points, 0 to 0.99


NOISELESS = Noise()


class Effect(Struct, frozen=True):
    """How large a change is, four ways; the sign is that of the change."""

    change: float = 0.0  # in the unit of the curve
    level: float = 0.0  # share of the level before it
    range: float = 0.0  # share of the range of the run's own smooth curve, in units of the scale
    noise: float = 0.0  # multiple of the noise of one point


class Swing(Struct, frozen=True):
    """A movement to and fro."""

    period: float  # steps, the mean of those near the median
    period_spread: float  # standard deviation of the periods over their mean
    amplitude: float  # median of peak to trough, in the unit of the curve
    cycles: int


class Phase(Struct, frozen=True):
    """A stretch in which a curve does one thing; values as logged.

    `slope` and its standard error are per step, in units of the scale (log: per step and e-fold).
    `chance`: how often noise of this size and memory alone would show as much. `swing`: of the kind
    of that name, and of falls, rises and flats that swing as they go.
    """

    kind: PhaseKind
    first: Point
    last: Point
    lowest: Point
    highest: Point
    level: float  # median of the phase; NaN where it is gone
    slope: float
    slope_error: float
    noise: float  # standard deviation about its trend, in units of the scale
    effect: Effect
    chance: float
    swing: Swing | None = None

    @property
    def steps(self) -> int:
        """Steps from its first to its last point."""
        return self.last.step - self.first.step

    @property
    def points(self) -> int:
        """Points of the phase."""
        return self.last.index - self.first.index + 1


class Event(Struct, frozen=True):
    """A sudden change: it begins between two points, both as logged."""

    kind: EventKind
    before: Point  # last good
    after: Point  # first bad
    peak: Point  # farthest from the level before
    level_before: float
    level_after: float  # of a spike: where it came back to
    noise: float  # size as a multiple of the noise, signed
    share: float  # size as a share of the level before, signed
    lasts: int  # steps until it is over; to the end of the curve where it is not
    recovers: bool


class Change(Struct, frozen=True):
    """A change between two places of a curve, with its evidence."""

    first: Point
    last: Point
    effect: Effect
    chance: float


class Level(Struct, frozen=True):
    """A level with its standard error, and the step from which it was taken."""

    value: float
    error: float
    since: int
