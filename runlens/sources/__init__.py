"""From a place to runs: one module a format, then detection and merging."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from runlens.errors import NothingReadable, SeveralRuns
from runlens.faults import Made, survived
from runlens.redaction import purged
from runlens.run import WHOLE_FILE, Problem, Run
from runlens.sources import added, case
from runlens.sources.addresses import STDIN, is_on_server
from runlens.sources.files import MAX_FOLDERS, OF_OTHERS, is_database, walk
from runlens.sources.merging.merge import runs_of
from runlens.sources.reading import Described, Reader, SourceReading, StoreReader, bound
from runlens.sources.tables.columns import AS_FOUND, Columns, TableReader, renamed, unused
from runlens.sources.tables.names import says_results
from runlens.sources.trainings import apart

if TYPE_CHECKING:
    READERS: tuple[Reader | StoreReader, ...]

GPU_LOG = "gpu_log"  # the reader whose files are no training, but lie beside one
DATABASE = (".db", ".sqlite")
CONSOLES = ("log", ".out", ".txt", ".err", ".md", ".info", ".dat")
# in the order in which they are asked, each with what stands in a name of the files that it reads:
# where no file has it, the reader is not imported
_NAMED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("trainer_state", ("trainer_state.json",)),
    ("tensorboard", ("tfevents",)),
    ("wandb_dir", (".wandb", "latest-run", "wandb-", "config.yaml")),
    ("tables.jsonl_log", (".jsonl", ".ndjson", ".json")),
    ("tables.csv_log", (".csv", ".tsv")),
    ("tables.sb3_monitor", (".csv",)),
    ("sb3_evaluations", (".npz",)),
    ("gpu_log", (".csv", ".txt", ".log", ".out")),
    ("stores.mlflow_dir", ("meta.yaml",)),
    ("stores.mlflow_db", DATABASE),
    ("stores.trackio_db", DATABASE),
    ("stores.swanlab_dir", (".swanlab",)),
    ("console", (*CONSOLES, "nohup", "stdout", "stderr", "console")),
    ("configs.model_card", ("readme.md",)),
    ("configs.config_files", ("",)),
)

# whose columns a user may name
TABLES = {f"{__name__}.tables.jsonl_log", f"{__name__}.tables.csv_log"}
SHOWN = 3


def __getattr__(name: str) -> object:
    """Import all readers when `READERS` is first asked for."""
    if name != "READERS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _readers()


def _readers(names: Mapping[Path, list[str]] | None = None) -> tuple[Reader | StoreReader, ...]:
    """Return the readers that may know one of these names; all of them where none are given."""
    if names is None:
        there = tables = "".join(mark for _, marks in _NAMED for mark in marks)
    else:
        known = {name.lower() for files in names.values() for name in files}
        there, tables = "\n".join(known), "\n".join(known - OF_OTHERS)
    return tuple(
        cast("Reader", import_module(f"{__name__}.{module}"))
        for module, marks in _NAMED
        if any(mark in (tables if module.startswith("tables.") else there) for mark in marks)
    )


def kind_of(reader: Described) -> str:
    """Return the short name of a reader: ``trainer_state``."""
    if isinstance(reader, added.AddedReader):
        return reader.kind
    return getattr(reader, "__name__", "").rpartition(".")[2]


def described() -> list[Described]:
    """Return all that can be read: what may lie at a path, cases, what is on a server."""
    from runlens.sources import wandb_api

    return [*_readers(), case, wandb_api, *added.readers()]


def find(place: str | Path) -> list[tuple[Reader | StoreReader, Path]]:
    """List what lies at `place` that some reader knows; raise NothingReadable where none does."""
    return _looked(place)[0]


def readings_of(
    reader: Reader | StoreReader, source: Path, columns: Columns = AS_FOUND
) -> list[SourceReading]:
    """Read one source that `find` named: one reading, or one for each run of a store.

    A reader that fails costs what it read, and no more.
    """
    found = _tried(
        partial(_readings_of, reader, source, columns), partial(_unread, kind_of(reader), source)
    )
    for reading in found:
        bound(reading)
    return found


def _tried(work: Callable[[], Made], otherwise: Callable[[str], Made]) -> Made:
    """Return what `work` reads. A file may go, or become another one, while it is read."""

    def reading() -> Made:
        try:
            return work()
        except OSError as error:
            why = error.strerror or error
            return otherwise(f"changed while it was read ({why}); try again")

    return survived(reading, otherwise)


def _unread(kind: str, source: Path, told: str) -> list[SourceReading]:
    problem = Problem(str(source), f"{told} (reader {kind})", WHOLE_FILE)
    return [SourceReading(source, kind, problems=[problem])]


def _readings_of(
    reader: Reader | StoreReader, source: Path, columns: Columns
) -> list[SourceReading]:
    with np.errstate(all="ignore"):  # what is beyond float64 is infinite
        if table := _table(reader):
            from runlens.sources import misnamed
            from runlens.sources.tables.charts import by_run

            read = table.read(source, columns)
            printed = [] if read.series or read.parts else misnamed.printed(kind_of(reader), source)
            return printed or [part for one in by_run(read) for part in apart(one)]
        if isinstance(reader, StoreReader):
            found = reader.read_all(source)
            if kind_of(reader) != "console" or any(one.series or one.events for one in found):
                return found
            from runlens.sources import misnamed

            again = misnamed.tables_among({source.parent: [source.name]})
            return [one for few, at in again for one in _readings_of(few, at, columns)] or found
        one = reader.read(source)
        if kind_of(reader) in {"trainer_state", "sb3_evaluations"} and one.problems and one.empty:
            from runlens.sources import misnamed

            of_arrays = kind_of(reader) == "sb3_evaluations"
            other = misnamed.of_arrays if of_arrays else misnamed.of_another_program
            one = other(source) or one
        return apart(one) if kind_of(reader) == "wandb_dir" else [one]


def _sources(
    reader: Reader | StoreReader, place: Path, names: dict[Path, list[str]], columns: Columns
) -> list[Path]:
    table = _table(reader)
    return table.find(place, names, columns) if table else reader.find(place, names)


def _table(reader: object) -> TableReader | None:
    return cast("TableReader", reader) if getattr(reader, "__name__", "") in TABLES else None


def _looked(
    place: str | Path, columns: Columns = AS_FOUND, only: Collection[str] = ()
) -> tuple[list[tuple[Reader | StoreReader, Path]], list[Problem]]:
    """Return what lies at a place, and what was not looked at."""
    path = Path(place)
    try:
        path.lstat()
    except PermissionError:
        raise NothingReadable(str(place), "no permission to look there") from None
    except (OSError, ValueError):
        why = "does not exist; check the path, or run from the folder that holds the run"
        raise NothingReadable(str(place), why) from None
    if path.is_file():
        from runlens.sources.evidence import what

        if known := what(path):
            raise NothingReadable(str(place), known, [(str(path), known)])
    names = walk(path, only)
    found, problems = _found(path, names, columns)
    if all(kind_of(one) == "config_files" for one, _ in found):
        settings = [(one, at) for one, at in found if not says_results(at.stem)]
        alone = _alone(path, names, columns, [at for _, at in settings])
        found = [*alone, *settings] if alone else found
    if not found:
        from runlens.sources.refusals import refusals

        refused = refusals(names)
        said = [*problems, *(one._replace(where=Path(one.where).name) for one in refused[:SHOWN])]
        why = _why_nothing(path, names) + "".join(f"; {one.where} {one.text}" for one in said)
        problems += refused
        raise NothingReadable(str(place), why, [one[:2] for one in problems])
    if len(names) < MAX_FOLDERS:
        return found, problems
    text = f"has more than {MAX_FOLDERS:,} folders; point at a run below it"
    return found, [*problems, Problem(str(place), text, "what lies in the others")]


def _found(
    place: Path, names: dict[Path, list[str]], columns: Columns
) -> tuple[list[tuple[Reader | StoreReader, Path]], list[Problem]]:
    """Ask all readers; what a reader of an installed package claims is read by it alone."""
    theirs, problems = added.claims(place, names)
    claimed = {source for _, source in theirs}
    ours = [
        (one, source)
        for one in _readers(None if is_database(place) else names)  # one may have any name
        for source in _tried(
            partial(_sources, one, place, names, columns), partial(_missed, one, place, problems)
        )
        if source not in claimed
    ]
    cards = {source for one, source in ours if kind_of(one) == GPU_LOG}
    ours = [(one, at) for one, at in ours if at not in cards or kind_of(one) == GPU_LOG]
    if not theirs and all(kind_of(one) == "config_files" for one, _ in ours):
        from runlens.sources import console

        # a text of any name, which a user points at
        any_name = place.is_file() and not ours and console.looks_like_log(place)
        ours += [(console, one) for one in ([place] if any_name else console.left_alone(names))]
    if not theirs and not ours:
        from runlens.sources import misnamed

        ours = misnamed.tables_among(names)
    if place.is_file() and ours:
        from runlens.sources.configs import config_files

        ours += [(config_files, one) for one in config_files.written_with(place)]
    return [*ours, *theirs], problems


def _alone(
    place: Path, names: dict[Path, list[str]], columns: Columns, settings: Sequence[Path]
) -> list[tuple[Reader | StoreReader, Path]]:
    """Return what the only file of a folder beside its settings is, if it is of a training."""
    from runlens.sources.lone_files import lone, of_training

    if (path := lone(place, names, settings)) is None:
        return []
    found, _ = _found(path, walk(path), columns)
    readings = (readings_of(reader, source, columns) for reader, source in found)
    return found if any(of_training(one, set_up=bool(settings)) for one in readings) else []


def _missed(reader: Described, place: Path, problems: list[Problem], told: str) -> list[Path]:
    text = f"could not be searched for {reader.LOOKS_FOR}: {told}"
    problems.append(Problem(str(place), text, "what it would have read"))
    return []


def kinds_among(folder: Path, files: Sequence[str], columns: Columns = AS_FOUND) -> set[str]:
    """Return the kinds of sources that some files of a folder are; what lies below is not seen."""
    names = {folder: list(files)}
    return {kind_of(one) for one, _ in _found(folder, names, columns)[0]}


def read_all(
    place: str | Path, *, columns: Columns = AS_FOUND, only: Collection[str] = ()
) -> list[Run]:
    """Read all runs at `place`; raise NothingReadable where none is.

    Args:
        place: a file, a directory, ``-`` for what comes through a pipe,
            ``wandb:entity/project/run``, ``wandb:entity/project`` or the address of its page.
        columns: what a table or a log calls things, where RunLens cannot know it:
            ``{"step": "iteration", "train_loss": "my_loss"}``, our name first.
        only: names of files and folders in a directory, of all that lie there.

    """
    if is_on_server(place):
        from runlens.sources import wandb_api

        return wandb_api.read_all(place)
    if str(place) == STDIN:
        from runlens.sources import stdin

        with stdin.spooled() as path:
            readings = _tried(
                lambda: stdin.read_all(path, columns), partial(_unread, stdin.NAME, path)
            )
            runs = _runs(path, stdin.NAME, readings, [], columns)
        return [replace(runs[0], name=stdin.NAME)] if len(runs) == 1 else runs
    if case.is_case(place):
        return [case.read(place)]
    found, unseen = _looked(place, columns, only)
    readings = [one for reader, source in found for one in readings_of(reader, source, columns)]
    if any(one.kind == GPU_LOG for one in readings):
        from runlens.sources.gpu_log import beside

        readings = beside(readings)
    return _runs(Path(place), str(place), readings, unseen, columns)


def _runs(
    place: Path,
    given: str,
    readings: list[SourceReading],
    unseen: list[Problem],
    columns: Columns,
) -> list[Run]:
    """Join readings to runs; the first of them tells what was not read."""
    with np.errstate(all="ignore"):
        runs = runs_of(place, given, [renamed(one, columns) for one in readings])
    measured = _measured(runs) if _of_training(place, readings) else []
    unnamed = unused(columns, readings)
    if not measured:
        problems = [p for reading in readings for p in reading.problems] + unnamed
        from runlens.sources.refusals import lost

        raise NothingReadable(given, lost(readings, problems), [p[:2] for p in problems])
    # settings that belong to no run may have been unreadable
    passed_over = [*unseen, *unnamed]
    passed_over += [p for run in runs if run not in measured for p in run.problems]
    passed_over = purged(passed_over)
    if passed_over:
        measured[0] = replace(measured[0], problems=(*measured[0].problems, *passed_over))
    return measured


def _of_training(place: Path, readings: list[SourceReading]) -> bool:
    """Whether a folder has more of a training than the errors of some program."""
    if not place.is_dir() or any(
        one.series or one.hints.summary
        if one.kind == "config"
        else not one.empty and (one.kind != "console" or bool(one.series))
        for one in readings
    ):
        return True
    from runlens.sources.console.program import meant  # of no use where numbers are logged

    return meant(place, readings)


def _measured(runs: list[Run]) -> list[Run]:
    """Return the runs of which something is known.

    A launch that left nothing but its beginning is no second run beside the only one.
    """
    known = [run for run in runs if len(run.history) or run.events or run.log_tail]
    went_on = [
        run
        for run in known
        if len(run.history) or run.log_tail or any(e.kind != "launch" for e in run.events)
    ]
    return went_on if len(went_on) == 1 else known


def judged_by_default(runs: list[Run]) -> list[Run]:
    """Return runs without the last trainings of a log that are too short, each told in a line."""
    if len(runs) < 2:  # noqa: PLR2004 - nothing is before it
        return runs
    from runlens.sources.last_training import without_short_ends

    return without_short_ends(runs)


def read(place: str | Path, *, columns: Columns = AS_FOUND) -> Run:
    """Read the one run at `place`; `place` and `columns` as for `read_all`.

    Of the trainings of one log, those at its end that are too short to be judged do not count.

    Raises:
        NothingReadable: where no reader knows anything there.
        SeveralRuns: where several runs lie there.

    """
    if is_on_server(place):
        from runlens.sources import wandb_api

        return wandb_api.read(place)
    runs = judged_by_default(read_all(place, columns=columns))
    if len(runs) > 1:
        raise SeveralRuns(str(place), [run.name for run in runs])
    return runs[0]


def _why_nothing(path: Path, names: dict[Path, list[str]]) -> str:
    known = [*(one for one in _readers() if kind_of(one) != "config_files"), *added.readers()]
    wanted = ", ".join(reader.LOOKS_FOR for reader in known)
    count = sum(len(files) for files in names.values())
    if path.is_dir() and not count:
        return f"is an empty directory; point at a run directory ({wanted})"
    if any("latest-run" in files for files in names.values()):
        return "latest-run is no link here but a text that names a run; point at that run's folder"
    return f"nothing readable here; looked for {wanted}"
