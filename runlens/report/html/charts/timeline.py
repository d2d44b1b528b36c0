"""The timeline of a run: the curves that matter for its task over one step axis."""

import math
from collections.abc import Iterator, Mapping

from runlens.diagnosis import SEVERITIES, Diagnosis, Finding, Mark, Severity, ThinCurve
from runlens.metrics import NAMES, base
from runlens.report.facts import named
from runlens.report.html.charts import select
from runlens.report.html.charts.model import (
    Area,
    Figure,
    Lane,
    Panel,
    Reference,
    Sign,
)
from runlens.report.html.element import cut
from runlens.report.html.words import spoken
from runlens.report.values import starts_at_zero
from runlens.run import RL_TASKS, Event
from runlens.wording import count, number
from runlens.wording import step as step_words

# what trackers record by themselves: no sign that the training began
SYSTEM = frozenset({"heartbeat", "host_mem", "gpu_mem", "gpu_mem_reserved", "gpu_util"})
MAIN, NORM, RATE, SIDE = 176, 84, 64, 76  # heights in pixels
ALL, LEAST = 352, 46  # of all panels together, and of each, where they are many
LANES = 4
ERROR = 28  # characters of the name of an exception
EXTRA = 2  # panels for metrics that a finding is about
SETS = 3  # evaluation sets beside train_loss
FAR = 8.0  # a plan this many times longer than the run does not set the axis
ROOM = 1.3  # ... then the axis goes this far beyond the last step
LIMIT_NEAR = 2.0  # a limit this many times the largest value is not drawn


def timeline(diagnosis: Diagnosis) -> Figure | None:
    """Return the timeline; None where no metric was recorded."""
    panels = _lower(_shaded(_panels(diagnosis), diagnosis))
    if not panels:
        return None
    leads = [incident.findings[0] for incident in diagnosis.incidents if incident.findings]
    for finding in leads[:2]:
        panels = list(select.with_marks(panels, finding.chart.marks[:1], finding.metric))
    panels = list(select.with_marks(panels, _turns(diagnosis), "learning_rate"))
    start, end = axis(diagnosis)
    shown, hidden = _lanes(diagnosis, leads, end)
    return Figure(
        uid="tl",
        title="Timeline of the run over optimizer steps",
        description=_description(panels, shown),
        panels=tuple(panels),
        start=start,
        end=end,
        lanes=tuple(shown),
        more=f"+ {count(hidden, 'more finding')}, below" if hidden else "",
        signs=tuple(_signs(diagnosis)),
        epochs=diagnosis.epochs,
        onsets=tuple(_onsets(leads)),
        cited=select.cited_steps(diagnosis.findings),
        crosshair=True,
    )


def _turns(diagnosis: Diagnosis) -> list[Mark]:
    """Return where the learning rate does what the story tells of it: ``went off schedule``."""
    curve = diagnosis.curves.get("learning_rate")
    if curve is None:
        return []
    points = [pair for pair in zip(curve.step, curve.value, strict=True) if math.isfinite(pair[1])]
    made = []
    for one in diagnosis.story:
        value = next((value for step, value in points if step >= one.step), None)
        if one.metric == "learning_rate" and value is not None:
            made.append(Mark(one.step, value, one.what.removeprefix("the learning rate ")))
    return made


def _lower(panels: list[Panel]) -> list[Panel]:
    """Share the height that all panels may take together where they are many."""
    share = min(1.0, ALL / max(sum(panel.height for panel in panels), 1))
    return [one._replace(height=max(LEAST, round(share * one.height))) for one in panels]


def axis(diagnosis: Diagnosis) -> tuple[float, float]:
    """Return the first and the last step of the axis: to the planned end, unless it is far off."""
    start, done = select.first_step(diagnosis), select.last_step(diagnosis)
    planned = float(diagnosis.state.planned_steps or 0)
    covered = max(done - start, 1.0)
    if planned - start > FAR * covered:
        return start, start + ROOM * covered
    return start, max(done, planned, start + 1.0)


def of_machine(metric: str) -> bool:
    """Whether a metric is what a tracker records of the machine by itself."""
    return base(metric) in SYSTEM or metric.startswith("system")


def metrics_shown(figure: Figure | None) -> set[str]:
    """Return the metrics that stand in a figure."""
    return {line.metric for panel in figure.panels for line in panel.lines} if figure else set()


def _panels(diagnosis: Diagnosis) -> list[Panel]:
    curves = diagnosis.curves
    made = _of_task(diagnosis)
    made += _panel(curves, ("grad_norm",), NORM, _clip(diagnosis))
    made += _panel(curves, ("learning_rate",), RATE)
    made += _of_findings(diagnosis, {line.metric for panel in made for line in panel.lines})
    if made:
        return made
    own = [name for name in select.known(curves, curves) if not of_machine(name)]
    telling = [name for name in own if base(name) in NAMES] or own
    return [panel for name in telling[:3] for panel in _panel(curves, (name,), NORM)]


def _of_task(diagnosis: Diagnosis) -> list[Panel]:
    curves = diagnosis.curves
    if diagnosis.task in RL_TASKS and select.known(curves, ("reward",)):
        made = _panel(curves, ("reward", "reward_std"), MAIN - 48)
        for names in (("kl", "kl_step", "kl_seq"), ("entropy", "entropy_seq"), ("len_mean",)):
            made += _panel(curves, tuple(select.known(curves, names)[:1]), SIDE)
        return made
    sets = sorted(name for name in curves if name.startswith("eval_loss:"))
    made = _panel(curves, ("train_loss", "eval_loss", *sets[:SETS]), MAIN)
    if diagnosis.task == "dpo":
        made += _panel(curves, ("dpo_margin",), SIDE) + _panel(curves, ("dpo_acc",), SIDE)
    return made


def _panel(
    curves: Mapping[str, ThinCurve],
    names: tuple[str, ...],
    height: int,
    references: tuple[Reference, ...] = (),
) -> list[Panel]:
    """Return the panel of these metrics, or nothing where none of them was logged."""
    there = select.known(curves, names)
    if not there:
        return []
    losses = there[0] in {"train_loss", "eval_loss"} or there[0].startswith("eval_loss:")
    return [
        Panel(
            "Loss" if losses else spoken(there[0]),
            height,
            tuple(select.line(name, curves[name]) for name in there),
            references,
            log_from=select.log_from(there[0]),
            log_above=select.log_above(there[0]),
            zero=starts_at_zero(there[0]),
        )
    ]


def _of_findings(diagnosis: Diagnosis, there: set[str]) -> list[Panel]:
    """Return panels for what findings are about, so that cause and effect share an axis."""
    wanted: dict[str, None] = {}
    for incident in diagnosis.incidents:
        for finding in incident.findings[:1]:
            if finding.onset.step is not None and finding.metric not in there:
                wanted[finding.metric] = None
    names = select.known(diagnosis.curves, wanted)[:EXTRA]
    return [panel for name in names for panel in _panel(diagnosis.curves, (name,), SIDE)]


def _clip(diagnosis: Diagnosis) -> tuple[Reference, ...]:
    row = next((one for one in diagnosis.settings if one.key == "max_grad_norm"), None)
    norm = diagnosis.curves.get("grad_norm")
    if row is None or norm is None or isinstance(row.value, bool | str | None):
        return ()
    top = max((value for value in norm.value if math.isfinite(value)), default=0.0)
    if not 0 < row.value <= LIMIT_NEAR * top:
        return ()
    return (Reference(float(row.value), f"clip {number(row.value)}"),)


def _shaded(panels: list[Panel], diagnosis: Diagnosis) -> list[Panel]:
    """Shade what the leading findings cost."""
    made: dict[str, Area] = {}
    for incident in diagnosis.incidents:
        for finding in incident.findings[:1]:
            curve = diagnosis.curves.get(finding.metric)
            area = select.cost_area(finding, curve) if curve else None
            if area:
                made.setdefault(finding.metric, area)
    return [
        panel._replace(areas=tuple(made[one.metric] for one in panel.lines if one.metric in made))
        for panel in panels
    ]


def _lanes(diagnosis: Diagnosis, leads: list[Finding], end: float) -> tuple[list[Lane], int]:
    """Return the lanes that have room in the order of time, and how many have none."""
    follow = [one for incident in diagnosis.incidents for one in incident.findings[1:]]
    placed = [one for one in leads + follow if one.onset.step is not None]
    placed.sort(key=lambda one: SEVERITIES.index(one.severity))  # stable: leads first
    last = min(end, select.last_step(diagnosis))
    shown = sorted(placed[:LANES], key=lambda one: one.begins)  # of the most severe
    return [lane(finding, diagnosis, last) for finding in shown], len(placed) - len(shown)


def lane(finding: Finding, diagnosis: Diagnosis, last: float, run: str = "") -> Lane:
    """Return the lane of a finding; `run` names the run, where several are drawn."""
    start = finding.onset.step or 0.0
    end = finding.end.step if finding.end and finding.end.step is not None else last
    name = cut(named(finding, diagnosis), 40 if run else 60)
    name = f"{run}: {name}" if run else name
    return Lane(
        finding.severity,
        start,
        max(start, end),
        f"{name}, from step {step_words(start)}",
        cut(f"{name}, {step_words(start)}", 44),
    )


def _onsets(leads: list[Finding]) -> Iterator[tuple[float, Severity]]:
    seen = set()
    for finding in leads:
        step = finding.onset.step
        if step is not None and step not in seen:
            seen.add(step)
            yield step, finding.severity


def _signs(diagnosis: Diagnosis) -> Iterator[Sign]:
    """Return checkpoints, resumes and the messages after which nothing came, by step."""
    made = [sign for event in diagnosis.events if (sign := _sign(event, diagnosis))]
    yield from sorted(made, key=lambda sign: sign.step)


def _sign(event: Event, diagnosis: Diagnosis) -> Sign | None:
    if event.kind == "message" and event.data.get("last"):
        step = diagnosis.last_step if event.step is None else event.step
        return Sign("fault", step, _error(event.text))
    if event.step is None:
        return None
    if event.kind == "checkpoint":
        return Sign("saved", event.step)
    if event.kind == "resume":
        return Sign("resume", event.step, "resume")
    return None


def _error(message: str) -> str:
    """Return the name of an exception: ``OutOfMemoryError``; ``error`` where it has none."""
    name = message.partition(":")[0].rpartition(".")[2].strip()
    return name if name.isidentifier() and len(name) <= ERROR else "error"


def _description(panels: list[Panel], lanes: list[Lane]) -> str:
    told = [select.describe(line) for panel in panels for line in panel.lines]
    return " ".join([*told, *(f"{lane.text}." for lane in lanes)])
