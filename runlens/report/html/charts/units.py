"""The units of a common axis: steps, epochs, millions of tokens, minutes."""

from runlens.comparison import Unit as Counted
from runlens.diagnosis import ThinCurve
from runlens.records import NamedTuple
from runlens.wording import DAY, HOUR, MINUTE

THOUSAND, MILLION, BILLION = 1e3, 1e6, 1e9
MANY = ((BILLION, "B "), (MILLION, "M "), (THOUSAND, "k "), (1.0, ""))
TIMES = ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes"), (1.0, "seconds"))
TINY = 1e-9  # an axis this short beside its end is one place
ENOUGH = 3  # a larger unit is taken where the axis holds this many of it


class Unit(NamedTuple):
    """What the axis counts, and how many of the comparison's own units one of it is."""

    axis: str
    size: float = 1.0

    def place(self, value: float) -> float:
        """Return a place in this unit."""
        return value / self.size

    def scaled(self, curve: ThinCurve) -> ThinCurve:
        """Return a curve over this unit."""
        if self.size == 1:
            return curve
        return curve._replace(step=tuple(self.place(step) for step in curve.step))


def unit_for(counted: Counted, last: float) -> Unit:
    """Return the unit for an axis that ends at `last` steps, epochs, tokens, samples or seconds."""
    if counted in {"step", "epoch"}:
        return Unit(counted)
    many = tuple((size, f"{short}{counted}") for size, short in MANY)
    choices = TIMES if counted == "time" else many
    size, axis = next(((s, a) for s, a in choices if last >= ENOUGH * s), choices[-1])
    return Unit(axis, float(size))


def span(first: float, last: float) -> tuple[float, float]:
    """Return the axis for curves from `first` to `last`: from 0, unless they begin far from it."""
    start = first if first < 0 or first > last / 2 else 0.0
    return start, last if last - start > TINY * max(1.0, abs(last)) else start + 1.0
