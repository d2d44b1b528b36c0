"""History rows of a W&B run, turned into columns of numbers."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from runlens.history import BoolArray, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.sources.wandb_dir import walk
from runlens.sources.wandb_dir.keys import Keys
from runlens.sources.wandb_dir.numbers import numbers, plain
from runlens.sources.wandb_dir.proto import Item, Malformed, items


class Column(NamedTuple):
    """All values of one key; arrays of shape (n,). A null (JSON) is NaN in `value`."""

    row: IntArray
    value: FloatArray
    null: BoolArray


class _Values(NamedTuple):
    """Numbers with the code of their key and the row they are of; shape (n,)."""

    code: IntArray
    row: IntArray
    value: FloatArray
    null: BoolArray


@dataclass
class Rows:
    """Collects history rows."""

    count: int = 0
    _keys: Keys = field(default_factory=Keys)
    _parts: dict[int, list[Column]] = field(default_factory=dict)  # by the key's code

    def add(self, buffer: walk.Buffer, start: IntArray, end: IntArray) -> BoolArray:
        """Add the rows in history records `data[start:end]`; return which could be decoded."""
        found, taken = walk.items(buffer, start, end)
        slow: dict[int, list[Item]] = {}
        for place in np.flatnonzero(~taken).tolist():
            try:
                slow[place] = items(buffer.data[start[place] : end[place]])
            except Malformed:
                continue
            taken[place] = True
        number = self.count - 1 + np.cumsum(taken)
        values = self._values(buffer, found._replace(row=number[found.row]))
        if slow:
            careful = (
                (self._keys.of(path), int(number[place]), json)
                for place, some in slow.items()
                for path, json in some
            )
            values = _joined_values(values, self._picked(careful))
        self._sort(values)
        self.count += int(taken.sum())
        return taken

    def columns(self) -> dict[str, Column]:
        """Return the numbers among the values, by key; levels are joined by a dot.

        Text, lists, yes-or-no values and media (images, tables, histograms) are left out.
        """
        media = {path[:-1] for path in self._keys.paths if path[-1] == "_type"}
        found: dict[str, list[Column]] = {}
        for code, path in enumerate(self._keys.paths):
            if code in self._parts and not any(path[:n] in media for n in range(1, len(path))):
                found.setdefault(".".join(path), []).extend(self._parts[code])
        return {name: _joined(parts) for name, parts in found.items()}

    def _values(self, buffer: walk.Buffer, found: walk.Items) -> _Values:
        codes = self._keys.codes(buffer, found.key, found.key_end)
        value, digits = plain(buffer, found.value, found.value_end)
        if digits.all():
            return _Values(codes, found.row, value, np.zeros(len(value), dtype=np.bool_))
        bulk = _Values(
            codes[digits], found.row[digits], value, np.zeros(len(value), dtype=np.bool_)
        )
        other = (
            column[~digits].tolist() for column in (codes, found.row, found.value, found.value_end)
        )
        rest = (
            (code, row, buffer.data[begin:end])
            for code, row, begin, end in zip(*other, strict=True)
        )
        return _joined_values(bulk, self._picked(rest))

    def _picked(self, rest: Iterable[tuple[int, int, bytes]]) -> _Values:
        """Pick the numbers and nulls; nested dicts of the old releases become keys of their own."""
        found: list[tuple[int, int, float, bool]] = []
        for code, row, json in rest:
            for path, value, null in numbers(json):
                own = self._keys.of((*self._keys.paths[code], *path)) if path else code
                found.append((own, row, value, null))
        columns = zip(*found, strict=True) if found else ((), (), (), ())
        kinds = (np.int64, np.int64, np.float64, np.bool_)
        return _Values._make(
            np.array(c, dtype=kind) for c, kind in zip(columns, kinds, strict=True)
        )

    def _sort(self, values: _Values) -> None:
        """Hand each key its values, in the order of the rows."""
        order = walk.stable_order(values.code)
        code, row, value, null = values
        code, row, value, null = code[order], row[order], value[order], null[order]
        borders = [*np.flatnonzero(np.diff(code, prepend=-1)).tolist(), len(code)]
        for begin, end in pairwise(borders):
            part = Column(row[begin:end], value[begin:end], null[begin:end])
            self._parts.setdefault(int(code[begin]), []).append(part)


def _joined_values(one: _Values, other: _Values) -> _Values:
    joined = _Values._make(np.concatenate(pair) for pair in zip(one, other, strict=True))
    order = np.argsort(joined.row, kind="stable")
    return _Values._make(column[order] for column in joined)


def without_nulls(column: Column, kept: bool) -> Column:
    """Drop the nulls of a column; `kept`: but those after its first number are NaN."""
    if not column.null.any():
        return column
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
