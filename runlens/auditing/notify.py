"""Sends messages through apprise (the extra ``notify``).

Names of strangers stay text: apprise escapes plain text for the markup of each service; where a
service renders plain text as Markdown all the same, it is escaped here. `@` is parted from what
follows in chats, so that no name calls anybody. Addresses of webhooks are secrets: no line of
ours holds more of them than the service and, of generic ones and mail, the host.
"""

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from runlens.auditing import slack
from runlens.errors import one_line
from runlens.extras import install
from runlens.patterns import lazy_re
from runlens.records import NamedTuple

LONGEST = 1800  # characters of a message; chats cut at 2,000 (Discord) and show less at once
ROOM = 120  # characters for the title
TIMEOUT = 30  # seconds for one service
RENDERS = frozenset({"discord"})  # services that read plain text as Markdown
HOST_SHOWN = frozenset({"json", "xml", "form", "mailto", "http", "https"})  # and with a final s
CHATS_NOT = frozenset({"json", "jsons", "xml", "xmls", "form", "forms", "mailto", "mailtos"})
MISSING = f"apprise is not installed; {install('apprise')}"
_MARKDOWN = lazy_re(r"([\\`*_{}\[\]()#+\-.!|<>~])")
_STATUS = lazy_re(r"error=(\d{3})")
_NO_JOINT = "\u200b"  # zero-width space


class Sent(NamedTuple):
    """What became of a message."""

    why: str = ""  # it was not delivered; empty if it was
    stamp: str = ""  # by which a service that has threads finds it


def send(title: str, body: str, url: str, thread: str = "") -> Sent:
    """Send one message in plain text.

    Args:
        title: one line.
        body: its lines; where a service has no room for them, the last before the link go first.
        url: an address as apprise takes it (``slack://``, ``discord://``, ``mailto://``,
            ``workflows://``, ``json://``, ...); any other ``https://`` address gets JSON by POST.
        thread: the stamp of the message that it answers; empty: it answers none.

    Nothing is raised: an audit is worth more than its message.

    """
    try:
        import apprise
    except ImportError:
        return Sent(MISSING)
    with _silent():
        return _sent(apprise, url, title, body, thread)


def _sent(apprise: Any, url: str, title: str, body: str, thread: str) -> Sent:  # noqa: ANN401 - a module
    try:
        service = apprise.Apprise.instantiate(_known(apprise, url))
        if not service:
            return Sent(
                "apprise knows no service of this form; see https://appriseit.com for how to "
                "write the address"
            )
        schema = _scheme(str(service.url()))
        most = min(LONGEST, int(service.body_maxlen) - ROOM)
        chat = schema not in CHATS_NOT
        title, body = (_safe(part, schema, chat=chat) for part in (title, fitted(body, most)))
        stamps = slack.into(service, title, body, thread) if schema == "slack" else []
        sender = apprise.Apprise(asset=apprise.AppriseAsset(app_id="RunLens"))
        sender.add(service)
        result = sender.notify(
            body, title=title, body_format=apprise.NotifyFormat.TEXT, timeout=TIMEOUT
        )
    except Exception as error:  # noqa: BLE001 - a message must never end an audit
        return Sent(f"{type(error).__name__} in apprise")
    one_channel = len(stamps) == 1
    return Sent("", stamps[0] if one_channel else "") if result else Sent(_why(result))


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


def named(url: str) -> str:
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


def fitted(body: str, most: int) -> str:
    """Return the first lines of a message and its last, in at most so many characters.

    Markdown escapes are reckoned with; what has no room is counted.
    """
    *lines, last = body.split("\n")
    room = most - _cost(last) - _cost("and 99 more lines")
    kept: list[str] = []
    for line in lines:
        if (room := room - _cost(line)) < 0:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    return "\n".join([*kept, *([f"and {left} more lines"] if left else []), last])


def _cost(line: str) -> int:
    """Return the most characters that a line takes, escaped and with its end."""
    return len(line) + len(_MARKDOWN.findall(line)) + line.count("@") + 1


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
