"""What an audit keeps of each run and says of all of them: plain data.

An audit reads many runs, night after night. A `RunRow` is all that it keeps of one run; an
`Issue` is a class of findings that lives across nights; a `Night` is one execution.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from runlens.diagnosis import SEVERITIES, Health, Severity, spell_out
from runlens.records import NamedTuple
from runlens.run import Setting
from runlens.version import __version__

IssueState = Literal["new", "back", "ongoing", "resolved"]
ISSUE_STATES: tuple[IssueState, ...] = ("new", "back", "ongoing", "resolved")  # as a page shows
# what a state alone does not say: an ongoing issue has more runs or is graver than on the last
# night, or somebody acknowledged it; a resolved one is fixed, its runs were deleted, or nobody
# runs the job any more
Detail = Literal["", "growing", "acknowledged", "fixed", "deleted", "unused"]
TOLD: frozenset[str] = frozenset({"new", "back", "growing"})  # statuses that are news

SCHEMA = "runlens.audit/1"
SHRUNK = 0.5  # share of a source's places that may be missing before nothing is taken for deleted
ANY_STEP = 2**63 - 1  # of a run of which it is not known how far it was
CHANGES = 3  # that are told
DATE = "%Y-%m-%dT%H:%M:%SZ"
LOUD: frozenset[Health] = frozenset({"critical", "warning"})
COMMIT = 10  # digits of a git commit that are told
EVALS = "eval.points"  # how often it was evaluated


class FoundRow(NamedTuple):
    """One finding of one run, as an audit keeps it."""

    rule: str
    severity: Severity
    title: str
    metric: str = ""
    onset: float | None = None  # step
    onset_time: float | None = None  # seconds since 1970
    leads: bool = False  # whether it leads its incident
    incident: Severity | None = None  # the worst of the incident that it leads

    @property
    def alarm(self) -> Severity:
        """How loud it is: as the worst of what it led to."""
        return self.incident or self.severity


class SparkRow(NamedTuple):
    """The blamed curve of a run in 30 points, 0 (lowest) to 20 (highest); -1: no number."""

    metric: str = ""
    points: tuple[int, ...] = ()
    onset: int | None = None  # index of the first point at or after the onset
    done: float = 1.0  # share of the planned steps that was done


@dataclass(frozen=True)
class RunRow:
    """All that an audit keeps of one run. `key` names it across nights."""

    key: (
        str  # "wandb:entity/project/id", or the path as given, with "#name" where several lie there
    )
    place: str  # what `runlens diagnose` takes
    name: str
    project: str = ""  # the source it was found in
    group: str = ""  # of runs that may be compared: task, base model, data, framework
    job: str = ""  # name of the run without dates, numbers and seeds
    sweep: str = ""
    task: str = "other"
    framework: str = "unknown"
    state: str = "unknown"
    health: Health = "unknown"
    verdict: str = ""
    steps: int = 0
    planned_steps: int | None = None
    started: float | None = None  # seconds since 1970
    ended: float | None = None
    paused: float = 0.0  # seconds between launches, in which nothing ran
    gpus: int = 1
    config: Mapping[str, Setting] = field(default_factory=dict)  # canonical keys; secrets masked
    # end levels and bests: "train_loss.end", "eval_loss.best", "reward.end", ...
    measures: Mapping[str, float] = field(default_factory=dict)
    noises: Mapping[str, float] = field(default_factory=dict)  # standard errors of the same
    findings: tuple[FoundRow, ...] = ()
    spark: SparkRow = SparkRow()  # noqa: RUF009 - a constant
    problems: int = 0
    user: str = ""  # who started it, as the tracker has it
    url: str = ""  # its own page on the tracker
    tags: tuple[str, ...] = ()
    # where it ran: node, GPU, image, commit, driver, packages; see `sources.environment`
    environment: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def setup(self) -> str:
        """Under which its issues are counted: its group, else its job."""
        return self.group or self.job or self.task

    @property
    def hours(self) -> float | None:
        """Hours from the first to the last record, pauses left out; None where not known."""
        if self.started is None or self.ended is None:
            return None
        return max(self.ended - self.started - self.paused, 0.0) / 3600


class Unread(NamedTuple):
    """A place of which nothing could be read, and what to do about it."""

    place: str
    why: str
    what_to_do: str = ""
    tries: int = 1  # nights on which it was tried


class Ack(NamedTuple):
    """Somebody knows of an issue: it is not told again before a day, unless it gets graver."""

    by: str
    at: str  # ISO, UTC
    until: str  # ISO, UTC: the first moment at which it does not hold any more
    note: str = ""


class Change(NamedTuple):
    """What was other in the first bad run of a job than in its last good one."""

    what: str  # a setting, "image", "git_commit", "torch", ...
    before: str
    after: str

    def __str__(self) -> str:
        short = self.what == "git_commit"
        before, after = (one[:COMMIT] if short else one for one in self[1:])
        return f"{self.what.replace('_', ' ') if short else self.what} {before} -> {after}"


class SourceState(NamedTuple):
    """How well a source is known: an audit of what it cannot list says nothing of it."""

    source: str
    listed: str = ""  # when it was last listed, ISO, UTC; empty: never
    runs: int = 0  # places that were listed then
    tries: int = 0  # nights on end on which it could not be listed; 0: it was
    why: str = ""
    what_to_do: str = ""
    missing: int = 0  # places that were not listed tonight, of those that are known
    first: bool = False  # tonight is the first night on which it was listed

    @property
    def shrunk(self) -> bool:
        """Whether more than half of its places are missing: unmounted, moved, or deleted."""
        return self.missing > SHRUNK * self.known

    @property
    def known(self) -> int:
        """Places that are known: those listed, and those missing."""
        return self.runs + self.missing


class Mark(NamedTuple):
    """How far a run was, how loud, and when it began: if one changes, its fault is another."""

    steps: int
    loudness: int  # 0 for critical
    began: int = 0  # seconds since 1970; 0: not known

    def covers(self, now: "Mark") -> bool:
        """Whether a run is as it was: not on, not louder, and not retrained in its place."""
        same = self.steps in {now.steps, ANY_STEP} and self.began in {now.began, 0}
        return same and self.loudness <= now.loudness


@dataclass(frozen=True)
class Issue:
    """A class of findings over runs and nights; its fingerprint holds no step, value or run."""

    fingerprint: str
    rule: str
    severity: Severity
    group: str  # the setup: group or job of the runs
    title: str  # one sentence
    state: IssueState = "new"
    runs: tuple[str, ...] = ()  # keys, the worst first
    worst: str = ""  # what the worst run's finding says
    first_night: int = 0
    last_night: int = 0  # on which it was last seen
    gpu_hours: float = 0.0  # spent after the onset, in the runs whose times are known
    untimed: int = 0  # runs whose hours are not known; if all are, gpu_hours says nothing
    money: float | None = None  # where a price is configured
    why: str = ""  # of cross-run rules: numbers and limits
    detail: Detail = ""
    source: str = ""
    tonight: tuple[str, ...] = ()  # keys of the runs that were not known to have it before
    graver_than: Severity | None = None  # its severity on the last night, where it rose
    suspect: str = ""  # what its runs share and others have not
    changes: tuple[Change, ...] = ()  # between the last good and the first bad run of the job
    last_good: str = ""  # key of that run
    odds: str = ""  # how many runs have it, and how many have not since it was last seen
    first_date: str = ""  # of the first night, ISO, UTC
    last_date: str = ""  # of the night on which it was last seen
    changed: int = 0  # night on which it came into its state and detail
    acknowledged: Ack | None = None
    # kept by the store, and not told:
    onset: float = 0.0  # the earliest step at which a run shows it
    clean: tuple[str, ...] = ()  # keys of the runs without it since it was last seen
    unseen: int = 0  # nights on end on which its source was listed and no fresh run had it
    # by run key, as it was known when the issue was resolved
    accounted: Mapping[str, Mark] = field(default_factory=dict, hash=False)

    @property
    def loudness(self) -> int:
        """0 for critical, 1 for warning, 2 for info."""
        return SEVERITIES.index(self.severity)

    @property
    def status(self) -> str:
        """The detail where there is one, else the state."""
        return self.detail or self.state

    @property
    def open(self) -> bool:
        """Whether it is not resolved."""
        return self.state != "resolved"

    def what_changed(self, rows: Mapping[str, RunRow]) -> str:
        """``Since learning_rate 2e-4 -> 5e-4 (last good run: sft-12)``; empty where nothing did."""
        if not self.changes:
            return ""
        some = ", ".join(map(str, self.changes[:CHANGES]))
        left = len(self.changes) - CHANGES
        more = f" and {left:,} more" if left > 0 else ""
        good = rows[self.last_good].name if self.last_good in rows else self.last_good
        return f"Since {some}{more} (last good run: {good})"

    def ended_on(self, night: int) -> bool:
        """Whether it was resolved on a night."""
        return not self.open and self.changed == night


class Night(NamedTuple):
    """One execution of an audit."""

    number: int
    date: str  # ISO, UTC: "2026-11-21T02:00:00Z"
    sources: tuple[str, ...] = ()
    read: int = 0  # runs read and judged on this night
    unchanged: int = 0  # taken over as they were
    seconds: float = 0.0


class Waste(NamedTuple):
    """GPU-hours that were wasted, of the runs of one day, cause and user."""

    date: str  # on which they ended, UTC; empty: not known
    cause: str  # slug of the rule, or "past-best"
    title: str
    user: str
    runs: int
    gpu_hours: float
    money: float | None = None  # where a price is configured
    tonight: bool = False  # the runs ended since the last night


class Trend(NamedTuple):
    """What one night was, beside others: of the runs that were new or went on since the last."""

    night: int
    date: str  # ISO, UTC
    ran: int = 0
    broke: int = 0
    issues: int = 0  # open ones, from warning on
    gpu_hours: float = 0.0  # of the runs that ended
    wasted: float = 0.0  # of these hours


@dataclass(frozen=True)
class Audit:
    """What one night gives: the issues by state, all runs, and what could not be read."""

    night: Night
    verdict: str
    issues: tuple[Issue, ...] = ()
    runs: tuple[RunRow, ...] = ()
    unread: tuple[Unread, ...] = ()
    expected_false_alarms: float | None = None  # of this many runs, by the measured rate
    pages: Mapping[str, str] = field(default_factory=dict)  # run key -> relative link
    unpaged: int = 0  # runs with a fault that have no page of their own
    sources: tuple[SourceState, ...] = ()
    since: str = ""  # when the sources were listed before tonight, ISO, UTC; empty: never
    ran: int = 0  # runs that are new or went on since
    broke: tuple[str, ...] = ()  # keys of those that are faulty since
    finished: tuple[str, ...] = ()  # of those that ended well
    went_quiet: tuple[str, ...] = ()  # of the runs that nothing was heard of since
    ended: tuple[str, ...] = ()  # of all that ended since, whatever they came to
    trend: tuple[Trend, ...] = ()  # the last nights, tonight last
    ledger: tuple[Waste, ...] = ()  # what was wasted, the latest first
    gpu_hour_price: float | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many issues there are of each state, and runs of each health."""
        found: dict[str, int] = dict.fromkeys(ISSUE_STATES, 0)
        for issue in self.issues:
            found[issue.state] += 1
        found |= {"runs": len(self.runs), "unread": len(self.unread)}
        return found

    @property
    def unlisted(self) -> tuple[SourceState, ...]:
        """The sources that could not be listed tonight, or have lost more than half."""
        return tuple(one for one in self.sources if one.tries or one.shrunk)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON contract."""
        plain: dict[str, Any] = spell_out(
            {
                "schema": SCHEMA,
                "runlens_version": __version__,
                "night": self.night._asdict(),
                "verdict": self.verdict,
                "counts": self.counts,
                "issues": [_plain(issue) for issue in self.issues],
                "runs": [_run(row) for row in self.runs],
                "unread": [one._asdict() for one in self.unread],
                "expected_false_alarms": self.expected_false_alarms,
                "sources": [one._asdict() | {"shrunk": one.shrunk} for one in self.sources],
                "last_night": {
                    "since": self.since,
                    "ran": self.ran,
                    "broke": self.broke,
                    "finished": self.finished,
                    "went_quiet": self.went_quiet,
                    "ended": self.ended,
                },
                "trend": [one._asdict() for one in self.trend],
                "ledger": [one._asdict() for one in self.ledger],
            }
        )
        return plain


def _plain(issue: Issue) -> dict[str, Any]:
    kept = {"onset", "clean", "unseen", "accounted"}
    shown = {name: getattr(issue, name) for name in Issue.__dataclass_fields__ if name not in kept}
    ack = issue.acknowledged
    changes = [one._asdict() for one in issue.changes]
    more = {"status": issue.status, "acknowledged": ack._asdict() if ack else None}
    return shown | more | {"changes": changes}


def _run(row: RunRow) -> dict[str, Any]:
    left_out = {"config", "noises", "spark"}
    shown = {
        name: getattr(row, name) for name in RunRow.__dataclass_fields__ if name not in left_out
    }
    return shown | {"findings": [one._asdict() for one in row.findings]}
