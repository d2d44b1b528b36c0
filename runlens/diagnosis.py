"""What rules say and reports show: plain data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from runlens.cause import RANKS, Cause, Domino, Rank, RuledOut
from runlens.errors import one_line
from runlens.fix import Advice, Cost, Fix, FixKind
from runlens.records import NamedTuple
from runlens.run import Event, Problem, Setting, State
from runlens.version import __version__
from runlens.views import Viewed

__all__ = [
    "ENDED",
    "HEALTHS",
    "MERGED",
    "OTHER_TASKS",
    "RANKS",
    "SCHEMA",
    "SEVERITIES",
    "UNLOGGED",
    "UNTESTED",
    "Advice",
    "Cause",
    "Chart",
    "ChartKind",
    "Confidence",
    "Cost",
    "Diagnosis",
    "Domino",
    "Evidence",
    "Finding",
    "Fix",
    "FixKind",
    "Health",
    "Incident",
    "Mark",
    "Moment",
    "Outcome",
    "Rank",
    "RuledOut",
    "SettingRow",
    "Severity",
    "Status",
    "ThinCurve",
    "Verdict",
    "spell_out",
    "unreadable",
]

Severity = Literal["critical", "warning", "info"]
Health = Literal["critical", "warning", "info", "healthy", "unknown"]
Status = Literal["found", "passed", "unmet", "error"]
ChartKind = Literal["curves", "limit", "zoom", "boundary", "log", ""]
SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
HEALTHS: tuple[Health, ...] = (*SEVERITIES, "healthy", "unknown")  # worst first

OTHER_TASKS = "holds for "  # how it begins the reason of a rule for other kinds of runs
UNTESTED = "not checked"  # how a rule begins what it could not rule out
UNLOGGED = "not logged: "  # how the reason of a rule begins that lacks metrics
MERGED = "merged into "  # how an outcome begins whose finding is told as part of another's

SCHEMA = "runlens.diagnosis/1"
# rules of the end of a run: each is one event
ENDED = frozenset({"crashed", "killed", "oom-cliff", "hang", "known-error", "stopped-early"})
DATED_AT_BEST = frozenset({"hockey-stick"})  # rules whose onset is the last good record


class Moment(NamedTuple):
    """When something happened; the engine fills epoch and time from the history."""

    step: float | None = None
    epoch: float | None = None
    time: float | None = None  # seconds since 1970


class Evidence(NamedTuple):
    """One number that speaks for a finding, beside the limit that it passed.

    `limit` is None where the value only informs. `above` tells on which side of the limit the
    pattern lies.
    """

    what: str  # noun phrase: "Rise of eval loss over its minimum"
    value: float | str
    limit: float | None = None
    source: str = ""  # where the limit comes from
    where: str = ""  # the metric, or file:line
    step: float | None = None
    above: bool = True
    unit: str = ""  # "%": value and limit are shares, shown in percent

    @property
    def beyond(self) -> bool:
        """Whether the value is beyond its limit."""
        if self.limit is None or isinstance(self.value, str):
            return False
        return self.value >= self.limit if self.above else self.value <= self.limit


class Confidence(NamedTuple):
    """How sure a finding is, 0 to 1, and why."""

    value: float = 0.8
    reason: str = ""


class Mark(NamedTuple):
    """A labeled point of a chart."""

    step: float
    value: float
    text: str = ""


class Chart(NamedTuple):
    """What to draw beside a finding; the renderer takes the curves from the diagnosis.

    Kinds: `curves` (metrics parting), `limit` (one metric against `limit`), `zoom` (around the
    onset), `boundary` (before and after a step), `log` (lines of `log` are the proof).
    """

    kind: ChartKind = ""
    metrics: tuple[str, ...] = ()
    start: float | None = None  # step; None: whole run
    end: float | None = None
    marks: tuple[Mark, ...] = ()
    limit: float | None = None
    log: tuple[tuple[str, str, bool], ...] = ()  # (file:line, text, blamed)


class Best(NamedTuple):
    """Where a score of the evaluation was best: later than its loss, or earlier."""

    step: float
    metric: str


@dataclass(frozen=True)
class Finding:
    """One pattern, found in one run.

    A rule leaves `rule` empty and gives the onset as a step: the engine names the rule and
    completes the moments. `louder_with`: rules whose finding in the same run raises this one
    from info to warning. `harmless`: an info by which no training suffers, beside which a run is
    healthy; the rule says it, for it alone knows the damage.
    """

    severity: Severity
    title: str  # a full sentence with its numbers
    metric: str
    onset: Moment
    evidence: tuple[Evidence, ...]
    seen: str = ""  # two or three sentences: what the curves show
    end: Moment | None = None  # None: it lasts to the end of the run
    causes: tuple[Cause, ...] = ()
    fixes: tuple[Fix, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    confidence: Confidence = Confidence()
    chart: Chart = Chart()
    louder_with: tuple[str, ...] = ()
    harmless: bool = False
    rule: str = ""
    heading: str = ""  # what it is called where the title of its rule would say too much
    best: Best | None = None  # which weights to keep, where a score says others than the onset

    @property
    def keep(self) -> float:
        """The step of the weights to keep of a run that overfits."""
        return self.best.step if self.best else self.begins

    @property
    def begins(self) -> float:
        """The step of the onset; infinity where it has none, so that it sorts last."""
        return math.inf if self.onset.step is None else self.onset.step

    def to_dict(self) -> dict[str, Any]:
        """Return its part of the JSON contract."""
        chart = self.chart
        return {
            "rule": self.rule,
            "severity": self.severity,
            "harmless": self.harmless,
            "title": self.title,
            "metric": self.metric,
            "onset": self.onset._asdict(),
            "end": self.end._asdict() if self.end else None,
            "seen": self.seen,
            "evidence": [
                {k: v for k, v in item._asdict().items() if k not in {"above", "unit"}}
                for item in self.evidence
            ],
            "causes": [cause.to_dict() for cause in self.causes],
            "fixes": [asdict(fix) for fix in self.fixes],
            "ruled_out": [item._asdict() for item in self.ruled_out],
            "confidence": self.confidence._asdict(),
            "chart": {
                "kind": chart.kind,
                "metrics": list(chart.metrics),
                "from": chart.start,
                "to": chart.end,
                "marks": [mark._asdict() for mark in chart.marks],
            },
        }


class Outcome(NamedTuple):
    """What became of one rule. `reason`: by which number it passed, what is missing, what broke.

    A finding with `yields_to` stands only where the rule of that slug finds nothing: `reason` then
    says why that rule reads the same curve better.
    """

    status: Status
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    yields_to: tuple[str, ...] = ()


class Incident(NamedTuple):
    """Findings with one root cause, the gravest first, then in order of time."""

    findings: tuple[Finding, ...]
    title: str = ""

    @property
    def severity(self) -> Severity:
        """The worst of its findings."""
        return min((finding.severity for finding in self.findings), key=SEVERITIES.index)

    def to_dict(self) -> dict[str, Any]:
        """Return its part of the JSON contract."""
        rules = [finding.rule for finding in self.findings]
        return {"severity": self.severity, "title": self.title, "rules": rules}


class ThinCurve(NamedTuple):
    """A curve as a page shows it: at most 5,000 points, the extremes of each bucket kept."""

    step: tuple[float, ...]
    value: tuple[float, ...]
    points: int  # how many were logged
    unit: str = ""


class SettingRow(NamedTuple):
    """One setting of the run; `blamed` says which finding names it."""

    key: str
    value: Setting
    origin: str
    blamed: str = ""


class Verdict(NamedTuple):
    """One sentence with step and number, one more for the next thing, and the health."""

    sentence: str
    second: str
    health: Health

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Viewed):
    """All that is known about a run after its examination; reports read nothing else."""

    run_id: str
    run_name: str
    framework: str
    task: str
    task_why: str
    state: State
    last_step: int
    sources: tuple[str, ...]
    outcomes: Mapping[str, Outcome]  # by rule slug
    titles: Mapping[str, str]  # of the rules, by slug
    incidents: tuple[Incident, ...]
    verdict: Verdict
    causes: tuple[Cause, ...] = ()  # of the gravest incident, ranked: the first is the cause
    story: tuple[Domino, ...] = ()  # of the same incident, in order of time
    problems: tuple[Problem, ...] = ()
    do_first: Advice = field(default_factory=Advice)
    curves: Mapping[str, ThinCurve] = field(default_factory=dict)
    shapes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # as in the contract
    epochs: tuple[tuple[float, float], ...] = ()  # (step, whole epoch) for a second axis
    events: tuple[Event, ...] = ()
    settings: tuple[SettingRow, ...] = ()
    log_tail: tuple[str, ...] = ()
    gpu_hour_price: float | None = None  # as configured, in the user's currency
    pages: Mapping[str, str] = field(default_factory=dict)  # addresses of rules' pages, by slug
    covered: Mapping[str, str] = field(default_factory=dict)  # checks that another finding answers

    def __repr__(self) -> str:
        return one_line(f"<Diagnosis of {self.run_name}: {self.health}>")

    @property
    def findings(self) -> list[Finding]:
        """All findings, incident by incident."""
        return [finding for incident in self.incidents for finding in incident.findings]

    @property
    def health(self) -> Health:
        """The worst severity found; unknown if no rule could judge."""
        return self.verdict.health

    def reasons(self, status: Status) -> dict[str, str]:
        """Return slug -> reason for the rules that ended so."""
        return {slug: out.reason for slug, out in self.outcomes.items() if out.status == status}

    def to_dict(self, *, full: bool = False) -> dict[str, Any]:
        """Return the JSON contract; `full` adds curves, events, settings and the log tail.

        Numbers that are not finite become the strings "NaN", "Infinity" and "-Infinity".
        """
        state = self.state
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "runlens_version": __version__,
            "run": {
                "id": self.run_id,
                "name": self.run_name,
                "framework": self.framework,
                "task": self.task,
                "task_why": self.task_why,
                "state": {
                    "kind": state.kind,
                    "why": state.why,
                    "sure": state.sure,
                    "exit_code": state.exit_code,
                },
                "steps": {"done": self.last_step, "planned": state.planned_steps},
                "epochs": {"done": state.done_epochs, "planned": state.planned_epochs},
                "sources": list(self.sources),
            },
            "verdict": self.verdict._asdict(),
            "do_first": self.do_first.to_dict(),
            "findings": [
                finding.to_dict() | {"incident": number}
                for number, incident in enumerate(self.incidents)
                for finding in incident.findings
            ],
            "incidents": [incident.to_dict() for incident in self.incidents],
            "causes": [cause.to_dict() for cause in self.causes],
            "story": [domino._asdict() for domino in self.story],
            "passed": self.reasons("passed"),
            "unmet": self.reasons("unmet"),
            "errors": self.reasons("error"),
            "problems": [problem._asdict() for problem in self.problems],
            "shapes": {name: dict(shape) for name, shape in self.shapes.items()},
        }
        if full:
            document["curves"] = {
                name: {"step": list(curve.step), "value": list(curve.value)}
                for name, curve in self.curves.items()
            }
            document["events"] = [event._asdict() for event in self.events]
            document["settings"] = [row._asdict() for row in self.settings]
            document["log_tail"] = list(self.log_tail)
        plain: dict[str, Any] = spell_out(document)
        return plain


def unreadable(place: str, problems: Sequence[tuple[str, str]]) -> Diagnosis:
    """Return the diagnosis of a place of which nothing could be read: health `unknown`.

    `problems` are (where, what) pairs.
    """
    return Diagnosis(
        run_id=place,
        run_name=place,
        framework="unknown",
        task="other",
        task_why="",
        state=State(why=""),
        last_step=0,
        sources=(),
        outcomes={},
        titles={},
        incidents=(),
        verdict=Verdict("Nothing readable here.", "", "unknown"),
        problems=tuple(Problem(where, text) for where, text in problems),
    )


def spell_out(value: Any) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return `value` with NaN and infinities as strings, since JSON has no such numbers."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {str(key): spell_out(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [spell_out(inner) for inner in value]
    return value
