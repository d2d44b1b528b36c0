"""An audit as Markdown, for chats and job summaries: at most 60 lines, no images, no HTML."""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from runlens.nights import ISSUE_STATES, Audit, Issue, Unread
from runlens.report import audited
from runlens.report.markdown import escaped
from runlens.wording import count

SHOWN, SHOWN_UNREAD = 25, 5
CELL, PLACE = 300, 120  # characters
LINK_SAFE = "/:?#[]@!$&'*+,;=%~-._"  # as in a URL; no parenthesis, which would end a link


def render(audit: Audit, page: str = "") -> str:
    """Return verdict, counts, the new and returned issues, what was not read, and a link.

    Args:
        audit: the night.
        page: where its page can be read: a path or a URL.

    """
    return "\n".join(_lines(audit, page)) + "\n"


def _lines(audit: Audit, page: str) -> Iterator[str]:
    health, word = audited.health(audit)
    yield f"### {word or health.capitalize()}: {escaped(audit.verdict)}"
    yield ""
    if said := audited.lede(audit):
        yield escaped(said)
        yield ""
    counts = audit.counts
    states = ", ".join(f"{counts[state]:,} {state}" for state in ISSUE_STATES)
    yield f"Issues on night {audit.night.number}: {states}."
    yield ""
    yield from _table(audited.in_state(audit, "new", "back"))
    yield from _unread(audit.unread)
    if page:
        yield f"[All issues and runs]({quote(page, safe=LINK_SAFE)})"


def _table(some: Sequence[Issue]) -> Iterator[str]:
    if not some:
        return
    yield "| tonight | severity | issue | runs | GPU-h after onset | worst run |"
    yield "|---|---|---|---|---|---|"
    for issue in some[:SHOWN]:
        cells = (
            issue.state,
            issue.severity,
            _short(issue.title, CELL),
            f"{len(issue.runs):,}",
            audited.issue_hours(issue),
            _short(issue.worst, CELL),
        )
        yield "| " + " | ".join(escaped(cell) for cell in cells) + " |"
    if len(some) > SHOWN:
        yield f"| | | {count(len(some) - SHOWN, 'more issue')} | | | |"
    yield ""


def _unread(missed: Sequence[Unread]) -> Iterator[str]:
    if not missed:
        return
    yield f"**{count(len(missed), 'place')} could not be read**"
    yield ""
    for one in missed[:SHOWN_UNREAD]:
        hint = f" ({escaped(_short(one.what_to_do, CELL))})" if one.what_to_do else ""
        yield f"- {escaped(_short(one.place, PLACE))}: {escaped(_short(one.why, CELL))}{hint}"
    if len(missed) > SHOWN_UNREAD:
        yield f"- {count(len(missed) - SHOWN_UNREAD, 'more place')}"
    yield ""


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
