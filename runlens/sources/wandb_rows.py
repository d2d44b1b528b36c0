"""History rows of a W&B run, turned into columns of numbers."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from runlens.history import NOT_KNOWN, BoolArray, FloatArray, IntArray
from runlens.sources.files import MAX_DEPTH, Unreadable, parse_json
from runlens.sources.reading import as_number
from runlens.sources.wandb_proto import items, key_path, row

BATCH = 1 << 18  # values that are decoded at once


class Column(NamedTuple):
    """All values of one key; arrays of shape (n,). A null (JSON) is NaN in `value`."""

    row: IntArray
    value: FloatArray
    null: BoolArray


class _Keys(dict[bytes, int]):
    """Numbers the keys; the bytes that spell a key are decoded once."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: dict[tuple[str, ...], int] = {}

    def __missing__(self, part: bytes) -> int:
        code = self[part] = self.of(key_path(part))
        return code

    def of(self, path: tuple[str, ...]) -> int:
        return self.paths.setdefault(path, len(self.paths))


@dataclass
class Rows:
    """Collects history rows. Values stay JSON text until a whole batch of them is decoded."""

    count: int = 0
    _keys: _Keys = field(default_factory=_Keys)
    _codes: list[int] = field(default_factory=list)
    _values: list[bytes] = field(default_factory=list)
    _lengths: list[int] = field(default_factory=list)  # values per row, of this batch
    _parts: dict[int, list[Column]] = field(default_factory=dict)

    def add(self, data: bytes) -> None:
        """Add the row in a history record; raise Malformed."""
        codes: list[int]
        values: Sequence[bytes]
        if cut := row(data):
            codes, values = list(map(self._keys.__getitem__, cut[0])), cut[1]
        else:
            found = items(data)
            codes, values = [self._keys.of(it.path) for it in found], [it.json for it in found]
        self._codes += codes
        self._values += values
        self._lengths.append(len(codes))
        self.count += 1
        if len(self._values) >= BATCH:
            self._decode()

    def columns(self) -> dict[str, Column]:
        """Return the numbers among the values, by key; levels are joined by a dot.

        Text, lists, yes-or-no values and media (images, tables, histograms) are left out.
        """
        self._decode()
        media = {path[:-1] for path in self._keys.paths if path[-1] == "_type"}
        found: dict[str, list[Column]] = {}
        for path, code in self._keys.paths.items():
            if code in self._parts and not any(path[:n] in media for n in range(1, len(path))):
                found.setdefault(".".join(path), []).extend(self._parts[code])
        return {name: _joined(parts) for name, parts in found.items()}

    def _decode(self) -> None:
        values = _loads(self._values)
        codes = np.array(self._codes, dtype=np.int64)
        rows = np.repeat(np.arange(self.count - len(self._lengths), self.count), self._lengths)
        if set(map(type, values)) <= {int, float}:
            numbers, null = _floats(values), np.zeros(len(values), dtype=bool)
        else:
            codes, rows, numbers, null = self._mixed(values, codes, rows)
        order = np.argsort(codes, kind="stable")
        kinds, starts = np.unique(codes[order], return_index=True)
        for code, place in zip(kinds.tolist(), np.split(order, starts[1:]), strict=False):
            part = Column(rows[place], numbers[place], null[place])
            self._parts.setdefault(code, []).append(part)
        self._codes, self._values, self._lengths = [], [], []

    def _mixed(
        self, values: list[Any], codes: IntArray, rows: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray, BoolArray]:
        """Pick the numbers and nulls; nested dicts of the old releases become keys of their own."""
        paths = list(self._keys.paths)
        found: list[tuple[int, int, float, bool]] = []
        for code, number, value in zip(codes.tolist(), rows.tolist(), values, strict=True):
            if isinstance(value, dict):
                for path, inner in _leaves(value, paths[code]):
                    found.append((self._keys.of(path), number, *inner))
            elif (picked := _picked(value)) is not None:
                found.append((code, number, *picked))
        table = np.array(found, dtype=np.float64).reshape(-1, 4)
        return (
            table[:, 0].astype(np.int64),
            table[:, 1].astype(np.int64),
            table[:, 2],
            table[:, 3] > 0,
        )


def _picked(value: Any) -> tuple[float, bool] | None:  # noqa: ANN401 - JSON is of any type
    """Return the number and whether it is null, or None for what is neither."""
    if value is None:
        return NOT_KNOWN, True
    number = as_number(value)
    return None if number is None else (number, False)


def _leaves(
    value: dict[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[float, bool]]]:
    if "_type" in value or len(path) > MAX_DEPTH:
        return
    for key, inner in value.items():
        below = (*path, key)
        if isinstance(inner, dict):
            yield from _leaves(inner, below)
        elif (picked := _picked(inner)) is not None:
            yield below, picked


def _loads(values: list[bytes]) -> list[Any]:
    """Decode JSON values: in one call, or one by one where one of them is no JSON."""
    try:
        found = json.loads(b"[" + b",".join(values) + b"]")
        if len(found) == len(values):
            return list(found)
    except (ValueError, RecursionError):
        pass
    return [_load(value) for value in values]


def _load(value: bytes) -> Any:  # noqa: ANN401 - JSON is of any type
    try:
        return parse_json(value)
    except Unreadable:
        return False  # neither a number nor a null: left out


def _floats(values: list[Any]) -> FloatArray:
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:  # integers beyond the range of float64
        return np.array([as_number(value) for value in values], dtype=np.float64)


def without_nulls(column: Column, kept: bool) -> Column:
    """Drop the nulls of a column; `kept`: but those after its first number are NaN."""
    first = int(np.argmin(column.null)) if not column.null.all() else len(column.null)
    places = ~column.null
    if kept:
        places[first:] = True
    return Column._make(values[places] for values in column)


def _joined(parts: list[Column]) -> Column:
    if len(parts) == 1:
        return parts[0]
    joined = Column._make(np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(joined.row, kind="stable")
    return Column(joined.row[order], joined.value[order], joined.null[order])
