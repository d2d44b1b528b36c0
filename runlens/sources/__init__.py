"""From a place to runs: one module a format, then detection and merging."""

from dataclasses import replace
from pathlib import Path

from runlens.errors import NothingReadable, SeveralRuns
from runlens.run import Problem, Run
from runlens.sources import (
    config_files,
    console,
    csv_log,
    jsonl_log,
    mlflow_dir,
    tensorboard,
    trainer_state,
    wandb_dir,
)
from runlens.sources.files import MAX_FOLDERS, walk
from runlens.sources.merge import runs_of
from runlens.sources.reading import Reader, SourceReading

READERS: tuple[Reader, ...] = (
    trainer_state,
    tensorboard,
    wandb_dir,
    jsonl_log,
    csv_log,
    mlflow_dir,
    console,
    config_files,
)

SHOWN = 3


def kind_of(reader: Reader) -> str:
    """Return the short name of a reader: ``trainer_state``."""
    return getattr(reader, "__name__", "").rpartition(".")[2]


def find(place: str | Path) -> list[tuple[Reader, Path]]:
    """List what lies at `place` that some reader knows; raise NothingReadable where none does."""
    return _looked(place)[0]


def _looked(place: str | Path) -> tuple[list[tuple[Reader, Path]], list[Problem]]:
    """Return what lies at a place, and what was not looked at."""
    path = Path(place)
    try:
        path.lstat()
    except PermissionError:
        raise NothingReadable(str(place), "no permission to look there") from None
    except (OSError, ValueError):
        why = "does not exist; check the path, or run from the folder that holds the run"
        raise NothingReadable(str(place), why) from None
    names = walk(path)
    found = [(reader, source) for reader in READERS for source in reader.find(path, names)]
    if not found:
        raise NothingReadable(str(place), _why_nothing(path, names))
    if len(names) < MAX_FOLDERS:
        return found, []
    text = f"has more than {MAX_FOLDERS:,} folders; point at a run below it"
    return found, [Problem(str(place), text, "what lies in the others")]


def read_all(place: str | Path) -> list[Run]:
    """Read all runs at `place`, a file or a directory; raise NothingReadable where none is."""
    found, unseen = _looked(place)
    readings = [reader.read(source) for reader, source in found]
    runs = runs_of(Path(place), str(place), readings)
    measured = [run for run in runs if len(run.history) or run.events or run.log_tail]
    if not measured:
        raise NothingReadable(str(place), _lost(readings), _problems(readings))
    # settings that belong to no run may have been unreadable
    passed_over = [*unseen, *(p for run in runs if run not in measured for p in run.problems)]
    if passed_over:
        measured[0] = replace(measured[0], problems=(*measured[0].problems, *passed_over))
    return measured


def read(place: str | Path) -> Run:
    """Read the one run at `place`, a file or a directory.

    Raises:
        NothingReadable: where no reader knows anything there.
        SeveralRuns: where several runs lie there.

    """
    runs = read_all(place)
    if len(runs) > 1:
        raise SeveralRuns(str(place), [run.name for run in runs])
    return runs[0]


def _why_nothing(path: Path, names: dict[Path, list[str]]) -> str:
    wanted = ", ".join(reader.LOOKS_FOR for reader in READERS if reader is not config_files)
    count = sum(len(files) for files in names.values())
    if path.is_dir() and not count:
        return f"is an empty directory; point at a run directory ({wanted})"
    if any("latest-run" in files for files in names.values()):
        return "latest-run is no link here but a text that names a run; point at that run's folder"
    return f"nothing readable here; looked for {wanted}"


def _problems(readings: list[SourceReading]) -> list[tuple[str, str]]:
    return [(problem.where, problem.text) for reading in readings for problem in reading.problems]


def _lost(readings: list[SourceReading]) -> str:
    problems = _problems(readings)
    if not problems:
        names = ", ".join(dict.fromkeys(reading.path.name for reading in readings[:SHOWN]))
        return f"no metric, log or event in {names}; point at a run that logged something"
    said = "; ".join(f"{Path(where).name} {text}" for where, text in problems[:SHOWN])
    more = f" and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
    return f"nothing readable here: {said}{more}"
