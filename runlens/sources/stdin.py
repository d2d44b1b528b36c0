"""A log that comes through a pipe: ``cat train.log | runlens diagnose -``.

It is put into a temporary file, gone when it is read. What it is, its first bytes tell.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from runlens.errors import NothingReadable
from runlens.run import Problem
from runlens.sources import console, trainer_state
from runlens.sources.console.sorting import EXCERPT
from runlens.sources.files import MAX_TEXT
from runlens.sources.reading import SourceReading
from runlens.sources.tables import csv_log, jsonl_log, sb3_monitor
from runlens.sources.tables.charts import by_run
from runlens.sources.tables.columns import AS_FOUND, Columns
from runlens.sources.trainings import apart

NAME = "stdin"
CHUNK = 2**20  # bytes
SNIFFED = 65_536  # bytes
HOW = "pipe a log into it: cat train.log | runlens diagnose -"


@contextmanager
def spooled() -> Iterator[Path]:
    """Give the path of a file with all that comes; raise NothingReadable where nothing does."""
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise NothingReadable(NAME, f"is closed; {HOW}")
    if stream.isatty():
        raise NothingReadable(NAME, f"is a terminal; {HOW}")
    with TemporaryDirectory(prefix="runlens-") as folder:
        path = Path(folder, NAME)
        if not _copied(stream, path):
            raise NothingReadable(NAME, f"is empty; {HOW}")
        yield path


def _copied(stream: BinaryIO, path: Path) -> int:
    """Write what comes to a file, up to one byte more than is read; return how much that was."""
    size = 0
    with path.open("wb") as file:
        while size <= MAX_TEXT and (chunk := stream.read(min(CHUNK, MAX_TEXT + 1 - size))):
            size += file.write(chunk)
    return size


def read_all(path: Path, columns: Columns = AS_FOUND) -> list[SourceReading]:
    """Read a file of any format of text by its content."""
    if csv_log.is_monitor(path):
        readings = [sb3_monitor.read(path)]
    elif jsonl_log.looks_like_log(path, columns):
        readings = [part for one in by_run(jsonl_log.read(path, columns)) for part in apart(one)]
    elif _is_state(path):
        readings = [trainer_state.read(path)]
    elif csv_log.looks_like_log(path, columns):
        readings = [part for one in by_run(csv_log.read(path, columns)) for part in apart(one)]
    else:
        readings = console.read_all(path)
        if path.read_bytes().count(b"\n") <= EXCERPT:
            for reading in readings:  # what is pasted begins and ends anywhere
                reading.hints.excerpt = reading.hints.excerpt or bool(reading.series)
                reading.hints.from_start = False
    if path.stat().st_size > MAX_TEXT:
        text = f"is too long; only its first {MAX_TEXT / 2**20:.0f} MiB were taken"
        readings[0].problems.append(Problem(str(path), text, "the rest"))
    return readings


def _is_state(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(SNIFFED).removeprefix(b"\xef\xbb\xbf").lstrip()
    return head.startswith(b"{") and f'"{trainer_state.LOG}"'.encode() in head
