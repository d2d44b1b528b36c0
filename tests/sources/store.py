"""SQLite databases as trackers leave them, and what must not happen to them."""

import gzip
import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DATA = Path(__file__).parent / "data"
Snapshot = dict[str, tuple[int, int, str]]  # size, mtime and hash by name


def unpacked(name: str, folder: Path, called: str) -> Path:
    """Unpack a database of `data` into a folder and return its path."""
    path = folder / called
    path.write_bytes(gzip.decompress((DATA / name).read_bytes()))
    return path


def snapshot(folder: Path) -> Snapshot:
    """Return what lies in a folder: a reader must leave it so."""
    return {
        path.name: (
            path.stat().st_size,
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in sorted(folder.iterdir())
    }


@contextmanager
def changing(path: Path, *statements: str) -> Iterator[sqlite3.Connection]:
    """Run statements in a database and keep it open, as a trainer that still runs does."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for statement in statements:
            connection.execute(statement)
        yield connection
    finally:
        connection.close()
