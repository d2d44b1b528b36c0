"""The chunks in a stretch of a W&B log, found in all its blocks at once and checked.

A chunk is a header (uint32 checksum, uint16 length, uint8 kind) and its data. It never crosses the
border of a block of 32 KiB, and each block begins with one: so every block can be followed by
itself, all of them together in numpy, and damage in one of them is no matter of the others. In a
block that does not add up reading goes on, byte by byte, at the next chunk whose checksum is right.
"""

import struct
import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from runlens.history import BoolArray, IntArray
from runlens.patterns import lazy_re
from runlens.records import NamedTuple

BLOCK = 32768
CHUNK_HEADER = 7
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4
BROKEN = 0  # stands between chunks for bytes that belong to none

_CHECKED = 6  # the checksum is over the kind, which is the header's last byte, and the data
_unpack = struct.Struct("<IHB").unpack_from
_KIND_BYTE = lazy_re(rb"[\x01-\x04]")


class Chunks(NamedTuple):
    """Chunks in the order in which they lie, `BROKEN` stretches among them; shape (n,).

    `start` is where a chunk's header begins, `end` where its data ends.
    """

    kind: IntArray
    start: IntArray
    end: IntArray


def chunks(data: bytes, at: int) -> Chunks:
    """Find the chunks of `data`, which begins where a block does, from place `at` on."""
    block, found, whole = _followed(data, at)
    checked = _checked(data, found)
    good = whole
    good[block[~checked]] = False
    if good.all():
        return found
    kept = good[block]
    rows = [
        row
        for number in np.flatnonzero(~good).tolist()
        for row in _searched(data, max(at, number * BLOCK), (number + 1) * BLOCK)
    ]
    slow = np.array(rows, dtype=np.int64).reshape(-1, 3)
    joined = [np.concatenate([column[kept], slow[:, n]]) for n, column in enumerate(found)]
    order = np.argsort(joined[1])
    return Chunks(*(column[order] for column in joined))


def _followed(data: bytes, at: int) -> tuple[IntArray, Chunks, BoolArray]:
    """Follow the lengths through each block; which block a chunk is of, and which went well."""
    starts = np.arange(0, len(data), BLOCK)
    limits = np.minimum(starts + BLOCK, len(data))
    starts[0] = at
    good = np.ones(len(starts), dtype=np.bool_)
    words: npt.NDArray[np.uint32] = np.ndarray(
        (max(0, len(data) - 3),), dtype="<u4", buffer=data, strides=(1,)
    )
    found: list[tuple[IntArray, IntArray, IntArray, IntArray]] = []
    open_ = np.arange(len(starts))
    while True:
        room = limits[open_] - starts[open_]
        good[open_[(room > 0) & (room < CHUNK_HEADER) & (limits[open_] % BLOCK > 0)]] = False
        open_ = open_[room >= CHUNK_HEADER]
        if not len(open_):
            break
        start = starts[open_]
        size_and_kind = words[start + 3].astype(np.int64) >> 8
        kind = size_and_kind >> 16
        end = start + CHUNK_HEADER + (size_and_kind & 0xFFFF)
        fits = (kind >= WHOLE) & (kind <= LAST) & (end <= limits[open_])
        if not fits.all():
            good[open_[~fits]] = False
            open_, kind, start, end = open_[fits], kind[fits], start[fits], end[fits]
        found.append((open_, kind, start, end))
        starts[open_] = end
    if not found:
        none = np.array([], dtype=np.int64)
        return none, Chunks(none, none, none), good
    block, kind, start, end = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(start)
    return block[order], Chunks(kind[order], start[order], end[order]), good


def _checked(data: bytes, found: Chunks) -> BoolArray:
    """Which chunks have the right checksum."""
    if not len(found.start):
        return np.array([], dtype=np.bool_)
    stored: npt.NDArray[np.uint32] = np.ndarray(
        (len(data) - 3,), dtype="<u4", buffer=data, strides=(1,)
    )
    begins, ends = (found.start + 4 + 2).tolist(), found.end.tolist()
    crc32 = zlib.crc32
    sums = [crc32(data[begin:end]) for begin, end in zip(begins, ends, strict=True)]
    right: BoolArray = stored[found.start] == np.array(sums, dtype=np.uint32)
    return right


def _searched(data: bytes, at: int, limit: int) -> Iterator[tuple[int, int, int]]:
    """Find the chunks of one block, which ends at `limit`, with what is damaged between them."""
    end = min(limit, len(data))
    while at < end and limit - at >= CHUNK_HEADER:
        if kind := _kind_at(data, at, end):
            after = at + CHUNK_HEADER + _unpack(data, at)[1]
            yield kind, at, after
            at = after
            continue
        following = _next(data, at + 1, end)
        yield BROKEN, at, following
        at = following


def _kind_at(data: bytes, at: int, limit: int) -> int:
    """Return the kind of the chunk at `at` if a whole one with the right checksum is there."""
    if at + CHUNK_HEADER > limit:
        return BROKEN
    checksum, length, kind = _unpack(data, at)
    end = at + CHUNK_HEADER + length
    if (
        not WHOLE <= kind <= LAST
        or end > limit
        or zlib.crc32(data[at + _CHECKED : end]) != checksum
    ):
        return BROKEN
    return int(kind)


def _next(data: bytes, at: int, limit: int) -> int:
    """Return where the next chunk begins; `limit` where none does."""
    for found in _KIND_BYTE.finditer(data, at + _CHECKED, limit):
        if _kind_at(data, found.start() - _CHECKED, limit):
            return found.start() - _CHECKED
    return limit
