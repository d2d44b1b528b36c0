"""Tells a watcher that an audit ran: of one that did not run at all, nothing else would tell."""

from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

TIMEOUT = 10.0  # seconds
FAILED = "/fail"  # as healthchecks.io has it: appended to the address


def ping(url: str, *, failed: bool = False) -> str:
    """Ask for an address once; return why that failed, without the address: it is a secret."""
    if urlsplit(url).scheme not in {"http", "https"}:
        return "is not an http:// or https:// address"
    asked = f"{url.rstrip('/')}{FAILED}" if failed else url
    try:
        with urlopen(Request(asked, headers={"User-Agent": "RunLens"}), timeout=TIMEOUT):  # noqa: S310 - checked above
            return ""
    except HTTPError as error:
        return f"the watcher answered {error.code}"
    except (OSError, ValueError) as error:
        return f"no answer from the watcher ({type(error).__name__})"
