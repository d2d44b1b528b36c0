"""History rows from the server, turned into the columns that a run's folder gives."""

import io
import json
import threading
from array import array
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from runlens.history import IntArray
from runlens.sources.wandb_dir.history import ROW_COUNTER
from runlens.sources.wandb_dir.numbers import numbers_in
from runlens.sources.wandb_dir.rows import Column, without_nulls
from runlens.written import write_beside

_EXACT = 2**53  # integers below it are numbers of float64
_MEDIA = "._type"  # of an image, a table, a histogram whose levels are joined by dots


class Collected:
    """The numbers of the rows that came so far, by key; 17 bytes a number."""

    def __init__(self) -> None:
        """Begin with no rows."""
        self.count = 0
        self.last_step: int | None = None  # of the last row; None where it has none
        self._last: Mapping[str, Any] = {}  # the last row
        self._values: dict[str, tuple[array[int], array[float], bytearray]] = {}
        self._media: set[str] = set()
        self._lock = threading.Lock()  # rows may still come when those that are there are read

    @classmethod
    def kept(cls, path: Path) -> Self:
        """Return the rows that `keep` wrote; none where there are none, or damaged ones."""
        made = cls()
        try:
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                about = json.loads(file["about"].tobytes())
                parts = [file[name] for name in ("rows", "values", "nulls")]
        except Exception:  # noqa: BLE001 - damage shows in many ways, and costs a download
            return made
        ends = np.cumsum(about["lengths"])[:-1]
        split = zip(*(np.split(part, ends) for part in parts), strict=True)
        for key, (row, value, null) in zip(about["keys"], split, strict=True):
            arrays = array("q", row.tobytes()), array("d", value.tobytes()), bytearray(null)
            made._values[key] = arrays
        made.count, made.last_step, made._last = about["count"], about["step"], about["last"]
        made._media = set(about["media"])
        return made

    def keep(self, path: Path) -> None:
        """Write what came so far, whole or not at all; where the disk refuses, nothing is kept."""
        with self._lock:
            columns = list(self._values.values())
            about = {
                "keys": list(self._values),
                "lengths": [len(column[0]) for column in columns],
                "count": self.count,
                "step": self.last_step,
                "last": _finite(self._last),
                "media": sorted(self._media),
            }
            joined = [b"".join(bytes(one[at]) for one in columns) for at in range(3)]
        content = io.BytesIO()
        np.savez(
            content,
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
            rows=np.frombuffer(joined[0], np.int64),
            values=np.frombuffer(joined[1], np.float64),
            nulls=np.frombuffer(joined[2], np.uint8),
        )
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_beside(path, content.getvalue())

    def ends_with(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is the last one: with the same step and the same finite numbers.

        Numbers that are not finite, and nulls, are others in exported rows.
        """
        return bool(self._last) and _finite(row) == _finite(self._last)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row: numbers, NaN as a float or as text, null, nested dicts, media, text."""
        with self._lock:
            for key, value in row.items():
                kind = type(value)
                if kind is float or (kind is int and -_EXACT < value < _EXACT):
                    self._put(key, value, null=False)
                    continue
                if key.endswith(_MEDIA):
                    self._media.add(key.removesuffix("_type"))
                for path, number, null in numbers_in(value):
                    self._put(".".join((key, *path)), number, null=null)
            step = row.get(ROW_COUNTER)
            self.last_step = step if isinstance(step, int) else None
            self._last = row
            self.count += 1

    def _put(self, key: str, number: float, *, null: bool) -> None:
        if key not in self._values:
            self._values[key] = (array("q"), array("d"), bytearray())
        rows, values, nulls = self._values[key]
        rows.append(self.count)
        values.append(number)
        nulls.append(null)

    def columns(self, keys: Mapping[str, Any]) -> tuple[int, dict[str, Column]]:
        """Return how many rows there are, and their numbers by key, by ascending `_step`.

        Of rows with the same `_step` the last is kept: the server repeats some where what it
        has exported meets what it has not. `keys` is what the server counted of each key: in
        exported rows a null may mean that a row lacks the key, and is kept only where as many
        nulls were logged. The rows are handed over: a second call has those that came since.
        """
        with self._lock:
            count, values, self._values = self.count, self._values, {}
        for name in [name for name in values if name.startswith(tuple(self._media))]:
            del values[name]
        found = {name: _trusted(_column(*values.pop(name)), keys.get(name)) for name in [*values]}
        return _by_step(count, found)


def _finite(row: Mapping[str, Any]) -> dict[str, float]:
    return {
        ".".join((key, *path)): number
        for key, value in row.items()
        for path, number, null in numbers_in(value)
        if not null and np.isfinite(number)
    }


def _column(row: "array[int]", value: "array[float]", null: bytearray) -> Column:
    """Return the same memory as numpy sees it."""
    return Column(
        np.frombuffer(row, np.int64),
        np.frombuffer(value, np.float64),
        np.frombuffer(null, np.uint8),
    )


def _trusted(column: Column, counted: object) -> Column:
    column = column._replace(null=column.null.astype(np.bool_))
    kinds = counted.get("typeCounts", ()) if isinstance(counted, Mapping) else ()
    logged = sum(kind.get("count", 0) for kind in kinds if kind.get("type") == "nil")
    return column if column.null.sum() <= logged else without_nulls(column, kept=False)


def _by_step(count: int, columns: dict[str, Column]) -> tuple[int, dict[str, Column]]:
    step = columns.get(ROW_COUNTER)
    if step is None or len(step.row) < count or not np.isfinite(step.value).all():
        return count, columns
    if (np.diff(step.value) > 0).all():  # as they are, as a rule
        return count, columns
    order = np.argsort(step.value, kind="stable")
    last = np.diff(step.value[order], append=np.inf) > 0
    number = np.full(count, -1, dtype=np.int64)
    number[order[last]] = np.arange(last.sum())
    return int(last.sum()), {name: _renumbered(one, number) for name, one in columns.items()}


def _renumbered(column: Column, number: IntArray) -> Column:
    row = number[column.row]
    order = np.argsort(row, kind="stable")
    order = order[row[order] >= 0]
    return Column(row[order], column.value[order], column.null[order])
