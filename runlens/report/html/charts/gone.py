"""What of a panel's lines is no number: crosses or a bar at its top, a row for each line."""

from runlens.report.html.charts.frame import Frame, label, stroke, width_of
from runlens.report.html.charts.model import SEVERITY_COLOUR
from runlens.report.html.charts.ready import ReadyLine, ReadyPanel
from runlens.report.html.element import Markup, el
from runlens.wording import count, number
from runlens.wording import step as step_words

RED = SEVERITY_COLOUR["critical"]
CROSSES = 20  # more values than this that are no number become one bar
ROW = 26  # pixels of a bar and its label


def rows(ready: ReadyPanel) -> dict[int, float]:
    """Return how far below the top the marks of each line lie, by its place in the panel.

    Crosses share a row; where a line has a bar, each line has a row of its own while there is
    room for it, and the others share the last.
    """
    bad = [place for place, line in enumerate(ready.lines) if line.bad]
    if not any(len(ready.lines[place].bad) > CROSSES for place in bad):
        return dict.fromkeys(bad, 0.0)
    last = max(1, ready.panel.height // ROW) - 1
    return {place: float(ROW * min(row, last)) for row, place in enumerate(bad)}


def draw(ready: ReadyPanel, frame: Frame, top: float) -> list[Markup]:
    """Return crosses and bars in a panel whose plot begins at pixel `top`, with their labels."""
    together: dict[float, list[ReadyLine]] = {}
    for place, row in rows(ready).items():
        together.setdefault(row, []).append(ready.lines[place])
    several = sum(map(len, together.values())) > 1
    made: list[Markup] = []
    for row, lines in together.items():
        for line in lines:
            made += _marks(line, frame, top + row)
        barred = [line for line in lines if len(line.bad) > CROSSES]
        named = barred or (lines if len(together) > 1 else [])
        if named:
            words = _words(named[0], several=several)
            words += f" and {len(lines) - 1} more" if len(lines) > 1 else ""
            made.append(_label(words, named[0], frame, top + row))
    return made


def _words(line: ReadyLine, *, several: bool) -> str:
    name = f"{line.line.name or line.line.metric} " if several else ""
    if len(line.bad) > CROSSES:
        return f"{name}{number(line.first_bad)} from {step_words(line.bad[0])}"
    return f"{name}{number(line.first_bad)} at {count(len(line.bad), 'point')}"


def _label(words: str, line: ReadyLine, frame: Frame, top: float) -> Markup:
    first = frame.x(line.bad[0])
    fits = first + 4 + width_of(words) < frame.width
    at, anchor = (first + 4, "start") if fits else (first - 4, "end")
    return label(at, top + 24, words, "f-c", anchor)


def _marks(line: ReadyLine, frame: Frame, top: float) -> list[Markup]:
    bad = line.bad
    if len(bad) <= CROSSES:
        return [cross(frame.x(step), top + 6) for step in bad]
    first = frame.x(bad[0])
    width = max(2.0, frame.x(bad[-1]) - first)
    return [
        el(
            "rect",
            x=f"{first:.1f}",
            y=f"{top + 2:.1f}",
            width=f"{width:.1f}",
            height="8",
            fill=RED,
            class_="f-c",
        )
    ]


def cross(x: float, y: float) -> Markup:
    """Return a red cross: a value that is no number, or the message after which nothing came."""
    return stroke(f"M{x - 4:.1f} {y - 4:.1f}l8 8m0-8l-8 8", "nan", RED)
