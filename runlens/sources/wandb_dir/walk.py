"""Many records of a W&B log decoded side by side: one cursor a record, one step for all of them.

Only what nearly every record looks like is decoded here. A record that looks otherwise is named,
and `proto` decodes it with care: both ways give the same.
"""

import numpy as np
import numpy.typing as npt

from runlens.history import BoolArray, IntArray
from runlens.records import NamedTuple
from runlens.sources.wandb_dir.proto import HISTORY, SUMMARY

Words = npt.NDArray[np.uint64]

_NUM, _HISTORY, _SUMMARY = 0x08, HISTORY << 3 | 2, SUMMARY << 3 | 2  # tags of a record
_ITEM, _STEP = 0x0A, 0x12  # tags of a history row
_KEY, _NESTED_KEY = 0x0A, 0x12  # tags of an item, with the next one
_VALUE = 0x0182  # two bytes
_MORE = 0x80  # set in a byte of a varint that another one follows
_INFO = 0x0CC2  # two bytes
MAX_NUM = 5  # bytes of a record's number
MAX_LEVELS = 16  # of nested keys
MOST_ITEMS = 1_000  # of a row that is decoded here
TOO_LONG = 1 << 40  # for a length of more than four bytes: no record reaches so far


class Heads(NamedTuple):
    """Kind and content `data[start:end]` of each record; shape (n,). Kind 0: not decoded here."""

    kind: IntArray
    start: IntArray
    end: IntArray


class Items(NamedTuple):
    """The items of many rows, in the order of a row's items within each row; shape (n,).

    The bytes that spell the key are `data[key:key_end]` (see `proto.key_path`), the JSON
    text is `data[value:value_end]`.
    """

    row: IntArray
    key: IntArray
    key_end: IntArray
    value: IntArray
    value_end: IntArray


_NO_ITEMS = Items(*(np.array([], dtype=np.int64) for _ in range(5)))


class Buffer:
    """Bytes that end with the margin of `log`, with numbers read at any place of them."""

    def __init__(self, data: bytes) -> None:
        """Look at `data` in three ways."""
        self.data = data
        self.bytes = np.frombuffer(data, dtype=np.uint8)
        self._four = np.ndarray((len(data) - 3,), dtype="<u4", buffer=data, strides=(1,))
        self._eight = np.ndarray((len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))

    def four(self, at: IntArray) -> IntArray:
        """Return the four bytes at each place as a number; shape of `at`."""
        return self._four[at].astype(np.int64)

    def eight(self, at: IntArray) -> Words:
        """Return the eight bytes at each place as a number; shape of `at`."""
        words: Words = self._eight[at]
        return words

    def lengths(self, at: IntArray) -> tuple[IntArray, IntArray]:
        """Return the varints at `at` and the places after them; TOO_LONG for one of many bytes."""
        word = self.four(at)
        value, after = word & 0x7F, at + 1
        more = word & _MORE > 0
        for byte in range(1, 4):
            if not more.any():
                return value, after
            word >>= 8
            value += np.where(more, (word & 0x7F) << 7 * byte, 0)
            after += more
            more &= word & _MORE > 0
        value[more] = TOO_LONG
        return value, after


def heads(buffer: Buffer, start: IntArray, end: IntArray) -> Heads:
    """Decode the beginning of records: their number, if it is there, then history or summary."""
    numbered = buffer.bytes[start] == _NUM
    at, more = start + numbered, numbered
    for _ in range(MAX_NUM):
        if not more.any():
            break
        more = more & (buffer.bytes[at] >= _MORE)
        at += more
    at += numbered
    tag = buffer.bytes[at]
    size, begin = buffer.lengths(at + 1)
    finish = begin + size
    known = ((tag == _HISTORY) | (tag == _SUMMARY)) & (finish <= end) & ~more
    return Heads(np.where(known, tag.astype(np.int64) >> 3, 0), begin, finish)


def items(buffer: Buffer, start: IntArray, end: IntArray) -> tuple[Items, BoolArray]:
    """Cut history rows `data[start:end]` into items; and say which of the rows were decoded."""
    decoded = np.ones(len(start), dtype=np.bool_)
    row, at, limit = np.arange(len(start)), start, end
    found: list[Items] = [_NO_ITEMS]
    while len(row):
        word = buffer.four(at)
        going = (at < limit) & (word & 0xFF == _ITEM)
        if not going.all():
            decoded[row[~going]] = _ended(buffer, at[~going], limit[~going])
            row, at, limit, word = row[going], at[going], limit[going], word[going]
        one, fits = _item(buffer, row, at, limit, word)
        if not fits.all():
            decoded[row[~fits]] = False
            row, limit = row[fits], limit[fits]
            one = Items._make(column[fits] for column in one)
        found.append(one)
        at = one.value_end
        if len(found) > MOST_ITEMS:
            decoded[row] = False
            break
    every = Items._make(np.concatenate(column) for column in zip(*found, strict=True))
    order = stable_order(every.row)
    if not decoded.all():
        order = order[decoded[every.row[order]]]
    return Items._make(column[order] for column in every), decoded


def stable_order(number: IntArray) -> IntArray:
    """Return the order of whole numbers from 0 on; those that are equal keep theirs."""
    small = number.max(initial=0) < 1 << 16  # such are sorted by their digits: in linear time
    return np.argsort(number.astype(np.uint16) if small else number, kind="stable")


def _item(
    buffer: Buffer, row: IntArray, at: IntArray, limit: IntArray, word: IntArray
) -> tuple[Items, BoolArray]:
    """Cut out the item at `at` of each row; `word` is what stands there."""
    size, key = word >> 8 & 0xFF, at + 2
    if (size >= _MORE).any():
        size, key = buffer.lengths(at + 1)
        word = buffer.four(key - 2)
    value_end = key + size
    tag = word >> 16 & 0xFF
    fits = ((tag == _KEY) | (tag == _NESTED_KEY)) & (word >> 24 < _MORE) & (value_end <= limit)
    key_end = key + 2 + (word >> 24)
    head = buffer.four(key_end)
    for _ in range(MAX_LEVELS):
        nested = fits & (tag == _NESTED_KEY) & (head & 0xFF == _NESTED_KEY) & (key_end < value_end)
        if not nested.any():
            break
        fits &= ~nested | (head >> 8 & _MORE == 0)
        key_end += np.where(nested, 2 + (head >> 8 & 0xFF), 0)
        head = buffer.four(key_end)
    size, value = head >> 16 & 0xFF, key_end + 3
    if (size >= _MORE).any():
        size, value = buffer.lengths(key_end + 2)
    fits &= (head & 0xFFFF == _VALUE) & (value + size == value_end)
    return Items(row, key, key_end, value, value_end), fits


def _ended(buffer: Buffer, at: IntArray, limit: IntArray) -> BoolArray:
    """Whether nothing follows the items of a row but its step and W&B's own information."""
    at = at.copy()
    for tag, overhead in ((_STEP, 2), (_INFO, 3)):
        word = buffer.four(at)
        size = word >> 8 * (overhead - 1) & 0xFF
        there = (at < limit) & (word & (1 << 8 * (overhead - 1)) - 1 == tag) & (size < _MORE)
        at += np.where(there, overhead + size, 0)
    ended: BoolArray = at == limit
    return ended
