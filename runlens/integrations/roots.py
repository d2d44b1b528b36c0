"""What a server may read: the given folders, and nothing else.

A place is checked before it is read, with links followed. While it is read, a hook of the
interpreter (`sys.addaudithook`) refuses to open or list what lies elsewhere, so that neither a
link inside a run nor a reader that looks beside it (an experiment's ``meta.yaml``) leads out.
Temporary folders that are made meanwhile are our own (the copy of a database in use).
"""

import os
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from errno import EACCES
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from runlens.errors import NothingReadable
from runlens.sources.addresses import STDIN, is_on_server

TEMPORARY = "tempfile.mkdtemp"
READS = frozenset({"open", "os.listdir", "os.scandir", "sqlite3.connect"})
LIBRARIES = frozenset({"site-packages", "dist-packages"})
_confined: ContextVar[list[Path] | None] = ContextVar("_confined", default=None)


class Roots:
    """The folders below which runs may be read."""

    def __init__(self, folders: Sequence[str | Path]) -> None:
        """Take folders that exist; raise NothingReadable for one that does not."""
        self.folders = tuple(Path(folder).resolve() for folder in folders)
        for given, folder in zip(folders, self.folders, strict=True):
            if not folder.is_dir():
                raise NothingReadable(str(given), "is no folder; name the folders that hold runs")

    def inside(self, place: str) -> Path:
        """Return a place as a path below a root; a relative one is looked up in each root.

        Raises:
            NothingReadable: where it leads elsewhere, or to a server, or to stdin. Whether
                anything is there is not told.

        """
        if not place or place == STDIN or "\0" in place or is_on_server(place):
            raise NothingReadable(place, "is no path below " + self._named())
        below = [path for root in self.folders if _within(path := _real(root / place), [root])]
        for path in below:
            if path.exists():
                return path
        if below:
            return below[0]
        raise NothingReadable(place, "lies outside of what may be read here: " + self._named())

    def _named(self) -> str:
        return ", ".join(map(str, self.folders))

    @contextmanager
    def only(self) -> Iterator[None]:
        """Let this thread open and list nothing outside the roots but Python's own files."""
        _hook()
        token = _confined.set([*self.folders])
        try:
            yield
        finally:
            _confined.reset(token)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _within(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


@cache
def _own_files() -> tuple[Path, ...]:
    """Return where Python, its libraries and this package lie: imports may happen while reading."""
    libraries = [path for path in sys.path if Path(path).name in LIBRARIES]
    own = str(Path(__file__).parents[1])
    known = [sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *libraries, own]
    return tuple({_real(Path(folder)) for folder in known})


@cache
def _hook() -> None:
    """Install the guard, once in the life of the process: such a hook cannot be taken away."""
    _own_files()
    sys.addaudithook(_guard)


def _guard(event: str, arguments: tuple[object, ...]) -> None:
    folders = _confined.get()
    if folders is None or event not in {TEMPORARY, *READS}:
        return
    target = arguments[0]
    if not isinstance(target, str | bytes | os.PathLike):  # a descriptor: it is open already
        return
    text = os.fsdecode(target)
    if event == "sqlite3.connect" and text.startswith("file:"):
        text = unquote(urlsplit(text).path)
    path = _real(Path(text))
    if event == TEMPORARY:
        folders.append(path)
    elif not _within(path, folders) and not _within(path, _own_files()):
        raise PermissionError(EACCES, "outside of what this server may read", str(path))
