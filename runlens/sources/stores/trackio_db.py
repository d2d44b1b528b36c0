"""Trackio: one SQLite database a project, all its runs in it, seen in the releases 0.5 to 0.43.

A row of `metrics` is one call of ``log()``: its step, the time of its batch and the metrics as
JSON, in which NaN and infinity are text. Before 0.24 a run was known by its name alone. The step
counts calls unless one was given; the Trainer's callback logs ``train/global_step`` beside. How a
run ended is not recorded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runlens.run import Problem
from runlens.sources.files import Unreadable, flat, parse_json
from runlens.sources.reading import SourceReading, as_number, instant
from runlens.sources.stores import sqlite_file, tracked
from runlens.sources.tables.jsonl_log import Rows
from runlens.sources.tables.table import fill

LOOKS_FOR = "<project>.db of Trackio"
FRAMEWORK = "Trackio"
NEEDS = ("sqlite3",)
TABLES = {"metrics": frozenset({"timestamp", "run_name", "step", "metrics"})}
MARKS = (b"CREATE TABLE metrics", b"run_name TEXT")
MAX_STEP = 2**53
CLOSING = "train_runtime"  # ends a name in the Trainer's last row, whose values are means
OWN_STEP = "train/global_step"
MEDIA = "_type"  # in tables, images, histograms


@dataclass
class _Run:
    """What the tables say about one run."""

    id: str
    name: str
    rows: Rows = field(default_factory=Rows)
    config: dict[str, Any] = field(default_factory=dict)
    system: dict[str, tuple[list[float], list[float]]] = field(default_factory=dict)
    summary: bool = False
    own_step: bool = False
    bad: int = 0  # rows that are no JSON object


def find(place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the databases that have Trackio's tables."""
    files = sqlite_file.candidates(place, names)
    return [path for path in files if sqlite_file.holds(path, TABLES, MARKS)]


def read_all(path: Path) -> list[SourceReading]:
    """Read all runs of a database."""
    try:
        with sqlite_file.opened(path) as database:
            runs = _runs(database)
            problems = database.problems
    except Unreadable as error:
        runs, problems = {}, [Problem(str(path), str(error), "the whole file")]
    readings = [_reading(path, run) for run in runs.values()]
    if problems or not readings:
        about = SourceReading(path, "trackio", problems=problems)
        about.problems += [] if problems else [Problem(str(path), "holds no run")]
        readings.append(about)
    return readings


def _runs(database: sqlite_file.Database) -> dict[str, _Run]:
    runs: dict[str, _Run] = {}

    def of(run_id: object, name: object) -> _Run:
        known = str(name if run_id is None else run_id)
        return runs.setdefault(known, _Run(known, str(name)))

    whose = "run_id", "run_name"
    for run_id, name, step, stamp, logged in database.rows(
        "metrics", *whose, "step", "timestamp", "metrics"
    ):
        _take_row(of(run_id, name), step, instant(stamp), logged)
    for run_id, name, text in database.rows("configs", *whose, "config"):
        of(run_id, name).config = _object(text) or {}
    for run_id, name, stamp, logged in database.rows(
        "system_metrics", *whose, "timestamp", "metrics"
    ):
        _take_system(of(run_id, name), instant(stamp), logged)
    return runs


def _object(text: object) -> dict[str, Any] | None:
    """Return the JSON object in a cell, which is a blob or a text; None where it is none."""
    if not isinstance(text, bytes | str):
        return None
    try:
        found = parse_json(text)
    except Unreadable:
        return None
    return found if isinstance(found, dict) else None


def _take_row(run: _Run, step: object, time: float, logged: object) -> None:
    row = _object(logged)
    if row is None or not isinstance(step, int) or not 0 <= step < MAX_STEP:
        run.bad += 1
        return
    if any(name.rpartition("/")[2] == CLOSING for name in row):
        run.summary = True
        return
    run.own_step = run.own_step or OWN_STEP in row
    kept = {
        name: value
        for name, value in row.items()
        if not (isinstance(value, dict) and MEDIA in value)
    }
    run.rows.add({**kept, "step": step, "timestamp": time})


def _take_system(run: _Run, time: float, logged: object) -> None:
    row = _object(logged)
    if row is None:
        run.bad += 1
        return
    for name, value in ((tracked.HEARTBEAT, 1.0), *row.items()):
        number = as_number(value)
        if number is not None:
            times, values = run.system.setdefault(name, ([], []))
            times.append(time)
            values.append(number)


def _reading(path: Path, run: _Run) -> SourceReading:
    reading = SourceReading(path, "trackio", run_id=run.id, run_name=run.name, in_store=True)
    own = {key: value for key, value in run.config.items() if not key.startswith("_")}
    reading.config = flat(own)
    if "transformers_version" in own:
        reading.framework = "transformers"
    created = instant(run.config.get("_Created"))
    reading.started = created if created == created else None  # noqa: PLR0124 - NaN
    fill(reading, run.rows.table())
    reading.hints.summary = run.summary
    tracked.tell_steps(reading, named=run.own_step)
    tracked.add_system(reading, {n: tracked.samples(*found) for n, found in run.system.items()})
    if run.bad:
        text = f"has rows of the run {run.name} that cannot be decoded"
        reading.problems.append(Problem(str(path), text, f"{run.bad:,} rows"))
    return reading
