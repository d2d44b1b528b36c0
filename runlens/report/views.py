"""What notebooks show: reports in a frame, charts as plotly figures (see `runlens.views`)."""

import gzip
import sys
import webbrowser
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from runlens.comparison import LABELS, Comparison
from runlens.diagnosis import Diagnosis, ThinCurve
from runlens.errors import NothingToDraw
from runlens.metrics import is_loss
from runlens.report import html
from runlens.report.compared import names, of_many
from runlens.report.html import comparison as pages
from runlens.report.html import shell
from runlens.report.html.charts import many, select
from runlens.report.html.charts.finding import figure_for
from runlens.report.html.charts.model import Figure, Panel
from runlens.report.html.charts.points import fewer
from runlens.report.html.charts.timeline import timeline
from runlens.report.html.charts.units import span
from runlens.report.html.element import cut, text
from runlens.report.html.words import spoken
from runlens.report.values import starts_at_zero
from runlens.run import Run

if TYPE_CHECKING:
    from plotly import graph_objects as go

Shown = Diagnosis | Comparison

LARGEST = 60_000  # bytes of a framed report, gzipped
GOES_FIRST = (  # anchors of the parts that are left out of a large one, in this order
    *("metrics", "details", "cells", "log", "settings", "part", "diagnosis", "checks", "fair"),
    *("problems", "provenance", "incidents", "timeline", "curves", "runs", "numbers"),
)
POINTS = 50_000  # of a plotted metric; more make a notebook slow
NAME, NAMED = 40, 3  # characters of a run's name over a figure, and how many runs are named
HEIGHT, TITLE = 216, 24  # pixels: of a panel of plotted metrics, of a title
BOX = "height:min(720px,85vh);overflow:hidden;resize:vertical"
FRAME = "width:100%;height:100%;border:0"


def framed(shown: Shown) -> str:
    """Return a report as HTML for a notebook: isolated in a frame, without script.

    The sheet of the notebook cannot reach into the frame, nor ours out of it; light or dark
    follows the page around it. Viewers that refuse frames are left with the verdict as text. A
    report of more than 60 kB gzipped leaves out parts that the full page has, and says which.
    """
    report = (html if isinstance(shown, Diagnosis) else pages).embedded(shown)
    for number in range(len(GOES_FIRST) + 1):
        made = _in_frame(shown, shell.framed(report, GOES_FIRST[:number]))
        if len(gzip.compress(made.encode())) <= LARGEST:
            break
    return made


def _in_frame(shown: Shown, page: str) -> str:
    # between single quotes only these two need an escape, which keeps notebooks small
    inside = page.replace("&", "&amp;").replace("'", "&#39;")
    frame = f"<iframe title=RunLens sandbox style='{FRAME}' srcdoc='{inside}'>"
    return f"<div style='{BOX}'>{frame}{text(_said(shown))}</iframe></div>"


def _said(shown: Shown) -> str:
    """Return the verdict in one line."""
    if isinstance(shown, Diagnosis):
        return f"{cut(shown.run_name, 80)}: {shown.health}. {shown.verdict}"
    return of_many(shown).sentence if len(shown.pairs) > 1 else shown.verdict.sentence


def show(shown: Shown) -> None:
    """Show a report below the cell of a notebook, elsewhere as a page in the browser."""
    if _in_notebook():
        from IPython.display import display

        display(shown)  # type: ignore[no-untyped-call]
        return
    whole = html.render(shown) if isinstance(shown, Diagnosis) else pages.render(shown)
    path = Path(mkdtemp(prefix="runlens-"), "report.html")
    path.write_text(whole, encoding="utf-8")
    webbrowser.open(path.as_uri())
    print(f"Report: {path}", file=sys.stderr)  # noqa: T201 - where no browser can be opened


def _in_notebook() -> bool:
    """Whether the code runs in a kernel, whose outputs a notebook shows."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def figure(shown: Shown, name: str = "", *, dark: bool | None = None) -> "go.Figure":
    """Return a chart of a report as a plotly figure; see `runlens.views.Viewed.figure`."""
    from runlens.report.figures import drawn, written

    if isinstance(shown, Diagnosis):
        return drawn(_of_diagnosis(shown, name or "timeline"), dark=dark)
    made = drawn(_of_comparison(shown, name or "curves"), dark=dark)
    told = zip(LABELS[:NAMED], names(shown.runs), strict=False)
    title = " · ".join(f"{letter} {cut(run, NAME)}" for letter, run in told)
    more = len(shown.runs) - NAMED
    title += f" and {more} more" if more > 0 else ""
    room = made.layout.margin.t + TITLE
    made.update_layout(height=made.layout.height + TITLE, margin_t=room)
    return made.update_layout(
        title={
            "text": written(title),
            "font_size": 14,
            "yref": "container",
            "y": 0.99,
            "yanchor": "top",
        }
    )


def _of_diagnosis(diagnosis: Diagnosis, name: str) -> Figure:
    drawn = timeline(diagnosis)
    if drawn is None:
        raise NothingToDraw(diagnosis.run_name, "figure", name, ())
    charts = {"timeline": drawn}
    for finding in diagnosis.findings:
        chart = figure_for(finding, diagnosis, finding.rule)
        if chart is not None:
            charts.setdefault(finding.rule, chart)
    if name not in charts:
        raise NothingToDraw(diagnosis.run_name, "figure", name, tuple(charts))
    return charts[name]


def _of_comparison(comparison: Comparison, name: str) -> Figure:
    known = many.known(comparison)
    main = pages.main_figure(comparison)
    if name == "curves" and main is not None:
        return main
    if name not in known:
        there = ("curves", *known) if known else ()
        raise NothingToDraw(comparison.runs[0].run_name, "figure", name, there)
    return many.overview(comparison, name)


def plot(run: Run, *metrics: str, dark: bool | None = None) -> "go.Figure":
    """Return metrics of a run as a plotly figure; see `runlens.run.Run.plot`."""
    from runlens.report.figures import drawn

    groups: dict[str, list[str]] = {}
    for metric in metrics:
        if not len(run.curve(metric)):
            raise NothingToDraw(run.name, "metric", metric, run.history.metrics)
        groups.setdefault("Loss" if is_loss(metric) else spoken(metric), []).append(metric)
    panels = tuple(_panel(run, title, some) for title, some in groups.items())
    curves = [line.curve for panel in panels for line in panel.lines]
    start, end = span(min(c.step[0] for c in curves), max(c.step[-1] for c in curves))
    return drawn(
        Figure(
            uid="run",
            title=", ".join(metrics),
            description="",
            panels=panels,
            start=start,
            end=end,
        ),
        dark=dark,
    )


def _panel(run: Run, title: str, metrics: list[str]) -> Panel:
    return Panel(
        title,
        HEIGHT,
        tuple(select.line(metric, _curve(run, metric)) for metric in metrics),
        log_from=select.log_from(metrics[0]),
        zero=starts_at_zero(metrics[0]),
    )


def _curve(run: Run, metric: str) -> ThinCurve:
    """Return all points of a metric, or of a very long one the extremes of each stretch."""
    logged = run.curve(metric)
    step, value = logged.step.astype(float).tolist(), logged.value.tolist()
    return fewer(ThinCurve(tuple(step), tuple(value), len(step)), POINTS)
