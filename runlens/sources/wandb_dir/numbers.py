"""JSON values of history rows as numbers, many at once."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from runlens.history import NOT_KNOWN, BoolArray, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.sources.files import MAX_DEPTH, Unreadable, parse_json
from runlens.sources.reading import as_number
from runlens.sources.wandb_dir.keys import masks
from runlens.sources.wandb_dir.walk import Buffer

LONGEST = 31  # characters of a number that is decoded in bulk; those of doubles have up to 24
_MASKS = masks(LONGEST + 1)
_decoded = msgspec.json.Decoder(list[float]).decode
_SPACES = np.uint64(0x2020202020202020)
_END = np.frombuffer(b"]       ", dtype="<u8")[0]
_BYTE = np.uint64(0xFF)
_NOT_FINITE = {b"NaN": NOT_KNOWN, b"Infinity": float("inf"), b"-Infinity": float("-inf")}
_NO_NUMBERS = (b"[", b"t", b"f", b'{"_type"')  # lists, true, false, media of the old releases


class Number(NamedTuple):
    """One number in a value, or null: `path` is where below the value's key it stands."""

    path: tuple[str, ...]
    value: float  # NaN for null
    null: bool


def plain(buffer: Buffer, start: IntArray, end: IntArray) -> tuple[FloatArray, BoolArray]:
    """Decode the values `data[start:end]` that are written in digits, and say which are."""
    size = end - start
    word = buffer.eight(start - 1)  # a value lies behind its length
    first, second = word >> np.uint64(8) & _BYTE, word >> np.uint64(16) & _BYTE
    digits = (first - np.uint64(ord("0")) < 10) | (first == ord("-")) & (second != ord("I"))  # noqa: PLR2004
    digits &= (size > 0) & (size <= LONGEST)
    if not digits.all():
        start, size = start[digits], size[digits]
    try:
        found = _decoded(_joined(buffer, start, size))
    except msgspec.DecodeError:
        found = []
    if len(found) != len(start):  # no JSON, or beyond the range of float64: see `numbers`
        return np.array([], dtype=np.float64), np.zeros(len(end), dtype=np.bool_)
    return np.array(found, dtype=np.float64), digits


def _joined(buffer: Buffer, start: IntArray, size: IntArray) -> bytes:
    """Write values of at most LONGEST bytes as a JSON list, filled up with spaces."""
    if not len(start):
        return b"[]"
    words = int(size.max()) // 8 + 1
    text = np.empty(len(start) * words + 1, dtype=np.uint64)
    table = text[:-1].reshape(-1, words)
    for number in range(words):
        word = buffer.eight(start - 1 + 8 * number) ^ _SPACES
        table[:, number] = word & _MASKS[number][size + 1] ^ _SPACES
    table[:, 0] = table[:, 0] & ~_BYTE | np.uint64(ord(","))  # where the length was
    table[0, 0] = table[0, 0] & ~_BYTE | np.uint64(ord("["))
    text[-1] = _END
    return text.tobytes()


def numbers(value: bytes) -> Iterator[Number]:
    """Yield the numbers and nulls in one JSON value; nested dicts are looked into, lists not."""
    if value in _NOT_FINITE:
        yield Number((), _NOT_FINITE[value], null=False)
    elif not value.startswith(_NO_NUMBERS):
        try:
            yield from numbers_in(parse_json(value or b"null"))
        except Unreadable:
            return


def numbers_in(value: Any, path: tuple[str, ...] = ()) -> Iterator[Number]:  # noqa: ANN401 - JSON
    """Yield the numbers and nulls in one decoded JSON value that stands at `path`."""
    if isinstance(value, dict):
        if "_type" not in value and len(path) < MAX_DEPTH:
            for key, inner in value.items():
                yield from numbers_in(inner, (*path, key))
    elif value is None:
        yield Number(path, NOT_KNOWN, null=True)
    elif (number := as_number(value)) is not None:
        yield Number(path, number, null=False)
