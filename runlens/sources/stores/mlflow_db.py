"""MLflow's SQLite store, ``mlflow.db``: experiments, runs, metrics, params and tags as tables.

Since MLflow 3.7 it is the default. A NaN is a flag beside the value, an infinity the largest
number of float64. Runs and experiments that were deleted are still in it; they are left out.
"""

import sys
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from runlens.run import Problem, Setting
from runlens.sources import environment
from runlens.sources.files import MAX_LEAVES, MAX_SETTING, Unreadable
from runlens.sources.reading import Series, SourceReading, as_number
from runlens.sources.stores import mlflow_dir, sqlite_file, tracked

LOOKS_FOR = "mlflow.db"
FRAMEWORK = "MLflow"
NEEDS = ("sqlite3",)
TABLES = {
    "runs": frozenset({"run_uuid", "status", "lifecycle_stage"}),
    "metrics": frozenset({"key", "value", "timestamp", "run_uuid"}),
}
MARKS = (b"run_uuid VARCHAR(32)", b"lifecycle_stage")
DELETED = "deleted"
LARGEST = sys.float_info.max


@dataclass
class _Points:
    """The points of one metric as they are in the table."""

    step: "array[int]" = field(default_factory=lambda: array("q"))
    value: "array[float]" = field(default_factory=lambda: array("d"))
    time: "array[float]" = field(default_factory=lambda: array("d"))

    def series(self) -> Series:
        """Return them in the order of logging, infinities as such."""
        value = np.array(self.value)
        value[value == LARGEST], value[value == -LARGEST] = np.inf, -np.inf
        time = np.array(self.time) / 1000
        return mlflow_dir.in_order(time, value, np.array(self.step, dtype=np.int64))


@dataclass
class _Run:
    """What the tables say about one run."""

    name: str
    status: str
    began: float | None
    experiment: str
    params: dict[str, Setting] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, _Points] = field(default_factory=dict)
    bad: int = 0  # rows of metrics that are none


def find(place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the databases that have MLflow's tables."""
    files = sqlite_file.candidates(place, names)
    return [path for path in files if sqlite_file.holds(path, TABLES, MARKS)]


def read_all(path: Path) -> list[SourceReading]:
    """Read all runs of a database that were not deleted."""
    about = SourceReading(path, "mlflow")
    runs: dict[str, _Run] = {}
    try:
        with sqlite_file.opened(path) as database:
            runs = _runs(database, about)
            _take_settings(database, runs)
            _take_metrics(database, runs)
            about.problems += database.problems
    except Unreadable as error:
        about.problems.append(Problem(str(path), str(error), "the whole file"))
    if not (runs or about.problems):
        about.problems.append(Problem(str(path), "holds no run"))
    readings = [_reading(path, known, run) for known, run in runs.items()]
    return [*readings, about] if about.problems else readings


def _runs(database: sqlite_file.Database, about: SourceReading) -> dict[str, _Run]:
    experiments, gone = {}, set()
    for number, name, stage in database.rows(
        "experiments", "experiment_id", "name", "lifecycle_stage"
    ):
        experiments[number] = str(name or "")
        gone |= {number} if stage == DELETED else set()
    runs, deleted = {}, 0
    columns = "run_uuid", "name", "status", "start_time", "lifecycle_stage", "experiment_id"
    for known, name, status, began, stage, experiment in database.rows("runs", *columns):
        if stage == DELETED or experiment in gone:
            deleted += 1
            continue
        time = as_number(began)
        runs[str(known)] = _Run(
            str(name or ""), str(status), time / 1000 if time else None,
            experiments.get(experiment, ""),
        )  # fmt: skip
    if deleted:
        text = f"holds {deleted} run{'s' if deleted > 1 else ''} deleted in MLflow, left out here"
        about.problems.append(Problem(str(database.path), text))
    return runs


def _take_settings(database: sqlite_file.Database, runs: Mapping[str, _Run]) -> None:
    for known, key, value in database.rows("params", "run_uuid", "key", "value"):
        run = runs.get(str(known))
        if run is not None and len(run.params) < MAX_LEAVES:
            run.params[str(key)] = tracked.plain_setting(str(value)[:MAX_SETTING])
    for known, key, value in database.rows("tags", "run_uuid", "key", "value"):
        run = runs.get(str(known))
        if run is not None and len(run.tags) < MAX_LEAVES:
            run.tags[str(key)] = str(value)[:MAX_SETTING]


def _take_metrics(database: sqlite_file.Database, runs: Mapping[str, _Run]) -> None:
    columns = "run_uuid", "key", "step", "value", "timestamp", "is_nan"
    for known, key, step, value, time, nan in database.rows("metrics", *columns):
        run = runs.get(known)
        if run is None:
            continue
        points = run.metrics.get(key)
        if points is None:
            points = run.metrics[key] = _Points()
        try:
            points.step.append(0 if step is None else step)
            points.value.append(float("nan") if nan else value)
            points.time.append(time)
        except (TypeError, OverflowError):
            run.bad += 1
            _even(points)


def _even(points: _Points) -> None:
    """Take back what was added of a row that is no metric."""
    whole = len(points.time)
    del points.step[whole:], points.value[whole:]


def _reading(path: Path, known: str, run: _Run) -> SourceReading:
    reading = SourceReading(path, "mlflow", run_id=known, in_store=True, started=run.began)
    reading.run_name = run.tags.get("mlflow.runName") or run.name
    reading.hints.tracker_state = mlflow_dir.STATES.get(run.status, "")
    about = mlflow_dir.about(reading.run_name, run.tags, run.experiment)
    reading.config = about | run.params
    reading.environment = environment.of_tags(run.tags)
    mlflow_dir.add_metrics(
        {str(key): points.series() for key, points in run.metrics.items() if points.step}, reading
    )
    if run.bad:
        text = f"has rows of the run {reading.run_name} that are no metric"
        reading.problems.append(Problem(str(path), text, f"{run.bad:,} rows"))
    return reading
