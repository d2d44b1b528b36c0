"""What all reports of an audit say in the same words: hours, counts, dates, the order of runs."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from runlens import cost
from runlens.diagnosis import HEALTHS, Health
from runlens.nights import LOUD, TOLD, Audit, FoundRow, Issue, IssueState, Night, RunRow
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.wording import count, number, percent

DASH = "–"
STATUS_WORDS = {
    "growing": "growing",
    "acknowledged": "acknowledged",
    "fixed": "fixed",
    "deleted": "its runs were deleted",
    "unused": "nobody runs it any more",
}
STATE_NOTES: dict[IssueState, str] = {
    "new": "not seen before",
    "back": "was resolved before",
    "ongoing": "seen before, still open",
    "resolved": "gone since the last night",
}
FEW_SOURCES = 3
LEAST, WHOLE = 0.05, 99.95  # below the first hours are not told, from the other on whole


class Told(NamedTuple):
    """A run with what its rows need: its own GPU-hours, and those after the first onset."""

    row: RunRow
    hours: float | None
    lost: float | None


def hours(value: float | None) -> str:
    """Return GPU-hours: one decimal below 100, none above; a dash where none or not known."""
    if value is None or value <= 0:
        return DASH
    if value < LEAST:
        return "< 0.1"
    return f"{value:,.1f}" if value < WHOLE else f"{value:,.0f}"


def issue_hours(issue: Issue) -> str:
    """Return the GPU-hours of an issue after the onset; a dash where no run's times are known."""
    return hours(issue.gpu_hours) if issue.untimed < len(issue.runs) else DASH


def money(issue: Issue) -> str:
    """Return what an issue cost, in the currency in which the price was given."""
    return DASH if issue.money is None else f"{issue.money:,.2f}"


def state(issue: Issue) -> str:
    """Return the state of an issue tonight: ``ongoing since night 3``, ``growing``, ``fixed``."""
    word = STATUS_WORDS.get(issue.status, issue.state)
    return f"{word} since night {issue.first_night}" if issue.state == "ongoing" else word


def in_state(audit: Audit, *states: IssueState) -> list[Issue]:
    """Return the issues of these states, in the order of the states and then of the audit."""
    return [issue for wanted in states for issue in audit.issues if issue.state == wanted]


def open_issues(audit: Audit) -> list[Issue]:
    """Return the open issues as a page shows them: by state, and notes behind all faults."""
    return sorted(in_state(audit, "new", "back", "ongoing"), key=lambda one: one.severity == "info")


def health(audit: Audit) -> tuple[Health, str]:
    """Return how loud the night is, and a word for it where "Healthy" would say too much."""
    if audit.unlisted:
        return "critical", "Not read"
    changed = [one for one in audit.issues if one.status in TOLD and one.severity != "info"]
    if changed:
        return min((issue.severity for issue in changed), key=HEALTHS.index), ""
    if in_state(audit, "ongoing"):
        return "info", "Nothing new"
    if not audit.runs:
        return "unknown", "Nothing judged"
    return "healthy", "No open issue"


def date(night: Night) -> str:
    """Return the day of a night in words, in UTC: ``21 November 2026``; as given if no date."""
    try:
        when = datetime.fromisoformat(night.date)
    except ValueError:
        return night.date
    return f"{when.day} {MONTHS[when.month - 1]} {when.year}"


MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def sources(night: Night) -> str:
    """Return what was audited, at most three sources by name."""
    shown = ", ".join(night.sources[:FEW_SOURCES])
    more = len(night.sources) - FEW_SOURCES
    return f"{shown} and {more} more" if more > 0 else shown


def lede(audit: Audit) -> str:
    """Return how many runs were read, how many are faulty, and what that cost."""
    loud = Counter(row.health for row in audit.runs if row.health in LOUD)
    faulty = sum(loud.values())
    said = f"{count(len(audit.runs), 'run')}, {faulty:,} with a fault"
    said += f" ({loud['critical']:,} critical). " if faulty else ". "
    spent, lost = cost.spent(audit.runs), cost.lost(audit.runs)
    if spent.gpu_hours and lost.gpu_hours >= LEAST:
        share = percent(min(1.0, lost.gpu_hours / spent.gpu_hours))
        said += f"{hours(lost.gpu_hours)} of {hours(spent.gpu_hours)} GPU-hours ({share}) "
        said += "were wasted: after a fault, or past the best evaluation. "
    if audit.unread:
        said += f"{count(len(audit.unread), 'place')} could not be read."
    return said.strip()


def false_alarms(audit: Audit) -> str:
    """Return how many runs are expected to alarm by chance; empty where that is not known."""
    if audit.expected_false_alarms is None:
        return ""
    judged = sum(row.health != "unknown" for row in audit.runs)
    if not judged:
        return ""
    expected = audit.expected_false_alarms
    rate = percent(expected / judged)
    of = (
        f"{count(judged, 'judged run')} is"
        if expected < 1
        else f"{count(judged, 'judged run')} are"
    )
    many = "Fewer than one" if expected < 1 else number(expected, 2)
    return f"{many} of {of} expected to alarm without a fault: the measured rate is {rate}."


def told(audit: Audit) -> tuple[list[Told], list[Told]]:
    """Return the runs with a fault, the worst and most expensive first, and all others."""
    known = [Told(row, cost.gpu_hours(row), cost.wasted(row)) for row in audit.runs]
    known.sort(key=_worst_first)
    loud = [one for one in known if one.row.health in LOUD]
    return loud, known[len(loud) :]


def gravest_first(rows: Iterable[RunRow]) -> list[RunRow]:
    """Return runs by their health, the worst first, else in the order given."""
    return sorted(rows, key=lambda row: HEALTHS.index(row.health))


def _worst_first(one: Told) -> tuple[object, ...]:
    row = one.row
    return HEALTHS.index(row.health), -(one.lost or 0.0), row.name, row.key


def also(row: RunRow) -> list[str]:
    """Return the rules that found something in a run besides the one that its verdict tells."""
    lead = lead_of(row.findings)
    return list(dict.fromkeys(f.rule for f in row.findings if lead and f.rule != lead.rule))


def lead_of(findings: Sequence[FoundRow]) -> FoundRow | None:
    """Return the finding of which a verdict speaks: the loudest lead, else the loudest."""
    return min(findings, key=lambda one: (HEALTHS.index(one.severity), not one.leads), default=None)


def tracker_link(link: str) -> str | None:
    """Return the address of a run's own page on its tracker; None for what is no web address."""
    return link if link.startswith(("https://", "http://")) else None


def safe_link(link: str) -> str | None:
    """Return a link to a page beside the audit's; None for one that leads anywhere else."""
    return None if _ELSEWHERE.match(link) else link


_ELSEWHERE = lazy_re(r"\s*(?:[a-z][a-z0-9+.-]*:|[/\\]|$)", re.IGNORECASE)
