"""What the wide and the narrow drawing of a panel share: points, range, kind of axis."""

import math
from collections.abc import Iterable

import numpy as np

from runlens.arrays import Vector, median
from runlens.records import NamedTuple
from runlens.report.html.charts.model import Figure, Line, Panel
from runlens.report.html.charts.points import (
    Point,
    Points,
    finite_stretches,
    not_finite,
    running_median,
    window_of,
)
from runlens.report.html.charts.scale import hides, needs_log

FIRST = 0.04  # share of the steps that may leave the panel at the top
TALLER = 1.35  # ... if they would stretch the axis by more than this
DEEPEST = 1e9  # the highest value over the lowest that a logarithmic axis reaches
ENOUGH = 5  # later points, so that there is something to enlarge
SMOOTHED = 100  # points from which a line is drawn with its running median


class ReadyLine(NamedTuple):
    """One line with its finite points in stretches, and what is not finite."""

    line: Line
    stretches: list[Points]
    smooth: list[Points]  # empty: drawn as it is
    bad: list[float]  # steps with NaN or an infinity

    @property
    def ends_bad(self) -> bool:
        """Whether the last value is no number."""
        return not math.isfinite(self.line.curve.value[-1])

    @property
    def first_bad(self) -> float:
        """The first value that is no number."""
        return next(value for value in self.line.curve.value if not math.isfinite(value))

    @property
    def last(self) -> float | None:
        """The last finite value, as logged."""
        return float(self.stretches[-1][-1, 1]) if self.stretches else None


class ReadyPanel(NamedTuple):
    """A panel with its range decided."""

    panel: Panel
    lines: list[ReadyLine]
    low: float
    high: float
    log: bool
    over: Point | None  # the largest early value that is beyond the panel

    @property
    def title(self) -> str:
        """The title, which says that an axis is logarithmic."""
        return titled(self.panel, log=self.log)


def ready(figure: Figure) -> list[ReadyPanel]:
    """Prepare all panels of a figure."""
    return [_panel(panel, figure) for panel in figure.panels]


def smoothed(line: Line) -> bool:
    """Whether a line is drawn with its running median: it has finite points enough."""
    return line.smooth and _finite(line) >= SMOOTHED


def smoothing_note(lines: Iterable[Line]) -> str:
    """Return how smoothed lines are to be read; empty where there is none."""
    sizes = sorted({window_of(_finite(line)) for line in lines if smoothed(line)})
    if not sizes:
        return ""
    of = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    return f"Faint line: every point; solid: median of {of}."


def _finite(line: Line) -> int:
    return sum(map(math.isfinite, line.curve.value))


def _line(line: Line) -> ReadyLine:
    stretches = finite_stretches(line.curve)
    size = window_of(sum(len(points) for points in stretches))
    medians = [running_median(points, size) for points in stretches] if smoothed(line) else []
    return ReadyLine(line, stretches, medians, not_finite(line.curve))


def _panel(panel: Panel, figure: Figure) -> ReadyPanel:
    lines = [_line(line) for line in panel.lines]
    parts = [stretch for line in lines for stretch in line.stretches]
    points = np.concatenate(parts) if parts else np.empty((0, 2))
    values = points[:, 1]
    fixed = _fixed(panel)
    log = logarithmic(panel)
    bounds = [bound for band in panel.bands for bound in (*band.low, *band.high)]
    fixed += [bound for bound in bounds if bound > 0 or not log]
    shown = values[values > 0] if log else values
    low = min([*_ends(shown), *(one for one in fixed if one > 0 or not log)], default=0.0)
    high = max([*_ends(values), *fixed], default=1.0)
    low = max(low, min(high / DEEPEST, _usual(values) / 10)) if log else low
    over = None if log or panel.zero else _transient(points, fixed, panel, figure)
    if over:
        border = _border(figure)
        high = max([*_ends(values[points[:, 0] > border]), *fixed])
    return ReadyPanel(panel, lines, low, high, log, over)


def _ends(values: Vector) -> list[float]:
    """Return the lowest and the highest value; nothing of none."""
    return [float(values.min()), float(values.max())] if len(values) else []


def _usual(values: Vector) -> float:
    """Return the median of what is above 0, which every logarithmic axis holds."""
    above = values[values > 0]
    return float(median(above)) if len(above) else 1.0


def logarithmic(panel: Panel) -> bool:
    """Whether a panel has a logarithmic axis."""
    values = [v for line in panel.lines for v in line.curve.value if math.isfinite(v)]
    return needs_log(values + _fixed(panel), panel.log_from) or hides(values, panel.log_above)


def titled(panel: Panel, *, log: bool) -> str:
    """Return the title of a panel, which says that its axis is logarithmic."""
    return panel.title + (" (log)" if log else "")


def _fixed(panel: Panel) -> list[float]:
    """Return the values that the axis holds beside those of the curves."""
    references = [one.value for one in panel.references]
    return [*references, *(one.value for one in panel.levels), *panel.reach]


def _border(figure: Figure) -> float:
    return figure.start + FIRST * (figure.end - figure.start)


def _transient(points: Points, fixed: list[float], panel: Panel, figure: Figure) -> Point | None:
    """Return the highest point of a start that would flatten everything after it.

    Nothing leaves the panel where a finding points at the start.
    """
    border = _border(figure)
    if any(step <= border for step in figure.cited) or any(m.step <= border for m in panel.marks):
        return None
    begins = points[:, 0] <= border
    early, late = points[begins], [*points[~begins, 1].tolist(), *fixed]
    if not len(early) or len(late) < ENOUGH:
        return None
    step, highest = early[early[:, 1].argmax()].tolist()
    top = (step, highest)
    flattened = top[1] - min(late) > TALLER * (max(late) - min(late)) > 0
    return top if flattened and top[1] > max(late) else None
