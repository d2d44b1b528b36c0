"""Scalars of event files, decoded by columns: thousands of records at a time.

The usual record holds one ``simple_value`` and nothing else, so records of one length have
their fields at the same places. Whatever differs is left to `proto`.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from runlens.history import BoolArray, FloatArray, IntArray, distinct
from runlens.records import NamedTuple
from runlens.sources.tensorboard.proto import scalar_at
from runlens.sources.tensorboard.records import ByteArray, Records, checked

ROWS = 16_384  # of a byte matrix at a time: stays in the cache
FEW = 8  # records of one length that are not worth a matrix
SHORTEST = 21  # time, one tag of one character, one value; no step
LONGEST = 2_048  # longer records are no plain scalars
MANY_TAGS = 64  # of one length in one matrix; the rest is decoded one by one
HAS_TIME, HAS_STEP, HAS_SUMMARY, HAS_VALUE, HAS_TAG, HAS_NUMBER = 0x09, 0x10, 0x2A, 0x0A, 0x0A, 0x15
TIME_END = 9
STEP_AT = 10
LONGEST_VARINT = 10
CONTINUES = 0x80


class Points(NamedTuple):
    """Values of one tag; all arrays have shape (n,)."""

    record: IntArray  # number of the record in the file: the order of logging
    step: IntArray
    value: FloatArray
    time: FloatArray  # seconds since 1970


class Decoded(NamedTuple):
    """One window: the plain scalars, and the records that are none (indices into the window)."""

    points: list[tuple[bytes, Points]]
    others: IntArray  # to be decoded one by one; not checked yet
    damaged: IntArray  # whose data does not fit the checksum


def decode(records: Records) -> Decoded:
    """Decode all plain scalars of a window and check them."""
    points: list[tuple[bytes, Points]] = []
    others: list[IntArray] = []
    damaged: list[IntArray] = []
    raw = np.frombuffer(records.buffer, np.uint8)
    for length, rows in _by_length(records.length):
        if len(rows) < FEW or not SHORTEST <= length <= LONGEST:
            others.append(rows)
            continue
        window = np.lib.stride_tricks.sliding_window_view(raw, length + 4)
        for first in range(0, len(rows), ROWS):
            some = rows[first : first + ROWS]
            matrix = window[records.start[some]]
            good = checked(matrix)
            damaged.append(some[~good])
            found, left = _decode_rows(matrix[good][:, :length], some[good])
            points += [
                (tag, rows._replace(record=rows.record + records.first)) for tag, rows in found
            ]
            others += left
    return Decoded(points, _joined(others), _joined(damaged))


def _by_length(length: IntArray) -> Iterator[tuple[int, IntArray]]:
    order = np.argsort(length, kind="stable")
    edges = np.flatnonzero(np.diff(length[order])) + 1
    for rows in np.split(order, edges):
        yield int(length[rows[0]]), rows


def _joined(parts: list[IntArray]) -> IntArray:
    return np.sort(np.concatenate([np.zeros(0, np.int64), *parts]))


def _decode_rows(
    matrix: ByteArray, rows: IntArray
) -> tuple[list[tuple[bytes, Points]], list[IntArray]]:
    """Decode records of one length, given as the rows of `matrix`; also return what is left."""
    found: list[tuple[bytes, Points]] = []
    left: list[IntArray] = []
    head = _summary_at(matrix)
    for at in distinct(head).tolist():
        mine = head == at
        matrix_, rows_ = (matrix, rows) if mine.all() else (matrix[mine], rows[mine])
        if not at:
            left.append(rows_)
            continue
        expected = _before_tag(matrix.shape[1] - at)
        plain = _plain(matrix_, at, expected)
        if not plain.all():
            left.append(_by_example(matrix_[~plain], rows_[~plain], at, found))
            matrix_, rows_ = matrix_[plain], rows_[plain]
        points = Points(rows_, _steps(matrix_[:, STEP_AT:at]), *_numbers(matrix_))
        left.append(_split_by_tag(matrix_[:, at + len(expected) : -5], points, found))
    return found, left


def _plain(matrix: ByteArray, at: int, expected: ByteArray) -> BoolArray:
    """Tell which rows hold, from `at` on, a tag and a ``simple_value`` and nothing else."""
    before: BoolArray = (matrix[:, at : at + len(expected)] == expected).all(axis=1)
    before &= (matrix[:, -5] == HAS_NUMBER) & (len(expected) > 0)
    return before


def _by_example(
    matrix: ByteArray, rows: IntArray, at: int, found: list[tuple[bytes, Points]]
) -> IntArray:
    """Decode records that equal one among them but in time, step and number; return the others.

    TensorFlow 2 writes the same words around each number of a tag: one record is decoded, and
    those like it are read off.
    """
    left = np.arange(len(rows))
    others: list[IntArray] = []
    for _ in range(MANY_TAGS):
        if len(left) < FEW:
            break
        some = matrix[left]
        known = scalar_at(some[0].tobytes())
        if known is None:
            others.append(left[:1])
            left = left[1:]
            continue
        tag, place, kind = known
        end = place + np.dtype(kind).itemsize
        same = (some[:, at:place] == some[0, at:place]).all(axis=1)
        same &= (some[:, end:] == some[0, end:]).all(axis=1)
        mine = some[same]
        points = Points(rows[left[same]], _steps(mine[:, STEP_AT:at]), *_numbers(mine, place, kind))
        found.append((tag.encode(), points))
        left = left[~same]
    kept: IntArray = rows[np.concatenate([*others, left])]
    return kept


def _summary_at(matrix: ByteArray) -> IntArray:
    """Return where the summary field of each row begins; 0 where time and step are not first."""
    steps = matrix[:, STEP_AT : STEP_AT + LONGEST_VARINT] < CONTINUES
    after_step = np.where(steps.any(axis=1), STEP_AT + 1 + steps.argmax(axis=1), 0)
    key = matrix[:, TIME_END]
    at = np.where(key == HAS_SUMMARY, TIME_END, np.where(key == HAS_STEP, after_step, 0))
    return np.where(matrix[:, 0] == HAS_TIME, at, 0)


def _before_tag(size: int) -> ByteArray:
    """Return the bytes from the summary's key to the tag, which fills `size` bytes to the end.

    No bytes where no tag does.
    """
    summary = _inner(size)
    value = _inner(summary)
    tag = _inner(value - 5)
    if tag < 1:
        return np.zeros(0, np.uint8)
    keys = (HAS_SUMMARY, HAS_VALUE, HAS_TAG)
    prefix = b"".join(
        bytes([key]) + _varint(length)
        for key, length in zip(keys, (summary, value, tag), strict=True)
    )
    return np.frombuffer(prefix, np.uint8)


def _inner(size: int) -> int:
    """Return the length of a field that takes `size` bytes with key and length; -1: none does."""
    for width in (1, 2):
        length = size - 1 - width
        if length >= 0 and len(_varint(length)) == width:
            return length
    return -1


def _varint(number: int) -> bytes:
    return bytes([number]) if number < CONTINUES else bytes([number & 127 | CONTINUES, number >> 7])


def _steps(digits: ByteArray) -> IntArray:
    """Return the numbers whose base-128 digits are the rows, low digit first; no digit: 0."""
    step = np.zeros(len(digits), np.uint64)
    for place in range(digits.shape[1]):
        step |= (digits[:, place] & 127).astype(np.uint64) << np.uint64(7 * place)
    return step.view(np.int64)


def _numbers(
    matrix: ByteArray, place: int = -4, kind: str = "<f4"
) -> tuple[FloatArray, FloatArray]:
    """Return the values, which begin at `place`, and the times of the rows."""
    end = place + np.dtype(kind).itemsize or None
    value = np.ascontiguousarray(matrix[:, place:end]).view(kind)[:, 0]
    time = np.ascontiguousarray(matrix[:, 1:TIME_END]).view("<f8")[:, 0]
    with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN
        return value.astype(np.float64), time.astype(np.float64)


def _split_by_tag(
    tags: npt.NDArray[np.uint8], points: Points, found: list[tuple[bytes, Points]]
) -> IntArray:
    """Add the points of each tag to `found`; return the records of too many tags."""
    left = np.arange(len(tags))
    for _ in range(MANY_TAGS):
        if not len(left):
            break
        same = (tags[left] == tags[left[0]]).all(axis=1)
        mine = left[same]
        found.append((tags[mine[0]].tobytes(), Points._make(part[mine] for part in points)))
        left = left[~same]
    return points.record[left]
