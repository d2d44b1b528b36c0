"""The curves of two runs over one axis, with their differences beside the noise."""

import math

from runlens.comparison import Comparison
from runlens.report.facts import sentence
from runlens.report.html.charts.model import Figure
from runlens.report.html.charts.ready import smoothing_note
from runlens.report.html.components.compare_bench import bench
from runlens.report.html.components.tables import section, sub
from runlens.report.html.components.timeline import numbers_behind, readable, spread
from runlens.report.html.element import Markup, el
from runlens.wording import count

HELP = "Point at the chart, or focus it and use the arrow keys, to read both runs at one {}."
LABEL = "Curves of A and B. Arrow keys read the values place by place."
NONE = "Neither run recorded a curve: nothing can be drawn."


def curves(comparison: Comparison, figure: Figure | None, *, work: bool) -> Markup:
    """Return the curves; without any it says so. `work`: the workbench travels along."""
    if figure is None:
        return section("curves", "Curves", el("p", NONE))
    return el(
        "section",
        el("h2", "Curves", id="h-curves"),
        bench(comparison) if work else None,
        sub(_note(comparison, figure)),
        readable(figure, LABEL, HELP.format(place_word(figure))),
        _numbers(figure),
        id="curves",
        aria_labelledby="h-curves",
    )


def place_word(figure: Figure) -> str:
    """Return what a place on the axis is called: a step, an epoch, else a place."""
    return figure.axis if figure.axis in {"step", "epoch"} else "place"


def alignment(comparison: Comparison) -> str:
    """Return on which axis the runs lie, and why."""
    reasons = {pair.align_why for pair in comparison.pairs}
    why = next(iter(reasons)) if len(reasons) == 1 else ""
    return sentence(f"Aligned by {comparison.unit or comparison.align}{f': {why}' if why else ''}")


def _note(comparison: Comparison, figure: Figure) -> str:
    lines = [line for panel in figure.panels for line in panel.lines]
    said = [alignment(comparison), "Same scales.", smoothing_note(lines)]
    bands = [band for panel in figure.panels for band in panel.bands]
    if any(band.ink for band in bands):
        said.append("Lines: interquartile means of a group; around them the middle half of it.")
    if any(band.ink is None for band in bands):
        said.append("Gray band: a difference that is no more than noise.")
    if figure.onsets:
        said.append(
            "Dotted line: where the runs part, and from where the deciding metric is clear."
            if len(figure.onsets) > 1
            else "Dotted line: where the runs part."
        )
    if any(not math.isfinite(value) for line in lines for value in line.curve.value):
        said.append("Red cross or bar at the top of a panel: the value is NaN or infinite.")
    said.append(_thinned(figure))
    return " ".join(part for part in said if part)


def _thinned(figure: Figure) -> str:
    curves = [line.curve for panel in figure.panels for line in panel.lines]
    thin = [curve for curve in curves if curve.points > len(curve.step)]
    if not thin:
        return ""
    most = max(thin, key=lambda curve: curve.points)
    shown = f"{len(most.step):,} of {count(most.points, 'point')}"
    return (
        f"Long curves keep the lowest and highest value of each interval: {shown} of the longest."
    )


def _numbers(figure: Figure) -> Markup:
    lines = [line for panel in figure.panels for line in panel.lines]
    first = max((line.curve for line in figure.panels[0].lines), key=lambda curve: len(curve.step))
    return numbers_behind(lines, spread(first), "Numbers behind the curves", figure.axis)
