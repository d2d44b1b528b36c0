"""Dict rows that are whole lines, many at once: with other quotes they are JSON.

The careful way to read a row (`dicts.row`) takes some microseconds for each. Here a
batch of rows becomes one JSON list, of which the decoder makes one dict of floats a row; it
takes numbers that are written as strings too. A batch that is no such list is decoded row by
row, and what is no row of numbers then either is left to the careful way.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec
import numpy as np

from runlens.history import NOT_KNOWN, FloatArray, IntArray
from runlens.patterns import lazy_re
from runlens.sources.console.dicts import KINDS, Meaning, Rows, dated, meaning
from runlens.sources.console.records import MAX_STEP, Layout, Records

BATCH = 1_000  # rows
MAX_NAME = 120  # characters
_NOT_FINITE = lazy_re(rb":\s*([-+]?(?:nan|NaN|inf|Infinity))(?=\s*[,}])")
_MANY = msgspec.json.Decoder(list[dict[str, float]], strict=False)


def decoded(data: bytes, spans: IntArray) -> tuple[Rows, IntArray]:
    """Read the rows of numbers among the `spans` of a text, and return the other spans too.

    Spans have shape (n, 3): line, start and end of one pair of braces, by line. No backslash is
    in them: what JSON makes of it is not what was printed.
    """
    parts: list[Rows] = []
    read = np.zeros(len(spans), dtype=np.bool_)
    for begin in range(0, len(spans), BATCH):
        _, starts, ends = spans[begin : begin + BATCH].T.tolist()
        batch = [data[start:end] for start, end in zip(starts, ends, strict=True)]
        for names, said, number, values in _layouts(_dicts(batch)):
            rows = _rows(names, said, spans[begin + number, 0], values)
            good = (rows.step >= 0) | ~np.isnan(rows.records.epoch)
            parts.append(rows.taken(good))
            read[begin + number[good]] = True
    return Rows.joined(parts), spans[~read]


def _dicts(rows: Sequence[bytes]) -> list[dict[str, float]]:
    """Return the numbers in rows; an empty dict for what is no row of numbers."""
    found = _decoded(b",".join(rows))
    if len(found) == len(rows):
        return found
    singly = map(_decoded, rows)
    return [one[0] if len(one) == 1 else {} for one in singly]


def _decoded(rows: bytes) -> list[dict[str, float]]:
    """Return the numbers in rows between commas; nothing if one of them is no row of numbers."""
    text = b"[" + rows.replace(b"'", b'"') + b"]"
    try:
        return _MANY.decode(text)
    except (msgspec.MsgspecError, ValueError):
        pass
    try:
        return _MANY.decode(_NOT_FINITE.sub(rb':"\1"', text))
    except (msgspec.MsgspecError, ValueError):
        return []


def _layouts(
    rows: list[dict[str, float]],
) -> Iterator[tuple[tuple[str, ...], Meaning, IntArray, FloatArray]]:
    """Return the layouts of rows that could be dated: names, what they say, numbers, values."""
    layouts = list(map(tuple, rows))
    codes = {names: code for code, names in enumerate(dict.fromkeys(layouts))}
    code = np.fromiter(map(codes.__getitem__, layouts), dtype=np.int64, count=len(rows))
    values = np.fromiter(chain.from_iterable(map(dict.values, rows)), dtype=np.float64)
    width = np.fromiter(map(len, layouts), dtype=np.int64, count=len(rows))
    begin = np.cumsum(width) - width
    for names, own in codes.items():
        said = meaning(names) if dated(names) else None
        if said and all(0 < len(name) <= MAX_NAME for name in names):
            number = np.flatnonzero(code == own)
            yield names, said, number, values[begin[number, np.newaxis] + np.arange(len(names))]


def _rows(names: tuple[str, ...], said: Meaning, at: IntArray, values: FloatArray) -> Rows:
    unknown = np.full(len(at), NOT_KNOWN)
    number = values[:, said.step] if said.step >= 0 else unknown
    epoch = values[:, said.epoch] if said.epoch >= 0 else unknown
    step = np.where((number >= 0) & (number < MAX_STEP), number, -1).astype(np.int64)
    epoch = np.where(abs(epoch) < MAX_STEP, epoch, NOT_KNOWN)
    layout = Layout(names, np.arange(len(at)), values)
    kind = np.full(len(at), KINDS.index(said.kind))
    return Rows(Records(at, epoch, (layout,)), kind, step)
