"""A message as Slack's blocks: a header and rich text, in which nothing of a stranger is markup.

Apprise brings it to a webhook as to a bot. Each message stands by itself: a thread an issue would
need what a bot alone is told, the time stamp of each message, and no webhook gives it.
"""

from collections.abc import Iterator
from typing import Any

from runlens.patterns import lazy_re

HEADER, TEXT = 150, 2900  # characters of a header and of one text, Slack's limits
LOUD = ("CRITICAL", "WARNING", "NOT READ")
_URL = lazy_re(r"https?://\S+")
_NAMES = (("#issue=", "issue"), ("/runs/", "run"))


def payload(title: str, body: str) -> dict[str, Any]:
    """Return what replaces the text of a message: blocks, and the title for notifications."""
    lines = [
        {"type": "rich_text_section", "elements": list(_line(one))} for one in body.split("\n")
    ]
    header = {"type": "header", "text": {"type": "plain_text", "text": title[:HEADER]}}
    return {"text": title, "blocks": [header, {"type": "rich_text", "elements": lines}]}


def into(service: Any, title: str, body: str) -> None:  # noqa: ANN401 - of apprise
    """Make a Slack service of apprise send blocks in place of its own attachment."""
    send = service._send  # noqa: SLF001 - its own blocks hold no link that can be followed

    def with_blocks(url: str, sent: dict[str, Any], *more: Any, **how: Any) -> Any:  # noqa: ANN401
        plain = {key: one for key, one in sent.items() if key not in {"attachments", "mrkdwn"}}
        return send(
            url, plain | payload(title, body) if "attachments" in sent else sent, *more, **how
        )

    service._send = with_blocks  # noqa: SLF001 - as above


def _line(line: str) -> Iterator[dict[str, Any]]:
    """Yield a line's elements: its severity bold, its addresses as links, and an end."""
    rest = line[:TEXT]
    for word in LOUD:
        if rest.startswith(word):
            yield {"type": "text", "text": word, "style": {"bold": True}}
            rest = rest[len(word) :]
    at = 0
    for match in _URL.finditer(rest):
        if before := rest[at : match.start()]:
            yield {"type": "text", "text": before}
        named = next((name for part, name in _NAMES if part in match[0]), "page")
        yield {"type": "link", "url": match[0], "text": named}
        at = match.end()
    yield {"type": "text", "text": f"{rest[at:]}\n"}
