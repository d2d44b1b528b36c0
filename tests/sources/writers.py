"""Writes small runs in each format, as the frameworks leave them."""

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import google_crc32c
import numpy as np

from runlens.history import FloatArray
from runlens.sources.wandb_dir.log import HEADER

EVERY = 10  # steps between two rows
BEGAN = 1.7e9  # seconds since 1970


def losses(seed: int, rows: int = 40) -> FloatArray:
    """Return a loss that falls with noise, as a Trainer rounds it; another seed, another run."""
    noise = np.random.default_rng(seed).normal(0, 0.03, rows)
    rounded: FloatArray = np.round(2 - 0.01 * np.arange(rows) + noise, 4)
    return rounded


def log_rows(values: Sequence[float] | FloatArray, first: int = 1) -> list[dict[str, float]]:
    """Return rows as the Trainer keeps them; the first is the row of number `first`."""
    return [
        {
            "epoch": (first + n) / 10,
            "grad_norm": round(float(value) / 3, 4),
            "learning_rate": 1e-4,
            "loss": float(value),
            "step": EVERY * (first + n),
        }
        for n, value in enumerate(values)
    ]


def state(folder: Path, rows: Sequence[Mapping[str, object]], **top: object) -> Path:
    """Write a trainer_state.json of these rows and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    last = max((row["step"] for row in rows if isinstance(row["step"], int)), default=0)
    known = {"global_step": last, "max_steps": last, "num_train_epochs": 4, **top}
    path = folder / "trainer_state.json"
    path.write_text(json.dumps({"log_history": list(rows), **known}))
    return path


def events(
    folder: Path,
    values: Sequence[float] | FloatArray,
    first: int = 1,
    launch: int = 0,
    tag: str = "train/loss",
) -> Path:
    """Write an event file of one scalar and return its path; launches are an hour apart."""
    folder.mkdir(parents=True, exist_ok=True)
    began = BEGAN + 3_600 * launch
    records = [_tagged(1, began) + _field(3, b"brain.Event:2")]
    for n, value in enumerate(values):
        scalar = _field(1, tag.encode()) + b"\x15" + struct.pack("<f", value)
        step = b"\x10" + varint(EVERY * (first + n))
        records.append(_tagged(1, began + n + 1) + step + _field(5, _field(1, scalar)))
    path = folder / f"events.out.tfevents.{int(began)}.box.{17 + launch}.0"
    path.write_bytes(b"".join(_framed(record) for record in records))
    return path


def arguments(path: Path, settings: Mapping[str, object]) -> Path:
    """Add the Trainer's text of its arguments to an event file and return its path."""
    text = json.dumps({"per_device_train_batch_size": 8, **settings}).encode()
    plugin = _field(9, _field(1, _field(1, b"text")))
    tensor = _field(8, b"\x08\x07" + _field(8, text))
    value = _field(1, b"args/text_summary") + plugin + tensor
    record = _tagged(1, BEGAN) + _field(5, _field(1, value))
    path.write_bytes(_framed(record) + path.read_bytes())
    return path


def tracked(
    folder: Path,
    values: Sequence[float] | FloatArray,
    run_id: str,
    first: int = 1,
    launch: int = 0,
    code: int | None = 0,
) -> Path:
    """Write a W&B offline run and return its folder; without a code it was killed."""
    path = folder / f"offline-run-20261121_{launch:06}-{run_id}"
    path.mkdir(parents=True)
    began = BEGAN + 3_600 * launch
    started = b"\x08" + varint(int(began))
    records = [_field(17, _field(1, run_id.encode()) + _field(17, started))]
    for n, value in enumerate(values):
        row = {"train/loss": value, "train/global_step": EVERY * (first + n)}
        row |= {"_step": n, "_timestamp": began + n}
        items = [
            _field(1, key.encode()) + _field(16, json.dumps(v).encode()) for key, v in row.items()
        ]
        records.append(_field(2, b"".join(_field(1, item) for item in items)))
    if code is not None:
        records.append(_field(18, b"\x08" + varint(code)))
    log = b"".join(struct.pack("<IHB", zlib.crc32(b"\x01" + r), len(r), 1) + r for r in records)
    (path / f"run-{run_id}.wandb").write_bytes(HEADER + log)
    return path


def console(
    path: Path,
    values: Sequence[float] | FloatArray,
    first: int = 1,
    total: int = 40,
    *,
    bars: bool = True,
    end: str = "",
) -> Path:
    """Write what the Trainer prints, rows and bars; `end` is the last line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = ""
    for row in log_rows(values, first):
        step = int(row.pop("step"))
        share, length = 100 * step // (EVERY * total), EVERY * total
        bar = f"\r {share}%|###   | {step}/{length} [00:{step % 60:02}<00:10, 9.90it/s]\r"
        text += f"{' ' * 40}\r{row}\n" + (bar if bars else "")
    path.write_text(text + end)
    return path


def varint(value: int) -> bytes:
    """Encode a protobuf varint."""
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def _field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def _tagged(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def _framed(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _check(length) + data + _check(data)


def _check(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
