"""The few protobuf messages of a W&B transaction log that matter here, decoded by hand.

The field numbers are those of ``internal.proto``; they are the same in the releases 0.10 to
0.31, later ones only add to them. Messages that are rare go through `Message`, which is plain and
slow; history rows and system metrics are cut out of the bytes by a pattern.
"""

import json
import re
import struct
from collections.abc import Iterator, Sequence

from runlens.metrics import Better
from runlens.patterns import lazy_re
from runlens.records import NamedTuple

HISTORY, SUMMARY, OUTPUT, CONFIG, STATS = 2, 3, 4, 5, 7
TELEMETRY, METRIC, OUTPUT_RAW, RUN, EXIT, ENVIRONMENT = 11, 12, 13, 17, 18, 26

VARINT, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5  # wire types
_FIXED = {FIXED_64: 8, FIXED_32: 4}  # bytes
MAX_VARINT = 10  # bytes
MAX_FIELD = (1 << 29) - 1  # the largest number that Protocol Buffers allow
_AROUND = {16, 19, 200}  # fields of a record that are not its content: control, uuid, _info
_ITEM_FIELD, _STATS_ITEM = 1, 3

_STAT = lazy_re(  # an item: its length, its key and its value, each with its own length
    rb"\x1a([\x01-\x7f])\n([\x01-\x7f])([^\x82]{1,127}?)\x82\x01([\x01-\x7f])([-+.0-9a-zA-Z]+)",
    re.DOTALL,
)
_STAT_FRAME = 5  # bytes of an item that are neither key nor value


class Malformed(Exception):  # noqa: N818 - "raise Malformed" is a sentence
    """The bytes are no message."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at `at` and the place after it; raise Malformed."""
    if at < len(data) and data[at] < 128:  # noqa: PLR2004 - nearly all are a single byte
        return data[at], at + 1
    value = shift = 0
    for byte in data[at : at + MAX_VARINT]:
        at += 1
        if byte < 128:  # noqa: PLR2004 - the top bit says that more follow
            return value | byte << shift, at
        value |= (byte & 127) << shift
        shift += 7
    raise Malformed


# one field of a message: its number, and an int or the place `data[start:end]` of bytes
Field = tuple[int, int | None, int, int]


def spans(data: bytes, at: int, limit: int) -> Iterator[Field]:
    """Yield the fields of the message `data[at:limit]`; raise Malformed."""
    short = min(limit, len(data))
    while at < limit:
        if at < short and data[at] < 128:  # noqa: PLR2004 - as in varint, of which a log has millions
            tag, at = data[at], at + 1
        else:
            tag, at = varint(data, at)
        if tag >> 3 > MAX_FIELD:
            raise Malformed
        wire = tag & 7
        if wire == VARINT:
            value, after = varint(data, at)
            yield tag >> 3, value, at, after
            at = after
            continue
        length = _FIXED.get(wire)
        if wire == BYTES:
            if at < short and data[at] < 128:  # noqa: PLR2004 - as above
                length, at = data[at], at + 1
            else:
                length, at = varint(data, at)
        if length is None or at + length > limit:
            raise Malformed
        yield tag >> 3, None, at, at + length
        at += length
    if at > limit:
        raise Malformed


def direction(goal: int, summary: Sequence[int]) -> Better:
    """Return which direction of a metric is better, as ``define_metric`` said; empty if it did not.

    By its goal (1 minimize, 2 maximize), else by the summary that is kept: its least value (field 1
    of a summary) or its greatest (2), where it is one of them alone.
    """
    said = goal or (summary[0] if len(summary) == 1 else 0)
    return {1: "lower", 2: "higher"}.get(said, "")  # type: ignore[return-value]


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield each field number and its value: an int, or bytes; raise Malformed."""
    for number, value, start, end in spans(data, 0, len(data)):
        yield number, data[start:end] if value is None else value


class Message:
    """One message, all fields at hand; those that are absent have their default value."""

    def __init__(self, data: bytes) -> None:
        """Decode; raise Malformed."""
        self._fields: dict[int, list[int | bytes]] = {}
        for number, value in fields(data):
            self._fields.setdefault(number, []).append(value)

    def all(self, number: int) -> list[bytes]:
        """Return the values of a repeated field of strings or messages."""
        return [value for value in self._fields.get(number, ()) if isinstance(value, bytes)]

    def content(self, number: int) -> bytes:
        """Return a field's bytes, empty if absent."""
        return (self.all(number) or [b""])[-1]

    def text(self, number: int) -> str:
        """Return a string, empty if absent."""
        return text(self.content(number))

    def texts(self, number: int) -> list[str]:
        """Return a repeated string."""
        return [text(value) for value in self.all(number)]

    def number(self, number: int) -> int:
        """Return a signed integer, 0 if absent."""
        value = self._fields.get(number, [0])[-1]
        if isinstance(value, bytes):
            return 0
        return value - (1 << 64) if value >> 63 else value

    def time(self, number: int) -> float | None:
        """Return a Timestamp in seconds since 1970; None if absent or malformed."""
        if number not in self._fields:
            return None
        try:
            stamp = Message(self.content(number))
        except Malformed:
            return None
        return stamp.number(1) + stamp.number(2) * 1e-9


def text(data: bytes) -> str:
    """Decode UTF-8; what is not valid becomes a replacement character."""
    return data.decode("utf-8", "replace")


def record_span(data: bytes, at: int, limit: int) -> tuple[int, int, int]:
    """Return the kind of the record `data[at:limit]` and where its content is; raise Malformed."""
    for number, value, start, end in spans(data, at, limit):
        if value is None and number not in _AROUND:
            return number, start, end
    return 0, at, at


class Item(NamedTuple):
    """One named value: a path of keys (more than one where the user logged nested dicts)."""

    path: tuple[str, ...]
    json: bytes


def item(data: bytes) -> Item:
    """Decode a HistoryItem, SummaryItem, ConfigItem or StatsItem; raise Malformed."""
    key, nested, value = "", [], b"null"
    for number, content in fields(data):
        if isinstance(content, int):
            value = _typed_integer(number, content, value)
        elif number == 1:
            key = text(content)
        elif number == 2:  # noqa: PLR2004 - nested_key
            nested.append(text(content))
        elif number in {8, 16}:  # typed JSON, and value_json
            value = content or value
        elif number == 6 and len(content) == 8:  # noqa: PLR2004 - a typed double
            value = json.dumps(struct.unpack("<d", content)[0]).encode()
        elif number == 7:  # noqa: PLR2004 - a typed string
            value = json.dumps(text(content)).encode()
    return Item(tuple(nested) if nested else (key,), value)


def _typed_integer(number: int, content: int, otherwise: bytes) -> bytes:
    """Decode the typed values of 0.31's schema that are integers: boolean and integer."""
    if number == 4:  # noqa: PLR2004 - boolean
        return b"true" if content else b"false"
    if number == 5:  # noqa: PLR2004 - integer, zigzag
        return b"%d" % ((content >> 1) ^ -(content & 1))
    return otherwise


def key_path(part: bytes) -> tuple[str, ...]:
    """Decode the fields of an item that spell its key: field 1, or one field 2 a level."""
    found = Message(part)
    return tuple(found.texts(2)) or (found.text(1),)


def items(data: bytes, number: int = _ITEM_FIELD) -> list[Item]:
    """Decode the items of a record one by one; raise Malformed."""
    return [item(value) for no, value in fields(data) if no == number and isinstance(value, bytes)]


def _time(data: bytes) -> float | None:
    """Return the time of a record of system metrics: all that `Message` would decode of it."""
    stamp, there = b"", False
    for number, value, start, end in spans(data, 0, len(data)):
        if number == 2:  # noqa: PLR2004 - timestamp
            there = True
            stamp = data[start:end] if value is None else stamp
    if not there:
        return None
    try:
        found = Message(stamp)
    except Malformed:
        return None
    return found.number(1) + found.number(2) * 1e-9


def stats(data: bytes) -> tuple[float | None, list[tuple[str, float]]]:
    """Return the time of a record of system metrics, and all that are numbers."""
    time = _time(data)
    matches = _STAT.findall(data)
    whole = all(
        size[0] == len(key) and room[0] == len(value) == length[0] - len(key) - _STAT_FRAME
        for length, size, key, room, value in matches
    )
    if whole:
        pairs = [(text(key), value) for _, _, key, _, value in matches]
    else:  # the pattern began inside an item
        pairs = [(".".join(path), value) for path, value in items(data, _STATS_ITEM)]
    found = []
    for key, value in pairs:
        try:
            found.append((key, float(value)))
        except ValueError:  # a text, a list
            continue
    return time, found
