"""The style sheet and the scripts that pages carry, and their hashes."""

import re
from binascii import b2a_base64
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha256
else:  # as `random` of Python does it: `hashlib` loads OpenSSL first, which takes 3 ms
    try:
        from _sha2 import sha256  # since Python 3.12
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256

HERE = Path(__file__).parent


@cache
def style() -> str:
    """Return the style sheet of all pages."""
    return (HERE / "page.css").read_text(encoding="utf-8")


@cache
def colours(*, dark: bool) -> dict[str, str]:
    """Return the colors of the style sheet by the name of their variable, for one scheme."""
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
    digest = sha256(content.encode("utf-8")).digest()
    return "sha256-" + b2a_base64(digest, newline=False).decode("ascii")
