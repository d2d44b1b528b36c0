"""Where runs are on a W&B server: ``wandb:entity/project/run``, or the address of a page."""

import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from runlens.errors import BadSettings, NothingReadable
from runlens.patterns import lazy_re
from runlens.records import NamedTuple

PREFIX = "wandb:"
STDIN = "-"  # the place of a log that comes through a pipe
_ADDRESS = lazy_re(r"https?:/+", re.IGNORECASE)  # a Path of one has lost a slash
_PARTS_OF_A_PAGE = {"runs", "workspace", "table", "overview", "sweeps", "reports", "artifacts"}
CLOUD = {"wandb.ai", "forge.coreweave.com"}  # two names of W&B's own server
_APP = "wandb"  # the first part of a path at the second of them


class Place(NamedTuple):
    """A run, or all runs of a project."""

    entity: str
    project: str
    run: str = ""  # its id; empty: all of the project
    host: str = ""  # where a pasted address leads; empty: to the client's own server

    def __str__(self) -> str:
        """Return it as ``wandb:entity/project/run``."""
        return PREFIX + "/".join(part for part in (self.entity, self.project, self.run) if part)


def filter_of(text: str) -> tuple[str, str | float]:
    """Return what runs are filtered by, ``tags=nightly``; W&B tells the number 3 from the text "3".

    Raises:
        BadSettings: it is no KEY=VALUE.

    """
    key, sign, value = text.partition("=")
    if not (key and sign):
        raise BadSettings(f"{text!r}: write KEY=VALUE, as tags=nightly")
    for kind in (int, float):
        with suppress(ValueError):
            return key, kind(value)
    return key, value


def is_on_server(place: str | Path) -> bool:
    """Whether a place is on a server, and no path of this machine."""
    return str(place).startswith(PREFIX) or _ADDRESS.match(str(place)) is not None


def parsed(place: str | Path) -> Place:
    """Take a place apart; raise NothingReadable where it names no project."""
    given = str(place)
    if given.startswith(PREFIX):
        host, path = "", given.removeprefix(PREFIX)
    else:
        address = urlsplit(_ADDRESS.sub("https://", given))
        host, path = _server(address.hostname or "", address.netloc), address.path
    parts = [unquote(part) for part in path.split("/") if part]
    if host in CLOUD and parts[:1] == [_APP]:
        parts = parts[1:]
    entity, project, *rest = (*parts, "", "")[: max(len(parts), 2)]
    if rest[:1] == ["runs"]:
        rest = rest[1:]
    elif rest and host and rest[0] in _PARTS_OF_A_PAGE:
        rest = []
    if not project or (len(rest) > 1 and not host):
        why = "names no run; write wandb:ENTITY/PROJECT/RUN, or paste the address of its page"
        raise NothingReadable(given, why)
    return Place(entity, project, rest[0] if rest else "", host)


def server_of(base_url: str) -> str:
    """Return the server of the client's ``WANDB_BASE_URL`` as `Place.host` has it."""
    address = urlsplit(base_url)
    return _server(address.hostname or "", address.netloc)


def _server(hostname: str, netloc: str) -> str:
    """Return a host with its port; the API and the pages of W&B's own server are one."""
    plain = re.sub(r"^(?:api|app|www)\.", "", hostname)
    return plain if plain in CLOUD else netloc.rpartition("@")[2]
