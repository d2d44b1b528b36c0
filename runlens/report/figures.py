"""A chart of the reports as a plotly figure: the same curves, marks, onsets and colors."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from runlens.extras import needed_by
from runlens.report.html import assets
from runlens.report.html.charts.model import INK_NAMES, Area, Band, Figure, Sign
from runlens.report.html.charts.ready import ReadyLine, ReadyPanel, ready
from runlens.report.html.element import text
from runlens.wording import number

with needed_by("figure()"):  # this module is imported when a figure is wanted
    import plotly.graph_objects as go
    import plotly.io as pio
    from plotly.subplots import make_subplots

SEVERITY_NAMES = {"critical": "crit", "warning": "warn", "info": "info"}  # in page.css
GAP, LANE, TITLE, BOTTOM = 34, 22, 28, 60  # pixels
SCALE = 1.2  # a figure is this much taller than the chart of the page
LEAST = 260  # pixels of all panels
TICKS = 6  # powers of ten with a label, at most
PAD = 0.04  # of the range of values, above and below
Colours = dict[str, str]


def drawn(figure: Figure, *, dark: bool | None = None) -> go.Figure:
    """Return a chart as a plotly figure, one trace a curve with every point that it has.

    `dark` None: dark where plotly's default template is. Names are escaped, since plotly reads
    some tags in texts.
    """
    if dark is None:
        dark = str(pio.templates.default).endswith("dark")
    colours = assets.colours(dark=dark)
    panels = ready(figure)
    heights = [panel.panel.height * SCALE for panel in panels]
    heights = [one * max(1.0, LEAST / sum(heights)) for one in heights]
    tall = sum(heights) + GAP * (len(panels) - 1)
    made = make_subplots(
        rows=len(panels),
        cols=1,
        shared_xaxes=True,
        row_heights=heights,
        vertical_spacing=GAP / tall if len(panels) > 1 else 0,
        subplot_titles=[written(panel.title) for panel in panels],
    )
    for row, panel in enumerate(panels, start=1):
        _draw_panel(made, panel, row, colours)
    _draw_across(made, figure, tall, colours)
    _lay_out(made, figure, tall, colours)
    return made


def written(words: str) -> str:
    """Return a text for plotly: tags in it are shown, not read."""
    return str(text(words))


def _draw_panel(made: go.Figure, panel: ReadyPanel, row: int, colours: Colours) -> None:
    at = {"row": row, "col": 1}
    for band in panel.panel.bands:
        made.add_trace(_band(band, colours), **at)
    for area in panel.panel.areas:
        line = next(line for line in panel.lines if line.line.metric == area.metric)
        made.add_trace(_area(area, line, colours), **at)
    for line in panel.lines:
        for trace in _line(line, panel, colours):
            made.add_trace(trace, **at)
    for reference in panel.panel.references:
        made.add_hline(
            reference.value,
            line={"color": colours["ink"], "width": 1, "dash": "dash"},
            annotation_text=written(reference.text),
            **at,
        )
    for level in panel.panel.levels:
        ends = {"x0": level.start, "x1": level.end, "y0": level.value, "y1": level.value}
        dashed = {"color": colours["ink"], "width": 1, "dash": "dash"}
        made.add_shape(type="line", line=dashed, **ends, **at)
    for mark in panel.panel.marks:
        height = math.log10(mark.value) if panel.log else mark.value
        words = written(mark.text or number(mark.value))
        made.add_annotation(x=mark.step, y=height, text=words, ay=-28, **at)
    made.update_yaxes(**_y_axis(panel), **at)


def _line(ready_line: ReadyLine, panel: ReadyPanel, colours: Colours) -> Iterator[go.Scatter]:
    """Give a curve; where the page smooths it, faint with its running median; and its NaN."""
    line = ready_line.line
    colour, name = colours[INK_NAMES[line.ink]], written(line.series or line.metric)
    smooth = bool(ready_line.smooth)
    yield go.Scatter(
        x=np.asarray(line.curve.step),  # packed, as lists of numbers are not
        y=np.asarray(line.curve.value),
        name=name,
        legendgroup=name,
        mode="lines+markers" if line.dots or len(line.curve.step) == 1 else "lines",
        line={"color": colour, "width": 1 if smooth else 1.75},
        opacity=0.5 if smooth else 1,
        hovertemplate="%{y:.5g}",
    )
    if smooth:
        # a gap between stretches, as the curve has one
        gap = np.full((1, 2), math.nan)
        points = np.concatenate([part for some in ready_line.smooth for part in (some, gap)])
        yield _silent(
            x=points[:, 0],
            y=points[:, 1],
            name=f"{name}, running median",
            legendgroup=name,
            line={"color": colour, "width": 1.75},
        )
    if ready_line.bad:
        odd = [value for value in line.curve.value if not math.isfinite(value)]
        yield go.Scatter(
            x=ready_line.bad,
            y=[panel.high] * len(odd),
            name=f"{name}, not finite",
            legendgroup=name,
            showlegend=False,
            mode="markers",
            marker={"symbol": "x", "color": colours["crit"], "size": 7},
            text=[number(value) for value in odd],
            hovertemplate="%{text}",
        )


def _silent(**how: Any) -> go.Scatter:  # noqa: ANN401 - handed on to plotly
    return go.Scatter(mode="lines", hoverinfo="skip", showlegend=False, **how)


def _band(band: Band, colours: Colours) -> go.Scatter:
    return _silent(
        x=[*band.at, *reversed(band.at)],
        y=[*band.high, *reversed(band.low)],
        name="noise",
        fill="toself",
        fillcolor=_faint(colours["mut"]),
        line={"width": 0},
    )


def _area(area: Area, ready_line: ReadyLine, colours: Colours) -> go.Scatter:
    """Return what lies between a curve and a level, from a step on."""
    bound = max if area.above else min
    inside = [
        (step, bound(value, area.level))
        for stretch in ready_line.stretches
        for step, value in stretch.tolist()
        if step >= area.start
    ]
    steps = [step for step, _ in inside]
    return _silent(
        x=[*steps, *reversed(steps)],
        y=[*(value for _, value in inside), *([area.level] * len(steps))],
        name="cost",
        fill="toself",
        fillcolor=_faint(colours[INK_NAMES[ready_line.line.ink]]),
        line={"width": 0},
    )


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.15)"


def _y_axis(panel: ReadyPanel) -> dict[str, Any]:
    axis: dict[str, Any] = {"exponentformat": "e", "zeroline": False}
    if panel.log:
        decades = math.log10(panel.high / panel.low)
        return axis | {"type": "log", "dtick": max(1, math.ceil(decades / TICKS))}
    if panel.over:  # an early peak leaves the panel, as on the page
        room = PAD * (panel.high - panel.low)
        axis["range"] = [panel.low - room, panel.high + room]
    if panel.panel.zero:
        axis["rangemode"] = "tozero"
    return axis


def _draw_across(made: go.Figure, figure: Figure, tall: float, colours: Colours) -> None:
    """Draw onsets and breaks as lines through all panels, findings as bars above them."""
    for step, severity in figure.onsets:
        look = {"color": colours[SEVERITY_NAMES[severity]], "width": 1.5, "dash": "dot"}
        made.add_shape(name="onset", line=look, **_upright(step))
    breaks = [sign for sign in figure.signs if sign.kind != "saved"]
    for sign in breaks:
        look = {"color": _break_colour(sign, colours), "width": 1.25}
        made.add_shape(name=sign.kind, line=look, **_upright(sign.step))
        made.add_annotation(x=sign.step, y=0, yref="paper", text=written(sign.text), **_BESIDE)
    for index, lane in enumerate(figure.lanes):
        low = 1 + (TITLE + LANE * (len(figure.lanes) - 1 - index)) / tall
        colour = colours[SEVERITY_NAMES[lane.severity]]
        bar = {"x0": lane.start, "x1": lane.end, "y0": low, "y1": low + (LANE - 4) / tall}
        made.add_shape(
            type="rect",
            name=written(lane.text),
            yref="paper",
            fillcolor=_faint(colour),
            line={"width": 1, "color": _faint(colour)},
            **bar,
        )
        late = lane.start > (figure.start + figure.end) / 2
        made.add_annotation(
            x=lane.start,
            y=low + (LANE - 4) / 2 / tall,
            yref="paper",
            text=written(lane.short),
            font={"color": colour},
            xanchor="right" if late else "left",
            yanchor="middle",
            showarrow=False,
        )


_BESIDE = {"xanchor": "left", "yanchor": "bottom", "showarrow": False}


def _upright(step: float) -> dict[str, Any]:
    return {"type": "line", "x0": step, "x1": step, "y0": 0, "y1": 1, "yref": "paper"}


def _break_colour(sign: Sign, colours: Colours) -> str:
    return colours["crit" if sign.kind == "fault" else "ink"]


def _lay_out(made: go.Figure, figure: Figure, tall: float, colours: Colours) -> None:
    top = TITLE + LANE * len(figure.lanes) + TITLE
    made.update_layout(
        template=go.layout.Template(),  # all is said here, whatever the user's default is
        paper_bgcolor=colours["bg"],
        plot_bgcolor=colours["bg"],
        font={"color": colours["ink"], "size": 12},
        height=round(tall + top + BOTTOM),
        margin={"l": 64, "r": 24, "t": top, "b": BOTTOM},
        hovermode="x unified",
        hoverlabel={"bgcolor": colours["bg"]},
    )
    made.update_xaxes(range=[figure.start, figure.end], gridcolor=colours["line"], zeroline=False)
    made.update_yaxes(gridcolor=colours["line"])
    made.update_xaxes(title_text=figure.axis, row=len(figure.panels), col=1)
