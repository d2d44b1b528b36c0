"""Histories of runs as one table: CSV, JSON, JSON Lines or Parquet.

Long: one row an observation, in the order of `runlens.run.Run.frame`, with its columns. Wide: one
row a step and one column a metric. Of several runs the first column names the run.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

import msgspec
import numpy as np

from runlens.diagnosis import spell_out
from runlens.extras import needed_by
from runlens.history import FloatArray, History
from runlens.records import NamedTuple

COLUMNS = ("metric", "step", "value", "epoch", "time", "segment", "source")
BLOCK = 50_000  # rows that are Python values at a time
Row = tuple[Any, ...]


class Named(NamedTuple):
    """A history and the names under which it is written."""

    run: str
    history: History
    metrics: Sequence[str]  # one for each of `history.metrics`
    sources: Sequence[str]  # one for each of `history.sources`


def write(runs: Sequence[Named], form: str, file: BinaryIO, *, wide: bool = False) -> None:
    """Write all observations.

    Args:
        runs: what was logged; of more than one the first column is ``run``.
        form: csv, json, jsonl or parquet.
        file: where to, open for bytes.
        wide: one row a step; what a resume discarded, epochs, times and sources are left out.

    Raises:
        MissingPackage: for Parquet where pyarrow is not installed.
        OSError: where the file cannot be written.

    """
    columns, rows = _wide(runs) if wide else _long(runs)
    if form == "parquet":
        _parquet(file, columns, rows)
        return
    writers: dict[str, Callable[[BinaryIO, Sequence[str], Iterator[Row]], None]] = {
        "csv": _csv, "json": _json, "jsonl": _lines
    }  # fmt: skip
    writers[form](file, columns, rows)


def _long(runs: Sequence[Named]) -> tuple[Sequence[str], Iterator[Row]]:
    several = len(runs) > 1
    rows = (
        (one.run, *row) if several else row
        for one in runs
        for block in _blocks(one)
        for row in zip(*block, strict=True)
    )
    return ("run", *COLUMNS) if several else COLUMNS, rows


def _blocks(one: Named) -> Iterator[list[list[Any]]]:
    """Yield the columns, of some rows at a time; an epoch or time that is not known is None."""
    rows, codes = one.history.joined, _codes(one.history)
    for first in range(0, len(one.history), BLOCK):
        part = slice(first, first + BLOCK)
        yield [
            [one.metrics[code] for code in codes[part].tolist()],
            rows.step[part].tolist(),
            rows.value[part].tolist(),
            _known(rows.epoch[part]),
            _known(rows.time[part]),
            rows.segment[part].tolist(),
            [one.sources[code] for code in rows.source[part].tolist()],
        ]


def _codes(history: History) -> Any:  # noqa: ANN401 - an array of whole numbers
    """Return the number of each row's metric, shape (n,)."""
    return np.repeat(np.arange(len(history.lengths)), list(history.lengths.values()))


def _known(value: FloatArray) -> list[float | None]:
    return [None if one != one else one for one in value.tolist()]  # noqa: PLR0124 - NaN alone


def _wide(runs: Sequence[Named]) -> tuple[Sequence[str], Iterator[Row]]:
    names = list(dict.fromkeys(name for one in runs for name in one.metrics))
    several = len(runs) > 1
    rows = ((one.run, *row) if several else row for one in runs for row in _steps(one, names))
    shown = [f"{name}~" if name in {"run", "step"} else name for name in names]
    return ["run", "step", *shown] if several else ["step", *shown], rows


def _steps(one: Named, names: Sequence[str]) -> Iterator[Row]:
    """Yield a row a step: of several values at one step the last, None where there is none."""
    at: dict[int, list[float | None]] = {}
    place = {name: index for index, name in enumerate(names)}
    for metric, name in zip(one.history.metrics, one.metrics, strict=True):
        curve = one.history.curve(metric)
        for step, value in zip(curve.step.tolist(), curve.value.tolist(), strict=True):
            at.setdefault(step, [None] * len(names))[place[name]] = value
    yield from ((step, *values) for step, values in sorted(at.items()))


def _csv(file: BinaryIO, columns: Sequence[str], rows: Iterator[Row]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows(rows)
    text.detach()


def _lines(file: BinaryIO, columns: Sequence[str], rows: Iterator[Row]) -> None:
    file.writelines(_record(columns, row) + b"\n" for row in rows)


def _json(file: BinaryIO, columns: Sequence[str], rows: Iterator[Row]) -> None:
    file.write(b"[")
    file.writelines(
        b",\n" * bool(number) + _record(columns, row) for number, row in enumerate(rows)
    )
    file.write(b"]\n")


def _record(columns: Sequence[str], row: Row) -> bytes:
    """Return one row as JSON, which has no NaN: "NaN", "Infinity", "-Infinity"."""
    cells = (spell_out(cell) if isinstance(cell, float) else cell for cell in row)
    return msgspec.json.encode(dict(zip(columns, cells, strict=True)))


def _parquet(file: BinaryIO, columns: Sequence[str], rows: Iterator[Row]) -> None:
    """Write the rows by column; names are kept once each."""
    with needed_by("Parquet"):
        import pyarrow as pa
        from pyarrow.parquet import write_table

    made = dict(zip(columns, zip(*rows, strict=True), strict=False))
    kept = {name: pa.array(made.get(name, ())) for name in columns}
    for name in {"run", "metric", "source"} & set(kept):
        kept[name] = kept[name].dictionary_encode()
    write_table(pa.table(kept), file)
