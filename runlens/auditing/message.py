"""What people are told of a night: five lines at 7 AM.

What broke last night and whose it is, the gravest issues first, what is over, where to read on.
What could not be read comes before all of it: of that, nobody knows anything. An info is never
news; it has its place in the last line.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

from runlens import cost
from runlens.auditing.issues import CLUSTER, FLEET, SHARED
from runlens.auditing.sights import SHRANK
from runlens.auditing.telling import rank
from runlens.errors import one_line
from runlens.nights import TOLD, Audit, Issue, RunRow, SourceState, Unread
from runlens.records import NamedTuple
from runlens.wording import count

SHOWN, BRIEF = 3, 4  # issues that have a line of their own, and that share one
PEOPLE = 5  # that are named in a line
LINE, PLACE = 300, 120  # characters
LEAST = 0.5  # GPU-hours that are worth a word
FIRST_NIGHTS, WEEK = (1, 2, 4), 7  # on which a failure is told; then once a week
DAY, NIGHT = 86_400.0, 1.5  # seconds; days after which it is not last night any more
OVER = {"fixed": "Fixed", "deleted": "Deleted with its runs", "unused": "Nobody runs it any more"}
NARROW = "\u202f"  # a space that no chat needs


class Message(NamedTuple):
    """A message in plain text, and what it tells of."""

    title: str
    lines: tuple[str, ...]
    issues: tuple[str, ...] = ()  # fingerprints
    runs: tuple[str, ...] = ()  # keys of the runs that are news
    replies: Mapping[str, str] = {}  # what is said of an issue alone, by fingerprint

    @property
    def body(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)

    @property
    def document(self) -> str:
        """What it tells of, as JSON."""
        return json.dumps({"issues": self.issues, "runs": self.runs, "replies": dict(self.replies)})


@dataclass(frozen=True)
class Links:
    """Where a night can be read."""

    page: str = ""  # a URL or a path; empty: nowhere

    def of_issue(self, issue: Issue) -> str:
        """Return where an issue can be read; empty where the page has no URL."""
        return f"{self.page}#issue={issue.fingerprint}" if "://" in self.page else ""


def changed(audit: Audit) -> bool:
    """Whether a night is worth a message: something is new, graver, back or over, or unreadable."""
    return any(map(_is_news, audit.issues)) or bool(_unlisted(audit) or _unread(audit))


def message(audit: Audit, links: Links | None = None) -> Message:
    """Return the message of a night; what has no room is counted."""
    links = links or Links()
    news = [issue for issue in audit.issues if _is_news(issue)]
    broke = set(audit.broke)  # their runs come before those that are known
    told = [
        replace(issue, tonight=tuple(sorted(issue.tonight, key=lambda key: key not in broke)))
        for issue in news
        if issue.open
    ]
    rows = {row.key: row for row in audit.runs}
    told.sort(key=lambda issue: rank(issue, rows))
    runs = dict.fromkeys(key for issue in told for key in issue.tonight)
    over = [issue for issue in news if not issue.open]
    lines = _lines(audit, told, over, links)
    replies = {one.fingerprint: _issue(one, rows, links, audit.since) for one in told}
    replies |= {one.fingerprint: _over(one) for one in over}
    return Message(
        _cut(f"RunLens, night {audit.night.number}: {', '.join(audit.night.sources)}", PLACE),
        tuple(lines),
        tuple(issue.fingerprint for issue in news),
        tuple(runs),
        replies,
    )


def is_told(tries: int) -> bool:
    """Whether a failure that has lasted so many nights is told again: on 1, 2, 4, then weekly."""
    return tries in FIRST_NIGHTS or (tries > 0 and tries % WEEK == 0)


def _is_news(issue: Issue) -> bool:
    if issue.severity == "info" or (issue.rule == CLUSTER and not issue.open):
        return False  # a cluster ends with its fault
    if issue.rule == SHRANK and issue.open:
        nights = 1 + issue.last_night - issue.first_night
        return issue.status in TOLD or (issue.status == "ongoing" and is_told(nights))
    return issue.status in TOLD or not issue.open


def _unlisted(audit: Audit) -> list[SourceState]:
    return [one for one in audit.sources if one.tries and is_told(one.tries)]


def _unread(audit: Audit) -> list[Unread]:
    sources = {one.source for one in audit.sources}
    return [one for one in audit.unread if one.place not in sources and one.tries <= 1]


def _lines(
    audit: Audit, told: Sequence[Issue], over: Sequence[Issue], links: Links
) -> Iterator[str]:
    for source in _unlisted(audit):
        yield _cut(_not_read(source), LINE)
    if not audit.sources or any(not one.tries for one in audit.sources):
        yield _cut(_last_night(audit), LINE)
    rows = {row.key: row for row in audit.runs}
    told = _told_once(told)
    for issue in told[:SHOWN]:
        yield _issue(issue, rows, links, audit.since)
    if rest := told[SHOWN:]:
        yield _cut(_rest(rest, rows), LINE)
    if missed := _unread(audit):
        first = missed[0]
        also = f", and {count(len(missed) - 1, 'more place')}" if len(missed) > 1 else ""
        yield f"Could not be read: {_cut(first.place, PLACE)} ({_cut(first.why, PLACE)}){also}."
    if over:
        yield _cut(_ended(over), LINE)
    yield _cut(_known(audit), LINE)
    if links.page:
        yield f"Report: {one_line(links.page)}"


def _told_once(told: Sequence[Issue]) -> list[Issue]:
    """Return the issues, those of several jobs with one cause in the fleet as that cause.

    What else a suspect says stands with its issue.
    """
    kept = list(told)
    for one in (one for one in told if one.rule in SHARED):
        its = [each for each in told if each.suspect == one.title]
        if one.rule == FLEET and len(its) > 1:
            loud = min(its, key=lambda each: each.loudness).severity
            hidden = {each.fingerprint for each in its if set(each.tonight) <= set(one.runs)}
            kept = [each for each in kept if each.fingerprint not in hidden]
            kept[kept.index(one)] = replace(one, severity=loud)
        elif its:
            kept.remove(one)
    return sorted(kept, key=lambda one: one.loudness)


def _not_read(source: SourceState) -> str:
    nights = f" for {source.tries:,} nights" if source.tries > 1 else ""
    since = f" Nothing is known of it since {source.listed[:10]}." if source.listed else ""
    hint = f" {source.what_to_do[:1].upper()}{source.what_to_do[1:]}." if source.what_to_do else ""
    return f"NOT READ{nights}: {_cut(source.source, PLACE)}: {source.why}.{since}{hint}"


def _last_night(audit: Audit) -> str:
    """Return ``2 of last night's 41 runs broke, 38 finished well, 1 went quiet; ...``."""
    rows = {row.key: row for row in audit.runs}
    broke = [rows[key] for key in audit.broke if key in rows]
    ran = max(audit.ran, len(broke))
    long_ago = _days(audit.since, audit.night.date) > NIGHT
    of = f"the {count(ran, 'run')} since {audit.since[:10]}"
    of = of if long_ago else f"last night's {count(ran, 'run')}"
    if not ran:
        said = f"Nothing ran since {audit.since[:10]}" if long_ago else "Nothing ran last night"
    else:
        said = f"{f'{len(broke):,}' if broke else 'None'} of {of} broke"
    said += f", {len(audit.finished):,} finished well" if audit.finished else ""
    said += f", {len(audit.went_quiet):,} went quiet" if audit.went_quiet else ""
    said += _waste(audit, [rows[key] for key in audit.ended if key in rows])
    first = [one.source for one in audit.sources if one.first]
    if first:
        said += f". First night of {_cut(', '.join(first), PLACE)}: all that is known is new"
    return f"{said}."


def _waste(audit: Audit, ended: Sequence[RunRow]) -> str:
    """Return ``; 65 of 430 GPU-h wasted (NaN loss 47, Overfitting 18)``: as the page."""
    causes: dict[str, float] = defaultdict(float)
    for one in audit.ledger:
        causes[one.title] += one.gpu_hours * one.tonight
    lost = sum(causes.values())
    if lost < LEAST:
        return ""
    some = [f"{title} {hours:,.0f}" for title, hours in _largest(causes) if hours >= LEAST]
    price = audit.gpu_hour_price
    money = "" if price is None else f", a cost of {price * lost:,.0f}"
    spent = cost.spent(ended).gpu_hours
    return f"; {lost:,.0f} of {spent:,.0f} GPU-h wasted{money} ({', '.join(some)})"


def _largest(causes: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(causes.items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN]


def _issue(issue: Issue, rows: dict[str, RunRow], links: Links, before: str) -> str:
    """Return one issue: how grave, whose, which runs, since when, what it cost, where it is."""
    keys = issue.tonight or issue.runs
    broken = [rows[key] for key in keys if key in rows]
    whose = f" {_whose(broken)}" if _whose(broken) else ""
    more = issue.status == "growing" and issue.tonight
    grown = f" ({count(len(issue.tonight), 'more run')})" if more else ""
    graver = f" was {issue.graver_than} before," if issue.graver_than else ""
    hours = cost.lost(broken).gpu_hours if broken else issue.gpu_hours
    spent = f" {hours:,.0f} GPU-h wasted." if hours >= LEAST else ""
    said = _says(broken, issue)
    worst = f" {_cut(said, LINE // 2)}" if said else ""
    what = one_line(issue.what_changed(rows))
    since = f" {what}." if what else ""
    if issue.suspect and not any(one.what in issue.suspect for one in issue.changes):
        since = f" {issue.suspect}{since}"
    where = [links.of_issue(issue), *(row.url for row in broken[:1])]
    first = _first(issue, rows, before)
    began = f", since {first}" if first and f"since {first}" not in issue.title else ""
    head = f"{issue.severity.upper()}{whose},{graver} {issue.status}{grown}{began}: {issue.title}"
    return " ".join([f"{_cut(head, LINE)}{worst}{since}{spent}", *filter(None, where)])


def _first(issue: Issue, rows: Mapping[str, RunRow], before: str) -> str:
    """Return the day on which its first run broke; "" where that is last night.

    What is known as one issue only tonight, such as a node at fault, may have begun with runs of
    the nights before.
    """
    ends = [row.ended for key in issue.runs if (row := rows.get(key)) and row.ended]
    first = datetime.fromtimestamp(min(ends), UTC).isoformat()[:10] if ends else ""
    if issue.status == "new":
        return first if first < before[:10] else ""
    return min(first or issue.first_date[:10], issue.first_date[:10] or first)


def _says(broken: Sequence[RunRow], issue: Issue) -> str:
    """Return what was found in the worst of the runs that are news."""
    for row in broken if issue.tonight else ():
        for found in row.findings:
            if found.leads and (found.rule == issue.rule or issue.rule in SHARED):
                return f"{row.name}: {found.title}"
    return issue.worst


def _whose(broken: Sequence[RunRow]) -> str:
    """Return ``@anna, @ben``, and how many more people."""
    users = list(dict.fromkeys(f"@{row.user}" for row in broken if row.user))
    more = f" and {len(users) - PEOPLE:,} more" if len(users) > PEOPLE else ""
    return ", ".join(users[:PEOPLE]) + more


def _rest(rest: Sequence[Issue], rows: Mapping[str, RunRow]) -> str:
    """Return how many more issues there are, and of whom and what the first of them are."""
    loud = Counter(issue.severity for issue in rest)
    kinds = ", ".join(f"{loud[one]:,} {one}" for one in ("critical", "warning") if loud[one])
    some = []
    for issue in rest[:BRIEF]:
        broken = [rows[key] for key in issue.tonight or issue.runs if key in rows]
        some.append(f"{_whose(broken)} {issue.title.rstrip('.')}".strip())
    return f"and {count(len(rest), 'more issue')} ({kinds}): {'; '.join(some)}."


def _ended(over: Sequence[Issue]) -> str:
    """Return what is over, with its odds."""
    parts = [f"{_over(issue)}." for issue in over[:SHOWN]]
    parts += [f"And {len(over) - SHOWN:,} more are over."] if len(over) > SHOWN else []
    return " ".join(parts)


def _known(audit: Audit) -> str:
    """Return what goes on."""
    going = [one for one in audit.issues if one.open and not _is_news(one)]
    known = Counter(one.status for one in going if one.severity != "info")
    some = [f"{amount:,} {status}" for status, amount in sorted(known.items(), reverse=True)]
    parts = [f"Known issues: {', '.join(some)}."] if some else ["No other issue is open."]
    notes = sum(one.open and one.severity == "info" for one in audit.issues)
    parts += [f"{count(notes, 'note')} on the page."] if notes else []
    return " ".join(parts)


def _over(issue: Issue) -> str:
    """Return ``Fixed: NaN loss in 25 runs of sft-qwen (25 of 40 runs; 0 of 5 since)``.

    What a rule over several runs finds may go without anybody's doing: with the runs beside it.
    """
    odds = f" ({issue.odds})" if issue.odds and issue.detail == "fixed" else ""
    compared = issue.detail == "fixed" and issue.rule in _over_several()
    word = "No longer the case" if compared else OVER.get(issue.detail, "Over")
    return f"{word}: {_cut(issue.title, LINE // 2).rstrip('.')}{odds}"


@lru_cache
def _over_several() -> frozenset[str]:
    """Return the rules over several runs."""
    from runlens.crossrun import CROSS_RULES

    return frozenset(rule.slug for rule in CROSS_RULES)


def _days(before: str, now: str) -> float:
    """Return the days between two dates; 0 where one is none."""
    try:
        return (datetime.fromisoformat(now) - datetime.fromisoformat(before)).total_seconds() / DAY
    except ValueError:
        return 0.0


def _cut(text: str, most: int) -> str:
    line = one_line(text.replace(NARROW, " "))
    return line if len(line) <= most else f"{line[: most - 1]}…"
