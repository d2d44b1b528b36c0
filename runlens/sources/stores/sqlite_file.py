"""SQLite databases that strangers wrote: opened strictly read-only, bounded, nothing beside them.

SQLite itself would write a ``-shm`` next to a database in WAL mode, and would roll a hot journal
back into it. So a database with changes beside it (``-wal``, ``-journal``) is read from a copy in a
temporary folder; one in WAL mode without any is opened as immutable; any other is opened
read-only and locked by SQLite for as long as it is read. Only tables are read, in the order of
their rowid and without an index: no view, trigger or generated column of the file takes part.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from runlens.run import Problem
from runlens.sources.files import SQLITE, Unreadable, is_database, read_bytes

try:
    import sqlite3
except ImportError:  # Python can be built without it
    sqlite3 = None  # type: ignore[assignment]

HEADER = 100  # bytes
READ_VERSION, WAL_MODE = 19, 2  # place in the header, and its value there
ENDINGS = (".db", ".sqlite", ".sqlite3")
BESIDE = ("-wal", "-journal")
READ_ONLY, FROZEN, OUR_COPY = "mode=ro", "mode=ro&immutable=1", "mode=rw"  # for SQLite's URI
SETTINGS = (
    "query_only = ON",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "writable_schema = ON",  # without it nothing is read of a database that was cut
)
WAIT = 1.0  # seconds for a lock
TRIES = 3  # of a copy, while a trainer writes
MAX_COPY = 2**30  # bytes of a database that is copied
MAX_VALUE = 2**26  # bytes of one value
SCHEMA_SHOWN = 2**18  # bytes in which the schema of a damaged database is looked for
SMALLEST_ROW = 4  # bytes of a row in the file: more rows than that are a loop in a damaged tree

Row = tuple[Any, ...]
Tables = dict[str, frozenset[str]]  # columns by table


def candidates(place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the databases by ending and magic bytes; a place that is a file may have any name."""
    files = [
        folder / name
        for folder, some in names.items()
        for name in some
        if name.lower().endswith(ENDINGS) or not place.is_dir()
    ]
    return [path for path in files if is_database(path)]


def holds(path: Path, wanted: Tables, marks: Sequence[bytes]) -> bool:
    """Whether a database has these tables with these columns.

    Where it cannot be opened (locked, damaged), all `marks` must stand at its beginning, where the
    schema is kept as text.
    """
    try:
        with opened(path) as database:
            return all(columns <= database.tables.get(t, set()) for t, columns in wanted.items())
    except Unreadable:
        try:
            beginning = read_bytes(path, SCHEMA_SHOWN)
        except Unreadable:
            return False
        return all(mark in beginning for mark in marks)


class Database:
    """An open database: `tables` with the columns of each; `problems` of reading it."""

    def __init__(self, path: Path, connection: sqlite3.Connection, most: int) -> None:
        """Read the schema; raise sqlite3.Error. `most`: rows that can be in it at all."""
        self.path = path
        self.problems: list[Problem] = []
        self._connection = connection
        self._most = most
        named = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        plain = [
            name
            for name, sql in named
            if isinstance(name, str) and not str(sql).upper().startswith("CREATE VIRTUAL")
        ]  # damage makes bytes of a name
        self.tables: Tables = {name: self._columns(name) for name in plain}

    def _columns(self, table: str) -> frozenset[str]:
        found = self._connection.execute(f"PRAGMA table_xinfo({_quoted(table)})")
        return frozenset(str(name) for _, name, *_, hidden in found if not hidden)

    def rows(self, table: str, *columns: str) -> Iterator[Row]:
        """Yield the columns of each row by rowid; a column or table that is not there is None.

        Where a page is damaged, the rows after it follow from the end backward.
        """
        known = self.tables.get(table)
        if known is None:
            return
        chosen = ", ".join(_quoted(name) if name in known else "NULL" for name in columns)
        # with a name of its own: that of a key is read strictly, and may be damaged
        source = f"SELECT rowid AS place, {chosen} FROM {_quoted(table)} NOT INDEXED"  # noqa: S608 - quoted names
        last = None
        try:
            for row in self._climbing(f"{source} ORDER BY rowid", sign=1):
                last = row[0]
                yield row[1:]
        except sqlite3.Error as error:
            text = f"is damaged in its table {table} ({_said(error)}); read from both ends"
            self.problems.append(Problem(str(self.path), text, "the rows between"))
            yield from self._from_the_end(f"{source} ORDER BY rowid DESC", last)

    def _from_the_end(self, query: str, last: int | None) -> list[Row]:
        found: list[Row] = []
        rows = self._climbing(query, sign=-1)
        with suppress(sqlite3.Error):  # the damage, seen from behind
            for row in takewhile(lambda row: last is None or row[0] > last, rows):
                found.append(row[1:])  # noqa: PERF401 - what comes before an error is kept
        return found[::-1]

    def _climbing(self, query: str, sign: int) -> Iterator[Row]:
        """Yield rows whose rowid goes on; a damaged tree may lead in a circle."""
        before = None
        for count, row in enumerate(self._connection.execute(query)):
            if count > self._most or (before is not None and (row[0] - before) * sign <= 0):
                raise sqlite3.DatabaseError("its rows are out of order")
            before = row[0]
            yield row


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """Open a database for reading; raise Unreadable with the reason in words."""
    if sqlite3 is None:
        raise Unreadable("needs the module sqlite3, which this Python was built without")
    header = read_bytes(path, HEADER)
    if not header.startswith(SQLITE):
        raise Unreadable("is no SQLite database")
    with ExitStack() as stack:
        source, mode, problems = _source(path.resolve(), header, stack)
        try:
            connection = stack.enter_context(closing(_connected(source, mode)))
            database = Database(path, connection, _most_rows(path.resolve()))
            database.problems += problems
            yield database
        except sqlite3.Error as error:
            raise Unreadable(_said(error)) from None


def _source(path: Path, header: bytes, stack: ExitStack) -> tuple[Path, str, list[Problem]]:
    """Return what is opened for a database, how, and what is lost by that."""
    beside = _beside(path)
    if not beside:
        frozen = header[READ_VERSION] == WAL_MODE if len(header) == HEADER else True
        return path, FROZEN if frozen else READ_ONLY, []
    try:
        folder = stack.enter_context(TemporaryDirectory(prefix="runlens-"))
        return _copied(path, beside, Path(folder)), OUR_COPY, []
    except OSError as error:
        text = f"has changes beside it, in {beside[0].name}, that were not read ({error})"
        return path, FROZEN, [Problem(str(path), text, "the latest rows")]


def _beside(path: Path) -> list[Path]:
    return [file for end in BESIDE if _size(file := Path(f"{path}{end}"))]


def _most_rows(path: Path) -> int:
    return sum(map(_size, [path, *_beside(path)])) // SMALLEST_ROW


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"file:{quote(os.fsencode(path))}?{mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=WAIT)
    connection.text_factory = _text
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    for setting in SETTINGS:
        connection.execute(f"PRAGMA {setting}")
    return connection


def _copied(path: Path, beside: Sequence[Path], folder: Path) -> Path:
    """Copy a database with the changes beside it, at a moment in which none of them changed."""
    files = [path, *beside]
    if sum(map(_size, files)) > MAX_COPY:
        raise OSError("too large to be copied")
    for _ in range(TRIES):
        before = [_stamp(file) for file in files]
        for file in files:
            end = file.name.removeprefix(path.name)
            shutil.copyfile(file, folder / f"copy{end}")
        if [_stamp(file) for file in files] == before:
            break
    return folder / "copy"


def _stamp(path: Path) -> tuple[int, int]:
    known = path.stat()
    return known.st_size, known.st_mtime_ns


def _size(path: Path) -> int:
    try:
        return 0 if path.is_symlink() or not path.is_file() else path.stat().st_size
    except OSError:
        return 0


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _said(error: sqlite3.Error) -> str:
    said = str(error)
    if "locked" in said:
        return "is locked by a process that writes to it; try again when it is done"
    return f"cannot be read as a database ({said})"
