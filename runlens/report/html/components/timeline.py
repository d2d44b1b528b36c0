"""The timeline of a run with its readout and the numbers behind it."""

import math
from collections.abc import Sequence

from runlens.diagnosis import Diagnosis, ThinCurve
from runlens.report.facts import story
from runlens.report.html.charts import svg
from runlens.report.html.charts.finding import thinned_note
from runlens.report.html.charts.model import Figure, Line
from runlens.report.html.charts.ready import smoothing_note
from runlens.report.html.charts.timeline import metrics_shown
from runlens.report.html.components.phases import strips
from runlens.report.html.components.tables import folded, grid, section, sub
from runlens.report.html.element import NOTHING, Markup, cut, el
from runlens.report.values import value_of
from runlens.wording import count, number
from runlens.wording import step as step_words

ROWS = 40  # of the numbers behind the chart
HELP = (
    "Point at the chart, or focus it and use the arrow keys, to read every value at one step; "
    "drag over it, or + and −, to zoom."
)
SIGNS = {"saved": "Square: a checkpoint.", "resume": "Bracket: a resume."}
LABEL = "Timeline. Arrow keys read the values step by step."


def timeline(diagnosis: Diagnosis, figure: Figure | None) -> Markup:
    """Return the timeline; without any curve it says so."""
    if figure is None:
        note = "No curve was recorded: the run wrote no training metric before its files end."
        return section("timeline", "Timeline", el("p", note))
    return el(
        "section",
        el("h2", "Timeline", id="h-timeline"),
        _story(diagnosis),
        sub(_note(diagnosis, figure)),
        readable(figure, LABEL, HELP),
        strips(diagnosis, figure),
        _numbers(diagnosis, figure),
        id="timeline",
        aria_labelledby="h-timeline",
    )


def _story(diagnosis: Diagnosis) -> Markup:
    """Return what happened in order of time, cause before symptom; nothing for a single event."""
    if not story(diagnosis):
        return NOTHING
    events = [
        el("li", el("b", f"step {step_words(one.step)}"), " ", one.what) for one in diagnosis.story
    ]
    return el("ol", events, class_="story", aria_label="What happened, in order of time")


def readable(figure: Figure, name: str, guide: str) -> Markup:
    """Return a chart whose values can be read with the pointer or the arrow keys."""
    box, readout = f"{figure.uid}-box", f"{figure.uid}-read"
    chart = el(
        "div",
        svg.both(figure),
        id=box,
        data_cross=readout,
        tabindex=0,
        role="group",
        aria_label=name,
    )
    said = el(
        "div", el("span", guide), class_="read js flex", hidden=True, id=readout, role="status"
    )
    return el("figure", chart, said)


def _note(diagnosis: Diagnosis, figure: Figure) -> str:
    lines = [line for panel in figure.panels for line in panel.lines]
    said = ["All panels share one step axis.", smoothing_note(lines)]
    kinds = {sign.kind for sign in figure.signs}
    said += [words for kind, words in SIGNS.items() if kind in kinds]
    planned = diagnosis.state.planned_steps
    if planned and planned > figure.end:
        said.append(f"{step_words(planned)} steps were planned; the axis ends earlier.")
    if any(panel.areas for panel in figure.panels):
        said.append("Shaded: what a finding cost.")
    if any(not math.isfinite(value) for line in lines for value in line.curve.value):
        said.append("Red cross or bar at the top of a panel: the value is NaN or infinite.")
    said.append(thinned_note(diagnosis.curves, metrics_shown(figure)))
    return " ".join(part for part in said if part)


def _numbers(diagnosis: Diagnosis, figure: Figure) -> Markup:
    """Return the numbers behind the chart, at the evaluations or evenly spread."""
    lines = [line for panel in figure.panels for line in panel.lines]
    return numbers_behind(lines, _steps(diagnosis, figure), "Numbers behind the timeline")


def numbers_behind(
    lines: Sequence[Line], steps: Sequence[float], label: str, axis: str = "step"
) -> Markup:
    """Return the values of lines at some places of the axis, as a folded table."""
    if not steps:
        return NOTHING
    write = step_words if axis == "step" else number
    tables = [dict(zip(line.curve.step, line.curve.value, strict=True)) for line in lines]
    rows = [
        [
            write(step),
            *(
                value_of(line.metric, values[step]) if step in values else "–"
                for line, values in zip(lines, tables, strict=True)
            ),
        ]
        for step in steps
    ]
    columns = [axis, *(cut(line.series or line.metric, 40) for line in lines)]
    told = count(len(rows), "step") if axis == "step" else count(len(rows), "row")
    return folded("Numbers behind this chart", told, grid(columns, rows, label), class_="noprint")


def _steps(diagnosis: Diagnosis, figure: Figure) -> list[float]:
    """Return the steps of the table: evaluations if there are any, and what findings cite."""
    curves = [line.curve for panel in figure.panels for line in panel.lines]
    evals = diagnosis.curves.get("eval_loss")
    main = evals if evals and evals.step else max(curves, key=lambda curve: len(curve.step))
    logged = {step for curve in curves for step in curve.step}
    return sorted({*spread(main), *(step for step in figure.cited if step in logged)})


def spread(curve: ThinCurve) -> list[float]:
    """Return at most about 40 steps of a curve, evenly spread, and its last."""
    every = -(-len(curve.step) // ROWS)
    return [*curve.step[::every], curve.step[-1]]
