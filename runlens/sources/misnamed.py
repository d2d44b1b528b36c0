"""Files that are not what they are called."""

import csv
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from runlens.patterns import lazy_re
from runlens.sources import console
from runlens.sources.files import TEXTS, Unreadable, read_bytes, read_rows
from runlens.sources.reading import Reader, SourceReading, StoreReader
from runlens.sources.tables import csv_log, jsonl_log, paired
from runlens.sources.tables.cells import SAMPLE, decoded, number_in, rows_of

OBJECT = b'{"'  # how JSON begins
SMALL_STATE = 2**18  # bytes of a state of another program: the Trainer's own may be damaged
_MESSAGE = lazy_re(r"\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d[^\]]{0,20}\] ")


def printed(kind: str, source: Path) -> list[SourceReading]:
    """Return what a console printed into a file that is called a table; nothing where it is one.

    Or the rows of JSON Lines that are called CSV. A JSON file may be a list of its lines, or a
    number a line, and a logger may write JSON Lines, with what was printed in the message of each.
    `kind` is that of its reader.
    """
    if kind == "csv_log" and _begins_with_object(source):
        return [rows] if (rows := jsonl_log.read(source)).series else []
    if kind == "csv_log":
        of_console = not _has_bare_numbers(source) or _holds_messages(source)
    else:
        of_logger = kind == "jsonl_log" and jsonl_log.of_logger(source)
        of_console = of_logger or jsonl_log.is_list(source) or jsonl_log.is_column(source)
    if not of_console or not console.looks_like_log(source, 1, 1):
        return []
    read = console.read_all(source)
    return read if any(one.series for one in read) else []


def _begins_with_object(path: Path) -> bool:
    try:
        return read_bytes(path, len(OBJECT)) == OBJECT
    except (Unreadable, OSError):
        return False


def _has_bare_numbers(path: Path) -> bool:
    """Whether a cell near the top is a number and no more, as tables have and consoles do not."""
    try:
        rows = list(islice(rows_of(decoded(read_rows(path))), SAMPLE))
    except (Unreadable, csv.Error):
        return True
    return any(number_in(cell) is not None for row in rows for cell in row)


def _holds_messages(path: Path) -> bool:
    """Whether a cell near the top has several lines, or a message begins with its time in brackets.

    Rows of a table may stand between such messages, and a table that was printed in a cell.
    """
    try:
        rows = list(islice(rows_of(decoded(read_rows(path))), SAMPLE))
    except (Unreadable, csv.Error):
        return False
    return any("\n" in cell for row in rows for cell in row) or (
        sum(bool(row) and _MESSAGE.match(row[0]) is not None for row in rows) > 1
    )


def tables_among(
    names: Mapping[Path, Sequence[str]],
) -> list[tuple[Reader | StoreReader, Path]]:
    """List the logs that are tables without names whose columns say by their course what they are.

    ``model-1,1601979841.6,0.56,0.2494,0.5,0.2496``: no console names so many numbers by nothing.
    """
    files = (folder / name for folder, some in names.items() for name in some)
    texts = (path for path in files if path.suffix.lower() in TEXTS)
    return [(csv_log, path) for path in texts if _is_paired(path)]


def _is_paired(path: Path) -> bool:
    try:
        head = next(rows_of(decoded(read_rows(path))), [])
    except (Unreadable, csv.Error):
        return False
    return any(cell in paired.NAMES for cell in head)


def of_another_program(source: Path) -> SourceReading | None:
    """Return the curves of a small ``trainer_state.json`` of another program; None without one."""
    if source.stat().st_size >= SMALL_STATE:
        return None
    other = jsonl_log.read(source)
    return other if any(len(one.step) > 1 for one in other.series.values()) else None


def of_arrays(source: Path) -> SourceReading | None:
    """Return the curves in an archive of arrays that is not of evaluations; None without one."""
    other = console.read(source)
    return other if other.series else None
