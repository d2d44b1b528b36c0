"""A long list of JSON objects as columns of numbers, a part at a time.

A dict and its numbers take 500 bytes a row. Of rows whose names came before and whose values are
all numbers a part is decoded into slots instead: in half of the time, and in a memory that the
next part takes again.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import astuple

from runlens.history import FloatArray
from runlens.patterns import lazy_re

PART = 2**18  # bytes: about 2,500 rows
MOST_NAMES = 500  # of a row: a part of wider rows is decoded into dicts
_NEXT = lazy_re(rb"\}\s{0,99},\s{0,99}(?=\{)")

Part = list[Any] | dict[str, FloatArray]  # rows as they are, or a column of shape (rows,) a name


def parts(rows: msgspec.Raw, skipped: frozenset[str]) -> Iterator[Part]:
    """Yield the rows of a list in order; NaN in a column where a row lacks that name.

    Rows that have one of the `skipped` names come as dicts. Raises MsgspecError where the list is
    not what JSON allows.
    """
    data = memoryview(rows)
    decoded, names = None, dict[str, None]()
    for text in _cut(data):
        if decoded and (columns := decoded.columns(text)) is not None:
            yield columns
            continue
        some = msgspec.json.decode(text)
        known = len(names)
        for row in some:
            if isinstance(row, dict) and not skipped.intersection(row):
                names.update(dict.fromkeys(row))
        if known < len(names) <= MOST_NAMES and all(map(_nameable, names)):
            decoded = _Decoder(list(names))
        yield some


def _cut(data: memoryview) -> Iterator[bytes]:
    """Yield a list in parts that are lists as well.

    A part that was cut within a row, or within a text, is no JSON: no bracket closes it.
    """
    first = 0
    while first < len(data):
        found = _NEXT.search(data, first + PART)
        end = found.end() if found else len(data)
        head, tail = b"[" if first else b"", b"]" if found else b""
        last = found.start() + 1 if found else end  # without the comma behind it
        yield b"".join((head, data[first:last], tail))
        first = end


def _nameable(name: str) -> bool:
    """Whether a slot can have a name: msgspec looks for it as it stands, without escapes."""
    return name.isprintable() and '"' not in name and "\\" not in name


class _Decoder:
    """Decodes rows of known names and of numbers alone."""

    def __init__(self, names: list[str]) -> None:
        slots = {f"c{number}": name for number, name in enumerate(names)}
        fields = [(slot, float, float("nan")) for slot in slots]
        row = msgspec.defstruct("Row", fields, rename=slots, forbid_unknown_fields=True, gc=False)
        self._names = names
        self._decoder = msgspec.json.Decoder(list[row])  # type: ignore[valid-type]

    def columns(self, text: bytes) -> dict[str, FloatArray] | None:
        """Return the rows of a list by name; None where they hold another name or no number."""
        try:
            rows = self._decoder.decode(text)
        except msgspec.ValidationError:
            return None
        numbers = chain.from_iterable(map(astuple, rows))
        flat = np.fromiter(numbers, np.float64, len(rows) * len(self._names))
        by_name = np.ascontiguousarray(flat.reshape(len(rows), -1).T)
        return dict(zip(self._names, by_name, strict=True))
