"""What a rule over several runs is: a page, limits and a pure function of rows."""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from runlens.diagnosis import Severity
from runlens.metrics import NAMES, Better, base
from runlens.nights import FoundRow, RunRow
from runlens.records import NamedTuple
from runlens.rules import LISTED
from runlens.run import RL_TASKS, Setting, Task
from runlens.signals.noise import GAUSSIAN
from runlens.wording import loss, number

_TITLES = {rule.slug: rule.title for rule in LISTED}

Limits = TypeVar("Limits")
Rows = Sequence[RunRow]

JUDGED = frozenset({"healthy", "info"})  # healths of a run that may serve as a yardstick
LOSSES = frozenset({"train_loss", "eval_loss"})
# Bias of the median absolute deviation of few values: Croux & Rousseeuw (1992), COMPSTAT; beyond
# nine values n / (n - 0.8)
_FEW = {2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}


class CrossFinding(NamedTuple):
    """One pattern, found over several runs of one source and group."""

    rule: str
    severity: Severity
    project: str  # the source
    group: str
    title: str  # a full sentence with its numbers
    runs: tuple[str, ...]  # keys of the runs concerned, the worst first
    worst: str = ""  # what is said of the worst run
    why: str = ""  # numbers beside their limits, causes, and what to do
    gpu_hours: float = 0.0
    untimed: int = 0  # of the runs concerned, whose hours are not known
    about: str = ""  # tells apart several findings of one rule in one group: a setting, a fault
    standing: bool = True  # holds as long as it is found; False: old runs show it for ever


@dataclass(frozen=True)
class CrossRule(Generic[Limits]):
    """One pattern over runs. `check` is pure: same rows, limits and time, same findings.

    `check` gets the rows of all runs, the limits, and the time of the audit in seconds since 1970.
    """

    slug: str
    title: str
    severity: Severity  # the usual one
    page: str
    limits: Limits
    check: Callable[[Rows, Limits, float], tuple[CrossFinding, ...]]
    family: Literal["XRN"] = "XRN"
    needs: tuple[str, ...] = ()
    tasks: frozenset[Task] = frozenset()
    preview: bool = False


class Place(NamedTuple):
    """Runs that may be compared: of one source, group and task."""

    project: str
    group: str
    task: Task


def together(rows: Iterable[RunRow]) -> dict[Place, list[RunRow]]:
    """Return the rows by what may be compared; runs of which nothing tells that are left out."""
    made: dict[Place, list[RunRow]] = defaultdict(list)
    for row in rows:
        if row.group:
            made[Place(row.project, row.group, row.task)].append(row)  # type: ignore[arg-type]
    return made


def in_each_group(
    rows: Rows,
    limits: Limits,
    of_group: Callable[[Place, list[RunRow], Limits], Iterable[CrossFinding]],
) -> tuple[CrossFinding, ...]:
    """Ask `of_group` about the runs of each place."""
    return tuple(
        finding
        for place, some in together(rows).items()
        for finding in of_group(place, some, limits)
    )


def lead(row: RunRow) -> FoundRow | None:
    """Return the loudest lead of a run, the earliest of several; None in health."""
    loud = [one for one in row.findings if one.leads and one.alarm != "info"]
    return min(
        loud,
        key=lambda one: (one.alarm != "critical", math.inf if one.onset is None else one.onset),
        default=None,
    )


def done(row: RunRow) -> bool:
    """Whether a run came to its end."""
    return row.state == "finished"


def alike_long(rows: Sequence[RunRow], within: float) -> list[RunRow]:
    """Return the runs whose steps lie within a share of the middle run's: levels compare then."""
    if not rows:
        return []
    middle = statistics.median(row.steps for row in rows)
    return [row for row in rows if abs(row.steps - middle) <= within * middle]


def better(metric: str) -> Better:
    """Return on which side a metric is better; losses and error rates are lower."""
    name = base(metric)
    return NAMES[name].better if name in NAMES else "higher"


def key_metrics(rows: Sequence[RunRow], task: str) -> list[str]:
    """Return the metrics by whose end levels these runs are judged, the most telling first.

    Reward for reinforcement learning, whose loss means nothing; else the evaluation, then
    training loss. Those that all of the runs have.
    """
    wanted = ("reward",) if task in RL_TASKS else ("eval_loss", "train_loss")
    return [name for name in wanted if all(f"{name}.end" in row.measures for row in rows)]


def end(row: RunRow, metric: str) -> float:
    """Return the end level of a metric; NaN where it was not logged."""
    return row.measures.get(f"{metric}.end", math.nan)


def error(row: RunRow, metric: str) -> float:
    """Return the standard error of an end level; 0.0 where it is not known."""
    return row.noises.get(f"{metric}.end", 0.0)


def worse_by(metric: str, value: float, usual: float) -> float:
    """Return by which share of the usual level a value is worse; negative where better."""
    size = abs(usual)
    if not size:
        return 0.0
    apart = (value - usual) / size
    return -apart if better(metric) == "higher" else apart


def scale(values: Sequence[float]) -> float:
    """Return the spread of few values: median absolute deviation, its bias corrected."""
    count = len(values)
    if count < 2:  # noqa: PLR2004 - one value has no spread
        return 0.0
    middle = statistics.median(values)
    spread = GAUSSIAN * statistics.median(abs(value - middle) for value in values)
    return spread * _FEW.get(count, count / (count - 0.8))


def title_of(rule: str) -> str:
    """Return the title of a rule; of one that is added, its slug in words."""
    return _TITLES.get(rule) or rule.replace("-", " ").capitalize()


def said(metric: str, value: float) -> str:
    """Return a value of a metric as a sentence has it."""
    return loss(value) if base(metric) in LOSSES else number(value)


def varying(rows: Sequence[RunRow]) -> dict[str, list[Setting]]:
    """Return the settings that bear on the result and are not equal in all runs, one a run."""
    from runlens.naming.bearing import bears

    keys = sorted({key for row in rows for key in row.config if bears(key)})
    columns = ((key, [row.config.get(key) for row in rows]) for key in keys)
    return {key: column for key, column in columns if any(one != column[0] for one in column[1:])}


def own_settings(row: RunRow, siblings: Sequence[RunRow]) -> list[str]:
    """Return the settings of a run whose values none of its siblings has."""
    values = varying([row, *siblings])
    return [key for key, column in values.items() if all(one != column[0] for one in column[1:])]


def by_start(rows: Iterable[RunRow]) -> list[RunRow]:
    """Return the runs whose start is known, in its order."""
    return sorted(
        (row for row in rows if row.started is not None),
        key=lambda row: (row.started or 0.0, row.key),
    )
