"""One message about a night, where something changed, through apprise (the extra ``notify``).

Names of strangers stay text: apprise escapes plain text for the markup of each service; where a
service renders plain text as Markdown all the same, it is escaped here. `@` is parted from what
follows in chats, so that no name calls anybody. Addresses of webhooks are secrets: no line of
ours holds more of them than the service and, of generic ones and mail, the host.
"""

import logging
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from runlens.errors import one_line
from runlens.nights import ISSUE_STATES, Audit, Issue, IssueState, Unread
from runlens.patterns import lazy_re
from runlens.wording import count

LONGEST = 1800  # characters of a message; chats cut at 2,000 (Discord) and show less at once
LINE, WORST, VERDICT, PLACE = 240, 200, 300, 120  # characters
LEAST = 0.05  # GPU-hours that are worth a word
TIMEOUT = 30  # seconds for one service
TOLD: tuple[IssueState, ...] = ("new", "back", "resolved")
RENDERS = frozenset({"discord"})  # services that read plain text as Markdown
HOST_SHOWN = frozenset({"json", "xml", "form", "mailto", "http", "https"})  # and with a final s
CHATS_NOT = frozenset({"json", "jsons", "xml", "xmls", "form", "forms", "mailto", "mailtos"})
MISSING = (
    "no message was sent: apprise is not installed "
    '(pip install "runlens-training[notify]")'
)  # fmt: skip
_MARKDOWN = lazy_re(r"([\\`*_{}\[\]()#+\-.!|<>~])")
_STATUS = lazy_re(r"error=(\d{3})")
_NO_JOINT = "\u200b"  # zero-width space


class Message(NamedTuple):
    """A message in plain text."""

    title: str
    lines: tuple[str, ...]

    @property
    def body(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


def changed(audit: Audit) -> bool:
    """Whether a night is worth a message: an issue is new, back or gone, or a place unreadable."""
    return any(issue.state in TOLD for issue in audit.issues) or bool(_newly_unread(audit))


def message(audit: Audit, page: str | Path | None = None, most: int = LONGEST) -> Message:
    """Return the message of a night, at most `most` characters long.

    Args:
        audit: the night.
        page: where its page can be read: a path or a URL; the last line names it.
        most: characters; what has no room is counted. Markdown escapes are reckoned with.

    """
    end = [f"Report: {one_line(str(page))}"] if page else []
    head = [_cut(audit.verdict, VERDICT), _counts(audit)]
    room = most - sum(_cost(line) for line in (*head, *end)) - _cost("and 99,999 more")
    told = [*_parts(audit)]
    lines: list[str] = []
    for line in told:
        if room < _cost(line):
            break
        room -= _cost(line)
        lines.append(line)
    while lines and lines[-1].endswith(":"):  # a heading without a line below it
        lines.pop()
    left = sum(line.startswith("- ") for line in told) - sum(x.startswith("- ") for x in lines)
    more = [f"and {left:,} more"] if left else []
    return Message(
        _cut(f"RunLens, night {audit.night.number}: {', '.join(audit.night.sources)}", PLACE),
        (*head, *lines, *more, *end),
    )


def send(audit: Audit, urls: Iterable[str], page: str | Path | None = None) -> tuple[str, ...]:
    """Send the message of a night to each address, if anything changed.

    Args:
        audit: the night.
        urls: addresses as apprise takes them (``slack://``, ``discord://``, ``mailto://``,
            ``workflows://``, ``json://``, ...); any other ``https://`` address gets JSON by POST.
        page: where the page can be read: a path or a URL.

    Returns:
        One line for each address that got no message: which, why, what to do. Nothing is raised:
        an audit is worth more than its message.

    """
    if not changed(audit):
        return ()
    wanted = list(urls)
    try:
        import apprise
    except ImportError:
        return (MISSING,)
    failed = []
    with _silent():
        for number, url in enumerate(wanted, 1):
            which = f"message {number} of {len(wanted)} ({_named(url)})"
            if reason := _sent(apprise, url, audit, page):
                failed.append(f"{which} was not delivered: {reason}")
    return tuple(failed)


def _sent(apprise: Any, url: str, audit: Audit, page: str | Path | None) -> str:  # noqa: ANN401 - a module
    """Send one message; return why that failed, empty if it did not."""
    try:
        service = apprise.Apprise.instantiate(_known(apprise, url))
        if not service:
            return (
                "apprise knows no service of this form; see https://appriseit.com for how to "
                "write the address"
            )
        schema = _scheme(str(service.url()))
        most = min(LONGEST, int(service.body_maxlen) - PLACE)
        text = message(audit, page, most)
        chat = schema not in CHATS_NOT
        title, body = (_safe(part, schema, chat=chat) for part in (text.title, text.body))
        sender = apprise.Apprise(asset=apprise.AppriseAsset(app_id="RunLens"))
        sender.add(service)
        result = sender.notify(
            body, title=title, body_format=apprise.NotifyFormat.TEXT, timeout=TIMEOUT
        )
    except Exception as error:  # noqa: BLE001 - a message must never end an audit
        return f"{type(error).__name__} in apprise"
    return "" if result else _why(result)


def _known(apprise: Any, url: str) -> str:  # noqa: ANN401 - a module
    """Return an address that apprise knows: a strange ``https://`` one gets plain JSON."""
    if _scheme(url) not in {"http", "https"} or apprise.Apprise.instantiate(url):
        return url
    return url.replace("http", "json", 1)


def _why(result: Any) -> str:  # noqa: ANN401 - of apprise
    """Return the reason of a failure in our own words: apprise's may hold an address."""
    said = " ".join(str(entry.message) for entry in result.logs())
    if status := _STATUS.search(said):
        hint = "; is the address still valid?" if status[1] in {"401", "403", "404", "410"} else ""
        return f"the service answered {status[1]}{hint}"
    if "onnection" in said:
        return "no connection to the service"
    return "apprise could not deliver it; `apprise -vv` with the same address says more"


def _scheme(url: str) -> str:
    return url.partition("://")[0].strip().lower()


def _named(url: str) -> str:
    """Return which address is meant without its secrets."""
    scheme = _scheme(url) if "://" in url else ""
    if not re.fullmatch(r"[a-z][a-z0-9+.-]{0,19}", scheme):
        return "not an address"
    if scheme not in HOST_SHOWN and scheme.removesuffix("s") not in HOST_SHOWN:
        return scheme
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    return one_line(f"{scheme}://{host}")


def _safe(text: str, schema: str, *, chat: bool) -> str:
    """Return plain text as a service may get it."""
    parted = text.replace("@", f"@{_NO_JOINT}") if chat else text
    return _MARKDOWN.sub(r"\\\1", parted) if schema in RENDERS else parted


def _cost(line: str) -> int:
    """Return the most characters that a line takes, escaped and with its end."""
    return len(line) + len(_MARKDOWN.findall(line)) + line.count("@") + 1


def _counts(audit: Audit) -> str:
    known = audit.counts
    states = ", ".join(f"{known[state]:,} {state}" for state in ISSUE_STATES)
    unread = f" {count(known['unread'], 'place')} could not be read." if audit.unread else ""
    return f"Issues: {states}. {count(known['runs'], 'run')}.{unread}"


def _parts(audit: Audit) -> Iterator[str]:
    for state in TOLD:
        some = [issue for issue in audit.issues if issue.state == state]
        if some:
            yield f"{state.capitalize()}:"
        for issue in some:
            yield _issue(issue)
    missed = _newly_unread(audit)
    if missed:
        yield "Could not be read:"
    for one in missed:
        yield f"- {_cut(one.place, PLACE)}: {_cut(one.why, LINE)}"


def _issue(issue: Issue) -> str:
    if issue.state == "resolved":
        return f"- {_cut(issue.title, LINE)}"
    known = issue.untimed < len(issue.runs) and issue.gpu_hours >= LEAST
    spent = f" {issue.gpu_hours:,.1f} GPU-hours after onset." if known else ""
    worst = f" Worst: {_cut(issue.worst, WORST)}" if issue.worst else ""
    return f"- {issue.severity}: {_cut(issue.title, LINE)}{spent}{worst}"


def _newly_unread(audit: Audit) -> Sequence[Unread]:
    return [one for one in audit.unread if one.tries <= 1]


def _cut(text: str, most: int) -> str:
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


@contextmanager
def _silent() -> Iterator[None]:
    """Keep log lines and warnings below us to themselves: they may hold addresses."""
    loggers = [logging.getLogger(name) for name in ("apprise", "urllib3", "requests")]
    before = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.propagate = False
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        for logger, passes_on in zip(loggers, before, strict=True):
            logger.propagate = passes_on
