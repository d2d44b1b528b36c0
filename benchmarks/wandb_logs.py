"""Writes ``.wandb`` logs for the benchmark, record by record as W&B's SDKs lay them out.

Checked against files that wandb 0.31.0 and 0.17.9 wrote: their rows, decoded and written again by
the functions here, have the same bytes, and summaries, rows and closing records follow each other
as here. A few records at the beginning (machine, telemetry) are left out. The order of the items
is random from row to row in 0.31.

    python benchmarks/wandb_logs.py PATH [ROWS] [METRICS] [newest|before-0.18]
"""

import random
import struct
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

HEADER = b":W&B\xe1\xbe\x00"
BLOCK = 32768
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4
HISTORY, SUMMARY, TELEMETRY, RUN, EXIT, FINAL, VERSION, FOOTER = 2, 3, 11, 17, 18, 20, 21, 22
NAMES = (
    *("train/loss", "train/grad_norm", "train/learning_rate", "train/epoch", "train/global_step"),
    *("eval/loss", "eval/accuracy", "train/reward", "train/kl", "train/entropy"),
)
BEGAN = 1_795_290_594.2352207
ORDERS = 256  # different orders of the items


def write_newest(path: Path, rows: int, metrics: int, seed: int = 1) -> Path:
    """Write a log as wandb 0.31 does: a summary before each row, another after it."""
    rng = random.Random(seed)
    with path.open("wb") as handle:
        log = _Log(handle)
        log.add(VERSION, _field(1, _field(1, b"0.31.0+15f8cbc5") + _field(2, b"0.70.0")))
        log.add(RUN, _run(b"0.31.0"))
        runtime = _item((b"_wandb", b"runtime"), b"0", 2) + _item((b"_runtime",), b"0", 1)
        log.add(SUMMARY, runtime)
        orders = [rng.sample(range(metrics + 3), metrics + 3) for _ in range(ORDERS)]
        for number, row in enumerate(_rows(rows, metrics, rng, digits=9)):
            parts = [_item((key,), _by_go(value), 2) for key, value in row]
            log.add(SUMMARY, b"".join(parts[n] for n in rng.choice(orders)))
            items = b"".join(parts[n] for n in rng.choice(orders))
            log.add(HISTORY, items + _step(number))
            log.add(SUMMARY, runtime)
        log.add(EXIT, b"")
    return path


def write_before_018(path: Path, rows: int, metrics: int, seed: int = 1) -> Path:
    """Write a log as wandb 0.17 does: rows in the order logged, one summary at the end."""
    with path.open("wb") as handle:
        log = _Log(handle)
        log.add(VERSION, b"")
        log.add(RUN, _run(b"0.17.9"))
        items = b""
        for number, row in enumerate(_rows(rows, metrics, random.Random(seed), digits=17)):
            items = b"".join(_item((key,), repr(value).encode(), 1) for key, value in row)
            log.add(HISTORY, items + (_step(number) if number < rows - 1 else b""))
        log.add(EXIT, b"")
        log.add(SUMMARY, items)
        log.add(FINAL, b"")
        log.add(FOOTER, b"")
    return path


def _rows(
    rows: int, metrics: int, rng: random.Random, digits: int
) -> Iterator[list[tuple[bytes, float]]]:
    """Yield rows of so many metrics, with the three counters that W&B adds.

    The newer SDKs count the run's seconds with nine digits, the older ones with all.
    """
    names = [
        *NAMES[:metrics],
        *(f"train/metric_{number}" for number in range(len(NAMES), metrics)),
    ]
    keys = [name.encode() for name in (*names, "_timestamp", "_runtime", "_step")]
    for step in range(rows):
        values: list[float] = [rng.gauss(1, 0.3) for _ in range(metrics)]
        known = (2e-4 * (1 - step / rows), 3 * (step + 1) / rows, step + 1)
        values[2:5] = known[: max(0, metrics - 2)]
        seconds = step * 2.4e-4 + rng.random() * 1e-4
        values += [BEGAN + seconds, round(seconds + 0.158, digits), step]
        yield list(zip(keys, values, strict=True))


def _by_go(value: float) -> bytes:
    """Write a number as the newer SDKs do: whole ones without a point, times with an exponent."""
    if value == int(value):
        return b"%d" % value
    if value > 1e9:
        return f"{value / 1e9!r}e+09".encode()
    return repr(value).encode()


def _run(release: bytes) -> bytes:
    config = _field(1, _item_fields((b"learning_rate",), b"0.0002", 1))
    began = _field(17, b"\x08" + _varint(int(BEGAN)))
    telemetry = _field(19, _field(4, b"3.11.7") + _field(5, release))
    return _field(1, b"benchrun") + _field(3, b"bench") + _field(4, config) + began + telemetry


def _item(key: Sequence[bytes], value: bytes, number: int) -> bytes:
    """Return an item of a history or summary record; `number`: the field of the key."""
    return _field(1, _item_fields(key, value, number))


def _item_fields(key: Sequence[bytes], value: bytes, number: int) -> bytes:
    return b"".join([*(_field(number, level) for level in key), _field(16, value)])


def _step(number: int) -> bytes:
    return _field(2, b"\x08" + _varint(number) if number else b"")


def _field(number: int, content: bytes) -> bytes:
    if number < 16 and len(content) < 128:
        return bytes((number << 3 | 2, len(content))) + content
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


class _Log:
    """Writes records in chunks that do not cross the borders of blocks."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle
        self._room = BLOCK - len(HEADER)  # in this block
        self._records = 0
        handle.write(HEADER)

    def add(self, kind: int, content: bytes) -> None:
        self._records += 1
        rest = b"\x08" + _varint(self._records) + _field(kind, content)
        begun = False
        while rest or not begun:
            if self._room < 7:
                self._handle.write(bytes(self._room))
                self._room = BLOCK
            part, rest = rest[: self._room - 7], rest[self._room - 7 :]
            chunk = ((MIDDLE if rest else LAST) if begun else FIRST if rest else WHOLE).to_bytes()
            checked = chunk + part
            self._handle.write(struct.pack("<IH", zlib.crc32(checked), len(part)) + checked)
            self._room -= 7 + len(part)
            begun = True


def main() -> None:
    """Write one log."""
    path, rows, metrics, release = (
        *sys.argv[1:],
        *("", "200000", "10", "newest")[len(sys.argv) - 1 :],
    )
    writers: dict[str, Callable[[Path, int, int], Path]] = {
        "newest": write_newest,
        "before-0.18": write_before_018,
    }
    writers[release](Path(path), int(rows), int(metrics))


if __name__ == "__main__":
    main()
