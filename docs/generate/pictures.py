"""Pictures of drawn cases, by the charts of the report."""

from collections.abc import Sequence
from typing import Any

from runlens.diagnosis import Finding, ThinCurve
from runlens.metrics import is_loss
from runlens.report.html.charts import select, svg
from runlens.report.html.charts.model import Figure, Line, Panel, Reference
from runlens.report.html.element import cut
from runlens.report.html.words import spoken
from runlens.rules.rule import Rule
from runlens.run import Run
from runlens.wording import number

WIDTH = 340  # pixels
HEIGHT, LOW = 120, 76  # of the first panel, of the second
PANELS, LINES = 2, 2


def picture(rule: Rule[Any], run: Run, findings: Sequence[Finding], uid: str) -> str:
    """Return the curves that a rule looks at in a run as SVG; "" where it has none of them.

    The onset of the first finding is a dotted line, its limit a dashed one. `uid` is unique on
    the page.
    """
    finding = findings[0] if findings else None
    names = _looked_at(rule, run, finding)
    if not names:
        return ""
    curves = {name: _thin(run, name) for name in names}
    panels = [
        _panel(group, curves, finding, height)
        for group, height in zip(_groups(names), (HEIGHT, LOW), strict=False)
    ]
    onset = finding.onset.step if finding else None
    figure = Figure(
        uid=uid,
        title=cut(f"{rule.title}: {run.name}", 100),
        description=" ".join(select.describe(line) for one in panels for line in one.lines),
        panels=tuple(panels),
        start=min(0.0, *(curve.step[0] for curve in curves.values())),
        end=max(curve.step[-1] for curve in curves.values()),
        onsets=() if finding is None or onset is None else ((onset, finding.severity),),
    )
    return str(svg.one(figure, WIDTH))


def _looked_at(rule: Rule[Any], run: Run, finding: Finding | None) -> list[str]:
    """Return the metrics of the finding's chart, else those that the rule needs, that are there."""
    charted = finding.chart.metrics or (finding.metric,) if finding else ()
    needed = [name for need in rule.needs for name in need.split("|")]
    wanted = dict.fromkeys((*charted, *needed))
    logged = [name for name in wanted if name and len(run.curve(name))]
    if logged or rule.family in {"CFG", "OBS"}:
        return logged
    return [name for name in run.history.metrics if len(run.curve(name))][: PANELS * LINES]


def _groups(names: list[str]) -> list[list[str]]:
    """Put losses into one panel, anything else into its own."""
    together: dict[str, list[str]] = {}
    for name in names:
        together.setdefault("loss" if is_loss(name) else name, []).append(name)
    return [group[:LINES] for group in together.values()][:PANELS]


def _thin(run: Run, name: str) -> ThinCurve:
    curve = run.curve(name)
    return ThinCurve(
        tuple(float(at) for at in curve.step), tuple(curve.value.tolist()), len(curve.step)
    )


def _panel(
    names: list[str], curves: dict[str, ThinCurve], finding: Finding | None, height: int
) -> Panel:
    lines: tuple[Line, ...] = tuple(select.line(name, curves[name]) for name in names)
    limit = finding.chart.limit if finding and names[0] in _judged(finding) else None
    return Panel(
        "Loss" if len(names) > 1 else spoken(names[0]),
        height,
        lines,
        () if limit is None else (Reference(limit, f"limit {number(limit)}"),),
        log_from=select.log_from(names[0]),
        zero=select.starts_at_zero(names[0]),
    )


def _judged(finding: Finding) -> tuple[str, ...]:
    """Return the metric that the limit of the chart is about."""
    return finding.chart.metrics[:1] or (finding.metric,)
