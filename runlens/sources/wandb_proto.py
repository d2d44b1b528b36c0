"""The few protobuf messages of a W&B transaction log that matter here, decoded by hand.

The field numbers are those of ``wandb_internal.proto``; they are the same in the releases 0.10 to
0.31, later ones only add to them. Messages that are rare go through `Message`, which is plain and
slow; history rows and system metrics are cut out of the bytes by a pattern.
"""

import json
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

HISTORY, SUMMARY, OUTPUT, CONFIG, STATS = 2, 3, 4, 5, 7
TELEMETRY, METRIC, OUTPUT_RAW, RUN, EXIT, ENVIRONMENT = 11, 12, 13, 17, 18, 26

VARINT, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5  # wire types
MAX_VARINT = 10  # bytes
_AROUND = {16, 19, 200}  # fields of a record that are not its content: control, uuid, _info
_ITEM_FIELD = 1
_FREQUENT = re.compile(rb"(?:\x08[\x80-\xff]*[\x00-\x7f])?[\x12\x1a]")  # num, history or summary

# One item of a history row with one-byte lengths and a scalar value: the key as field 1, or one
# field 2 a level; then field 16, the JSON value. `row` proves that nothing was left out.
_ITEM = re.compile(
    rb"\n[\x00-\x7f]([\n\x12][^\x82]+)\x82\x01[\x00-\x7f]"
    rb'([-+.0-9a-zA-Z]+|"[^"\\\x00-\x1f\x80-\xff]*")'
)
_ITEM_OVERHEAD = 5  # bytes of an item beside its key part and its value
_STAT = re.compile(
    rb"\n[\x01-\x7f](gpu\.\d+\.(?:gpu|memoryAllocated(?:Bytes)?)|proc\.memory\.rssMB)"
    rb"\x82\x01[\x01-\x7f]([-+.0-9a-zA-Z]+)"
)
# what may follow the items: the step, a message with at most one varint; then _info
_ROW_END = re.compile(
    rb"(?:\x12(?:\x00|[\x02-\x0b]\x08[\x80-\xff]*[\x00-\x7f]))?(?:\xc2\x0c.*)?", re.DOTALL
)


class Malformed(Exception):  # noqa: N818 - "raise Malformed" is a sentence
    """The bytes are no message."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at `at` and the place after it; raise Malformed."""
    value = shift = 0
    for byte in data[at : at + MAX_VARINT]:
        at += 1
        if byte < 128:  # noqa: PLR2004 - the top bit says that more follow
            return value | byte << shift, at
        value |= (byte & 127) << shift
        shift += 7
    raise Malformed


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield each field number and its value: an int, or bytes; raise Malformed."""
    at, size = 0, len(data)
    while at < size:
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == VARINT:
            value, at = varint(data, at)
            yield tag >> 3, value
            continue
        length = {FIXED_64: 8, FIXED_32: 4}.get(wire)
        if wire == BYTES:
            length, at = varint(data, at)
        if length is None or at + length > size:
            raise Malformed
        yield tag >> 3, data[at : at + length]
        at += length


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


def record(data: bytes) -> tuple[int, bytes]:
    """Return the kind of a record (its field number) and its content; raise Malformed."""
    if frequent := _FREQUENT.match(data):
        size, start = varint(data, frequent.end())
        if start + size <= len(data):
            return data[frequent.end() - 1] >> 3, data[start : start + size]
    for number, value in fields(data):
        if isinstance(value, bytes) and number not in _AROUND:
            return number, value
    return 0, b""


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
    """Decode the key part of an item as `row` cuts it out; raise Malformed."""
    found = Message(part)
    path = tuple(found.texts(2)) or tuple(found.texts(1)[-1:])
    # a part that holds more than keys was cut at the wrong place
    if not path or sum(len(key) + 2 for key in found.all(1) + found.all(2)) != len(part):
        raise Malformed
    return path


def row(data: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]] | None:
    """Cut a history record into key parts (see `key_path`) and JSON values, both of shape (n,).

    None where the pattern does not account for every byte: long strings, lists, histograms.
    """
    pairs: list[tuple[bytes, bytes]] = _ITEM.findall(data)
    if not pairs:
        return None
    keys, values = zip(*pairs, strict=True)
    used = len(b"".join(keys)) + len(b"".join(values)) + _ITEM_OVERHEAD * len(keys)
    rest = data[used:]
    return (keys, values) if _ROW_END.fullmatch(rest) else None


def items(data: bytes, number: int = _ITEM_FIELD) -> list[Item]:
    """Decode the items of a record one by one; raise Malformed."""
    return [item(value) for no, value in fields(data) if no == number and isinstance(value, bytes)]


def stats(data: bytes) -> tuple[float | None, list[tuple[str, float]]]:
    """Return the time of a record of system metrics, and those that are kept (see `_STAT`)."""
    time = Message(data).time(2)
    found = []
    for key, value in _STAT.findall(data):
        try:
            found.append((text(key), float(value)))
        except ValueError:
            continue
    return time, found
