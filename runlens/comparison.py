"""What a comparison of runs says and its reports show: plain data.

The first run is the baseline, A; each other run is compared with it, as a `Pair`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from runlens.diagnosis import Diagnosis, Finding, ThinCurve, spell_out
from runlens.errors import one_line
from runlens.extras import needed_by
from runlens.metrics import Better
from runlens.records import NamedTuple
from runlens.run import Problem, Setting
from runlens.version import __version__
from runlens.views import Viewed

if TYPE_CHECKING:
    import pandas as pd

Result = Literal[
    "better", "worse", "equivalent", "cannot_tell", "mixed", "identical", "not_comparable"
]
Outcome = Literal["better", "worse", "equivalent", "cannot_tell", ""]  # of one metric
Align = Literal["step", "epoch", "tokens", "time"]
Unit = Literal["step", "epoch", "tokens", "samples", "time"]
NoiseFrom = Literal["seeds", "neighbours", "prior", ""]
RESULTS: tuple[Result, ...] = (
    "worse", "not_comparable", "mixed", "cannot_tell", "equivalent", "identical", "better"
)  # fmt: skip
LABELS = "ABCDEFGHIJKLMNOPQRST"
STILL = "What still compares"  # point of a comparison whose losses do not compare
MOST_RUNS = len(LABELS)

SCHEMA = "runlens.comparison/2"
BOARD_SCHEMA = "runlens.leaderboard/1"


class Check(NamedTuple):
    """One point on which two runs must agree for a fair comparison.

    `ok` is None where it is not known whether they do. Where a `hard` point fails, raw losses
    say nothing about which run is better.
    """

    what: str  # noun phrase: "Tokenizer"
    ok: bool | None
    why: str  # with both values, or what is missing
    hard: bool = False


class Measure(NamedTuple):
    """One number of both runs, and its difference beside the noise of that difference.

    `noise` is the standard deviation of the difference between two repeats of one configuration,
    in the unit of the metric; None where it is not known. The difference is clear beyond `limit`
    times the noise, which is half the 95 % interval.
    """

    metric: str
    what: str  # "Last eval loss"
    a: float | None
    b: float | None
    difference: float | None = None  # b - a
    noise: float | None = None
    noise_from: NoiseFrom = ""
    limit: float = 2.0
    interval: tuple[float, float] | None = None  # difference -+ limit x noise
    better: Better = ""
    clear: bool = False
    decides: bool = False  # whether the verdict rests on it
    note: str = ""
    outcome: Outcome = ""  # of B against A by this metric alone
    p_b_better: float | None = None  # that a repeat of B is better than a repeat of A
    p_equal: float | None = None  # that the configurations differ by less than `delta`
    smallest: float | None = None  # difference that would be seen in four cases of five
    delta: float | None = None  # difference that counts as none
    chance: float | None = None  # that two that are one differ as much, two-sided
    more_seeds: int | None = None  # runs a side that would tell, where groups do not

    @property
    def times(self) -> float | None:
        """How many times the noise the difference is."""
        if self.difference is None or not self.noise:
            return None
        return abs(self.difference) / self.noise

    @property
    def favours(self) -> Literal["a", "b", ""]:
        """Which run is better by it; empty if the difference is not clear, or has no better."""
        winners: Mapping[str, Literal["a", "b"]] = {"better": "b", "worse": "a"}
        return winners.get(self.outcome, "")


class Parting(NamedTuple):
    """Where one metric of two runs parts.

    `step` is the first logged optimizer step with different values, where both logged the same
    steps; `clear` the place on the axis of the comparison from which the difference is beyond
    noise to the end, None where it never is.
    """

    metric: str
    step: float | None
    epoch: float | None = None
    clear: float | None = None
    side: Literal["higher", "lower", ""] = ""  # where B goes
    how: str = ""  # how it is told: "different from the first step"


class SettingDifference(NamedTuple):
    """One setting that differs; `rank` 1 bears most on what differs in the curves.

    `rank` 0: paths, names and logging, which bear on nothing.
    """

    key: str
    a: Setting
    b: Setting
    rank: int = 0
    why: str = ""
    origin_a: str = ""
    origin_b: str = ""


class Both(NamedTuple):
    """A finding that both runs have."""

    a: Finding
    b: Finding


class Unjudged(NamedTuple):
    """A finding of one run whose rule could not judge the other one."""

    finding: Finding
    run: Literal["A", "B"]  # that has it
    why: str


class DiagnosisDiff(NamedTuple):
    """Findings by the run that has them."""

    fixed: tuple[Finding, ...] = ()  # in A alone
    new: tuple[Finding, ...] = ()  # in B alone
    both: tuple[Both, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()


NO_DIFF = DiagnosisDiff()


class Difference(NamedTuple):
    """B against A along the common axis, as a page draws it; all of shape (n,).

    `low` and `high` bound what is no more than noise, in the unit of `value`.
    """

    at: tuple[float, ...]
    value: tuple[float, ...]  # b - a, medians of blocks
    low: float
    high: float


class CompareVerdict(NamedTuple):
    """Which run is better, in one sentence; `second` says what else there is to know.

    `metric` is the one that decides; `effect` (B - A), its 95 % `interval`, `smallest` (what would
    be seen in four cases of five) and `delta` (what counts as none) are in its unit.
    """

    sentence: str
    second: str
    result: Result  # of B, against A
    metric: str = ""
    effect: float | None = None
    interval: tuple[float, float] | None = None
    p_b_better: float | None = None  # that a repeat of B is better than a repeat of A
    p_equal: float | None = None  # that they differ by less than `delta`
    smallest: float | None = None
    delta: float | None = None
    noise_from: NoiseFrom = ""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False)
class Pair:
    """One run, B, compared with the baseline, A."""

    a: Diagnosis
    b: Diagnosis
    verdict: CompareVerdict
    align: Align = "step"
    align_why: str = ""
    unit: Unit | None = None  # what the axis counts, where `align` does not say: samples
    checks: tuple[Check, ...] = ()
    measures: tuple[Measure, ...] = ()
    partings: tuple[Parting, ...] = ()  # in the order in which they part
    mover: str = ""  # what parted first, and which class of causes that names
    settings: tuple[SettingDifference, ...] = ()  # by rank; rank 0 last
    diff: DiagnosisDiff = NO_DIFF
    differences: Mapping[str, Difference] = field(default_factory=dict)  # by metric
    problems: tuple[Problem, ...] = ()

    @property
    def scoreboard(self) -> dict[str, int]:
        """How many metrics, each at the end, say better, worse, equivalent or cannot tell."""
        ends = [one for one in self.measures if one.better and one.what.startswith("Last ")]
        told = [one.outcome for one in ends]
        return {name: told.count(name) for name in ("better", "worse", "equivalent", "cannot_tell")}

    def to_dict(self) -> dict[str, Any]:
        """Return its part of the JSON contract."""
        return {
            "verdict": self.verdict._asdict(),
            "scoreboard": self.scoreboard,
            "align": {"axis": self.align, "why": self.align_why},
            "comparable": [check._asdict() for check in self.checks],
            "metrics": [
                one._asdict() | {"align": self.align, "times": one.times} for one in self.measures
            ],
            "first_divergence": [parting._asdict() for parting in self.partings],
            "mover": self.mover,
            "settings": [row._asdict() for row in self.settings],
            "diagnosis_diff": {
                "fixed": [_short(one) for one in self.diff.fixed],
                "new": [_short(one) for one in self.diff.new],
                "both": [{"a": _short(one.a), "b": _short(one.b)} for one in self.diff.both],
                "unjudged": [
                    _short(one.finding) | {"run": one.run, "why": one.why}
                    for one in self.diff.unjudged
                ],
            },
            "problems": [problem._asdict() for problem in self.problems],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Viewed):
    """Two runs or more, side by side."""

    runs: tuple[Diagnosis, ...]  # A, B, C, ...
    pairs: tuple[Pair, ...]  # B with A, C with A, ...
    # metric -> a curve a run, on the axis of the comparison; None where it was not logged
    curves: Mapping[str, tuple[ThinCurve | None, ...]] = field(default_factory=dict)
    # metric -> the band of each group of repeats, whose curve is then that of the group's mean
    bands: Mapping[str, tuple["Quartiles | None", ...]] = field(default_factory=dict)
    align: Align = "step"
    unit: Unit | None = None  # as that of a pair
    axes: Mapping[Unit, tuple["Knots", ...]] = field(default_factory=dict)  # others, by run
    board: "Leaderboard | None" = None  # of three runs or more: by one metric, with settings
    groups: tuple[tuple[str, ...], ...] = ()  # names, where groups of repeats are compared
    seeds: tuple[str, ...] = ()  # runs from which the noise between seeds was taken
    problems: tuple[Problem, ...] = ()

    def __repr__(self) -> str:
        names = " and ".join(run.run_name for run in self.runs[:2])
        more = f" and {len(self.runs) - 2} more" if self.runs[2:] else ""
        return one_line(f"<Comparison of {names}{more}: {self.verdict.result}>")

    @property
    def verdict(self) -> CompareVerdict:
        """Which of the first two runs is better."""
        return self.pairs[0].verdict

    def to_frame(self) -> "pd.DataFrame":
        """Return all measures as a pandas frame: a row a measure and run that is compared."""
        with needed_by("to_frame()"):
            import pandas as pd

        rows = [
            {"run": pair.b.run_name, "against": pair.a.run_name} | one._asdict()
            for pair in self.pairs
            for one in pair.measures
        ]
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON contract: B against A on top, further runs against A in `more`."""
        plain: dict[str, Any] = spell_out(
            {
                "schema": SCHEMA,
                "runlens_version": __version__,
                "runs": [
                    {"label": label, "verdict": run.verdict._asdict()} | run.to_dict()["run"]
                    for label, run in zip(LABELS, self.runs, strict=False)
                ],
                **self.pairs[0].to_dict(),
                "seeds": list(self.seeds),
                "groups": [list(names) for names in self.groups],
                "more": [pair.to_dict() for pair in self.pairs[1:]],
            }
        )
        plain["problems"] += spell_out([problem._asdict() for problem in self.problems])
        return plain


class Quartiles(NamedTuple):
    """Between which the middle half of a group of runs lies, along the axis; all of shape (n,)."""

    at: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


Knots = tuple[tuple[float, ...], tuple[float, ...]]  # places of an axis, and where they are


class BoardRow(NamedTuple):
    """One run of a leaderboard."""

    run: str
    value: float | None  # what it reached in the metric of the board; None where it has no number
    steps: int
    state: str
    health: str  # empty where it was not diagnosed
    settings: Mapping[str, Setting]  # those that differ between the runs
    p_best: float | None = None  # that a repeat of it is no worse than one of the best run
    group: int = 0  # runs of one number have the same settings but for the seed
    place: int = 0  # among the runs as given, from 0
    says: str = ""  # the verdict on its health
    heights: tuple[int, ...] = ()  # of its curve, 0 to 20, on one scale for all; -1: no number


class Effect(NamedTuple):
    """What one setting does to the metric of a board, the others held."""

    setting: str  # several in one, where they changed together
    share: float  # of the variance between runs that it alone explains, 0 to 1
    low: Setting  # the values between which the effect is
    high: Setting
    effect: float | None = None  # from `low` to `high`; None for words
    interval: tuple[float, float] | None = None  # of 95 %


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Many runs by one metric, the best first."""

    metric: str
    better: Better
    rows: tuple[BoardRow, ...]
    noise: float | None = None  # deviation between repeats
    noise_from: NoiseFrom = ""
    expected: float | None = None  # of the best run, without the luck of being the best of many
    effects: tuple[Effect, ...] = ()
    problems: tuple[Problem, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON contract."""
        plain: dict[str, Any] = spell_out(
            {
                "schema": BOARD_SCHEMA,
                "runlens_version": __version__,
                "metric": self.metric,
                "better": self.better,
                "noise": self.noise,
                "noise_from": self.noise_from,
                "expected": self.expected,
                "best": self.rows[0].run if self.rows else None,
                "runs": [row._asdict() | {"settings": dict(row.settings)} for row in self.rows],
                "effects": [effect._asdict() for effect in self.effects],
                "problems": [problem._asdict() for problem in self.problems],
            }
        )
        return plain

    def to_frame(self) -> "pd.DataFrame":
        """Return the table as a pandas frame: a row a run, a column each setting that differs."""
        with needed_by("to_frame()"):
            import pandas as pd

        keys = list(dict.fromkeys(key for row in self.rows for key in row.settings))
        return pd.DataFrame(
            [
                {"run": row.run, self.metric: row.value, "steps": row.steps, "state": row.state,
                 "health": row.health, "p_best": row.p_best}
                | {key: row.settings.get(key) for key in keys}
                for row in self.rows
            ]
        )  # fmt: skip


def _short(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "title": finding.title,
        "onset": finding.onset._asdict(),
    }
