"""Frames of TensorBoard event files: whole records, checked, also from behind damage.

A record is its length (uint64), the masked CRC-32C of the length, the data, and the masked
CRC-32C of the data, all little endian. TensorBoard stops at the first bad byte without a word;
here reading goes on at the next record, and what was lost is counted.
"""

import struct
from array import array
from collections.abc import Iterator
from typing import Any, BinaryIO

import google_crc32c
import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from runlens.history import BoolArray, IntArray
from runlens.records import NamedTuple

ByteArray = npt.NDArray[np.uint8]
CheckArray = npt.NDArray[np.uint32]

WINDOW = 16 * 2**20  # bytes of a file held at once; longer records are stepped over
HEADER = struct.Struct("<QI")
CHECK = struct.Struct("<I")
OVERHEAD = HEADER.size + CHECK.size
SEARCH = 2**16  # bytes looked through at first for the record after a damage
LONGEST_CHECKED = 2**20  # data of a candidate found by searching that is checked at once
WATCHED = 128  # records whose lengths are looked at for a pattern that repeats
LONGEST_PATTERN = 64  # records: a program logs the same metrics at every step
SELDOM = 2**16  # records between two looks, where no pattern is found again and again
AT_ONCE = 1_024  # records that are foreseen at first; doubled while they are met
MASK_DELTA = 0xA282EAD8
CASTAGNOLI = 0x82F63B78
ALL_ONES = np.uint32(0xFFFFFFFF)


class Records(NamedTuple):
    """The whole records of one window. Their data is not checked yet; arrays have shape (n,)."""

    buffer: bytes
    start: IntArray  # of the data, in the buffer
    length: IntArray  # of the data
    first: int  # number in the file of the first of them


class Damage(Struct):
    """What of a file could not be read. Offsets are bytes from its start."""

    records: int = 0  # framed so far
    holes: list[tuple[int, int]] = field(default_factory=list)  # offset, bytes
    tail: int = 0  # bytes of an unfinished record at the end
    garbage: int = 0  # bytes at the end that are no record
    large: int = 0  # records too long to be looked at


def windows(handle: BinaryIO, size: int, damage: Damage) -> Iterator[Records]:
    """Yield the whole records among the first `size` bytes; `damage` grows as they are read.

    A file that is being appended to is read up to the `size` it had. A file without any record
    in its first window is given up.
    """
    offset = 0
    hole: int | None = None  # where the damage began whose end is still being looked for
    while offset < size:
        handle.seek(offset)
        buffer = handle.read(min(WINDOW, size - offset))
        frame = _Frame(buffer, offset, hole, available=size - offset)
        damage.holes += frame.holes
        damage.records += len(frame.start)
        if frame.start:
            yield frame.records(damage.records - len(frame.start))
        offset, hole = offset + frame.end, frame.hole
        if hole is not None and not damage.records:
            break
        header = buffer[frame.end : frame.end + HEADER.size]
        if hole is None and (skipped := _large(header, size - offset)):
            offset += skipped
            damage.large += 1
            damage.records += 1
        elif not frame.end:
            break
    if hole is not None:
        damage.garbage = size - hole
    else:
        damage.tail = size - offset


class _Frame:
    """Finds the records of one window."""

    def __init__(self, buffer: bytes, offset: int, hole: int | None, available: int) -> None:
        self.buffer, self.offset = buffer, offset
        self.available = available  # bytes of the file from the begin of the buffer
        self.start = array("q")  # of the records, in the buffer
        self.holes: list[tuple[int, int]] = []
        self.hole = hole  # open, as an offset in the file
        self.end = 0  # where the next window has to begin
        self.known: dict[bytes, int] = {}  # header -> bytes of its record; a file has few lengths
        if hole is None or self._found(0, hole):
            self._frame()

    def records(self, first: int) -> Records:
        """Return what was found; `first` is the number of the first record in the file."""
        start = np.frombuffer(self.start, np.int64)
        lengths = _numbers_at(self.buffer, start, "<i8")
        return Records(self.buffer, start + HEADER.size, lengths, first)

    def _frame(self) -> None:
        while True:
            sound = self._chain()
            if sound and not self._cut():
                return
            began = self._damage_began(sound=sound)
            self.hole = self.offset + began
            if not self._found(began + 1, self.hole):
                if sound and self.available == len(self.buffer):
                    self.hole, self.end = None, began  # just an unfinished record at the end
                return

    def _cut(self) -> bool:
        """Tell whether the file ends before the record does that begins at `end`."""
        rest = len(self.buffer) - self.end
        if rest < HEADER.size:
            return rest > 0 and self.available == len(self.buffer)
        length = HEADER.unpack_from(self.buffer, self.end)[0]
        return bool(self.end + length + OVERHEAD > self.available)

    def _chain(self) -> bool:
        """Go from record to record; return whether the last header seen was sound or cut."""
        watched = WATCHED
        while (sound := self._some(watched)) is None:
            before = len(self.start)
            self._foreseen()
            met = len(self.start) - before
            watched = WATCHED if met >= AT_ONCE else min(2 * watched, SELDOM)
        return sound

    def _some(self, most: int) -> bool | None:
        """Go from record to record; None after `most` records, else as `_chain`."""
        buffer, position = self.buffer, self.end
        size, start, known = len(buffer), self.start.append, self.known
        sound: bool | None = None
        for _ in range(most):
            header = buffer[position : position + HEADER.size]
            bytes_of_record = known.get(header)
            if bytes_of_record is None:
                if len(header) < HEADER.size:
                    sound = True
                    break
                length, check = HEADER.unpack(header)
                if masked(header[:8]) != check:
                    sound = False
                    break
                bytes_of_record = known[header] = length + OVERHEAD
            after = position + bytes_of_record
            if after > size:
                sound = True
                break
            start(position)
            position = after
        self.end = position
        return sound

    def _foreseen(self) -> None:
        """Step over records whose lengths repeat those before, all of them at once.

        A header that stands where the record before ends, and equals one that was checked, is
        sound: what is foreseen wrongly is not met, and is left to the next step.
        """
        lengths = np.diff(np.array([*self.start[-WATCHED:], self.end]))
        pattern = _pattern(lengths.tolist())
        if not pattern:
            return
        cycle = lengths[-pattern:]
        offsets = np.cumsum(cycle) - cycle
        headers = self.start[-pattern:]
        length, check = (
            _numbers_at(self.buffer, np.array(headers) + at, kind)
            for at, kind in ((0, "<i8"), (8, "<u4"))
        )
        at_once, total = AT_ONCE, int(cycle.sum())
        while (times := min(at_once // pattern + 1, (len(self.buffer) - self.end) // total)) > 0:
            places = (self.end + total * np.arange(times)[:, None] + offsets).ravel()
            same = _numbers_at(self.buffer, places, "<i8") == np.tile(length, times)
            same &= _numbers_at(self.buffer, places + 8, "<u4") == np.tile(check, times)
            met = len(same) if same.all() else int(same.argmin())
            self.start.frombytes(places[:met].tobytes())
            if met < len(same):
                self.end = int(places[met])
                return
            self.end += times * total
            at_once *= 2

    def _damage_began(self, *, sound: bool) -> int:
        """Return where to look on from: a bad record before a bad header may hide good ones."""
        if sound or not self.start or whole(self.buffer, self.start[-1]):
            return self.end
        return self.start.pop()

    def _found(self, position: int, hole: int) -> bool:
        """Look for the next record; if there is one, close the hole."""
        found = next_record(self.buffer, position)
        if found < 0:
            self.end = max(position, len(self.buffer) - HEADER.size + 1)
            return False
        self.holes.append((hole, self.offset + found - hole))
        self.hole, self.end = None, found
        return True


def _pattern(lengths: list[int]) -> int:
    """Return after how many records the lengths of the last ones repeat; 0: they do not."""
    for size in range(1, LONGEST_PATTERN + 1):
        if lengths[size:] == lengths[:-size]:
            return size
    return 0


def _numbers_at(buffer: bytes, places: IntArray, kind: str) -> npt.NDArray[Any]:
    """Return the numbers of a NumPy type that begin at these bytes."""
    size = len(buffer) - np.dtype(kind).itemsize + 1
    return np.ndarray((size,), kind, buffer, strides=(1,))[places]


def _large(header: bytes, available: int) -> int:
    """Return the bytes of a record that is too long for a window but whole; 0 if it is not."""
    if len(header) < HEADER.size:
        return 0
    length = int(HEADER.unpack(header)[0]) + OVERHEAD
    return length if WINDOW < length <= available else 0


def next_record(buffer: bytes, position: int) -> int:
    """Return where the next record begins at or after `position`; -1 if there is none.

    Four bytes of a length that fit their checksum are no accident: none was met in 20 MB of
    noise. The data is checked too, where all of it is in the buffer.
    """
    size = SEARCH
    while position + HEADER.size <= len(buffer):
        raw = np.frombuffer(buffer, np.uint8, offset=position)[: size + HEADER.size - 1]
        for found in (_headers(raw) + position).tolist():
            length = HEADER.unpack_from(buffer, found)[0]
            here = found + OVERHEAD + length <= len(buffer)
            if not here or length > LONGEST_CHECKED or whole(buffer, found):
                return int(found)
        position, size = position + size, 2 * size
    return -1


def _headers(raw: ByteArray) -> IntArray:
    """Return where a length from 1 to 2^28 - 1 stands before its own checksum."""
    n = len(raw) - HEADER.size + 1
    high = raw[4 : n + 4] | raw[5 : n + 5] | raw[6 : n + 6] | raw[7 : n + 7] | (raw[3 : n + 3] >> 4)
    low = raw[0:n] | raw[1 : n + 1] | raw[2 : n + 2] | raw[3 : n + 3]
    candidates = np.flatnonzero((high == 0) & (low != 0))
    headers = np.lib.stride_tricks.sliding_window_view(raw, HEADER.size)[candidates]
    good: IntArray = candidates[checked(headers)]
    return good


def whole(buffer: bytes, position: int) -> bool:
    """Tell whether the data of the record at `position` fits its checksum."""
    start, length = position + HEADER.size, int(HEADER.unpack_from(buffer, position)[0])
    return intact(buffer, start, length) is not None


def intact(buffer: bytes, start: int, length: int) -> bytes | None:
    """Return the data at `start`; None where it does not fit the checksum behind it."""
    data = buffer[start : start + length]
    return data if masked(data) == CHECK.unpack_from(buffer, start + length)[0] else None


def masked(data: bytes) -> int:
    """Return the masked CRC-32C of `data`, as TensorFlow's record format defines it."""
    crc = google_crc32c.value(data)
    return int(((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF)


def checked(rows: ByteArray) -> BoolArray:
    """Tell for each row of shape (n, length + 4) whether its last four bytes check the rest."""
    crc = crc32c(rows[:, :-4])
    mask = (crc >> np.uint32(15) | crc << np.uint32(17)) + np.uint32(MASK_DELTA)
    stored = np.ascontiguousarray(rows[:, -4:]).view("<u4")[:, 0]
    equal: BoolArray = mask == stored
    return equal


def crc32c(rows: ByteArray) -> CheckArray:
    """Return the CRC-32C of each row of shape (n, length): two bytes of all rows at a time."""
    crc = np.full(len(rows), ALL_ONES)
    even = rows.shape[1] // 2 * 2
    for pair in np.ascontiguousarray(rows[:, :even]).view("<u2").T.copy() if even else ():
        place = crc.astype(np.uint16)
        place ^= pair
        crc >>= np.uint32(16)
        crc ^= _TWO_BYTES.take(place)
    if rows.shape[1] % 2:
        crc = crc >> np.uint32(8) ^ _ONE_BYTE[(crc ^ rows[:, -1]) & np.uint32(0xFF)]
    return crc ^ ALL_ONES


def _table(bits: int) -> CheckArray:
    crc = np.arange(2**bits, dtype=np.uint32)
    for _ in range(bits):
        crc = crc >> np.uint32(1) ^ (crc & np.uint32(1)) * np.uint32(CASTAGNOLI)
    return crc


_ONE_BYTE = _table(8)
_TWO_BYTES = _table(16)
