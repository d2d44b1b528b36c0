"""A message as Slack's blocks: a header and rich text, in which nothing of a stranger is markup.

Apprise brings it to a webhook as to a bot. A bot is told the time stamp of each message: what comes
of an issue later is a reply to the message that told it first. No webhook tells it.
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
    text = {"type": "rich_text", "elements": lines}
    return {"text": title or body[:HEADER], "blocks": [header, text] if title else [text]}


def into(service: Any, title: str, body: str, thread: str = "") -> list[str]:  # noqa: ANN401 - of apprise
    """Make a Slack service of apprise send blocks in place of its own attachment.

    Args:
        service: one address.
        title: of the message; a reply has none.
        body: its lines.
        thread: time stamp of the message that it answers; empty: it answers none.

    Returns:
        Where the time stamps of what a bot sends come, one a channel.

    """
    send = service._send  # noqa: SLF001 - its own blocks hold no link that can be followed
    stamps: list[str] = []

    def with_blocks(url: str, sent: dict[str, Any], *more: Any, **how: Any) -> Any:  # noqa: ANN401
        if "attachments" not in sent:
            return send(url, sent, *more, **how)
        plain = {key: one for key, one in sent.items() if key not in {"attachments", "mrkdwn"}}
        plain |= payload("" if thread else title, body) | ({"thread_ts": thread} if thread else {})
        answer = send(url, plain, *more, **how)
        if isinstance(answer, dict) and answer.get("ts"):
            stamps.append(str(answer["ts"]))
        return answer

    service._send = with_blocks  # noqa: SLF001 - as above
    return stamps


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
