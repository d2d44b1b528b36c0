"""One panel of a chart: grid, areas, lines, what is not finite, references, marks, labels."""

import math

import numpy as np

from runlens.diagnosis import Mark, ThinCurve
from runlens.metrics import base, is_rate
from runlens.records import NamedTuple
from runlens.report.html.charts import gone
from runlens.report.html.charts.frame import LETTER, Frame, label, stroke, width_of
from runlens.report.html.charts.model import INKS, Area, Band, Ink
from runlens.report.html.charts.points import Points, distance, path
from runlens.report.html.charts.ready import ReadyLine, ReadyPanel
from runlens.report.html.charts.scale import Scale, axis_number, scale_for
from runlens.report.html.element import Markup, cut, el, join
from runlens.report.values import value_of
from runlens.wording import number, rate
from runlens.wording import step as step_words

GRID, INK, GREY, PAPER = "#e1e4e8", "#16181b", "#565d66", "#fff"
LINE_HEIGHT = 15  # pixels between two labels
DOT = 2.2  # pixels, the radius of a point
EVALUATIONS = 1000  # up to which each of them is drawn
MARKS = 3  # labelled points in a panel
MARK_TEXT = 44
TEXT_INK: dict[Ink, str] = {
    "t": "ft",
    "e": "fe",
    "gn": "fg",
    "l": "fl",
    "sa": "fa",
    "sb": "fb",
    "sd": "h",
    "so": "fo",
}
LEAD = 22  # pixels of such a tie
LED = 4  # labels from which those that were moved are tied to the ends of their lines


class Tag(NamedTuple):
    """A text at the right of the panel."""

    y: float
    x: float
    words: str
    class_: str


def draw(ready: ReadyPanel, frame: Frame, top: float, cited: frozenset[float]) -> list[Markup]:
    """Return the elements of one panel whose plot begins at pixel `top`."""
    panel = ready.panel
    scale = scale_for(
        ready.low,
        ready.high,
        log=ready.log,
        zero=panel.zero,
        top=top,
        bottom=top + panel.height,
    )
    made = [label(0 if frame.narrow else frame.left, top - 8, ready.title, "b")]
    made += _grid(ready, scale, frame)
    made += [_band(band, scale, frame) for band in panel.bands]
    made += [_area(area, ready, scale, frame, cited) for area in panel.areas]
    if ready.over:
        made.append(_over(ready, frame, top))
    for line in ready.lines:
        made += _line(line, ready, scale, frame, cited)
    made += gone.draw(ready, frame, top)
    made += _levels(ready, scale, frame)
    made += _references(ready, scale, frame)
    made += _labels(ready, scale, frame)
    made += _marks(ready, scale, frame)
    return made


def label_room(panels: list[ReadyPanel]) -> float:
    """Return the pixels that the texts at the right of the panels need."""
    words = [_words(line) for ready in panels for line in ready.lines if line.line.name] + [
        reference.text for ready in panels for reference in ready.panel.references
    ]
    led = any(_led(ready) for ready in panels)
    return (LEAD if led else 0) + 12 + max((width_of(text) for text in words), default=0)


def _led(ready: ReadyPanel) -> bool:
    return sum(bool(line.line.name) for line in ready.lines) >= LED


def _words(line: ReadyLine) -> str:
    if line.line.says:
        return line.line.says
    if line.ends_bad or line.last is None:
        return f"{line.line.name} {number(line.line.curve.value[-1])}"
    return f"{line.line.name} {value_of(line.line.metric, line.last)}"


def _grid(ready: ReadyPanel, scale: Scale, frame: Frame) -> list[Markup]:
    made = []
    rates = bool(ready.lines) and is_rate(ready.lines[0].line.metric)
    for value, words in scale.ticks(rate if rates else axis_number):
        y = scale.place(value)
        made.append(stroke(f"M{frame.left} {y:.1f}H{frame.right}", "g", GRID))
        made.append(label(frame.left - 8, y + 4, words, anchor="end"))
    return made


def _over(ready: ReadyPanel, frame: Frame, top: float) -> Markup:
    step, value = ready.over or (0.0, 0.0)
    metric = ready.panel.lines[0].metric
    begins = any(line.line.curve.step[0] == step for line in ready.lines)
    at = " at the start" if begins else f" at step {step_words(step)}"
    left = (0 if frame.narrow else frame.left) + 10 + 7.4 * len(ready.title)
    return label(left, top - 8, f"↑ {value_of(metric, value)}{'' if frame.narrow else at}")


def _line(
    ready: ReadyLine, panel: ReadyPanel, scale: Scale, frame: Frame, cited: frozenset[float]
) -> list[Markup]:
    ink = ready.line.ink

    if base(ready.line.metric).startswith("eval_") and len(ready.line.curve.step) <= EVALUATIONS:
        cited = frozenset(ready.line.curve.step)

    def drawn(stretches: list[Points], grain: int) -> str:
        shown = (frame.thinned(_inside(some, panel), cited, grain) for some in stretches)
        return "".join(path(_places(points, scale, frame)) for points in shown if len(points))

    data = drawn(ready.stretches, 2 if ready.smooth else 1)  # a line over it shows its course
    if not data:
        return []
    if ready.smooth:
        return [
            stroke(data, f"{ink} raw", INKS[ink]),
            stroke(drawn(ready.smooth, 2), ink, INKS[ink]),
        ]
    return [stroke(data, ink, INKS[ink]), *_dots(ready, panel, scale, frame)]


def _places(points: Points, scale: Scale, frame: Frame) -> Points:
    return np.column_stack((frame.xs(points[:, 0]), scale.places(points[:, 1])))


def _inside(points: Points, panel: ReadyPanel) -> Points:
    """Leave out the start that is beyond the panel."""
    if not panel.over:
        return points
    return points[points[:, 1] <= panel.high]


def _dots(ready: ReadyLine, panel: ReadyPanel, scale: Scale, frame: Frame) -> list[Markup]:
    points = [one for some in ready.stretches for one in _inside(some, panel).tolist()]
    spaced = len(points) * 4 < frame.columns
    if not (spaced and ready.line.dots) and len(points) > 1:
        return []
    # a line of no length has round ends alone: a dot in a fifth of the bytes of a circle
    places = (f"M{frame.x(step):.1f} {scale.place(value):.1f}h0" for step, value in points)
    ink = ready.line.ink
    return [
        el(
            "path",
            class_=f"dot-{ink}",
            fill="none",
            stroke=INKS[ink],
            stroke_width=2 * DOT,
            d="".join(places),
        )
    ]


def _band(band: Band, scale: Scale, frame: Frame) -> Markup:
    upper = [(frame.x(x), scale.place(y)) for x, y in zip(band.at, band.high, strict=True)]
    lower = [(frame.x(x), scale.place(y)) for x, y in zip(band.at, band.low, strict=True)]
    data = f"{path([*upper, *reversed(lower)])}z"
    fill, name = (INKS[band.ink], f"band i-{band.ink}") if band.ink else (GREY, "band")
    return el("path", class_=name, fill=fill, fill_opacity=".16", d=data)


def _area(
    area: Area, ready: ReadyPanel, scale: Scale, frame: Frame, cited: frozenset[float]
) -> Markup:
    line = next((one for one in ready.lines if one.line.metric == area.metric), None)
    if line is None:
        return join()
    base = scale.place(area.level)
    shapes = []
    for stretch in line.smooth or line.stretches:
        after = stretch[stretch[:, 0] >= area.start]
        if len(after) > 1:
            shapes.append(_closed(after, area, base, scale, frame, cited))
    ink = line.line.ink
    class_ = "areag" if ink == "gn" else "area"
    return el("path", class_=class_, fill=INKS[ink], fill_opacity=".15", d="".join(shapes))


def _closed(
    points: Points,
    area: Area,
    base: float,
    scale: Scale,
    frame: Frame,
    cited: frozenset[float],
) -> str:
    nearest = np.minimum if area.above else np.maximum  # pixels grow downwards
    border = _places(frame.thinned(points, cited, 2), scale, frame)
    border[:, 1] = nearest(base, border[:, 1])
    ends = [(x, base) for x in border[[0, -1], 0].tolist()]
    return path(np.vstack((ends[0], border, ends[1]))) + "z"


def _levels(ready: ReadyPanel, scale: Scale, frame: Frame) -> list[Markup]:
    made = []
    for level in ready.panel.levels:
        y = scale.place(level.value)
        left, right = frame.x(level.start), frame.x(level.end)
        made.append(stroke(f"M{left:.1f} {y:.1f}H{right:.1f}", "lim", INK))
        made.append(label((left + right) / 2, y - 6, level.text, "h", "middle"))
    return made


def _references(ready: ReadyPanel, scale: Scale, frame: Frame) -> list[Markup]:
    made = []
    for reference in ready.panel.references:
        y = scale.place(reference.value)
        made.append(stroke(f"M{frame.left} {y:.1f}H{frame.right}", "lim", INK))
        if frame.narrow:
            made.append(label(frame.left + 4, y + 14, reference.text, "h"))
    return made


def _labels(ready: ReadyPanel, scale: Scale, frame: Frame) -> list[Markup]:
    """Name the lines: at their right ends, or in the title row of a narrow chart."""
    rows = gone.rows(ready)
    ends_at = [_end(line, scale, rows.get(place, 0.0)) for place, line in enumerate(ready.lines)]
    named = [line for line in ready.lines if line.line.name]
    # beside the longest line, so that no label lies on another line
    right = max((frame.x(line.line.curve.step[-1]) for line in named), default=0.0) + 8
    tags = [
        Tag(y, right, _words(line), TEXT_INK[line.line.ink])
        for line, y in zip(ready.lines, ends_at, strict=True)
        if line.line.name
    ]
    if frame.narrow:
        return _in_title_row(tags, ready, frame, scale.top - 8)
    tags += [
        Tag(scale.place(one.value), frame.right + 8, one.text, "h")
        for one in ready.panel.references
    ]
    spread = _spread(tags, scale.bottom)
    if not _led(ready):
        return [label(tag.x, tag.y + 4, tag.words, tag.class_) for tag in spread]
    ends = sorted(tags, key=lambda tag: tag.y)
    ties = [
        stroke(f"M{end.x - 5:.1f} {end.y:.1f}l{LEAD} {tag.y - end.y:.1f}", "tie", GREY)
        for end, tag in zip(ends, spread, strict=True)
    ]
    return ties + [label(tag.x + LEAD, tag.y + 4, tag.words, tag.class_) for tag in spread]


def _end(line: ReadyLine, scale: Scale, row: float) -> float:
    if line.ends_bad or line.last is None:
        return scale.top + row + 6
    return scale.place(line.last)


def _spread(tags: list[Tag], bottom: float) -> list[Tag]:
    """Move labels apart, and up again where they would leave the panel."""
    made: list[Tag] = []
    for tag in sorted(tags, key=lambda tag: tag.y):
        least = made[-1].y + LINE_HEIGHT if made else tag.y
        made.append(tag._replace(y=max(tag.y, least)))
    over = max(0.0, made[-1].y - bottom) if made else 0.0
    return [tag._replace(y=tag.y - over) for tag in made]


def _in_title_row(tags: list[Tag], ready: ReadyPanel, frame: Frame, y: float) -> list[Markup]:
    made = []
    tags = [tag for tag in tags if tag.class_ != TEXT_INK["so"]]
    right: float = frame.right
    taken = 7.4 * len(ready.title) + (8 + LETTER * 9 if ready.over else 8)
    for tag in reversed(tags):
        if right - width_of(tag.words) < taken:
            break
        made.append(label(right, y, tag.words, tag.class_, "end"))
        right -= width_of(tag.words) + 10
    return made


def _on_curve(mark: Mark, curve: ThinCurve) -> float:
    """Return where a mark lies: on its curve, unless its text tells a value of its own."""
    logged = dict(zip(curve.step, curve.value, strict=True)).get(mark.step, math.nan)
    tells = any(letter.isdigit() for letter in mark.text)
    return mark.value if tells or not math.isfinite(logged) else logged


def _marks(ready: ReadyPanel, scale: Scale, frame: Frame) -> list[Markup]:
    made = []
    for mark in [mark for mark in ready.panel.marks if frame.holds(mark.step)][:MARKS]:
        near = min(ready.lines, key=lambda line: distance(mark, line.line.curve)).line
        ink = near.ink
        x, y = frame.x(mark.step), scale.place(_on_curve(mark, near.curve))
        words = cut(mark.text or number(mark.value), MARK_TEXT)
        fits = x + 8 + width_of(words) < frame.right or x < frame.width / 2
        room = frame.width - x - 8 if fits else x - 8
        words = cut(words, max(4, int(room / LETTER)))
        above = y - 10 > scale.top + 8
        made.append(
            el(
                "circle",
                cx=f"{x:.1f}",
                cy=f"{y:.1f}",
                r="4.5",
                class_=f"pt p-{ink}",
                fill=PAPER,
                stroke=INKS[ink],
            )
        )
        at, anchor = (x + 8, "start") if fits else (x - 8, "end")
        made.append(label(at, y - 10 if above else y + 20, words, "h", anchor))
    return made
