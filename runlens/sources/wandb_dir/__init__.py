"""Weights & Biases: a run's folder, online or offline, read without the wandb package.

The transaction log ``run-<id>.wandb`` is the only complete record: history, configuration,
system metrics, console text and the exit record. ``files/`` beside it is the fallback; each file
in it may be missing. An exit record without a code means 0; no exit record means killed, lost
its machine, or still running.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from runlens.patterns import lazy_re
from runlens.run import Event, Problem, Setting
from runlens.sources import environment
from runlens.sources.files import LFS, Unreadable, flat, read_bytes
from runlens.sources.reading import MAX_STEP, SourceReading, as_number
from runlens.sources.stores import tracked
from runlens.sources.wandb_dir.contents import Contents, machine
from runlens.sources.wandb_dir.history import STEP_NAMES
from runlens.sources.wandb_dir.log import HEADER, Log
from runlens.sources.wandb_dir.logged import CLOSING, Logged, take_history

LOOKS_FOR = "run-*.wandb"
FRAMEWORK = "Weights & Biases (any trainer that logs to it)"
LATEST = "latest-run"  # a link to the newest run; a copy of it where links were not kept
SUMMARY, METADATA, CONFIG = "wandb-summary.json", "wandb-metadata.json", "config.yaml"
REQUIREMENTS = "requirements.txt"
SWANLAB = "swanlab-metadata.json"  # in the files/ of another tracker, which calls its runs alike

_RUN_NAME = lazy_re(r"(?:offline-)?run-(?:\d{8}_\d{6}-)?(.+)")
_PROGRAMS = (
    ("axolotl", lazy_re(r"axolotl[/\\.]cli|[/\\]axolotl(?: |$)")),
    ("llama-factory", lazy_re(r"^\S*llama-?factory", re.IGNORECASE)),
    ("ms-swift", lazy_re(r"^\S*[/\\]swift[/\\]cli")),
)
_OF_THE_TRAINER = {"per_device_train_batch_size", "lr_scheduler_type"}


def find(place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the logs; and the run folders whose log is missing but whose ``files/`` is there."""
    if place.name == LATEST and names == {place.parent: [LATEST]}:
        return [place]
    logs = [folder / name for folder in names for name in names[folder] if _is_log(name)]
    originals = {log.name for log in logs if log.parent.name != LATEST}
    logs = [log for log in logs if log.parent.name != LATEST or log.name not in originals]
    bare = [folder.parent for folder, files in names.items() if _is_files(folder, files)]
    for run in bare:
        beside = names[run] if run in names else sorted(log.name for log in run.glob("*.wandb"))
        if run not in names:  # the place is its files/
            logs += [run / name for name in beside]
        if not any(map(_is_log, beside)):
            logs.append(run)
    return logs


def _is_log(name: str) -> bool:
    return name.endswith(".wandb")


def _is_files(folder: Path, files: list[str]) -> bool:
    if folder.name != "files" or folder.parent.name == LATEST or SWANLAB in files:
        return False
    ours = CONFIG in files and _RUN_NAME.fullmatch(folder.parent.name)
    return bool(ours) or SUMMARY in files or METADATA in files


def read(path: Path) -> SourceReading:
    """Read one log, or a run folder without one."""
    reading = SourceReading(path, "wandb")
    if _is_log(path.name):
        _read_log(path, reading)
        files = path.parent / "files"
    elif path.is_dir():
        text = "holds no .wandb file: settings and summary are there, the history is not"
        reading.problems.append(Problem(str(path), text, "the history"))
        files = path / "files"
    else:
        text = "names the newest run but is not it; point at the run's own folder"
        reading.problems.append(Problem(str(path), text, "the whole file"))
        return reading
    _read_files(files, reading)
    if reading.hints.nothing_written:
        _take_empty(files, reading)
    name = _RUN_NAME.fullmatch(path.stem if _is_log(path.name) else path.name)
    reading.run_id = reading.run_id or (name[1] if name else "")
    reading.framework = framework(reading.config)
    return reading


def _take_empty(files: Path, reading: SourceReading) -> None:
    """Tell of a run whose log is empty; an online run that ended by itself left its summary."""
    if (files / SUMMARY).exists():
        reading.hints.nothing_written = False
        return
    text = "the run began; it was killed before W&B's first write, or is still running"
    reading.events.append(Event("launch", 0, None, text, str(reading.path)))


def framework(config: Mapping[str, Setting]) -> str:
    """Return what trained, by its command and the names of its settings; empty if not known."""
    command = str(config.get("command_line", ""))
    for called, pattern in _PROGRAMS:
        if pattern.search(command):
            return called
    trainer = "transformers_version" in config or config.keys() >= _OF_THE_TRAINER
    return "transformers" if trainer else ""


def _read_log(path: Path, reading: SourceReading) -> None:
    reading.hints.no_exit_record = True
    contents = Contents()
    try:
        log = _take_records(path, contents, reading)
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), "the whole file"))
        reading.hints.nothing_written = path.is_file() and not path.stat().st_size
        return
    reading.hints.nothing_written = not contents.records
    _tell_losses(log, contents, reading)
    _take_settings(contents, reading)
    rows = contents.rows
    logged = Logged(
        rows.count,
        rows.columns(),
        contents.declared,
        contents.stats,
        contents.sdk,
        contents.closing,
    )
    take_history(logged, reading)
    reading.directions = contents.directions
    _take_end(contents, reading)
    if not (path.parent / "files" / "output.log").exists():
        tracked.take_console(reading, "".join(contents.console))


def _take_records(path: Path, contents: Contents, reading: SourceReading) -> Log:
    """Read a log piece by piece, as far as the disk gives it; raise Unreadable."""
    read_bytes(path, len(LFS))  # says in words what may be wrong with a file
    with path.open("rb") as stream:
        log = Log(stream)
        if not log.known:
            raise Unreadable(
                "is no W&B transaction log: neither its header nor one whole record is in it"
            )
        try:
            for records in log.batches():
                contents.take(records)
        except OSError as error:
            text = f"cannot be read to its end ({error.strerror or error})"
            reading.problems.append(Problem(str(path), text, f"what lies behind byte {log.size}"))
    return log


def _tell_losses(log: Log, contents: Contents, reading: SourceReading) -> None:
    size = log.size

    def lost(text: str, amount: str) -> None:
        reading.problems.append(Problem(str(reading.path), text, amount))

    if size > len(HEADER) and not log.headed:
        lost("has a header that is not known; read as the known one", "")
    if log.skipped:
        first, bad = log.skipped[0][0], sum(end - start for start, end in log.skipped)
        places = f"{len(log.skipped)} place{'s' if len(log.skipped) > 1 else ''}"
        lost(f"is damaged at {places}, first at byte {first}", f"{bad:,} of {size:,} bytes")
    if log.unfinished:
        text = "ends in the middle of a record"
        lost(text, f"the last {log.unfinished:,} of {size:,} bytes")
    elif not contents.records:
        lost(
            "is empty: W&B has written nothing to it",
            "",
        )
    if contents.malformed:
        amount = f"{contents.malformed} of {contents.records} records"
        lost("holds records that cannot be decoded", amount)


def _take_settings(contents: Contents, reading: SourceReading) -> None:
    run, config = contents.run, contents.config
    config.pop("_wandb", None)
    reading.config = {**contents.machine, **flat(config)}
    reading.environment = contents.environment
    if project := run.text(3):
        reading.config.setdefault("wandb_project", project)
    reading.run_id, reading.run_name = run.text(1), run.text(8)
    reading.started = run.time(17)


def _take_end(contents: Contents, reading: SourceReading) -> None:
    if contents.exit is None:
        return
    hints, code = reading.hints, contents.exit.number(1)
    hints.no_exit_record = False
    hints.exit_code = code
    hints.tracker_state = "failed" if code else "finished"
    # whole seconds; the format leaves a 0 out
    time = reading.started + contents.exit.number(2) if reading.started else None
    where = str(reading.path)
    reading.events.append(
        Event("exit", hints.ended_step, time, f"exit code {code}", where, {"code": code})
    )


def _read_files(folder: Path, reading: SourceReading) -> None:
    """Take from ``files/`` what the log does not have."""
    if not set(reading.config) - {"python_version", "wandb_project"}:
        _read_config(folder / CONFIG, reading)
    if "command_line" not in reading.config:
        _read_metadata(folder / METADATA, reading)
    with suppress(Unreadable):  # nothing is judged by it
        packages = read_bytes(folder / REQUIREMENTS).decode("utf-8", "replace")
        reading.environment = {**environment.of_requirements(packages), **reading.environment}
    if not reading.series:
        _read_summary(folder / SUMMARY, reading)


def _read_config(path: Path, reading: SourceReading) -> None:
    found = tracked.mapping_in(path, reading)
    own = {key: value for key, value in found.items() if key not in {"_wandb", "wandb_version"}}
    reading.config |= tracked.settings_of(own)


def _read_metadata(path: Path, reading: SourceReading) -> None:
    found = tracked.mapping_in(path, reading)
    reading.environment = {**environment.of_metadata(found), **reading.environment}
    known = machine_of(found)
    reading.config = {**known, **reading.config}
    state = found.get("state")
    if isinstance(state, str) and state != "running":  # it says so until it is synced
        reading.hints.tracker_state = state


def machine_of(found: Mapping[str, Any]) -> dict[str, Setting]:
    """Return what ``wandb-metadata.json``, or W&B's own part of the settings, says of a machine."""
    args = found.get("args")
    return machine(
        str(found.get("program") or ""),
        [str(arg) for arg in args] if isinstance(args, list) else [],
        str(found.get("gpu") or ""),
        _count(found.get("gpu_count")),
        str(found.get("python") or ""),
    )


def _count(value: object) -> int:
    number = as_number(value)
    return int(number) if number is not None and 0 <= number < MAX_STEP else 0


def _read_summary(path: Path, reading: SourceReading) -> None:
    """Take the last step; the last values are no points, as they may be of earlier steps."""
    found = tracked.mapping_in(path, reading)
    hints = reading.hints
    hints.summary = hints.summary or CLOSING in found or f"train/{CLOSING}" in found
    steps = (as_number(found.get(name)) for name in STEP_NAMES)
    last = next((step for step in steps if step is not None and 0 <= step < MAX_STEP), None)
    hints.done_steps = None if last is None else int(last)
    hints.ended_step = hints.done_steps if hints.ended_step is None else hints.ended_step
