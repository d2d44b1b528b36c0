"""SQLite files are read as they lie: locked, half written, damaged; and left untouched."""

import os
import sqlite3
import sys
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path

import pytest

from runlens.errors import NothingReadable
from runlens.sources import read_all
from runlens.sources.files import SQLITE, Unreadable, walk
from runlens.sources.stores import sqlite_file, trackio_db
from tests.sources.store import changing, snapshot

MAKE = (
    "CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id TEXT, run_name TEXT, timestamp TEXT,"
    " step INTEGER, metrics TEXT)"
)
ADD = (
    "INSERT INTO metrics (run_id, run_name, timestamp, step, metrics) VALUES"
    " ('r1', 'one', '2026-01-02T03:04:05+00:00', {step}, '{{\"train/loss\": {loss}}}')"
)


def add(step: int) -> str:
    """Return the statement that logs the loss of a step."""
    return ADD.format(step=step, loss=2.0 - step / 100)


def database(folder: Path, rows: int = 3, mode: str = "DELETE") -> Path:
    """Write a database of Trackio's layout and return its path."""
    path = folder / "project.db"
    made = f"PRAGMA journal_mode = {mode}", MAKE, "BEGIN", *map(add, range(rows)), "COMMIT"
    with changing(path, *made):
        return path


def steps(path: Path) -> list[int]:
    """Return the steps of the loss that are read from a database."""
    readings = [one for one in trackio_db.read_all(path) if one.series]
    return readings[0].series["train/loss"].step.tolist() if readings else []


def problems(path: Path) -> str:
    """Return what is said about a database."""
    return " | ".join(p.text for one in trackio_db.read_all(path) for p in one.problems)


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_closed_database_is_read_in_place_and_left_untouched(tmp_path: Path, mode: str) -> None:
    """SQLite itself would put a -shm beside one in WAL mode."""
    path = database(tmp_path, mode=mode)
    before = snapshot(tmp_path)
    assert steps(path) == [0, 1, 2]
    assert problems(path) == ""
    assert snapshot(tmp_path) == before


def test_rows_that_are_still_in_the_wal_are_read(tmp_path: Path) -> None:
    """The trainer runs on, or was killed: the latest rows are nowhere else."""
    path = database(tmp_path, mode="WAL")
    with changing(path, "PRAGMA wal_autocheckpoint = 0", add(3), add(4)):
        assert (tmp_path / "project.db-wal").stat().st_size > 0
        before = snapshot(tmp_path)
        assert steps(path) == [0, 1, 2, 3, 4]
        assert snapshot(tmp_path) == before


def test_unfinished_transaction_is_rolled_back_in_a_copy(tmp_path: Path) -> None:
    """A hot journal stays where it is; the state before it is what is read."""
    path = database(tmp_path, rows=2_000)
    broken = tmp_path / "killed"
    broken.mkdir()
    with changing(path, "PRAGMA cache_size = 1", "BEGIN", "UPDATE metrics SET step = step + 9000"):
        for file in tmp_path.glob("project.db*"):
            (broken / file.name).write_bytes(file.read_bytes())
    before = snapshot(broken)
    assert "project.db-journal" in before
    assert steps(broken / "project.db") == list(range(2_000))
    assert snapshot(broken) == before


def test_changes_that_cannot_be_copied_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is read."""
    monkeypatch.setattr(sqlite_file, "MAX_COPY", 1)
    path = database(tmp_path, mode="WAL")
    with changing(path, "PRAGMA wal_autocheckpoint = 0", add(3)):
        before = snapshot(tmp_path)
        assert steps(path) == [0, 1, 2]
        assert "in project.db-wal, that were not read (too large to be copied)" in problems(path)
        assert snapshot(tmp_path) == before


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_folder_that_cannot_be_written_is_read(tmp_path: Path, mode: str) -> None:
    """A run on a read-only disk."""
    path = database(tmp_path, mode=mode)
    tmp_path.chmod(0o555)
    try:
        assert steps(path) == [0, 1, 2]
    finally:
        tmp_path.chmod(0o755)


def test_locked_database_is_one_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found all the same, by the text of its schema."""
    monkeypatch.setattr(sqlite_file, "WAIT", 0.01)
    path = database(tmp_path)
    with changing(path, "BEGIN EXCLUSIVE"):
        before = snapshot(tmp_path)
        with pytest.raises(NothingReadable, match="is locked by a process that writes to it"):
            read_all(tmp_path)
        assert snapshot(tmp_path) == before


def test_what_lies_before_and_after_a_damaged_page_is_kept(tmp_path: Path) -> None:
    """Rows are read from both ends."""
    path = database(tmp_path, rows=5_000)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = bytes(4096)
    path.write_bytes(data)
    found = steps(path)
    assert len(found) > 4_900
    assert {0, 4_999} <= set(found)
    assert found == sorted(found)
    assert "is damaged in its table metrics" in problems(path)


def test_cut_database_keeps_its_beginning(tmp_path: Path) -> None:
    """A copy that broke off."""
    path = database(tmp_path, rows=5_000)
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)
    found = steps(path)
    assert found[:1000] == list(range(1000))
    assert "is damaged in its table metrics" in problems(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"no database", SQLITE, SQLITE + bytes(84), b"\0" * 5_000],
)
def test_what_is_no_database_is_not_found(tmp_path: Path, content: bytes) -> None:
    """Its name alone says nothing."""
    (tmp_path / "mlflow.db").write_bytes(content)
    with pytest.raises(NothingReadable, match="nothing readable here"):
        read_all(tmp_path)
    with pytest.raises(Unreadable), sqlite_file.opened(tmp_path / "mlflow.db") as opened:
        assert not opened.tables


def test_foreign_databases_are_not_found(tmp_path: Path) -> None:
    """Views that never end and virtual tables are no tables, whatever they are called."""
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
    view = f"CREATE VIEW metrics AS {endless} i AS step, i AS metrics, i AS run_name,"
    with changing(tmp_path / "a.db", f"{view} i AS timestamp FROM n"):
        pass
    columns = "step, timestamp, run_name, +metrics"
    with changing(tmp_path / "b.db", f"CREATE VIRTUAL TABLE metrics USING rtree({columns})"):
        pass
    with changing(tmp_path / "c.db", "CREATE TABLE customers (name TEXT)"):
        pass
    assert trackio_db.find(tmp_path, walk(tmp_path)) == []


def test_generated_columns_are_not_computed(tmp_path: Path) -> None:
    """They run expressions of the file."""
    path = tmp_path / "g.db"
    with changing(path, "CREATE TABLE t (a INTEGER, b AS (a * 2))", "INSERT INTO t VALUES (1)"):
        pass
    with sqlite_file.opened(path) as opened:
        assert opened.tables == {"t": {"a"}}
        assert list(opened.rows("t", "a", "b", "never was")) == [(1, None, None)]
        assert list(opened.rows("never was", "a")) == []


def test_names_are_quoted(tmp_path: Path) -> None:
    """A table may be called anything, and a file too."""
    path = tmp_path / "we?ird %23\n#.db"
    with changing(path, 'CREATE TABLE "a"";DROP TABLE b" ("x""y" TEXT)'):
        pass
    with sqlite_file.opened(path) as opened:
        assert opened.tables == {'a";DROP TABLE b': {'x"y'}}
        assert list(opened.rows('a";DROP TABLE b', 'x"y')) == []


def test_python_without_sqlite_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some are built so."""
    database(tmp_path)
    monkeypatch.setattr(sqlite_file, "sqlite3", None)
    with pytest.raises(NothingReadable, match="needs the module sqlite3"):
        read_all(tmp_path)


def test_link_to_a_database_is_read_with_its_wal(tmp_path: Path) -> None:
    """SQLite keeps the changes beside the target."""
    real = tmp_path / "real"
    real.mkdir()
    path = database(real, mode="WAL")
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with changing(path, "PRAGMA wal_autocheckpoint = 0", add(3)):
        assert steps(link) == [0, 1, 2, 3]


def test_connections_never_write(tmp_path: Path) -> None:
    """Not even if a reader asked for it."""
    path = database(tmp_path)
    with pytest.raises(Unreadable, match="readonly"), sqlite_file.opened(path) as opened:
        opened._connection.execute("DELETE FROM metrics")  # noqa: SLF001 - the point of the test
    assert sqlite3.connect(path).execute("SELECT count(*) FROM metrics").fetchone() == (3,)


def test_rows_in_a_circle_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a damaged tree more rows can be met than bytes are in the file."""
    path = database(tmp_path, rows=1_000)
    monkeypatch.setattr(sqlite_file, "SMALLEST_ROW", path.stat().st_size // 600)
    assert steps(path) == list(range(1_000))  # 600 from the beginning, the others from the end
    assert "its rows are out of order" in problems(path)


def test_database_that_changes_while_it_is_copied_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few attempts are made, then the last copy has to do."""
    path = database(tmp_path, mode="WAL")
    ticks = count()
    monkeypatch.setattr(sqlite_file, "_stamp", lambda _path: (next(ticks), 0))
    with changing(path, "PRAGMA wal_autocheckpoint = 0", add(3)):
        assert steps(path) == [0, 1, 2, 3]
    assert next(ticks) == 2 * 2 * sqlite_file.TRIES


def test_name_that_leaves_no_room_for_wal_is_read(tmp_path: Path) -> None:
    """No file beside it can be."""
    path = database(tmp_path).rename(tmp_path / ("n" * 251 + ".db"))
    assert steps(path) == [0, 1, 2]


def test_file_that_vanished_is_not_ours(tmp_path: Path) -> None:
    """Between listing and opening."""
    assert not sqlite_file.holds(tmp_path / "gone.db", {}, ())


def test_module_is_imported_where_sqlite_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """All other readers must work there."""
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    spec = spec_from_file_location("without_sqlite", sqlite_file.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.sqlite3 is None
