"""What a night is in one sentence, and what the runs of last night came to."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from runlens import cost
from runlens.auditing.issues import SHARED, Tonight
from runlens.auditing.sights import SHRANK
from runlens.crossrun.groups import told
from runlens.crossrun.rule import title_of
from runlens.nights import LOUD, TOLD, Audit, Issue, RunRow, SourceState, Trend
from runlens.wording import count

STALE = "stale"  # the rule of runs that are not heard of any more


class LastNight(TypedDict):
    """Run keys by what became of the runs since the last night."""

    ran: int
    broke: tuple[str, ...]
    finished: tuple[str, ...]
    went_quiet: tuple[str, ...]
    ended: tuple[str, ...]


def last_night(issues: Sequence[Issue], rows: Sequence[RunRow], tonight: Tonight) -> LastNight:
    """Return which runs broke, ended well, and fell silent since the last night.

    The runs that broke are those in which a fault was found that they had not before; the gravest
    first. What was only judged again, by other rules, is none of last night.
    """
    fresh = {row.key for row in rows} if tonight.fresh is None else set(tonight.fresh)
    broke = [key for one in issues if one.rule != STALE for key in one.tonight if key in fresh]
    loud = {row.key for row in rows if row.health in LOUD}
    ended = [row for row in rows if row.key in fresh and row.state != "running"]
    well = [row.key for row in ended if row.state == "finished" and row.key not in loud]
    return {
        "ran": len(fresh),
        "broke": tuple(key for key in dict.fromkeys(broke) if key in loud),
        "finished": tuple(well),
        "ended": tuple(row.key for row in ended),
        "went_quiet": tuple(key for one in issues if one.rule == STALE for key in one.tonight),
    }


def trend(audit: Audit) -> Trend:
    """Return what a night was, to stand beside others."""
    keys = set(audit.ended)
    ended = [row for row in audit.runs if row.key in keys]
    return Trend(
        audit.night.number,
        audit.night.date,
        audit.ran,
        len(audit.broke),
        sum(one.open and one.severity != "info" for one in audit.issues),
        round(cost.spent(ended).gpu_hours, 3),
        round(cost.lost(ended).gpu_hours, 3),
    )


def verdict(
    issues: Sequence[Issue], rows: Sequence[RunRow], sources: Sequence[SourceState] = ()
) -> str:
    """Return the night in one sentence: what could not be read, else the gravest of what is new."""
    return " ".join(part for part in (_unlisted(sources), _news(issues, rows, sources)) if part)


def _unlisted(sources: Sequence[SourceState]) -> str:
    lost = [one for one in sources if one.tries]
    if not lost:
        return ""
    worst = max(lost, key=lambda one: one.tries)
    nights = f" for {worst.tries:,} nights" if worst.tries > 1 else ""
    others = f" and {count(len(lost) - 1, 'other source')}" if len(lost) > 1 else ""
    return f"{worst.source}{others} could not be read{nights}: {worst.why}."


def _news(issues: Sequence[Issue], rows: Sequence[RunRow], sources: Sequence[SourceState]) -> str:
    news = [issue for issue in issues if issue.status in TOLD]
    known = sum(
        issue.open and issue.status not in TOLD for issue in issues if issue.severity != "info"
    )
    loud = [issue for issue in news if issue.severity != "info"]
    loud = [issue for issue in loud if issue.rule not in SHARED] or loud  # it tells of another
    if not loud and sources and all(one.tries for one in sources):
        return f"Nothing is known of last night; {count(known, 'issue')} from before."
    if not loud and not known:
        return f"No open issue in {count(len(rows), 'run')}."
    if not loud:
        return f"Nothing new: {count(len(rows), 'run')} known, {count(known, 'ongoing issue')}."
    by_key = {row.key: row for row in rows}
    worst = min(loud, key=lambda one: rank(one, by_key))
    if worst.rule == SHRANK:
        return worst.title
    spent = f", {worst.gpu_hours:,.0f} GPU-hours wasted" if worst.gpu_hours >= 1 else ""
    runs = f"{count(len(worst.runs), 'run')} of {told(worst.group)}"
    shared = f". {worst.suspect.rstrip('.')}" if worst.suspect else ""
    where = f"{title_of(worst.rule)} in {runs}{spent}{shared}"
    if sources and all(one.first or one.tries for one in sources):
        return f"First night: {count(len(loud), 'new issue')}. The worst is {where}."
    return f"{_counted(loud)} since last night. The worst is {where}."


def rank(issue: Issue, rows: Mapping[str, RunRow]) -> tuple[float, ...]:
    """Return the rank of an issue: severity first, then what tonight's runs of it cost."""
    tonight = [rows[key] for key in issue.tonight if key in rows]
    return issue.loudness, -cost.lost(tonight).gpu_hours, -issue.gpu_hours, -len(tonight)


def _counted(news: Sequence[Issue]) -> str:
    """Return ``2 new issues, 1 growing, 1 back``."""
    by = [(word, sum(one.status == word for one in news)) for word in ("new", "growing", "back")]
    (word, amount), *rest = [pair for pair in by if pair[1]]
    first = f"{count(amount, 'issue')} back" if word == "back" else count(amount, f"{word} issue")
    return ", ".join([first, *(f"{many} {what}" for what, many in rest)])
