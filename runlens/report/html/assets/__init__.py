"""The style sheet and the scripts that pages carry, and their hashes."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


@cache
def style() -> str:
    """Return the style sheet of all pages."""
    return (HERE / "page.css").read_text(encoding="utf-8")


@cache
def colours(*, dark: bool) -> dict[str, str]:
    """Return the colours of the style sheet by the name of their variable, for one scheme."""
    light, night = re.findall(r":root\{([^}]*)\}", style())[:2]
    return dict(re.findall(r"--(\w+):(#\w+)", light + night if dark else light))


@cache
def script() -> str:
    """Return the script of all pages."""
    return (HERE / "page.js").read_text(encoding="utf-8")


@cache
def tables() -> str:
    """Return the script of pages with tables to sort, search and filter: audits, comparisons."""
    return (HERE / "tables.js").read_text(encoding="utf-8")


@cache
def bench() -> str:
    """Return the script of the workbench, which pages of comparisons carry beside it."""
    return (HERE / "bench.js").read_text(encoding="utf-8")


def hash_of(content: str) -> str:
    """Return the hash of an embedded script or style as a content security policy writes it."""
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
