"""The history of a run as a table in a file: CSV, JSON, JSON Lines or Parquet.

One row an observation, in the order of `runlens.run.Run.frame`, with its columns.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from runlens.diagnosis import spell_out
from runlens.extras import needed_by
from runlens.history import FloatArray, History

COLUMNS = ("metric", "step", "value", "epoch", "time", "segment", "source")
BLOCK = 50_000  # rows that are Python values at a time
Row = tuple[Any, ...]


def write(history: History, metrics: Sequence[str], sources: Sequence[str], path: Path) -> None:
    """Write all observations; the ending of the file's name decides the format.

    Args:
        history: what was logged.
        metrics: the name to write for each of `history.metrics`.
        sources: the name to write for each of `history.sources`.
        path: ends in .csv, .json, .jsonl or .parquet.

    Raises:
        MissingPackage: for Parquet where pyarrow is not installed.
        OSError: where the file cannot be written.

    """
    if path.suffix.lower() == ".parquet":
        _parquet(history, metrics, sources, path)
        return
    writers: dict[str, Callable[[Path, Iterator[Row]], None]] = {
        ".csv": _csv, ".json": _json, ".jsonl": _lines
    }  # fmt: skip
    writers[path.suffix.lower()](path, chain.from_iterable(_blocks(history, metrics, sources)))


def _blocks(
    history: History, metrics: Sequence[str], sources: Sequence[str]
) -> Iterator[Iterator[Row]]:
    """Yield the rows, of some at a time; an epoch or a time that is not known is None."""
    rows, codes = history.joined, _codes(history)
    for first in range(0, len(history), BLOCK):
        part = slice(first, first + BLOCK)
        yield zip(
            [metrics[code] for code in codes[part].tolist()],
            rows.step[part].tolist(),
            rows.value[part].tolist(),
            _known(rows.epoch[part]),
            _known(rows.time[part]),
            rows.segment[part].tolist(),
            [sources[code] for code in rows.source[part].tolist()],
            strict=True,
        )


def _codes(history: History) -> Any:  # noqa: ANN401 - an array of whole numbers
    """Return the number of each row's metric, shape (n,)."""
    return np.repeat(np.arange(len(history.lengths)), list(history.lengths.values()))


def _known(value: FloatArray) -> list[float | None]:
    return [None if one != one else one for one in value.tolist()]  # noqa: PLR0124 - NaN alone


def _csv(path: Path, rows: Iterator[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(rows)


def _lines(path: Path, rows: Iterator[Row]) -> None:
    with path.open("wb") as file:
        for row in rows:
            file.write(_record(row) + b"\n")


def _json(path: Path, rows: Iterator[Row]) -> None:
    with path.open("wb") as file:
        file.write(b"[")
        for number, row in enumerate(rows):
            file.write(b",\n" * bool(number) + _record(row))
        file.write(b"]\n")


def _record(row: Row) -> bytes:
    """Return one row as JSON, which has no NaN: "NaN", "Infinity", "-Infinity"."""
    record = dict(zip(COLUMNS, row, strict=True))
    return msgspec.json.encode(record | {"value": spell_out(record["value"])})


def _parquet(history: History, metrics: Sequence[str], sources: Sequence[str], path: Path) -> None:
    with needed_by("Parquet"):
        import pyarrow as pa
        from pyarrow.parquet import write_table

    rows = history.joined
    names = pa.DictionaryArray.from_arrays(_codes(history), list(metrics))
    files = pa.DictionaryArray.from_arrays(rows.source, list(sources))
    numbers = (rows.step, rows.value, rows.epoch, rows.time, rows.segment)
    write_table(pa.table(dict(zip(COLUMNS, (names, *numbers, files), strict=True))), path)
