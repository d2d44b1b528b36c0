"""MLflow's file store: ``mlruns/<experiment>/<run>`` with ``meta.yaml``, ``metrics/``, ``params/``.

Each metric is a file of lines ``milliseconds value step``; a name with a slash is a folder more.
A step of the training that goes back begins the next launch. System metrics count their own
samples and are placed by their time.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from runlens.history import NOT_KNOWN, FloatArray, IntArray
from runlens.run import Problem, Setting
from runlens.sources import environment
from runlens.sources.configs.plain_yaml import parse_yaml
from runlens.sources.files import (
    MAX_CONFIG,
    MAX_LEAVES,
    MAX_SETTING,
    Unreadable,
    read_bytes,
    walk,
)
from runlens.sources.merging.align import INFERRED
from runlens.sources.reading import MAX_STEP, Series, SourceReading, as_number, series
from runlens.sources.stores import tracked
from runlens.sources.stores.tracked import SYSTEM

LOOKS_FOR = "mlruns"
FRAMEWORK = "MLflow"
NEEDS = ("PyYAML",)
META = "meta.yaml"
PARTS = ("metrics", "params", "tags")
TRASH = ".trash"
STATES = {
    "1": "running", "2": "running", "3": "finished", "4": "failed", "5": "killed",
    "RUNNING": "running", "SCHEDULED": "running", "FINISHED": "finished", "FAILED": "failed",
    "KILLED": "killed",
}  # fmt: skip
SUMMARY = "train_runtime"  # in the closing row of the Hugging Face Trainer
CLOSING = {"train_loss", "train_runtime", "total_flos", "train_samples_per_second",
           "train_steps_per_second"}  # fmt: skip


def find(place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the folders of runs."""
    if not place.is_dir():
        return [place.parent] if place.name == META and _is_run(place.parent) else []
    return [
        folder
        for folder, files in names.items()
        if META in files and TRASH not in folder.parts and _is_run(folder)
    ]


def _is_run(folder: Path) -> bool:
    return any((folder / part).is_dir() for part in PARTS)


def read(path: Path) -> SourceReading:
    """Read the folder of one run."""
    reading = SourceReading(path, "mlflow")
    meta = _meta(reading)
    if meta.get("lifecycle_stage") == "deleted":
        reading.problems.append(Problem(str(path), "was deleted in MLflow", "the whole run"))
        return reading
    reading.run_id = str(meta.get("run_id") or meta.get("run_uuid") or path.name)
    began = as_number(meta.get("start_time"))
    reading.started = began / 1000 if began else None
    reading.hints.tracker_state = STATES.get(str(meta.get("status")), "")
    tags = dict(_texts(path / "tags"))
    reading.run_name = str(
        tags.get("mlflow.runName") or meta.get("run_name") or meta.get("name") or ""
    )
    reading.config = _config(path, tags, reading.run_name)
    reading.environment = environment.of_tags(tags)
    files = _files(path / "metrics")
    found = {name: points for name, file in files if (points := _points(file, reading))}
    add_metrics(found, reading)
    return reading


def _meta(reading: SourceReading) -> dict[str, Any]:
    try:
        meta = parse_yaml(read_bytes(reading.path / META, MAX_CONFIG))
    except Unreadable as error:
        reading.problems.append(Problem(str(reading.path / META), str(error), "state and name"))
        return {}
    return meta if isinstance(meta, dict) else {}


def _config(path: Path, tags: Mapping[str, str], name: str) -> dict[str, Setting]:
    try:
        experiment = parse_yaml(read_bytes(path.parent / META, MAX_CONFIG))
    except Unreadable:
        experiment = None
    called = experiment.get("name") if isinstance(experiment, dict) else ""
    params = {key: tracked.plain_setting(text) for key, text in _texts(path / "params")}
    return about(name, tags, str(called or "")) | params


def about(name: str, tags: Mapping[str, str], experiment: str) -> dict[str, Setting]:
    """Return what MLflow knows of a run as settings."""
    known = {
        "run_name": name,
        "command_line": tags.get("mlflow.source.name", ""),
        "experiment_name": experiment,
    }
    return {key: text for key, text in known.items() if text}


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for number, (name, path) in enumerate(_files(folder)):
        if number >= MAX_LEAVES:
            return
        try:
            yield name, read_bytes(path, MAX_SETTING).decode("utf-8", "replace").strip()
        except Unreadable:
            continue


def _files(folder: Path) -> list[tuple[str, Path]]:
    """List the files below a folder by the name that their path spells."""
    if not folder.is_dir():
        return []
    return [
        ((below / name).relative_to(folder).as_posix(), below / name)
        for below, names in walk(folder).items()
        for name in names
    ]


def add_metrics(found: Mapping[str, Series], reading: SourceReading) -> None:
    """Fill a reading from all metrics of a run, each in the order of logging."""
    if SUMMARY in found:
        reading.hints.summary = True
        found = {name: points for name, points in found.items() if name not in CLOSING}
    epochs = found.get("epoch")
    trained = {n: p for n, p in found.items() if not n.startswith(SYSTEM) and n != "epoch"}
    for name, points in trained.items():
        reading.series[name] = points._replace(epoch=_at(epochs, points.step))
    clock = _clock(trained)
    begun = clock.time[1:][np.diff(clock.step) < 0]
    for name, points in reading.series.items():
        launch = np.searchsorted(begun, points.time, side="right")
        reading.series[name] = points._replace(launch=launch)
    machine = {n.removeprefix(SYSTEM): p for n, p in found.items() if n.startswith(SYSTEM)}
    tracked.add_system(reading, machine)


def _points(path: Path, reading: SourceReading) -> Series | None:
    """Return one metric; lines that are none are counted and left out."""
    try:
        lines = read_bytes(path).decode("utf-8", "replace").splitlines(keepends=True)
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), "one metric"))
        return None
    if not lines[-1].endswith("\n"):  # step 12 may be the half of step 120
        lines.pop()
        text = "ends in the middle of a line: it was cut off or is still being written"
        reading.problems.append(Problem(str(path), text, "the last line"))
    rows = [row for number, line in enumerate(lines) if (row := _point(line, number)) is not None]
    if len(rows) < len(lines):
        lost = f"{len(lines) - len(rows):,} of {len(lines):,} lines"
        reading.problems.append(Problem(str(path), "has lines that are no metric", lost))
    if not rows:
        return None
    time, value, step, named = (np.array(column) for column in zip(*rows, strict=True))
    if not named.all():
        reading.steps_inferred = True
        reading.problems.append(Problem(str(path), f"{INFERRED}; they were numbered"))
    return in_order(time / 1000, value, step.astype(np.int64))


def _point(line: str, number: int) -> tuple[float, float, float, bool] | None:
    cells = [as_number(cell) for cell in line.split()]
    if len(cells) == 2 and cells[0] is not None and cells[1] is not None:  # noqa: PLR2004 - before MLflow 1.0
        return cells[0], cells[1], float(number), False
    if len(cells) != 3 or cells[0] is None or cells[1] is None or cells[2] is None:  # noqa: PLR2004 - time, value, step
        return None
    return (cells[0], cells[1], cells[2], True) if 0 <= cells[2] < MAX_STEP else None


def in_order(time: FloatArray, value: FloatArray, step: IntArray) -> Series:
    """Put points in the order of logging; arrays of shape (n,), `time` in seconds."""
    order = np.argsort(time, kind="stable")
    return series(step[order], value[order], time=time[order])


def _at(epochs: Series | None, step: IntArray) -> FloatArray:
    """Return the epoch logged at each step, NaN where none was."""
    epoch = np.full(len(step), NOT_KNOWN)
    if epochs is None:
        return epoch
    known, first = np.unique(epochs.step, return_index=True)
    place = np.minimum(np.searchsorted(known, step), len(known) - 1)
    hit = known[place] == step
    epoch[hit] = epochs.value[first][place[hit]]
    return epoch


def _clock(trained: Mapping[str, Series]) -> Series:
    """Return the metric of most points: it tells when which step was done."""
    return max(trained.values(), key=lambda points: len(points.step), default=series([], []))
