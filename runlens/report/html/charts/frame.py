"""The place of a chart in pixels: one frame for wide screens, one for phones."""

from runlens.arrays import Vector
from runlens.records import NamedTuple
from runlens.report.html.charts.model import Figure
from runlens.report.html.charts.points import Points, thinned
from runlens.report.html.element import Markup, el

LETTER = 7.3  # pixels of a bold letter at 12 px; wider than most, so that texts do not collide
WIDE, NARROW = 1040, 358  # pixels


def width_of(words: str) -> float:
    """Return about how wide a text is, in pixels."""
    return LETTER * len(words)


class Frame(NamedTuple):
    """Where the steps lie: from step to pixel."""

    width: int
    narrow: bool  # for phones
    left: int
    right: int  # pixel at which the plot ends
    start: float
    end: float
    grain: int  # pixels of a column when lines are thinned

    def x(self, step: float) -> float:
        """Return the pixel of a step; steps beyond the axis lie on its ends."""
        share = (step - self.start) / (self.end - self.start)
        return self.left + max(0.0, min(1.0, share)) * (self.right - self.left)

    def xs(self, steps: Vector) -> Vector:
        """Return the pixels of many steps on the axis, shape (n,); as `x`, but fast."""
        factor = (self.right - self.left) / (self.end - self.start)
        return self.left + (steps - self.start) * factor

    @property
    def columns(self) -> int:
        """How many pixel columns the plot has."""
        return self.right - self.left

    def thinned(self, points: Points, cited: frozenset[float], grain: int = 1) -> Points:
        """Return what shows of a curve: two points in each column of pixels."""
        columns = self.columns // (self.grain * grain)
        width = (self.end - self.start) / columns
        return thinned(points, self.start, width, 2 * columns, cited)

    def holds(self, step: float) -> bool:
        """Whether a step is on the axis."""
        return self.start <= step <= self.end


def frame_for(figure: Figure, width: int, labels: float, grain: int, *, narrow: bool) -> Frame:
    """Return the frame of a figure; `labels` is the room at the right for the line's names."""
    left = 44 if narrow else 56
    right = width - (8 if narrow else max(8, round(labels)))
    end = figure.end if figure.end > figure.start else figure.start + 1
    return Frame(width, narrow, left, right, figure.start, end, grain)


def label(
    x: float, y: float, words: str, class_: str | None = None, anchor: str = "start"
) -> Markup:
    """Return one text of a chart."""
    return el(
        "text",
        words,
        x=f"{x:.1f}",
        y=f"{y:.1f}",
        class_=class_,
        text_anchor=None if anchor == "start" else anchor,
    )


def stroke(data: str, class_: str, colour: str) -> Markup:
    """Return a path that is only a line; `color` is for pages without their style sheet."""
    return el("path", class_=class_, fill="none", stroke=colour, d=data)
