"""Files for the ingest benchmark, as the frameworks write them; all drawn from one seed."""

import json
import math
import random
import struct
from collections.abc import Iterator
from pathlib import Path

import google_crc32c

TAGS = ("train/loss", "train/grad_norm", "train/learning_rate", "train/entropy", "train/epoch")
START = 1.7e9
FLUSHED = 65_536  # records written at once
STEPS_PER_EPOCH = 1_000
HISTOGRAM, BUCKETS, IMAGE, ENCODED = 0x2A, 0x3A, 0x22, 0x22  # keys of protobuf fields
COLUMNS = ("step", "epoch", "loss", "grad_norm", "learning_rate", "entropy")


def rows(count: int, seed: int = 7) -> Iterator[tuple[int, float, float, float, float, float]]:
    """Yield step, epoch, loss, grad_norm, learning_rate and entropy of so many logged steps."""
    rng = random.Random(seed)
    noise = [rng.gauss(0, 1) for _ in range(9_973)]
    for number in range(1, count + 1):
        drawn = noise[number % 9_973]
        done = number / count
        yield (
            number,
            number / STEPS_PER_EPOCH,
            0.4 + 1.8 * math.exp(-6 * done) + 0.02 * drawn,
            0.8 * math.exp(0.2 * drawn),
            2e-4 * (1 - done),
            1.1 + 0.1 * drawn,
        )


def write_events(folder: Path, scalars: int) -> Path:
    """Write an event file of so many scalars: five tags, one event a scalar, like the Trainer."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "events.out.tfevents.1700000000.box.17.0"
    heads = [_head(tag) for tag in TAGS]
    with path.open("wb") as handle:
        handle.write(_framed(struct.pack("<Bd", 9, START) + b"\x1a\x0dbrain.Event:2"))
        batch: list[bytes] = []
        for step, epoch, *values in rows(scalars // len(TAGS)):
            begin = struct.pack("<Bd", 9, START + step / 3) + b"\x10" + _varint(step)
            for head, value in zip(heads, (*values[:3], values[3], epoch), strict=True):
                batch.append(_framed(begin + head + struct.pack("<f", value)))
            if len(batch) >= FLUSHED:
                handle.write(b"".join(batch))
                batch = []
        handle.write(b"".join(batch))
    return path


def write_media(folder: Path, scalars: int, megabytes: int) -> Path:
    """Write an event file whose scalars lie among histograms and images of so many megabytes."""
    path = write_events(folder, 5)
    rng = random.Random(3)
    sizes = ((HISTOGRAM, BUCKETS, 10_000), (IMAGE, ENCODED, 400_000))
    blobs = [_blob(kind, part, rng.randbytes(size)) for kind, part, size in sizes]
    pairs = megabytes * 2**20 // sum(len(blob) for blob in blobs)
    with path.open("ab") as handle:
        for number in range(max(pairs, scalars)):
            begin = struct.pack("<Bd", 9, START) + b"\x10" + _varint(number + 2)
            if number < scalars - 5:
                handle.write(_framed(begin + _head(TAGS[0]) + struct.pack("<f", number)))
            if number < pairs:
                handle.write(b"".join(_framed(begin + blob) for blob in blobs))
    return path


def _blob(kind: int, part: int, data: bytes) -> bytes:
    """Return a summary with one histogram or image, given the keys of the fields around it."""
    value = b"\x0a\x05media" + _within(kind, _within(part, data))
    return _within(0x2A, _within(0x0A, value))


def _within(key: int, data: bytes) -> bytes:
    return bytes([key]) + _varint(len(data)) + data


def _head(tag: str) -> bytes:
    """Return what stands between the step and the number of a scalar."""
    name = b"\x0a" + bytes([len(tag)]) + tag.encode() + b"\x15"
    return bytes([0x2A, len(name) + 6, 0x0A, len(name) + 4]) + name


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def _framed(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return b"".join((length, _check(length), data, _check(data)))


def _check(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def write_state(folder: Path, points: int) -> Path:
    """Write a trainer_state.json of so many logged rows, indented as the Trainer does."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "trainer_state.json"
    log = [
        {
            "epoch": round(epoch, 2),
            "grad_norm": round(grad_norm, 4),
            "learning_rate": rate,
            "loss": round(loss, 4),
            "step": step,
        }
        for step, epoch, loss, grad_norm, rate, _ in rows(points)
    ]
    state = {"epoch": points / STEPS_PER_EPOCH, "global_step": points, "max_steps": points}
    text = json.dumps(state | {"log_history": log}, indent=2, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def write_console(folder: Path, count: int, bars: int = 5) -> Path:
    """Write what the Trainer prints: rows among the carriage-return bars of tqdm."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "train.log"
    with path.open("w", encoding="utf-8", newline="") as handle:
        handle.writelines(_printed(count, bars))
    return path


def _printed(count: int, bars: int) -> Iterator[str]:
    total = count * bars
    for step, epoch, loss, grad_norm, rate, _ in rows(count):
        for done in range((step - 1) * bars + 1, step * bars + 1):
            share = done / total
            bar = "█" * int(10 * share) + " " * (10 - int(10 * share))
            clock = f"{done // 36_000}:{done // 600 % 60:02}:{done // 10 % 60:02}"
            yield f"\r{share:4.0%}|{bar}| {done}/{total} [{clock}<{clock}, 10.00it/s]"
        yield (
            f"\r\n{{'loss': {loss:.4f}, 'grad_norm': {grad_norm}, "
            f"'learning_rate': {rate}, 'epoch': {epoch:.2f}}}\n"
        )


def write_csv(folder: Path, count: int) -> Path:
    """Write a CSV of so many rows of five metrics."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "metrics.csv"
    with path.open("w", encoding="utf-8") as handle:
        handle.write(",".join(COLUMNS) + "\n")
        handle.writelines(",".join(map(repr, row)) + "\n" for row in rows(count))
    return path


def write_jsonl(folder: Path, count: int) -> Path:
    """Write a JSONL log of so many rows of five metrics."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "metrics.jsonl"
    with path.open("w", encoding="utf-8") as handle:
        handle.writelines(
            json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in rows(count)
        )
    return path
