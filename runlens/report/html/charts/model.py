"""What a chart shows, before anything has a place in pixels."""

from typing import Literal

from runlens.diagnosis import Mark, Severity, ThinCurve
from runlens.records import NamedTuple

# train, eval, gradient norm, anything else; of comparisons A, B, their difference, other runs
Ink = Literal["t", "e", "gn", "l", "sa", "sb", "sd", "so"]
INKS: dict[Ink, str] = {
    "t": "#0a5fa3",
    "e": "#b0450a",
    "gn": "#6a3fa0",
    "l": "#3f6b66",
    "sa": "#0a5fa3",
    "sb": "#b0450a",
    "sd": "#16181b",
    "so": "#878d95",
}
INK_NAMES: dict[Ink, str] = {  # in page.css
    "t": "train",
    "e": "eval",
    "gn": "grad",
    "l": "lr",
    "sa": "a",
    "sb": "b",
    "sd": "ink",
    "so": "mut",
}
SEVERITY_LETTER: dict[Severity, str] = {"critical": "c", "warning": "w", "info": "i"}
SEVERITY_COLOUR: dict[Severity, str] = {
    "critical": "#b1201a",
    "warning": "#855000",
    "info": "#3c5872",
}


class Line(NamedTuple):
    """One curve in a panel."""

    metric: str
    name: str  # at its right end
    ink: Ink
    curve: ThinCurve
    smooth: bool = False  # every point faint, and a running median solid
    dots: bool = False
    series: str = ""  # its name where values are read; empty: the metric
    says: str = ""  # at its right end in place of name and last value


class Reference(NamedTuple):
    """A horizontal line with a label: a limit that was configured, a level."""

    value: float
    text: str


class Area(NamedTuple):
    """What lies between a curve and a level from a step on, shaded."""

    metric: str
    level: float
    start: float
    above: bool = True


class Level(NamedTuple):
    """A horizontal piece of line: the median of a stretch."""

    start: float
    end: float
    value: float
    text: str


class Band(NamedTuple):
    """What lies between two lines, all of shape (n,): gray what is no more than noise.

    In the ink of a line the middle half of the runs whose mean it is.
    """

    at: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    ink: Ink | None = None


class Panel(NamedTuple):
    """One plot with a y axis of its own."""

    title: str
    height: int
    lines: tuple[Line, ...]
    references: tuple[Reference, ...] = ()
    log_from: float = 0.0  # logarithmic where max/min is beyond this; 0: never
    log_above: float = 0.0  # ... or where max/median of what is above 0 is beyond this
    zero: bool = False  # the axis begins at 0
    areas: tuple[Area, ...] = ()
    marks: tuple[Mark, ...] = ()
    levels: tuple[Level, ...] = ()
    bands: tuple[Band, ...] = ()
    reach: tuple[float, ...] = ()  # values that the axis holds, whatever is drawn


class Lane(NamedTuple):
    """A finding as a bar over the panels."""

    severity: Severity
    start: float
    end: float
    text: str
    short: str


class Sign(NamedTuple):
    """An event on the line over the panels."""

    kind: Literal["saved", "resume", "fault"]
    step: float
    text: str = ""


class Stretch(NamedTuple):
    """Steps that are shaded through all panels: where a fault began, and what came after it."""

    start: float
    end: float
    severity: Severity
    kind: Literal["began", "after"]


class Figure(NamedTuple):
    """Panels over one step axis, with everything that is drawn across them."""

    uid: str  # unique on the page
    title: str
    description: str
    panels: tuple[Panel, ...]
    start: float
    end: float
    lanes: tuple[Lane, ...] = ()
    more: str = ""  # below the lanes: how many had no room
    signs: tuple[Sign, ...] = ()
    epochs: tuple[tuple[float, float], ...] = ()
    onsets: tuple[tuple[float, Severity], ...] = ()
    stretches: tuple[Stretch, ...] = ()
    cited: frozenset[float] = frozenset()  # steps that thinning may not leave out
    crosshair: bool = False
    axis: str = "step"  # what the x axis counts
