"""Issues: classes of findings that live across nights.

An issue is one rule in one group of one source. It is made of findings that lead an incident, a
warning or worse (one accident, one issue, as loud as the worst that came of it), and of what rules
over several runs found. Issues belong to their source: an audit of several sources shows those of
each.

**Never silent.** A run with a warning or worse always belongs to an open issue, to a dated
acknowledgement, or to a resolved issue that accounts for it: one that was told, and ended with
that run at that step and that loud. A run that is not accounted for opens its issue again,
whether it is new or not.

How an issue lives. *Fresh* runs are those that are new since its source's last night, or whose
records grew since then; a run that was only judged again by other rules is not fresh.

- `new`: not known, and some run has it.
- `ongoing`: known and open. `growing`: a run has it that had it not, or it is graver than before.
  `acknowledged`: somebody knows of it until a day; a graver severity ends that.
- `resolved`, because it is
  - `fixed`: no run of those it had shows it any more, or so many runs in a row had it not that
    chance does not explain it (`odds`);
  - `deleted`: its runs are gone;
  - `unused`: nobody ran it for 14 nights on which its source was listed.
- `back`: resolved, and a run has it that is not accounted for; or an acknowledgement has ended.

What a rule over several runs says of the present (`CrossFinding.standing`: a run has gone quiet, a
job got worse) is ongoing as long as it is found, and resolved when it is not.

Within one night a faulty run outweighs a clean one: the order of runs that overlap says nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from runlens.auditing.sights import SHRANK, Sight, sights
from runlens.crossrun import changes
from runlens.crossrun.chance import BY_CHANCE, none_since
from runlens.crossrun.rule import CrossFinding
from runlens.diagnosis import SEVERITIES
from runlens.nights import ISSUE_STATES, Ack, Detail, Issue, IssueState, Night, RunRow
from runlens.wording import count

QUIET = 14  # nights without a fresh run that has it, after which nobody runs it any more
# the rules that say which settings faulty runs share, and on which machines and versions they ran
CLUSTER, FLEET = "cluster", "fleet"
SHARED = frozenset({CLUSTER, FLEET})
# share of healthy runs with a loud finding: benchmarks/power.py, calm noise (docs/accuracy.md)
FALSE_ALARMS = 0.004


@dataclass(frozen=True)
class Tonight:
    """What is known of a night besides its rows."""

    night: Night
    fresh: Collection[str] | None = None  # run keys; None: all of them
    listed: Collection[str] | None = None  # sources that were listed in full; None: all of them
    acks: Mapping[str, Ack] = field(default_factory=dict)  # by fingerprint
    price: float | None = None  # of a GPU-hour, in whatever currency


def issues(
    rows: Sequence[RunRow],
    known: Iterable[Issue],
    tonight: Tonight,
    crossed: Iterable[CrossFinding] = (),
    incidents: Mapping[str, Sight] | None = None,
) -> tuple[Issue, ...]:
    """Return the issues of a night as they are to be stored: new, back, ongoing, resolved.

    Those that were resolved on earlier nights are among them where what they account for changed.

    Args:
        rows: all runs of the sources, the old ones too.
        known: all issues of the sources that the store has, resolved ones too.
        tonight: the night.
        crossed: what rules over several runs found in `rows`.
        incidents: of the sources themselves, by fingerprint.

    """
    before = {issue.fingerprint: issue for issue in known}
    found = {**sights(rows, crossed), **(incidents or {})}
    group: dict[tuple[str, str], list[RunRow]] = defaultdict(list)
    for row in rows:
        group[row.project, row.setup].append(row)
        if row.job and row.job != row.setup:
            group[row.project, row.job].append(row)  # a fault may go through all of a task
    present = frozenset(row.key for row in rows)
    made = []
    for print_ in found.keys() | before.keys():
        old, sight = before.get(print_), found.get(print_)
        if old is None and sight is not None:
            made.append(_began(print_, sight, tonight))
        elif old is not None:
            about = (sight.project, sight.group) if sight else ("", "")
            now = _followed(old, sight, _Around(group[about], present), tonight)
            made += [now] if now.open or old.open or now.accounted != old.accounted else []
    return tuple(sorted((_changed(one, group) for one in _with_suspects(made)), key=_order))


def _with_suspects(made: Sequence[Issue]) -> list[Issue]:
    """Return the issues, each with what its runs share and others have not."""
    shared = [one for one in made if one.rule in SHARED and one.open]
    return [
        one
        if one.rule in SHARED or one.severity == "info" or not one.open
        else replace(one, suspect=_suspect(one, shared))
        for one in made
    ]


def _suspect(issue: Issue, shared: Sequence[Issue]) -> str:
    """Return what most of the issue's runs, tonight's if it has some, share and others have not."""
    mine = set(issue.tonight or issue.runs)
    fits = [one for one in shared if 2 * len(mine & set(one.runs)) > len(mine)]
    best = max(fits, key=lambda one: len(mine & set(one.runs)), default=None)
    return best.title if best and issue.source == best.source else ""


def _changed(issue: Issue, group: Mapping[tuple[str, str], Sequence[RunRow]]) -> Issue:
    """Return an open issue with what changed before its first run; the first of tonight's if back.

    A job is the runs of one name: its group may change with a setting.
    """
    if not issue.open or issue.rule in SHARED or issue.severity == "info":
        return issue
    bad = set(issue.tonight if issue.state == "back" and issue.tonight else issue.runs)
    some = group[issue.source, issue.group]
    jobs = {row.job for row in some if row.key in bad and row.job}
    if len(jobs) == 1:
        some = group[issue.source, jobs.pop()] or some
    found = changes.since(some, bad)
    return replace(issue, changes=found.changes, last_good=found.good) if found else issue


def expected_false_alarms(rows: Iterable[RunRow]) -> float:
    """Return how many of these runs alarm by chance, by the measured rate."""
    return FALSE_ALARMS * sum(row.health != "unknown" for row in rows)


def _order(issue: Issue) -> tuple[object, ...]:
    """Return the rank: by state, the gravest first, then by what it cost."""
    loud = issue.rule != SHRANK, issue.loudness
    state = ISSUE_STATES.index(issue.state)
    return state, *loud, -issue.gpu_hours, -len(issue.runs), issue.fingerprint


def _began(print_: str, sight: Sight, tonight: Tonight) -> Issue:
    night = tonight.night
    blank = Issue(print_, sight.rule, sight.severity, sight.group, sight.title)
    began = replace(
        blank,
        source=sight.project,
        first_night=night.number,
        first_date=night.date,
        tonight=sight.keys,
    )
    return _seen(_moved(began, "new", "", night), sight, tonight)


@dataclass(frozen=True)
class _Around:
    """What else ran: the runs of the issue's group, and the keys of all runs."""

    group: Sequence[RunRow]
    present: frozenset[str]


def _followed(old: Issue, sight: Sight | None, around: _Around, tonight: Tonight) -> Issue:
    """Return what became of a known issue."""
    old = replace(old, tonight=(), graver_than=None)
    if not old.open:
        return _resolved(old, sight, tonight)
    if sight is None:
        ending: Detail = "fixed" if around.present & set(old.runs) or not old.runs else "deleted"
        return _ended(old, None, ending, tonight)
    return _open(old, sight, around, tonight)


def _resolved(old: Issue, sight: Sight | None, tonight: Tonight) -> Issue:
    """Return a resolved issue, back where a run shows it that is not accounted for."""
    marks = sight.marks if sight else {}
    unknown = tuple(
        key
        for key, mark in marks.items()
        if (known := old.accounted.get(key)) is None or not known.covers(mark)
    )
    if sight and (unknown or not sight.seen):
        back = replace(_moved(old, "back", "", tonight.night), tonight=unknown, accounted={})
        return _seen(back, sight, tonight)
    return replace(old, accounted={key: old.accounted[key] for key in marks})


def _open(old: Issue, sight: Sight, around: _Around, tonight: Tonight) -> Issue:
    night, fresh = tonight.night, tonight.fresh
    had = set(old.runs)
    new = tuple(key for key in sight.keys if key not in had)
    graver = old.severity if sight.severity != old.severity and _graver(sight, old) else None
    ack = tonight.acks.get(old.fingerprint)
    holds = ack is not None and ack.at <= night.date < ack.until and not graver
    now = _seen(replace(old, tonight=new, graver_than=graver), sight, tonight)
    shows = any(sight.standing or fresh is None or one.row.key in fresh for one in sight.seen)
    shows = shows or bool(new) or (sight.standing and not sight.seen)
    if shows:
        now = replace(now, last_night=night.number, last_date=night.date, clean=(), unseen=0)
        now = replace(now, odds=_odds(now, around))
    else:
        now = _waited(now, around, tonight)
        if ending := _ending(now, around):
            return _ended(now, sight, ending, tonight)
    if holds:
        return replace(_moved(now, "ongoing", "acknowledged", night), acknowledged=ack)
    if old.detail == "acknowledged" and not graver:
        return _moved(replace(now, acknowledged=None), "back", "", night)
    detail: Detail = "growing" if new or graver else ""
    return _moved(replace(now, acknowledged=None), "ongoing", detail, night)


def _graver(sight: Sight, old: Issue) -> bool:
    return SEVERITIES.index(sight.severity) < old.loudness


def _waited(now: Issue, around: _Around, tonight: Tonight) -> Issue:
    """Return an open issue that no fresh run shows, with what speaks for its end."""
    listed = tonight.listed is None or now.source in tonight.listed
    now = replace(now, clean=_clean(now, around, tonight), unseen=now.unseen + listed)
    return replace(now, odds=_odds(now, around))


def _ending(now: Issue, around: _Around) -> Detail:
    """Return how an issue ends that no fresh run shows; empty: it does not."""
    if now.clean and none_since(*_share(now, around), len(now.clean)) <= BY_CHANCE:
        return "fixed"
    return "unused" if now.unseen >= QUIET else ""


def _clean(now: Issue, around: _Around, tonight: Tonight) -> tuple[str, ...]:
    """Return the runs that could have shown the issue since it was last seen, and have not."""
    fresh = around.present if tonight.fresh is None else tonight.fresh
    kept = [key for key in now.clean if key in around.present and key not in now.runs]
    able = [row.key for row in around.group if row.key in fresh and _could_show(row, now.onset)]
    return tuple(dict.fromkeys([*kept, *(key for key in able if key not in now.runs)]))


def _share(now: Issue, around: _Around) -> tuple[int, int]:
    """Return (runs that have it, runs that could have it), those after its last sight left out."""
    after = {*now.clean, *now.runs}
    others = [one for one in around.group if one.key not in after and _could_show(one, now.onset)]
    return len(now.runs), len(now.runs) + len(others)


def _odds(now: Issue, around: _Around) -> str:
    if not now.runs or now.rule in SHARED:  # their title is about odds
        return ""
    faulty, runs = _share(now, around)
    since = f"; 0 of {len(now.clean)} since" if now.clean else ""
    return f"{faulty} of {count(runs, 'run')}{since}"


def _could_show(row: RunRow, onset: float) -> bool:
    """Whether a run without an issue tells that it is gone: over, not broken, long enough."""
    over = row.state != "running" and row.health not in {"unknown", "critical"}
    return over and row.steps >= onset


def _ended(old: Issue, sight: Sight | None, ending: Detail, tonight: Tonight) -> Issue:
    """Return a resolved issue, which accounts for the runs that show it still."""
    marks = sight.marks if sight else {}
    ended = replace(old, accounted=marks, acknowledged=None, clean=(), unseen=0)
    return _moved(ended, "resolved", ending, tonight.night)


def _moved(issue: Issue, state: IssueState, detail: Detail, night: Night) -> Issue:
    """Return an issue in a state, with the night on which it came into it."""
    if (state, detail) == (issue.state, issue.detail) and issue.changed:
        return issue
    return replace(issue, state=state, detail=detail, changed=night.number)


def _seen(issue: Issue, sight: Sight, tonight: Tonight) -> Issue:
    """Return an issue with what tonight's rows show of it."""
    spent = sight.cost
    onsets = [one.onset for one in sight.seen if one.onset is not None]
    made = replace(
        issue,
        severity=sight.severity,
        title=sight.title,
        group=sight.group,
        source=sight.project,
        runs=sight.keys,
        worst=sight.seen[0].says if sight.seen else "",
        onset=min(onsets, default=0.0),
        gpu_hours=spent.gpu_hours,
        untimed=spent.untimed,
        money=spent.money(tonight.price),
        why=sight.why,
    )
    if issue.state in {"new", "back"} and issue.changed == tonight.night.number:
        night = tonight.night
        made = replace(made, last_night=night.number, last_date=night.date, clean=(), unseen=0)
    return made
