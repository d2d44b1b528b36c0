"""Files that are not what they are called."""

from pathlib import Path

from runlens.sources import console
from runlens.sources.reading import SourceReading
from runlens.sources.tables import csv_log, jsonl_log

SMALL_STATE = 2**18  # bytes of a state of another program: the Trainer's own may be damaged


def printed(kind: str, source: Path) -> list[SourceReading]:
    """Return what a console printed into a file that is called a table; nothing where it is one.

    A JSON file may be a list of its lines, and a logger may write JSON Lines, with what was printed
    in the message of each. `kind` is that of its reader.
    """
    if kind == "csv_log":
        of_console = not csv_log.has_bare_numbers(source)
    else:
        of_logger = kind == "jsonl_log" and jsonl_log.of_logger(source)
        of_console = of_logger or jsonl_log.is_list(source)
    if not of_console or not console.looks_like_log(source):
        return []
    read = console.read_all(source)
    return read if any(one.series for one in read) else []


def of_another_program(source: Path) -> SourceReading | None:
    """Return the curves of a small ``trainer_state.json`` of another program; None without one."""
    if source.stat().st_size >= SMALL_STATE:
        return None
    other = jsonl_log.read(source)
    return other if any(len(one.step) > 1 for one in other.series.values()) else None
