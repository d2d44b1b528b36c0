"""W&B run folders, written byte by byte: the tests say which records are in a log."""

import json
import struct
import zlib
from pathlib import Path
from typing import Any

from runlens.sources import wandb_dir
from runlens.sources.reading import SourceReading
from runlens.sources.wandb_dir.log import HEADER

BLOCK = 32768
HISTORY, SUMMARY, CONFIG, STATS, METRIC, OUTPUT, RUN, EXIT = 2, 3, 5, 7, 12, 13, 17, 18
ENVIRONMENT = 26


def varint(value: int) -> bytes:
    """Encode a protobuf varint."""
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def message(*fields: tuple[int, int | str | bytes]) -> bytes:
    """Encode a protobuf message."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            content = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(content)) + content
    return out


def items(values: dict[str, Any], number: int = 1, *, nested: bool = False) -> bytes:
    """Encode named values as W&B does: JSON text by key."""
    key = 2 if nested else 1
    return message(*((number, message((key, k), (16, json.dumps(v)))) for k, v in values.items()))


def framed(records: list[bytes]) -> bytes:
    """Write records as W&B does: chunks in blocks of 32 KiB."""
    out = bytearray(HEADER)
    for record in records:
        rest, begun = record, False
        while rest or not begun:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += b"\0" * room
                continue
            part, rest = rest[: room - 7], rest[room - 7 :]
            kind = (3 if rest else 4) if begun else (2 if rest else 1)
            checksum = zlib.crc32(bytes([kind]) + part)
            out += struct.pack("<IHB", checksum, len(part), kind) + part
            begun = True
    return bytes(out)


def log(*records: tuple[int, bytes]) -> bytes:
    """Write a log of records, each given as its kind and content."""
    numbered = enumerate(records, start=1)
    return framed([message((1, number), record) for number, record in numbered])


def rows(*values: dict[str, Any], nested: bool = False) -> list[tuple[int, bytes]]:
    """Make history records, with the counters that W&B adds."""
    return [
        (HISTORY, items({**row, "_step": n, "_timestamp": 1000.0 + n}, nested=nested))
        for n, row in enumerate(values)
    ]


def read(folder: Path, *records: tuple[int, bytes]) -> SourceReading:
    """Write a run and read it."""
    path = folder / "run-abc.wandb"
    path.write_bytes(log(*records))
    return wandb_dir.read(path)


def points(reading: SourceReading, name: str) -> list[tuple[int, float]]:
    """Return one series as (step, value)."""
    found = reading.series[name]
    return list(zip(found.step.tolist(), found.value.tolist(), strict=True))


def run_folder(
    place: Path, name: str, *records: tuple[int, bytes], date: str = "20260101_000000"
) -> Path:
    """Write a run's folder with its log."""
    folder = place / "wandb" / f"run-{date}-{name}"
    (folder / "files").mkdir(parents=True)
    (folder / f"run-{name}.wandb").write_bytes(log(*records))
    return folder
