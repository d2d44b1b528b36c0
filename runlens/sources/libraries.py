"""Which library a reader or an export needs, and whether it is there."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from runlens.extras import install
from runlens.records import NamedTuple

SQLITE = "sqlite3"  # a module of Python, which can be built without it


class Library(NamedTuple):
    """One library: its version where it is installed, and how to come by it where it is not."""

    name: str
    version: str | None
    install: str

    @property
    def words(self) -> str:
        """Say it in a line: whether it is there, else what to do."""
        there = f"installed {self.version}" if self.version else f"not installed, {self.install}"
        return f"needs {self.name}: {there}"


def library(name: str) -> Library:
    """Look for a library by the name of its package; nothing of it is imported."""
    if name == SQLITE:
        found = _sqlite() if find_spec("_sqlite3") else None
        return Library(name, found, "use a Python that was built with it")
    try:
        return Library(name, version(name), install(name))
    except PackageNotFoundError:
        return Library(name, None, install(name))


def _sqlite() -> str:
    import sqlite3

    return sqlite3.sqlite_version


def needed(reader: object) -> list[Library]:
    """Return the libraries that a reader names in ``NEEDS``; most need none."""
    names: Sequence[str] = getattr(reader, "NEEDS", ())
    return [library(name) for name in names]
