"""The framing of W&B's transaction log: from the bytes of a ``.wandb`` file to its records.

A file starts with ``:W&B``, uint16 0xBEE1 and a version byte 0, the same in the releases 0.10 to
0.31. Blocks of 32 KiB follow, counted from the start of the file, each a row of chunks (see
`chunks`). A record is one chunk or several. Unlike LevelDB's, the checksum is the plain
CRC-32 of zlib, over the kind and the data.

After damage, reading goes on at the next chunk whose checksum is right, so that one flipped bit
costs one record. The file is read in pieces: memory does not grow with it.
"""

import io
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from runlens.history import IntArray
from runlens.records import NamedTuple
from runlens.sources.wandb_dir.chunks import (
    BLOCK,
    BROKEN,
    CHUNK_HEADER,
    FIRST,
    LAST,
    WHOLE,
    Chunks,
    chunks,
)

HEADER = b":W&B\xe1\xbe\x00"
PIECE = 128 * BLOCK  # bytes that are read at once: what is at work stays in the cache
MARGIN = bytes(512)  # lies behind the records, so that a look ahead needs no bound


class Records(NamedTuple):
    """Records in their order: `data[start:end]` each, in bytes that end with a `MARGIN`."""

    data: bytes
    start: IntArray
    end: IntArray


class Log:
    """The records of one log. What was lost on the way is known after the iteration."""

    def __init__(self, source: bytes | BinaryIO, header: bytes = HEADER) -> None:
        """Begin to read: `header` is what the file starts with."""
        self._stream = io.BytesIO(source) if isinstance(source, bytes) else source
        self._piece = self._stream.read(PIECE)
        self._begin = len(header)
        self._parts: list[bytes] = []  # of a record that is not complete
        self._begun = 0  # where that record begins
        self._damage: int | None = None  # where the damage begins that the last chunks ended with
        self.headed = self._piece[: len(header)] == header[: len(self._piece)]
        self.size = 0  # bytes that were read
        self.skipped: list[tuple[int, int]] = []  # [start, end) of damage
        self.unfinished = 0  # bytes at the end that hold no whole record

    @property
    def known(self) -> bool:
        """Whether this is a log: by its header, or by a whole chunk in its first piece."""
        return self.headed or bool((chunks(self._piece, 0).kind != BROKEN).any())

    def __iter__(self) -> Iterator[bytes]:
        for data, start, end in self.batches():
            for first, last in zip(start.tolist(), end.tolist(), strict=True):
                yield data[first:last]

    def batches(self) -> Iterator[Records]:
        """Yield the records of one piece of the file after the other."""
        piece, at = self._piece, self._begin
        while piece:
            yield self._records(piece, chunks(piece, at))
            self.size += len(piece)
            piece = self._stream.read(PIECE) if len(piece) == PIECE else b""
            at = 0
        if self._parts:
            self.unfinished = self.size - self._begun
        elif self._damage is not None:
            self.unfinished = self.size - self._damage

    def _records(self, piece: bytes, found: Chunks) -> Records:
        """Join the chunks that are parts of a record; the others are records as they lie."""
        whole = found.kind == WHOLE
        start, end = found.start + CHUNK_HEADER, found.end.copy()
        joined: list[bytes] = []
        size = len(piece)
        after = 0  # the first chunk that nothing was done about
        for place in np.flatnonzero(~whole).tolist():
            if place > after:
                self._settle(int(found.start[after]))
            after = place + 1
            data = piece[start[place] : end[place]]
            kind, begin, finish = (int(column[place]) for column in found)
            if record := self._part(kind, begin, finish, data):
                joined.append(record)
                start[place], end[place], whole[place] = size, size + len(record), True
                size += len(record)
        if after < len(whole):
            self._settle(int(found.start[after]))
        return Records(b"".join((piece, *joined, MARGIN)), start[whole], end[whole])

    def _part(self, kind: int, start: int, end: int, data: bytes) -> bytes:
        """Take in damage, or a chunk that is no whole record; return the record that it ends."""
        if kind == BROKEN:
            self._damage = self.size + start if self._damage is None else self._damage
            return b""
        if kind == FIRST or self._damage is not None:
            self._settle(start)
        if kind == FIRST:
            self._begun = self.size + start
            self._parts = [data]
        elif self._parts:
            self._parts.append(data)
        else:  # its first chunk is lost
            self._skip(self.size + start, self.size + end)
        if kind != LAST or not self._parts:
            return b""
        record = b"".join(self._parts)
        self._parts = []
        return record

    def _settle(self, at: int) -> None:
        """Note what was lost before a chunk that goes on with nothing."""
        end = self.size + at
        if self._damage is not None:
            self._skip(self._damage, end)
            end, self._damage = self._damage, None
        if self._parts:  # its last chunk is lost
            self._skip(self._begun, end)
            self._parts = []

    def _skip(self, start: int, end: int) -> None:
        """Note damage; what touches the damage before it is one with it."""
        if self.skipped and start <= self.skipped[-1][1] and end >= self.skipped[-1][0]:
            before = self.skipped.pop()
            start, end = min(start, before[0]), max(end, before[1])
        self.skipped.append((start, end))
