"""Which curves stand in which panel, and how: shared by the timeline and the finding charts."""

import math
from collections.abc import Iterable, Mapping

from runlens.arrays import median
from runlens.diagnosis import Diagnosis, Finding, Mark, ThinCurve
from runlens.metrics import base, is_loss, is_rate
from runlens.report.html.charts.model import Area, Ink, Line, Panel
from runlens.report.html.charts.points import distance
from runlens.report.html.element import cut
from runlens.report.html.words import short
from runlens.report.values import starts_at_zero, value_of

__all__ = [
    "cited_steps",
    "cost_area",
    "describe",
    "first_step",
    "known",
    "last_step",
    "line",
    "log_above",
    "log_from",
    "starts_at_zero",
    "with_marks",
]

LOSS_LOG, NORM_LOG = 30.0, 100.0  # max / min from which an axis is logarithmic
RATE_LOG = 10.0  # the same, max / median: of a rate that decays to 0 the usual one counts
BURST_LOG = (
    100.0  # ... of a loss or norm that touches 0: the usual value is 1 % of the lane's height
)
INK: dict[str, Ink] = {
    "train_loss": "t",
    "eval_loss": "e",
    "reward": "t",
    "reward_std": "e",
    "grad_norm": "gn",
    "learning_rate": "l",
}
SMOOTH = frozenset({"train_loss", "reward"})
NEAR = 0.5  # of its value: how far from its own curve a level before a steep rise may lie
DOTTED = 120  # points up to which an evaluation curve shows each of them
FEW = 30  # ... and any other curve


def line(metric: str, curve: ThinCurve, ink: Ink | None = None) -> Line:
    """Return a metric as a line, in the color and the manner that it has everywhere."""
    name = base(metric)
    dots = name.startswith("eval_") or (len(curve.step) <= FEW and name != "learning_rate")
    return Line(
        metric,
        short(metric),
        ink or INK.get(name, "l"),
        curve,
        smooth=name in SMOOTH,
        dots=dots and len(curve.step) <= DOTTED,
    )


def log_from(metric: str) -> float:
    """Return the ratio of the largest to the smallest value that asks for a logarithmic axis."""
    if is_loss(metric):
        return LOSS_LOG
    return NORM_LOG if base(metric) == "grad_norm" else 0.0


def log_above(metric: str) -> float:
    """Return the ratio of the largest to the usual value that asks for a logarithmic axis."""
    if is_rate(metric):
        return RATE_LOG
    return BURST_LOG if is_loss(metric) or base(metric) == "grad_norm" else 0.0


def known(curves: Mapping[str, ThinCurve], names: Iterable[str]) -> list[str]:
    """Return those of the metrics that have at least one point."""
    return [name for name in names if name in curves and curves[name].step]


def with_marks(
    panels: Iterable[Panel], marks: Iterable[Mark], metric: str = ""
) -> tuple[Panel, ...]:
    """Give each labeled point to the panel whose curve it lies on.

    Points of a finding about `metric` lie on its curve, or near it where they are medians, whatever
    other curve passes there by chance.
    """
    made = list(panels)
    for mark in marks:
        if not (math.isfinite(mark.value) and math.isfinite(mark.step)):
            continue
        index = min(range(len(made)), key=lambda at: _misfit(mark, made[at], metric))
        there = made[index].marks
        if all((one.step, one.value) != (mark.step, mark.value) for one in there):  # named once
            made[index] = made[index]._replace(marks=(*there, mark))
    return tuple(made)


def _misfit(mark: Mark, panel: Panel, metric: str) -> tuple[bool, float]:
    near = min(distance(mark, one.curve) for one in panel.lines) / (abs(mark.value) or 1.0)
    own = near <= NEAR and any(one.metric == metric for one in panel.lines)
    return not own, near


def cost_area(finding: Finding, curve: ThinCurve) -> Area | None:
    """Return the area between a metric that rose and its value at the onset, if it stayed above."""
    onset = finding.onset.step
    mark = next((one for one in finding.chart.marks if one.step == onset), None)
    if finding.chart.kind != "curves" or mark is None or onset is None:
        return None
    after = [
        value
        for step, value in zip(curve.step, curve.value, strict=True)
        if step > onset and math.isfinite(value)
    ]
    if not after or median(after) <= mark.value:
        return None
    return Area(finding.metric, mark.value, onset)


def cited_steps(findings: Iterable[Finding]) -> frozenset[float]:
    """Return every step that a finding names: onset, end, marks, evidence."""
    steps: set[float | None] = set()
    for finding in findings:
        steps |= {finding.onset.step, finding.end.step if finding.end else None}
        steps |= {mark.step for mark in finding.chart.marks}
        steps |= {item.step for item in finding.evidence}
    return frozenset(step for step in steps if step is not None)


def first_step(diagnosis: Diagnosis) -> float:
    """Return where axes begin: at 0, unless all curves lie far from it, as those of a resumed run.

    What was logged before 0 is shown too.
    """
    firsts = [curve.step[0] for curve in diagnosis.curves.values() if curve.step]
    first, last = min(firsts, default=0.0), last_step(diagnosis)
    return first if first < 0 or last > first > last / 2 else 0.0


def last_step(diagnosis: Diagnosis) -> float:
    """Return the last step at which anything was logged."""
    ends = (curve.step[-1] for curve in diagnosis.curves.values() if curve.step)
    return max(float(diagnosis.last_step), *ends, 0.0)


def describe(line: Line) -> str:
    """Return a curve in words: first, last, lowest, highest."""
    value = [one for one in line.curve.value if math.isfinite(one)]
    name = cut(line.series or line.metric, 60)
    if not value:
        return f"{name}: no finite value."
    first, last, low, high = (
        value_of(line.metric, one) for one in (value[0], value[-1], min(value), max(value))
    )
    return f"{name}: first {first}, last {last}, lowest {low}, highest {high}."
