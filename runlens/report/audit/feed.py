"""What is news in an audit as a feed, JSON Feed 1.1 and Atom: one entry an issue and night."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from xml.etree import ElementTree as ET

from runlens.errors import one_line
from runlens.nights import TOLD, Audit, Issue

VERSION = "https://jsonfeed.org/version/1.1"
ATOM = "http://www.w3.org/2005/Atom"
KEPT = 200  # entries
TITLE = "RunLens"

Entry = Mapping[str, Any]


def entries(audit: Audit, before: str = "", page: str = "") -> list[Entry]:
    """Return the entries of a night, the latest first, and those of the feed that was there.

    Args:
        audit: the night.
        before: the JSON feed of the night before; what is none is left out.
        page: the URL of the page, for links.

    """
    told = [issue for issue in audit.issues if _is_news(issue)]
    new = [_entry(issue, audit, page) for issue in told]
    known: list[Entry] = []
    with suppress(ValueError, TypeError, KeyError):
        known = [one for one in json.loads(before)["items"] if isinstance(one.get("id"), str)]
    ids = {one["id"] for one in new}
    return [*new, *(one for one in known if one["id"] not in ids)][:KEPT]


def as_json(items: Sequence[Entry], page: str = "") -> str:
    """Return the feed as JSON Feed 1.1."""
    home = {"home_page_url": page} if page else {}
    whole = {"version": VERSION, "title": TITLE, **home, "items": list(items)}
    return json.dumps(whole, indent=1) + "\n"


def as_atom(items: Sequence[Entry], page: str = "") -> str:
    """Return the same as Atom."""
    ET.register_namespace("", ATOM)
    feed = ET.Element(f"{{{ATOM}}}feed")
    _add(feed, "title", TITLE)
    _add(feed, "id", page or "urn:runlens:audit")
    _add(feed, "updated", str(items[0]["date_published"]) if items else "1970-01-01T00:00:00Z")
    author = _add(feed, "author", "")
    _add(author, "name", TITLE)
    for one in items:
        entry = _add(feed, "entry", "")
        _add(entry, "id", f"urn:runlens:{one['id']}")
        _add(entry, "title", str(one["title"]))
        _add(entry, "updated", str(one["date_published"]))
        _add(entry, "content", str(one["content_text"]))
        if one.get("url"):
            _add(entry, "link", "").set("href", str(one["url"]))
    return ET.tostring(feed, encoding="unicode", xml_declaration=True) + "\n"


def _plain(text: str) -> str:
    """Return one line of what XML can hold: half of a pair of code units is spelled out."""
    return one_line(text).encode("utf-8", "backslashreplace").decode()


def _is_news(issue: Issue) -> bool:
    return issue.severity != "info" and (issue.status in TOLD or not issue.open)


def _entry(issue: Issue, audit: Audit, page: str) -> Entry:
    link = {"url": _plain(f"{page}#issue={issue.fingerprint}")} if "://" in page else {}
    body = " ".join(_plain(part) for part in (issue.worst, issue.suspect, issue.odds) if part)
    return {
        "id": _plain(f"{issue.fingerprint}-{audit.night.number}"),
        "title": _plain(f"{issue.severity}, {issue.status}: {issue.title}"),
        "content_text": body or _plain(issue.title),
        "date_published": audit.night.date,
        **link,
    }


def _add(parent: ET.Element, name: str, text: str) -> ET.Element:
    made = ET.SubElement(parent, f"{{{ATOM}}}{name}")
    made.text = _plain(text)
    return made
