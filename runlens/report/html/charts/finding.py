"""The chart beside a finding, drawn from its specification and the curves of the diagnosis."""

import math
from collections.abc import Mapping

from runlens.arrays import median
from runlens.diagnosis import Diagnosis, Finding, Mark, ThinCurve
from runlens.metrics import is_loss
from runlens.report.facts import began_between
from runlens.report.html.charts import select
from runlens.report.html.charts.model import Area, Figure, Level, Line, Panel, Reference, Stretch
from runlens.report.html.charts.points import window
from runlens.report.html.words import spoken
from runlens.report.values import starts_at_zero, value_of
from runlens.wording import count, number
from runlens.wording import step as step_words

WIDTH = 492
HERO = 620  # the same beside the verdict
HEIGHTS = ((180,), (130, 84))  # of one panel, of two
TALL = ((232,), (148, 92))  # ... beside the verdict
MARKS = 3
LEAST, SHARE = 60.0, 0.10  # a zoom shows 10 % of the run, at least 60 steps
FEWEST = 12  # ... and at least this many points
LINES = 3  # curves in a panel
CLOSE = 200  # points up to which a zoom shows the raw curve


def figure_for(
    finding: Finding, diagnosis: Diagnosis, uid: str, *, tall: bool = False
) -> Figure | None:
    """Return the chart of a finding; None where it has none or its curves were not recorded."""
    metrics = _metrics(finding, diagnosis.curves)
    if not metrics:
        return None
    start, end = _range(finding, diagnosis, metrics[0])
    curves = {name: window(diagnosis.curves[name], start, end) for name in metrics}
    panels = _panels(finding, select.known(curves, metrics), curves, TALL if tall else HEIGHTS)
    if not panels:
        return None
    onset = finding.onset.step
    lines = [line for panel in panels for line in panel.lines]
    return Figure(
        uid=uid,
        title=finding.title,
        description=" ".join(select.describe(line) for line in lines),
        panels=select.with_marks(panels, _marks(finding, start, end), finding.metric),
        start=start,
        end=end,
        onsets=() if onset is None else ((onset, finding.severity),),
        stretches=_stretches(finding, diagnosis, start, end) if tall else (),
        cited=select.cited_steps([finding]),
    )


def _stretches(
    finding: Finding, diagnosis: Diagnosis, first: float, last: float
) -> tuple[Stretch, ...]:
    """Return between which two records the fault began, and how long it lasted."""
    onset = finding.onset.step
    if onset is None or onset >= last:
        return ()
    between = began_between(finding, diagnosis)
    ended = finding.end.step if finding.end and finding.end.step is not None else last
    seen = between is not None and between[0] >= first
    began = (Stretch(*between, finding.severity, "began"),) if between and seen else ()
    return (*began, Stretch(onset, max(onset, ended), finding.severity, "after"))


def caption(finding: Finding, figure: Figure) -> str:
    """Return what the chart shows, in words."""
    said = []
    onset = finding.onset.step
    began = next((one for one in figure.stretches if one.kind == "began"), None)
    if began:
        between = f"{step_words(began.start)} and {step_words(began.end)}"
        said.append(f"Dotted line: the onset, between steps {between}.")
    elif onset is not None and figure.start <= onset <= figure.end:
        said.append(f"Dotted line: the onset, step {step_words(onset)}.")
    areas = [area for panel in figure.panels for area in panel.areas]
    for area in areas[:1]:
        side = "above" if area.above else "below"
        said.append(f"Shaded: {side} {value_of(area.metric, area.level)}.")
    if any(panel.levels for panel in figure.panels):
        said.append("Dashed: medians before and after.")
    if finding.chart.kind in {"zoom", "boundary"}:
        said.append(f"Steps {step_words(figure.start)} to {step_words(figure.end)}.")
    return " ".join(said)


def thinned_note(curves: Mapping[str, ThinCurve], metrics: set[str]) -> str:
    """Say which of the curves were thinned before they reached the page; empty if none was."""
    told = [
        f"{name}: {len(curve.step):,} of {count(curve.points, 'point')}"
        for name, curve in curves.items()
        if name in metrics and curve.points > len(curve.step)
    ]
    if not told:
        return ""
    return f"Thinned to the lowest and highest value of each interval ({'; '.join(told)})."


def _metrics(finding: Finding, curves: Mapping[str, ThinCurve]) -> list[str]:
    named = finding.chart.metrics if finding.chart.kind not in {"", "log"} else ()
    return select.known(curves, named) or select.known(curves, (finding.metric,))


def _range(finding: Finding, diagnosis: Diagnosis, metric: str) -> tuple[float, float]:
    chart, curve = finding.chart, diagnosis.curves[metric]
    last = select.last_step(diagnosis)
    start, end = select.first_step(diagnosis), last
    onset = finding.onset.step
    if chart.kind in {"zoom", "boundary"} and onset is not None:
        spacing = (curve.step[-1] - curve.step[0]) / max(1, len(curve.step) - 1)
        half = max(LEAST, SHARE * last, FEWEST * spacing) / 2
        start, end = max(start, onset - half), min(last, onset + half)
    start = chart.start if chart.start is not None else start
    end = chart.end if chart.end is not None else end
    if not start < end:
        start, end = select.first_step(diagnosis), last
    return start, max(end, start + 1.0)


def _marks(finding: Finding, start: float, end: float) -> list[Mark]:
    return [mark for mark in finding.chart.marks if start <= mark.step <= end][:MARKS]


def _panels(
    finding: Finding,
    metrics: list[str],
    curves: Mapping[str, ThinCurve],
    heights: tuple[tuple[int, ...], ...],
) -> list[Panel]:
    groups = _groups(metrics)[:2]
    return [
        _panel(finding, group, curves, height)
        for group, height in zip(groups, heights[len(groups) - 1] if groups else (), strict=True)
    ]


def _groups(metrics: list[str]) -> list[list[str]]:
    """Put what has one unit into one panel: the losses, the reward and its spread."""
    together: dict[str, list[str]] = {}
    for name in metrics:
        key = "loss" if is_loss(name) else "reward" if name.startswith("reward") else name
        together.setdefault(key, []).append(name)
    return [names[:LINES] for names in together.values()]


def _panel(
    finding: Finding, names: list[str], curves: Mapping[str, ThinCurve], height: int
) -> Panel:
    first = names[0]
    close = finding.chart.kind in {"zoom", "boundary"}
    lines = tuple(_line(name, curves[name], close=close) for name in names)
    limit = finding.chart.limit if first == _judged(finding) else None
    references = () if limit is None else (Reference(limit, f"limit {number(limit)}"),)
    return Panel(
        "Loss" if len(names) > 1 and is_loss(first) else spoken(first),
        height,
        lines,
        references,
        log_from=select.log_from(first),
        log_above=select.log_above(first),
        zero=starts_at_zero(first),
        areas=_areas(finding, names, curves, limit),
        levels=_levels(finding, curves[first]) if first == _judged(finding) else (),
    )


def _line(name: str, curve: ThinCurve, *, close: bool) -> Line:
    """Return a curve; seen close, every point counts and nothing is smoothed."""
    line = select.line(name, curve)
    if not close or len(curve.step) > CLOSE:
        return line
    return line._replace(smooth=False, dots=True)


def _judged(finding: Finding) -> str:
    """Return the metric that the limit of the chart is about: the first that it names."""
    return next(iter(finding.chart.metrics), finding.metric)


def _areas(
    finding: Finding, names: list[str], curves: Mapping[str, ThinCurve], limit: float | None
) -> tuple[Area, ...]:
    if limit is not None and finding.chart.kind == "limit":
        above = _above(finding, curves[names[0]], limit)
        start = finding.onset.step
        first = curves[names[0]].step[0]
        return (Area(names[0], limit, first if start is None else start, above),)
    if finding.metric not in names:
        return ()
    area = select.cost_area(finding, curves[finding.metric])
    return (area,) if area else ()


def _above(finding: Finding, curve: ThinCurve, limit: float) -> bool:
    """Whether the pattern lies above the limit: as the evidence says, else as the curve does."""
    for item in finding.evidence:
        if item.limit == limit:
            return item.above
    values = [value for value in curve.value if math.isfinite(value)]
    return not values or float(median(values)) >= limit


def _levels(finding: Finding, curve: ThinCurve) -> tuple[Level, ...]:
    """Return the medians before and after a boundary."""
    onset = finding.onset.step
    if finding.chart.kind != "boundary" or onset is None:
        return ()
    points = [
        (step, value)
        for step, value in zip(curve.step, curve.value, strict=True)
        if math.isfinite(value)
    ]
    before = [point for point in points if point[0] < onset]
    after = [point for point in points if point[0] >= onset]
    return tuple(
        Level(some[0][0], some[-1][0], level, value_of(finding.metric, level))
        for some in (before, after)
        if len(some) > 1
        for level in [float(median([value for _, value in some]))]
    )
