"""A JSON object with a long list of objects, read as columns of numbers, a part at a time.

A dict and its numbers take 500 bytes a row. Of rows whose names came before and whose values are
all numbers a part is decoded into slots instead: in half of the time, and in a memory that the
next part takes again. Of the text no more than two parts are held.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec
import numpy as np

from runlens.history import FloatArray
from runlens.patterns import lazy_re

PART = 2**18  # bytes: about 2,500 rows
MOST_NAMES = 500  # of a row: a part of wider rows is decoded into dicts
_NEXT = lazy_re(rb"\}\s{0,99},\s{0,99}(?=\{)")
_LONGEST = 200  # bytes that it matches
_FLOAT = 9  # bytes of a number in MessagePack: a mark, then a float64, big-endian

Part = list[Any] | dict[str, FloatArray]  # rows as they are, or a column of shape (rows,) a name


def in_parts(file: BinaryIO, key: str, skipped: frozenset[str]) -> dict[str, Any] | None:
    """Return an object, one value of it, a long list, as a tuple of parts.

    None where it must be read whole: it is not what JSON allows, the list does not begin near the
    beginning of the file, or its key stands there more than once.
    """
    quoted = json.dumps(key).encode()
    text = bytearray(file.read(PART))
    opened = re.search(re.escape(quoted) + rb"\s{0,99}:\s{0,99}(?=\[)", text)
    if opened is None:
        return None
    head = bytes(text[: opened.end()])
    del text[: opened.end()]
    values: dict[str, msgspec.Raw] = {}

    def lists() -> Iterator[msgspec.Raw | memoryview]:
        yield from _cut(file, text)
        values.update(msgspec.json.decode(head + text, type=dict[str, msgspec.Raw]))
        # what was cut off lies within the list
        if key not in values or head.count(quoted) + text.count(quoted) > 1:
            raise msgspec.DecodeError("more than one list")
        yield values.pop(key)

    with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        found = tuple(parts(lists(), skipped))
        return {name: msgspec.json.decode(value) for name, value in values.items()} | {key: found}
    return None


def parts(lists: Iterable[msgspec.Raw | memoryview], skipped: frozenset[str]) -> Iterator[Part]:
    """Yield the rows of lists in order; NaN in a column where a row lacks that name.

    Rows that have one of the `skipped` names come as dicts. Raises MsgspecError where a list is
    not what JSON allows.
    """
    decoded, names = None, dict[str, None]()
    for text in lists:
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


def _cut(file: BinaryIO, text: bytearray) -> Iterator[memoryview]:
    """Yield a list that begins with `text` in parts that are lists as well; the last stays there.

    A part that was cut within a row, or within a text, is no JSON: no bracket closes it.
    """
    searched = PART
    while more := file.read(PART):
        text += more
        while found := _NEXT.search(text, searched):
            end, begin = found.start() + 1, found.end() - 1
            text[end] = ord("]")
            with memoryview(text) as whole, whole[: end + 1] as part:
                yield part
            text[begin] = ord("[")
            del text[:begin]
            searched = PART
        searched = max(PART, len(text) - _LONGEST)


def _nameable(name: str) -> bool:
    """Whether a slot can have a name: msgspec looks for it as it stands, without escapes."""
    return name.isprintable() and '"' not in name and "\\" not in name


class _Decoder:
    """Decodes rows of known names and of numbers alone.

    From slots they go through MessagePack, in which all rows are equally long: a table as it lies.
    """

    def __init__(self, names: list[str]) -> None:
        slots = {f"c{number}": name for number, name in enumerate(names)}
        fields = [(slot, float, float("nan")) for slot in slots]
        row = msgspec.defstruct("Row", fields, rename=slots, forbid_unknown_fields=True, gc=False)
        self._names = names
        self._decoder = msgspec.json.Decoder(list[row])  # type: ignore[valid-type]
        lengths = [len(msgspec.msgpack.encode(name)) + _FLOAT for name in names]
        length = len(msgspec.msgpack.encode(row()))
        ends = length - sum(lengths) + np.cumsum(lengths)
        self._row = np.dtype(
            {
                "names": list(slots),
                "formats": [">f8"] * len(names),
                "offsets": (ends - 8).tolist(),
                "itemsize": length,
            }
        )

    def columns(self, text: msgspec.Raw | memoryview) -> dict[str, FloatArray] | None:
        """Return the rows of a list by name; None where they hold another name or no number."""
        try:
            rows = self._decoder.decode(text)
        except msgspec.ValidationError:
            return None
        packed = msgspec.msgpack.encode(rows)
        first = len(packed) - len(rows) * self._row.itemsize
        table = np.frombuffer(packed, self._row, len(rows), first)
        slots = zip(self._names, self._row.fields or (), strict=True)
        return {name: table[slot].astype(np.float64) for name, slot in slots}
