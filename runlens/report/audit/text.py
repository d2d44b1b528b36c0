"""An audit for the terminal: the sentence of the night, what is new, the rest by count."""

from collections.abc import Iterator, Sequence

from runlens.nights import ISSUE_STATES, Audit, Issue, IssueState
from runlens.report import audited
from runlens.report.audited import Told
from runlens.report.detail import STYLES
from runlens.report.terminal import Line, Options, characters, clean, cut, printed, wrapped
from runlens.wording import count, step

SHOWN: dict[IssueState, int] = {"new": 10, "back": 10, "ongoing": 5, "resolved": 3}
SHOWN_UNREAD = 3
HANG, INDENT = " " * 11, "  "
NAME = 32  # characters of a run


def render(audit: Audit, options: Options | None = None) -> str:
    """Return the audit as lines of text; verbose: all issues, and the runs with a fault."""
    options = options or Options()
    return printed(_lines(audit, options), options)


def verdict(audit: Audit, options: Options | None = None) -> str:
    """Return the sentence of the night as one line, with the places that are newly unreadable."""
    health, word = audited.health(audit)
    said = word or health.capitalize()
    line = audit.verdict if audit.verdict.startswith(said) else f"{said.upper()}: {audit.verdict}"
    sources = {one.source for one in audit.sources}
    missed = sum(one.tries <= 1 and one.place not in sources for one in audit.unread)
    line += f" {count(missed, 'place')} could not be read." if missed else ""
    return characters(clean(line) + "\n", options or Options())


def _lines(audit: Audit, options: Options) -> Iterator[Line]:
    yield _head(audit, options)
    yield from wrapped(audit.verdict, options)
    yield from wrapped(audited.lede(audit), options)
    yield ""
    counts = audit.counts
    yield "Issues: " + ", ".join(f"{counts[state]:,} {state}" for state in ISSUE_STATES)
    for state in ISSUE_STATES:
        yield from _issues(audited.in_state(audit, state), state, options)
    yield ""
    if options.verbose:
        yield from _runs(audited.told(audit)[0], options)
    yield from _unread(audit, options)
    if alarms := audited.false_alarms(audit):
        yield from wrapped(alarms, options)


def _head(audit: Audit, options: Options) -> Line:
    health, word = audited.health(audit)
    said = (word or health).upper()
    night = f"night {audit.night.number}, {clean(audited.date(audit.night))}"
    room = max(8, options.width - len(said) - len(night) - 4)
    named = cut(clean(audited.sources(audit.night)), room)
    gap = max(2, options.width - len(said) - 2 - len(named) - len(night))
    style = STYLES.get(health, "bold green")
    return ((said, style), f"  {named}{' ' * gap}{night}")


def _issues(some: Sequence[Issue], state: IssueState, options: Options) -> Iterator[Line]:
    if not some:
        return
    yield ""
    yield f"{state.capitalize()}, {audited.STATE_NOTES[state]}"
    most = len(some) if options.verbose else SHOWN[state]
    for issue in some[:most]:
        yield from _issue(issue, options)
    if len(some) > most:
        yield f"{INDENT}and {count(len(some) - most, 'more issue')} (-v lists them)"


def _issue(issue: Issue, options: Options) -> Iterator[Line]:
    spent = audited.issue_hours(issue)
    tail = f" {spent} GPU-hours after onset." if spent[0].isdigit() else ""
    tail += "" if issue.money is None else f" Cost {audited.money(issue)}."
    head = f"{issue.severity.upper():<8}"
    first, *rest = wrapped(f"{head} {issue.title}{tail}", options, HANG, INDENT)
    word = issue.severity.upper()
    begin = first.index(word)
    end = begin + len(word)
    yield (first[:begin], (word, STYLES[issue.severity]), first[end:])
    yield from rest
    if issue.state == "resolved" and not options.verbose:
        return
    if issue.worst:
        yield from wrapped(f"worst: {issue.worst}", options, HANG, HANG)
    if issue.why and options.verbose:
        yield from wrapped(issue.why, options, HANG, HANG)


def _runs(loud: Sequence[Told], options: Options) -> Iterator[str]:
    if not loud:
        return
    yield "Runs with a fault, worst first"
    for one in loud:
        head = f"{one.row.health.upper():<8} {cut(clean(one.row.name), NAME):<{NAME}} "
        head += f"{step(one.row.steps):>9}  "
        room = max(8, options.width - len(head) - len(INDENT))
        said = clean(one.row.verdict)
        yield f"{INDENT}{head}{said if len(said) <= room else said[: room - 3].rstrip() + '...'}"
    yield ""


def _unread(audit: Audit, options: Options) -> Iterator[str]:
    missed = audit.unread
    if not missed:
        return
    yield f"{count(len(missed), 'place')} could not be read"
    most = len(missed) if options.verbose else SHOWN_UNREAD
    for one in missed[:most]:
        hint = f"; {one.what_to_do}" if one.what_to_do else ""
        nights = f" (for {one.tries:,} nights)" if one.tries > 1 else ""
        yield from wrapped(f"! {one.place}: {one.why}{hint}{nights}", options, HANG, INDENT)
    if len(missed) > most:
        yield f"{INDENT}! {count(len(missed) - most, 'more place')} (-v lists them)"
    yield ""
