"""SwanLab: ``swanlog/run-<date>_<time>-<id>`` with a transaction log and ``files/`` beside it.

The log is framed as W&B's is, with a header of its own. In version 1 (``backup.swanlab``, seen in
0.6) each record is JSON, in version 2 (``run-<id>.swanlab``, seen in 0.10) a protobuf message. A
metric has one value a step. The log is written now and then: a run that was killed early leaves
an empty one. The closing record says how the run ended.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from runlens.patterns import lazy_re
from runlens.run import Problem
from runlens.sources.files import Unreadable, parse_json, read_bytes
from runlens.sources.reading import Series, SourceReading, as_number, instant
from runlens.sources.stores import tracked
from runlens.sources.tables.jsonl_log import Rows
from runlens.sources.tables.table import fill
from runlens.sources.wandb_dir.log import Log
from runlens.sources.wandb_dir.proto import Malformed, Message

LOOKS_FOR = "run-*.swanlab, backup.swanlab"
FRAMEWORK = "SwanLab (any trainer that logs to it)"
NEEDS = ("PyYAML",)
ENDING = ".swanlab"
IDENT = b":SWL\xd6\xe1"  # and a version byte
HEADERS = {1: IDENT + b"\x01", 2: IDENT + b"\x02"}
METADATA, CONFIG = "swanlab-metadata.json", "config.yaml"
OWN = "__swanlab__."  # begins the name of a system metric
SAID = "swanlab:"  # begins a line of its own on the console
OWN_STEP = "train/global_step"
STATES = {0: "running", 1: "finished", 2: "crashed", 3: "killed"}  # of version 2's RunState
START, FINISH, SCALAR, LOG = 10, 11, 13, 16  # fields of version 2's Record
JSON_BEGINS = b"{"
MAX_STEP = 2**53
_RUN = lazy_re(r"run-\d{8}_\d{6}-(.+)")


@dataclass
class _Contents:
    """What the records of a log say."""

    id: str = ""
    name: str = ""
    project: str = ""
    started: float | None = None
    state: str = ""
    error: str = ""  # the exception that ended the run, with its traceback
    scalars: list[tuple[str, int, float, float]] = field(default_factory=list)  # step, value, time
    console: list[tuple[int, str]] = field(default_factory=list)  # number of the line
    records: int = 0
    malformed: int = 0


def find(_place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the logs: by their header, or empty ones in the folder of a run."""
    files = [folder / name for folder in names for name in names[folder] if name.endswith(ENDING)]
    return [path for path in files if _is_log(path)]


def _is_log(path: Path) -> bool:
    try:
        return read_bytes(path, len(IDENT)) == IDENT or _in_run(path)
    except Unreadable:
        return _in_run(path)


def _in_run(path: Path) -> bool:
    return bool(_RUN.fullmatch(path.parent.name)) and (path.parent / "files").is_dir()


def read(path: Path) -> SourceReading:
    """Read one log and the settings beside it."""
    reading = SourceReading(path, "swanlab")
    contents = _Contents()
    try:
        _take_log(read_bytes(path), contents, reading)
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), "the whole file"))
    named = _RUN.fullmatch(path.parent.name)
    reading.run_id = contents.id or (named[1] if named else "")
    reading.run_name, reading.started = contents.name, contents.started
    _take_files(path.parent / "files", reading)
    if contents.project:
        reading.config.setdefault("swanlab_project", contents.project)
    _take_scalars(contents, reading)
    _take_end(contents, reading)
    return reading


def _take_log(data: bytes, contents: _Contents, reading: SourceReading) -> None:
    version = data[len(IDENT)] if len(data) > len(IDENT) else 0
    log = Log(data, HEADERS.get(version, HEADERS[2]))
    if not log.known:
        raise Unreadable("is no SwanLab log: neither its header nor one whole record is in it")
    for content in log:
        contents.records += 1
        try:
            if content.startswith(JSON_BEGINS):
                _take_json(content, contents)
            else:
                _take_message(content, contents)
        except (Malformed, Unreadable):
            contents.malformed += 1
    _tell_losses(log, contents, reading)


def _tell_losses(log: Log, contents: _Contents, reading: SourceReading) -> None:
    size, where = log.size, str(reading.path)
    if log.skipped:
        bad = sum(end - start for start, end in log.skipped)
        text = f"is damaged at {len(log.skipped)} places, first at byte {log.skipped[0][0]}"
        reading.problems.append(Problem(where, text, f"{bad} of {size} bytes"))
    if log.unfinished:
        text = "ends in the middle of a record"
        reading.problems.append(
            Problem(where, text, f"the last {log.unfinished:,} of {size:,} bytes")
        )
    elif not contents.records:
        text = "holds no record: nothing was written before the end"
        reading.problems.append(Problem(where, text, "the whole run"))
    if contents.malformed:
        amount = f"{contents.malformed} of {contents.records} records"
        reading.problems.append(Problem(where, "holds records that cannot be decoded", amount))


def _take_message(content: bytes, contents: _Contents) -> None:
    """Take a record of version 2; raise Malformed."""
    around = Message(content)
    kind = next((kind for kind in (SCALAR, LOG, START, FINISH) if around.all(kind)), None)
    if kind is None:
        return
    message = Message(around.content(kind))
    if kind == SCALAR:
        number = Message(message.content(5)).content(1)
        value = struct.unpack("<d", number)[0] if len(number) == 8 else 0.0  # noqa: PLR2004 - a double
        _add(contents, message.text(1), message.number(2), value, message.time(4))
    elif kind == LOG:
        contents.console.append((message.number(4), message.text(1)))
    elif kind == START:
        contents.project, contents.name = message.text(1), message.text(4)
        contents.id, contents.started = message.text(10), message.time(12)
    else:
        contents.state, contents.error = STATES.get(message.number(1), ""), message.text(2)


def _take_json(content: bytes, contents: _Contents) -> None:
    """Take a record of version 1; raise Unreadable."""
    try:
        known = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        known = parse_json(content)
    data = known.get("data") if isinstance(known, dict) else None
    if not isinstance(data, dict):
        raise Unreadable("is no record")
    kind = known.get("model_type")
    if kind == "Scalar":
        metric = data.get("metric")
        metric = metric if isinstance(metric, dict) else {}
        number = as_number(metric.get("data"))
        if number is None or not isinstance(data.get("step"), int):
            raise Unreadable("is no scalar")
        time = instant(metric.get("create_time"))
        _add(contents, str(data.get("key")), data["step"], number, time)
    elif kind == "Log":
        line = data.get("epoch")
        contents.console.append((line if isinstance(line, int) else 0, str(data.get("message"))))
    else:
        _take_about(str(kind), data, contents)


def _take_about(kind: str, data: Mapping[str, Any], contents: _Contents) -> None:
    if kind == "Header":
        time = instant(data.get("create_time"))
        contents.started = time if time == time else None  # noqa: PLR0124 - NaN
    elif kind == "Project":
        contents.project = str(data.get("name") or "")
    elif kind == "Experiment":
        contents.id, contents.name = str(data.get("id") or ""), str(data.get("name") or "")
    elif kind == "Footer":
        contents.state = "finished" if data.get("success") else "crashed"


def _add(contents: _Contents, key: str, step: int, value: float, time: float | None) -> None:
    if not 0 <= step < MAX_STEP:
        raise Malformed
    contents.scalars.append((key, step, value, float("nan") if time is None else time))


def _take_scalars(contents: _Contents, reading: SourceReading) -> None:
    rows = Rows()
    own_step = False
    for row in _rows(contents.scalars):
        own_step = own_step or OWN_STEP in row
        rows.add(row)
    fill(reading, rows.table())
    tracked.tell_steps(reading, named=own_step)
    tracked.add_system(reading, _system(contents.scalars))


def _system(scalars: list[tuple[str, int, float, float]]) -> dict[str, Series]:
    system: dict[str, tuple[list[float], list[float]]] = {}
    for key, _, value, time in scalars:
        if key.startswith(OWN):
            times, values = system.setdefault(key.removeprefix(OWN), ([], []))
            times.append(time)
            values.append(value)
    found = {name: tracked.samples(*both) for name, both in system.items()}
    beats = next(iter(found.values()), None)
    if beats is not None:
        found[tracked.HEARTBEAT] = beats._replace(value=np.ones(len(beats.value)))
    return found


def _rows(scalars: list[tuple[str, int, float, float]]) -> Iterator[dict[str, float]]:
    """Join what was logged one after the other for one step to a row."""
    row: dict[str, float] = {}
    for key, step, value, time in scalars:
        if key.startswith(OWN):
            continue
        if row and (row["step"] != step or key in row):
            yield row
            row = {}
        row |= {"step": step, "timestamp": row.get("timestamp", time), key: value}
    if row:
        yield row


def _take_end(contents: _Contents, reading: SourceReading) -> None:
    hints = reading.hints
    hints.tracker_state = contents.state
    hints.no_exit_record = not contents.state
    numbered = sorted(contents.console, key=lambda line: line[0])
    lines = [line for _, line in numbered if not line.startswith(SAID)]
    tracked.take_console(reading, "\n".join([*lines, *contents.error.splitlines()]))


def _take_files(folder: Path, reading: SourceReading) -> None:
    reading.config = tracked.settings_of(tracked.mapping_in(folder / CONFIG, reading))
    if "transformers_version" in reading.config:
        reading.framework = "transformers"
    runtime = tracked.mapping_in(folder / METADATA, reading)
    runtime = runtime["runtime"] if isinstance(runtime.get("runtime"), dict) else runtime
    for key, name in (("command", "command_line"), ("python_version", "python_version")):
        if (known := runtime.get(key)) and isinstance(known, str):
            reading.config.setdefault(name, known)
