"""Opens the database of a store, SQLite by its path or PostgreSQL by its URL, and locks audits.

Every transaction that writes has the database for itself (SQLite: BEGIN IMMEDIATE; PostgreSQL:
an advisory lock), so two audits neither meet in a row nor wait for each other in a circle.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from weakref import WeakSet

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from runlens.errors import BadStore, one_line
from runlens.extras import needed_by

# of /proc/mounts. SQLite's WAL keeps its index in memory that all processes share, so they must
# be of one host: https://sqlite.org/wal.html
NETWORK = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs"}
    | {"nfs4", "ocfs2", "smb2", "smb3", "smbfs", "virtiofs"}
    | {"fuse.ceph-fuse", "fuse.gcsfuse", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs"}
    | {"fuse.sshfs", "fuseblk.sshfs"}
)
MOUNTS = Path("/proc/mounts")
PATIENCE = 60  # seconds to wait for another writer
SCHEMA = "runlens"  # of PostgreSQL, where other tables may live too
WRITERS = int.from_bytes(sha256(b"runlens writers").digest()[:8], signed=True)
POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")


class Database(ABC):
    """One open database. `shown` names it without password; `notes` are for the user."""

    engine: Engine
    schema: str | None = None

    def __init__(self, shown: str) -> None:
        """Keep its name."""
        self.shown = one_line(shown)
        self.notes: tuple[str, ...] = ()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Hand out a connection; raise BadStore, in one line, for what the database refuses."""
        try:
            with self.engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise BadStore(self.shown, _said(error)) from error

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Hand out a connection in a transaction that no other writer shares.

        What it wrote survives the death of this process. A loss of power may take the last
        transactions back, none by halves.
        """
        try:
            with self.engine.execution_options(writes=True).begin() as connection:
                self._alone(connection)
                yield connection
        except SQLAlchemyError as error:
            raise BadStore(self.shown, _said(error)) from error

    @abstractmethod
    def _alone(self, connection: Connection) -> None:
        """Wait until no other transaction writes."""

    @abstractmethod
    def lock(self, name: str) -> bool:
        """Lock a name until `unlock` or the death of this process; False: another one has it."""

    @abstractmethod
    def unlock(self) -> None:
        """Give back what was locked."""

    def close(self) -> None:
        """Give back what was locked and close all connections."""
        self.unlock()
        self.engine.dispose()


class Sqlite(Database):
    """A file. WAL, so that readers do not wait; a rollback journal on a network file system."""

    def __init__(self, path: Path) -> None:
        """Open or create the file; its folder is made where it is missing."""
        super().__init__(str(path))
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadStore(self.shown, f"its folder cannot be made ({error.strerror})") from None
        kind = network(path)
        self.journal = "delete" if kind else "wal"
        if kind:
            note = (
                f"{self.shown} lies on a network file system ({kind}), where SQLite's write-ahead"
                " log is not safe: a rollback journal is used, which is slower. Put the store on"
                " a local disk, or use postgresql://."
            )
            self.notes = (note,)
        self._locks: list[FileLock] = []
        url = URL.create("sqlite", database=str(path))
        self.engine = create_engine(url, connect_args={"timeout": PATIENCE})
        event.listen(self.engine, "connect", self._connected)
        event.listen(self.engine, "begin", _begun)

    def _connected(self, connection: Any, record: object) -> None:  # noqa: ANN401 - of the driver
        del record
        connection.isolation_level = None  # transactions begin where we say so
        connection.execute(f"PRAGMA journal_mode={self.journal}")
        connection.execute(f"PRAGMA synchronous={'full' if self.journal == 'delete' else 'normal'}")

    def _alone(self, connection: Connection) -> None:
        """BEGIN IMMEDIATE has waited."""

    def lock(self, name: str) -> bool:
        """Lock a file beside the database, by its name."""
        lock = FileLock(f"{self.path}.{name}.lock", thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return False
        except OSError as error:
            raise BadStore(self.shown, f"cannot be locked ({error.strerror})") from None
        self._locks.append(lock)
        return True

    def unlock(self) -> None:
        """Give the files back."""
        while self._locks:
            self._locks.pop().release()


class Postgres(Database):
    """A server. The tables lie in a schema of their own."""

    schema = SCHEMA

    def __init__(self, url: URL) -> None:
        """Open it; raise MissingPackage without its driver, BadStore where the server refuses."""
        super().__init__(_shown(url))
        with needed_by(self.shown):
            import psycopg  # noqa: F401
        self._locked: Connection | None = None
        self.engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            connect_args={
                "connect_timeout": 10,
                "keepalives_idle": 60,  # an audit may wait for hours between two puts
                "application_name": "runlens",
            },
            pool_pre_ping=True,
            execution_options={"schema_translate_map": {None: SCHEMA}},
        )
        event.listen(self.engine, "connect", _remember)

    def _alone(self, connection: Connection) -> None:
        asked = "set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(:writers)"
        connection.execute(text(f"SELECT {asked}"), {"writers": WRITERS})

    def lock(self, name: str) -> bool:
        """Take a session's advisory lock on a connection that is kept for it."""
        key = int.from_bytes(sha256(name.encode()).digest()[:8], signed=True)
        try:
            if self._locked is None:
                connection = self.engine.connect()
                self._locked = connection.execution_options(isolation_level="AUTOCOMMIT")
            asked = text("SELECT pg_try_advisory_lock(:key)")
            return bool(self._locked.execute(asked, {"key": key}).scalar())
        except SQLAlchemyError as error:
            raise BadStore(self.shown, _said(error)) from error

    def unlock(self) -> None:
        """Give the lock back; a connection that broke has none."""
        if self._locked:
            with suppress(SQLAlchemyError):
                self._locked.execute(text("SELECT pg_advisory_unlock_all()"))
                self._locked.close()
            self._locked = None


def opened(place: str | Path) -> Database:
    """Open what a user calls a store: a path, or `postgresql://user@host/database`.

    Raises:
        BadStore: in one line without password, where it is neither or cannot be opened.

    """
    scheme, found, rest = str(place).partition("://")
    if not found:
        return Sqlite(Path(place))
    if scheme == "sqlite":
        return Sqlite(Path(rest.removeprefix("/")))
    if scheme not in POSTGRES:
        raise BadStore(f"{scheme}://", "a store is a file path or postgresql://user@host/database")
    try:
        return Postgres(make_url(str(place)))
    except (ArgumentError, ValueError):
        raise BadStore(f"{scheme}://", "cannot be understood; write user@host:port/database") from (
            None
        )


def network(path: Path) -> str:
    """Return the kind of network file system that a path lies on; empty for a local one."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""  # no Linux
    at = path.resolve()
    best, kind = -1, ""
    for line in lines:
        _, mount, found, *_ = [*line.split(), "", "", ""]
        point = Path(mount.encode().decode("unicode_escape"))
        if at.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), found
    return kind if kind in NETWORK else ""


def _begun(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _shown(url: URL) -> str:
    user = f"{url.username}@" if url.username else ""
    port = f":{url.port}" if url.port else ""
    return f"postgresql://{user}{url.host or ''}{port}/{url.database or ''}"


def _said(error: SQLAlchemyError) -> str:
    """Return the first line of what the driver said, without statement and values."""
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


# A forked worker inherits the sockets: as long as it lives, the server would not see that the
# audit was killed, and keep its locks. So a child closes them, without a word to the server.
_SOCKETS: "WeakSet[Any]" = WeakSet()


def _remember(connection: Any, record: object) -> None:  # noqa: ANN401 - of the driver
    del record
    _SOCKETS.add(connection)


def _forget() -> None:
    for connection in _SOCKETS:
        with suppress(Exception):
            os.close(connection.fileno())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
