"""The framing of W&B's transaction log: from the bytes of a ``.wandb`` file to its records.

A file starts with ``:W&B``, uint16 0xBEE1 and a version byte 0, the same in the releases 0.10 to
0.31. Blocks of 32 KiB follow, counted from the start of the file. A chunk is a header (uint32
checksum, uint16 length, uint8 kind) and its data; a record is one chunk or several. Unlike
LevelDB's, the checksum is the plain CRC-32 of zlib, over the kind and the data.

After damage, reading goes on at the next chunk whose checksum is right, so that one flipped bit
costs one record.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

HEADER = b":W&B\xe1\xbe\x00"
BLOCK = 32768
CHUNK_HEADER = 7
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4
BROKEN = 0  # stands between chunks where bytes had to be skipped

_unpack = struct.Struct("<IHB").unpack_from
_KIND_CHECKSUM = [zlib.crc32(bytes([kind])) for kind in range(LAST + 1)]
_KIND_BYTE = re.compile(rb"[\x01-\x04]")


class Chunk(NamedTuple):
    """One stretch of the file: `data` is its content, `start` and `end` its place in bytes."""

    kind: int
    start: int
    end: int
    data: bytes = b""


@dataclass
class Log:
    """The records of one log. What was lost on the way is known after the iteration."""

    data: bytes
    skipped: list[tuple[int, int]] = field(default_factory=list)  # [start, end) of damage
    unfinished: int = 0  # bytes at the end that hold no whole record

    @property
    def known(self) -> bool:
        """Whether this is a transaction log: by its header, or by a chunk that is whole."""
        if self.data[: len(HEADER)] == HEADER[: len(self.data)]:
            return True
        return self._next_chunk(0) is not None

    def __iter__(self) -> Iterator[bytes]:
        parts: list[bytes] = []
        begun = 0
        for kind, start, end, data in self._chunks():
            if kind in {MIDDLE, LAST}:
                if parts:
                    parts.append(data)
                else:  # its first chunk is lost
                    self._skip(start, end)
                if parts and kind == LAST:
                    yield b"".join(parts)
                    parts = []
                continue
            if parts:  # its last chunk is lost
                self._skip(begun, start)
            parts = []
            if kind == WHOLE:
                yield data
            elif kind == FIRST:
                parts, begun = [data], start
        if parts:
            self.unfinished = len(self.data) - begun

    def _chunks(self) -> Iterator[Chunk]:
        size = len(self.data)
        at = len(HEADER)
        while at < size:
            room = BLOCK - at % BLOCK
            if room < CHUNK_HEADER:  # padding
                at += room
                continue
            if chunk := self._chunk(at):
                yield chunk
                at = chunk.end
                continue
            following = self._next_chunk(at + 1)
            if following is None:
                self.unfinished = size - at
                return
            self._skip(at, following)
            yield Chunk(BROKEN, at, following)
            at = following

    def _skip(self, start: int, end: int) -> None:
        """Note damage; what touches the damage before it is one with it."""
        if self.skipped and start <= self.skipped[-1][1] and end >= self.skipped[-1][0]:
            before = self.skipped.pop()
            start, end = min(start, before[0]), max(end, before[1])
        self.skipped.append((start, end))

    def _chunk(self, at: int) -> Chunk | None:
        """Return the chunk at `at`, if a whole one with the right checksum is there."""
        start = at + CHUNK_HEADER
        if start > len(self.data):
            return None
        checksum, length, kind = _unpack(self.data, at)
        end = start + length
        if not WHOLE <= kind <= LAST or end > len(self.data) or at % BLOCK + end - at > BLOCK:
            return None
        data = self.data[start:end]
        if zlib.crc32(data, _KIND_CHECKSUM[kind]) != checksum:
            return None
        return Chunk(kind, at, end, data)

    def _next_chunk(self, at: int) -> int | None:
        for found in _KIND_BYTE.finditer(self.data, at + CHUNK_HEADER - 1):
            start = found.start() - CHUNK_HEADER + 1
            if self._chunk(start):
                return start
        return None
