"""What stands in the samples whose format has checksums, told without our readers.

TensorBoard's own protobuf classes read the event files. A ``.wandb`` sample is whole, so its
records are cut by the framing and decoded with the SDK's protobuf classes. Whatever is read of a
mutant must be among it: name and value, and for event files the step with them.
"""

import json
import struct
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from runlens.sources import tensorboard, wandb_dir
from runlens.sources.reading import Reader, SourceReading
from tests.fuzz.corpus import Sample

CHECKED: dict[str, Reader] = {"tensorboard": tensorboard, "wandb": wandb_dir}
MADE = "system/heartbeat"  # by the reader, one for each record of machine statistics
ANY = -1  # in the place of a step that is not told
STEP = ""  # the name of what may be a step
Known = frozenset[tuple[str, int, float]]


def check_values(path: Path, kind: str, others: Iterable[Sample]) -> None:
    """Read a mutant; assert that no file which it was made of lacks anything that was read."""
    reading = CHECKED[kind].read(path)
    known: Known = frozenset().union(*(_known(sample) for sample in others))
    found = frozenset(_found(reading, by_step=kind == "tensorboard"))
    assert found <= known, f"{sorted(found - known)[:3]} stand in no whole file"


def _found(reading: SourceReading, *, by_step: bool) -> Iterable[tuple[str, int, float]]:
    """Yield name, step and value of all that was read; NaN is what anything may become."""
    for name, series in reading.series.items():
        kept = ~np.isnan(series.value)
        steps, values = series.step[kept].tolist(), series.value[kept].tolist()
        if by_step:
            yield from ((name, step, value) for step, value in zip(steps, values, strict=True))
        else:
            yield from ((STEP, step, 0.0) for step in steps)
            yield from ((name, ANY, value) for value in values if name != MADE)


@lru_cache(maxsize=256)
def _known(sample: Sample) -> Known:
    return frozenset(_events(sample.data) if sample.kind == "tensorboard" else _wandb(sample.data))


def _events(data: bytes) -> Iterable[tuple[str, int, float]]:
    from tensorboard.compat.proto.event_pb2 import Event

    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        event = Event.FromString(data[at + 12 : at + 12 + length])
        for value in event.summary.value:
            if value.WhichOneof("value") == "simple_value":
                yield value.tag, event.step, value.simple_value
        at += 16 + length


def _wandb(data: bytes) -> Iterable[tuple[str, int, float]]:
    """Yield the numbers of all rows without a step, and all that may be the step of a row."""
    messages: Any = import_module("wandb.proto.wandb_internal_pb2")
    assert len(data) < 32_768, "a record may go over into the next block"
    at, rows = 7, 0
    while at < len(data):
        _, length, _ = struct.unpack_from("<IHB", data, at)
        record = messages.Record.FromString(data[at + 7 : at + 7 + length])
        yield STEP, rows, 0.0
        rows += record.HasField("history")
        for item in record.history.item:
            for name, value in _numbers(".".join(item.nested_key) or item.key, item.value_json):
                yield name, ANY, value
                if value >= 0 and value % 1 == 0:
                    yield STEP, int(value), 0.0
        for item in record.stats.item:
            yield from ((f"system/{item.key}", ANY, v) for _, v in _numbers("", item.value_json))
        at += 7 + length


def _numbers(name: str, text: str) -> Iterable[tuple[str, float]]:
    """Yield the numbers in a JSON value; those of nested objects are named by their path."""
    value = json.loads(text)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(f"{name}.{key}", json.dumps(inner))
    elif isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError):
            yield name, float(value)
