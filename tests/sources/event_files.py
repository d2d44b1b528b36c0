"""Writes small event files, each event as its framework writes it; TensorBoard encodes them."""

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import google_crc32c
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.util import tensor_util

NAME = "events.out.tfevents.1700000000.box.17.0"
START = 1.7e9


def framed(data: bytes) -> bytes:
    """Return a record with its checksums."""

    def check(part: bytes) -> bytes:
        crc = google_crc32c.value(part)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    length = struct.pack("<Q", len(data))
    return length + check(length) + data + check(data)


def scalar(tag: str, step: int, value: float, time: float = START) -> Event:
    """Return an event as PyTorch writes it."""
    summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
    return Event(wall_time=time, step=step, summary=summary)


def tensor(tag: str, step: int, value: object, plugin: str = "scalars") -> Event:
    """Return an event as TensorFlow 2 writes it; `value` is an array or a string."""
    about = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin))
    proto = tensor_util.make_tensor_proto(value)
    one = Summary.Value(tag=tag, tensor=proto, metadata=about)
    return Event(wall_time=START, step=step, summary=Summary(value=[one]))


def curve(tag: str, steps: Iterable[int], began: float = START) -> list[Event]:
    """Return one event a step, a minute apart; the values fall and are the tag's own."""
    high = 2 + sum(tag.encode()) % 97 / 100
    return [
        scalar(tag, step, high / (1 + number), began + 60 * number)
        for number, step in enumerate(steps)
    ]


def written(
    folder: Path, events: Sequence[Event], name: str = NAME, began: float = START - 1
) -> Path:
    """Write an event file with its version record; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    version = Event(wall_time=began, file_version="brain.Event:2")
    path.write_bytes(b"".join(framed(e.SerializeToString()) for e in (version, *events)))
    return path
