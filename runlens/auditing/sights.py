"""What the rows of a night show of each issue: which runs have it, the worst first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from runlens import cost
from runlens.crossrun.groups import told
from runlens.crossrun.rule import CrossFinding, title_of
from runlens.diagnosis import SEVERITIES, Severity
from runlens.nights import FoundRow, Mark, RunRow, SourceState
from runlens.records import NamedTuple
from runlens.wording import count

DIGITS = 16  # of a fingerprint, hexadecimal
SHRANK = "source-shrank"  # the rule of a source that lost more than half of its places


class Seen(NamedTuple):
    """A run that shows an issue, and what it cost after the onset."""

    row: RunRow
    says: str
    severity: Severity
    onset: float | None = None  # step
    gpu_hours: float | None = None  # None: not known


@dataclass
class Sight:
    """What tonight's rows show of one issue."""

    rule: str
    group: str
    project: str
    severity: Severity
    title: str
    seen: list[Seen]
    why: str = ""
    standing: bool = False

    @property
    def cost(self) -> cost.Cost:
        """The GPU-hours after the onset."""
        return cost.total(one.gpu_hours for one in self.seen)

    @property
    def keys(self) -> tuple[str, ...]:
        """The runs, the worst first."""
        return tuple(dict.fromkeys(one.row.key for one in self.seen))

    @property
    def marks(self) -> dict[str, Mark]:
        """Return by run how far it was and how loud, the gravest of what it shows."""
        return {
            one.row.key: Mark(
                one.row.steps, SEVERITIES.index(one.severity), int(one.row.started or 0)
            )
            for one in reversed(self.seen)
        }


def fingerprint(rule: str, group: str, source: str, about: str = "") -> str:
    """Return the name of an issue: no step, value, run or machine is in it."""
    text = f"{rule}\x1f{group}\x1f{_plain(source)}\x1f{about}"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def _plain(source: str) -> str:
    """Return a source as it is named on every system: ``./runs/`` and ``runs`` are one."""
    return source.replace("\\", "/").rstrip("/").removeprefix("./") or source


def of_run(row: RunRow, found: FoundRow) -> str:
    """Return the fingerprint of the issue to which a finding belongs."""
    return fingerprint(found.rule, row.setup, row.project)


def sights(rows: Sequence[RunRow], crossed: Iterable[CrossFinding]) -> dict[str, Sight]:
    """Return what the rows show, by fingerprint."""
    made: dict[str, Sight] = {}
    for row in rows:
        for found in row.findings:
            if not found.leads or found.alarm == "info":
                continue
            print_ = of_run(row, found)
            sight = made.setdefault(
                print_,
                Sight(found.rule, row.setup, row.project, found.alarm, "", []),
            )
            hours = cost.after_onset(row, found)
            says = f"{row.name}: {found.title}"
            sight.seen.append(Seen(row, says, found.alarm, found.onset, hours))
    for sight in made.values():
        sight.seen.sort(key=_worst_first)
        sight.severity = min((one.severity for one in sight.seen), key=SEVERITIES.index)
        sight.title = _title(sight)
    by_key = {row.key: row for row in rows}
    for one in crossed:
        made[fingerprint(one.rule, one.group, one.project, one.about)] = _of_crossed(one, by_key)
    return made


def _worst_first(seen: Seen) -> tuple[object, ...]:
    return (
        SEVERITIES.index(seen.severity),
        -(seen.gpu_hours or 0.0),
        seen.onset if seen.onset is not None else float("inf"),
        seen.row.key,
    )


def _title(sight: Sight) -> str:
    runs = count(len({one.row.key for one in sight.seen}), "run")
    return f"{title_of(sight.rule)} in {runs} of {told(sight.group)}."


def _of_crossed(one: CrossFinding, by_key: Mapping[str, RunRow]) -> Sight:
    """Return a finding over several runs; its hours are the runs' together, on the first one."""
    runs = [by_key[key] for key in one.runs if key in by_key]
    known = max(len(runs) - one.untimed, 0)
    hours = [one.gpu_hours if at == 0 else 0.0 for at in range(known)]
    spent = [*hours, *(None for _ in range(len(runs) - known))]
    seen = [
        Seen(row, one.worst, one.severity, None, hour)
        for row, hour in zip(runs, spent, strict=True)
    ]
    return Sight(
        one.rule, one.group, one.project, one.severity, one.title, seen, one.why, one.standing
    )


def shrunk(state: SourceState) -> Sight:
    """Return the incident of a source that lost more than half of its places on one night."""
    were = f"the {count(state.known, 'place')} known in it"
    left = f"shows only {state.runs:,} of" if state.runs else "is empty: it shows none of"
    return Sight(
        SHRANK,
        state.source,
        state.source,
        "critical",
        f"{state.source} {left} {were}.",
        [],
        "Nothing of it is taken for deleted. Mount what is not mounted, or check the key; if it was"
        " deleted on purpose, acknowledge this issue (runlens audit ack).",
        standing=True,
    )
