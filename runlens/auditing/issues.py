"""Issues: classes of findings that live across nights.

An issue is one rule in one group of one source. It is made of findings that lead an incident, a
warning or worse (one accident, one issue, as loud as the worst that came of it), and of what rules
over several runs found.

How it lives. *Fresh* runs are those that are new on this night, or whose records grew since the
last one; a run that was only judged again by other rules is not fresh. Old runs keep their
findings for ever, so an issue lives from fresh runs alone:

- `new`: not known, and some run has it.
- `ongoing`: known and open, and a fresh run has it; or no fresh run tells anything.
- `resolved`: known and open, no fresh run has it, and a fresh run of its group could have had it
  and has not: it is over, nothing else broke it, and it did as many steps as the earliest onset.
  Also when no run has it any more, and after 14 nights on which no fresh run had it: what nobody
  runs any more is no news.
- `back`: known as resolved, and a fresh run has it that did not have it before.

What a rule over several runs says of the present (`CrossFinding.standing`: a run has gone quiet, a
job got worse) is ongoing as long as it is found, and resolved when it is not.

Within one night a faulty run outweighs a clean one: the order of runs that overlap says nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import NamedTuple

from runlens import cost
from runlens.crossrun.rule import CrossFinding
from runlens.diagnosis import SEVERITIES, Severity
from runlens.nights import ISSUE_STATES, FoundRow, Issue, IssueState, Night, RunRow
from runlens.rules import LISTED
from runlens.wording import count

QUIET = 14  # nights without a fresh run that has it, after which an issue counts as resolved
DIGITS = 16  # of a fingerprint, hexadecimal
# share of healthy runs with a loud finding: benchmarks/power.py, calm noise (docs/accuracy.md)
FALSE_ALARMS = 0.003

_TITLES = {rule.slug: rule.title for rule in LISTED}


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


def fingerprint(rule: str, group: str, source: str, about: str = "") -> str:
    """Return the name of an issue: no step, value, run or machine is in it."""
    text = f"{rule}\x1f{group}\x1f{_plain(source)}\x1f{about}"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def _plain(source: str) -> str:
    """Return a source as it is named on every system: ``./runs/`` and ``runs`` are one."""
    return source.replace("\\", "/").rstrip("/").removeprefix("./") or source


def place_of(row: RunRow) -> str:
    """Return the setup under which the issues of a run are counted: its group, else its job."""
    return row.group or row.job or row.task


def of_run(row: RunRow, found: FoundRow) -> str:
    """Return the fingerprint of the issue to which a finding belongs."""
    return fingerprint(found.rule, place_of(row), row.project)


def issues(
    rows: Sequence[RunRow],
    known: Iterable[Issue],
    night: Night,
    fresh: Collection[str] | None = None,
    crossed: Iterable[CrossFinding] = (),
    price: float | None = None,
) -> tuple[Issue, ...]:
    """Return the issues of a night: new, back, ongoing, then those resolved on it.

    Issues that were resolved on an earlier night and are not back are left out: they stay in the
    store as they are.

    Args:
        rows: all runs of the sources, the old ones too.
        known: all issues of the sources that the store has, resolved ones too.
        night: tonight.
        fresh: keys of the runs that are new or grew on this night; all where none are given.
        crossed: what rules over several runs found in `rows`.
        price: of a GPU-hour, in whatever currency.

    """
    now_fresh = {row.key for row in rows} if fresh is None else set(fresh)
    sights = _sights(rows, crossed)
    before = {one.fingerprint: one for one in known}
    by_place: dict[tuple[str, str], list[RunRow]] = defaultdict(list)
    for row in rows:
        for place in {place_of(row), row.task} if row.key in now_fresh else ():
            by_place[row.project, place].append(row)  # a fault may go through all of a task
    made = []
    for print_ in sights.keys() | before.keys():
        old, sight = before.get(print_), sights.get(print_)
        state = _state(old, sight, now_fresh, by_place, night)
        if state and sight:
            made.append(_issue(print_, sight, state, old, night, now_fresh, price))
        elif state and old:  # nobody shows it any more
            made.append(replace(old, state=state))
    return tuple(sorted(made, key=_order))


def expected_false_alarms(rows: Iterable[RunRow]) -> float:
    """Return how many of these runs alarm by chance, by the measured rate."""
    return FALSE_ALARMS * sum(row.health != "unknown" for row in rows)


def _order(issue: Issue) -> tuple[object, ...]:
    state = ISSUE_STATES.index(issue.state)
    return state, -issue.gpu_hours, issue.loudness, -len(issue.runs), issue.fingerprint


def _sights(rows: Sequence[RunRow], crossed: Iterable[CrossFinding]) -> dict[str, Sight]:
    """Return what the rows show, by fingerprint."""
    made: dict[str, Sight] = {}
    for row in rows:
        for found in row.findings:
            if not found.leads or found.alarm == "info":
                continue
            print_ = of_run(row, found)
            sight = made.setdefault(
                print_,
                Sight(found.rule, place_of(row), row.project, found.alarm, "", []),
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
    title = _TITLES.get(sight.rule) or sight.rule.replace("-", " ").capitalize()  # an added rule
    return f"{title}: {runs} of {sight.group}."


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


def _state(
    old: Issue | None,
    sight: Sight | None,
    fresh: Collection[str],
    by_place: Mapping[tuple[str, str], list[RunRow]],
    night: Night,
) -> IssueState | None:
    """Return the state of an issue tonight; None: resolved before, and not back."""
    if old is None:
        return "new"
    showing = {one.row.key for one in sight.seen if _shows(one, sight, fresh)} if sight else set()
    if old.state == "resolved":
        return "back" if showing - set(old.runs) else None
    if showing:
        return "ongoing"
    if sight is None or night.number - old.last_night >= QUIET:
        return "resolved"
    onsets = [one.onset for one in sight.seen if one.onset is not None]
    clean = any(
        _could_show(row, min(onsets, default=0.0)) for row in by_place[sight.project, sight.group]
    )
    return "resolved" if clean else "ongoing"


def _shows(one: Seen, sight: Sight, fresh: Collection[str]) -> bool:
    """Whether a run shows an issue tonight, not only in what it left behind."""
    return sight.standing or one.row.key in fresh


def _could_show(row: RunRow, onset: float) -> bool:
    """Whether a run without an issue tells that it is gone: over, not broken, long enough."""
    over = row.state != "running" and row.health not in {"unknown", "critical"}
    return over and row.steps >= onset


def _issue(
    print_: str,
    sight: Sight,
    state: IssueState,
    old: Issue | None,
    night: Night,
    fresh: Collection[str],
    price: float | None,
) -> Issue:
    keys = tuple(dict.fromkeys(one.row.key for one in sight.seen))
    spent = sight.cost
    seen_now = any(_shows(one, sight, fresh) for one in sight.seen)
    return Issue(
        fingerprint=print_,
        rule=sight.rule,
        severity=sight.severity,
        group=sight.group,
        title=sight.title,
        state=state,
        runs=keys,
        worst=sight.seen[0].says if sight.seen else "",
        first_night=old.first_night if old else night.number,
        last_night=night.number if seen_now or old is None else old.last_night,
        gpu_hours=spent.gpu_hours,
        untimed=spent.untimed,
        money=spent.money(price),
        why=sight.why,
    )
