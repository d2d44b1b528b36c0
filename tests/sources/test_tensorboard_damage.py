"""Damaged event files: what lies before and after the damage is kept, the loss is told."""

import random
import struct
from pathlib import Path

import google_crc32c
import numpy as np
import pytest

from runlens.sources import tensorboard
from runlens.sources.reading import SourceReading
from runlens.sources.tensorboard import records as event_records
from runlens.sources.tensorboard import scalars as event_scalars
from runlens.sources.tensorboard.records import crc32c


def check(data: bytes) -> bytes:
    """Return the masked checksum of `data`."""
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def framed(data: bytes) -> bytes:
    """Return a record with its checksums."""
    length = struct.pack("<Q", len(data))
    return length + check(length) + data + check(data)


def scalar(step: int) -> bytes:
    """Return a record of the tag a at a step from 128 to 16,383; its value is the step."""
    head = struct.pack("<Bd", 9, 1.7e9) + bytes([0x10, step & 127 | 128, step >> 7])
    value = b"\x0a\x02aa\x15" + struct.pack("<f", step)
    return framed(head + bytes([0x2A, len(value) + 2, 0x0A, len(value)]) + value)


def version() -> bytes:
    """Return the first record of an event file."""
    return framed(struct.pack("<Bd", 9, 1.7e9) + b"\x1a\x0dbrain.Event:2")


def log(records: int = 1000) -> bytearray:
    """Return an event file with the steps 1000, 1001... of one tag."""
    return bytearray(version() + b"".join(scalar(1000 + n) for n in range(records)))


def read(tmp_path: Path, content: bytes | bytearray) -> SourceReading:
    """Read an event file of this content."""
    path = tmp_path / "events.out.tfevents.1.box"
    path.write_bytes(content)
    return tensorboard.read(path)


def steps(reading: SourceReading) -> list[int]:
    """Return the steps that were read; assert that each has its own value."""
    if not reading.series:
        return []
    found = reading.series["aa"]
    assert found.step.tolist() == found.value.tolist()
    return [int(step) for step in found.step]


def begin(record: int) -> int:
    """Return the first byte of a scalar, counted from 0."""
    return len(version()) + record * len(scalar(1000))


@pytest.mark.parametrize(
    ("place", "lost"),
    [
        (begin(500) + 12 + 25, "1 of 1,001 records"),  # the value
        (begin(501) - 1, "1 of 1,001 records"),  # the checksum of the data
        (begin(500), f"{len(scalar(1000))} bytes skipped"),  # the length
        (begin(500) + 7, f"{len(scalar(1000))} bytes skipped"),  # the length, far too large
        (begin(500) + 8, f"{len(scalar(1000))} bytes skipped"),  # the checksum of the length
    ],
)
def test_one_flipped_bit_costs_one_record(tmp_path: Path, place: int, lost: str) -> None:
    """Of 1,000 records 999 are read, and the one is told."""
    content = log()
    content[place] ^= 0x40
    reading = read(tmp_path, content)
    assert steps(reading) == [*range(1000, 1500), *range(1501, 2000)]
    assert [problem.lost for problem in reading.problems] == [lost]
    assert "damaged" in reading.problems[0].text


def lost(reading: SourceReading) -> int:
    """Return how many of 1,000 scalars are not read; assert that the loss is told, with a place."""
    found = steps(reading)
    assert found == sorted(set(found))
    (problem,) = reading.problems
    assert problem.text.startswith("damaged")
    assert "record" in problem.text
    assert problem.lost
    return 1000 - len(found)


def test_a_bit_flipped_anywhere_costs_one_scalar_at_most(tmp_path: Path) -> None:
    """Each bit of a record, and bits all over the file: 999 of 1,000 scalars are kept."""
    content = log()
    record = range(8 * begin(500), 8 * begin(501), 3)
    anywhere = random.Random(5).sample(range(8 * len(content)), 120)
    for bit in (*record, *anywhere):
        content[bit // 8] ^= 1 << bit % 8
        assert lost(read(tmp_path, content)) == (bit >= 8 * begin(0)), bit
        content[bit // 8] ^= 1 << bit % 8


def test_a_hole_anywhere_costs_what_lies_in_it(tmp_path: Path) -> None:
    """4,096 zeros anywhere: all scalars that they do not touch are kept."""
    whole, size = log(), len(scalar(1000))
    for first in (0, *random.Random(6).sample(range(len(whole) - 4096), 60), len(whole) - 4096):
        content = whole.copy()
        content[first : first + 4096] = bytes(4096)
        touched = range(max(0, first - begin(0)) // size, -(-(first + 4096 - begin(0)) // size))
        assert lost(read(tmp_path, content)) == len(touched), first


@pytest.mark.parametrize("into", [0, 5, 11, 20, 40])
def test_a_hole_costs_the_records_in_it(tmp_path: Path, into: int) -> None:
    """4,096 zero bytes take the records that they touch, and no other."""
    content, first = log(), begin(500) + into
    content[first : first + 4096] = bytes(4096)
    touched = -(-(into + 4096) // len(scalar(1000)))
    reading = read(tmp_path, content)
    assert steps(reading) == [*range(1000, 1500), *range(1500 + touched, 2000)]
    assert [p.lost for p in reading.problems] == [f"{touched * len(scalar(1000)):,} bytes skipped"]
    assert f"byte {begin(500):,}" in reading.problems[0].text


@pytest.mark.parametrize("tail", [bytes(5000), bytes(range(1, 250)) * 300])
def test_garbage_at_the_end_costs_nothing(tmp_path: Path, tail: bytes) -> None:
    """Zeros or noise behind the last record are told; all records are read."""
    reading = read(tmp_path, log() + tail)
    assert steps(reading) == list(range(1000, 2000))
    assert [problem.lost for problem in reading.problems] == [f"{len(tail):,} bytes skipped"]


def test_a_cut_anywhere_keeps_what_is_whole(tmp_path: Path) -> None:
    """A file that is being written, cut at any byte: whole records, and the rest is told."""
    content = log(4)
    for size in range(len(version()), len(content)):
        reading = read(tmp_path, content[:size])
        whole, rest = divmod(size - len(version()), len(scalar(1000)))
        assert steps(reading) == list(range(1000, 1000 + whole))
        told = [f"{rest} bytes of an unfinished record at the end"] if rest else []
        assert [problem.lost for problem in reading.problems if problem.lost] == told


def test_a_cut_file_that_was_written_on_to(tmp_path: Path) -> None:
    """Records behind a half record are found, although its length points past the end."""
    half = framed(bytes(10_000))[:100]
    reading = read(tmp_path, log(3) + half + log(3))
    assert steps(reading) == [1000, 1001, 1002] * 2
    assert [problem.lost for problem in reading.problems] == ["100 bytes skipped"]


def test_several_places(tmp_path: Path) -> None:
    """Holes are counted together; the first is named."""
    content = log()
    for record in (100, 300, 700):
        content[begin(record)] ^= 1
    reading = read(tmp_path, content)
    assert len(steps(reading)) == 997
    size = 3 * len(scalar(1000))
    expected = (f"damaged: no record at byte {begin(100):,}, and 2 more places", f"{size} bytes")
    assert (reading.problems[0].text, reading.problems[0].lost) == (
        expected[0],
        f"{expected[1]} skipped",
    )


def test_a_record_that_is_no_event(tmp_path: Path) -> None:
    """Whole records of something else are counted; those around them are read."""
    foreign = [b"\xff" * 30, b"\x0b", b"\x09\x00", b"\x2a\x02\x08\x01", b"\x2a\x05\x0a\x01"]
    foreign += [b"\x10\x80", b"\x2a\x04\x0a\x02\x48\x01"]
    reading = read(tmp_path, log(2) + b"".join(framed(data) for data in foreign) + scalar(1500))
    assert steps(reading) == [1000, 1001, 1500]
    assert [problem.lost for problem in reading.problems] == ["6 of 11 records"]


def test_many_records_that_are_no_event(tmp_path: Path) -> None:
    """Whole records of one length with a broken summary, many of them, are counted."""
    broken = framed(struct.pack("<Bd", 9, 1.7e9) + b"\x2a\x7f" + bytes(20))
    reading = read(tmp_path, log(2) + 20 * broken + scalar(1500))
    assert steps(reading) == [1000, 1001, 1500]
    assert [problem.lost for problem in reading.problems] == ["20 of 24 records"]


@pytest.mark.parametrize("window", [100, 1000, 10_007])
def test_windows_make_no_difference(
    tmp_path: Path, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is read in pieces; neither records nor holes on their borders are lost."""
    content = log()
    content[begin(300) : begin(300) + 2500] = bytes(2500)
    content[begin(800)] ^= 1
    whole = read(tmp_path, content)
    monkeypatch.setattr(event_records, "WINDOW", window)
    pieces = read(tmp_path, content)
    assert steps(pieces) == steps(whole)
    assert len(steps(whole)) == 1000 - 1 - -(-2500 // len(scalar(1000)))
    assert sum(p.lost.endswith("skipped") for p in pieces.problems) == 1


def test_long_records_are_stepped_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph longer than a window is not held in memory; what follows is read."""
    monkeypatch.setattr(event_records, "WINDOW", 1000)
    reading = read(tmp_path, log(5) + framed(b"\x22\xa0\x8d\x06" + bytes(100_000)) + log(5))
    assert steps(reading) == [1000, 1001, 1002, 1003, 1004] * 2
    assert reading.problems == []


def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the lengths in a file are, little more than two windows are held."""
    monkeypatch.setattr(event_records, "WINDOW", 1000)
    path = tmp_path / "log"
    path.write_bytes(log() + framed(bytes(50_000)) + log() + bytes(20_000) + log())
    with path.open("rb") as handle:
        parts = [*event_records.windows(handle, path.stat().st_size, event_records.Damage())]
    assert max(len(part.buffer) for part in parts) <= 2000
    assert sum(len(part.start) for part in parts) == 3 * 1001


@pytest.mark.parametrize("size", [*range(65_500, 65_560, 3), 196_600, 196_609])
def test_a_hole_of_any_size_is_left_at_once(tmp_path: Path, size: int) -> None:
    """The first record behind a hole is found wherever the search happens to be."""
    reading = read(tmp_path, log(2) + bytes(size) + log(3))
    assert steps(reading) == [1000, 1001, 1000, 1001, 1002]
    assert [problem.lost for problem in reading.problems] == [f"{size:,} bytes skipped"]


def test_a_long_record_that_was_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long record that does not end is told, with its size, and not held in memory."""
    monkeypatch.setattr(event_records, "WINDOW", 1000)
    reading = read(tmp_path, log(5) + framed(bytes(2**20))[:50_000])
    assert steps(reading) == [1000, 1001, 1002, 1003, 1004]
    assert [problem.lost for problem in reading.problems] == ["50,000 bytes skipped"]


@pytest.mark.parametrize("window", [600, 1000])
def test_too_many_scalars_are_told(
    tmp_path: Path, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is bounded: what is beyond the limit is left out and told."""
    monkeypatch.setattr(event_records, "WINDOW", window)
    monkeypatch.setattr(tensorboard, "MAX_POINTS", 10)
    reading = read(tmp_path, log())
    assert 10 < len(steps(reading)) < 2 * window // len(scalar(1000))
    assert reading.problems[0].text == "has more scalars than can be held"


def test_noise_never_raises_and_never_invents(tmp_path: Path) -> None:
    """Whatever bytes are flipped, cut out or put in: no exception, no value that was not there."""
    for seed in range(150):
        dice = random.Random(seed)
        content = log(60)
        for _ in range(dice.randrange(1, 12)):
            place = dice.randrange(len(content))
            match dice.randrange(3):
                case 0:
                    content[place] = dice.randrange(256)
                case 1:
                    del content[place : place + dice.randrange(200)]
                case _:
                    content[place:place] = dice.randbytes(dice.randrange(100))
        reading = read(tmp_path, content)
        found = steps(reading)
        assert set(found) <= set(range(1000, 1060))
        assert found == sorted(found)
        assert reading.problems or len(found) == 60


def test_plain_and_column_decoder_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Record by record or by columns: the same numbers."""
    fast = read(tmp_path, log()).series["aa"]
    monkeypatch.setattr(event_scalars, "FEW", 10**9)
    slow = read(tmp_path, log()).series["aa"]
    for one, other in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(one, other)


def test_long_files_lose_nothing(tmp_path: Path) -> None:
    """Tags in turns, then others, then the first again: every record is found, in order."""
    parts: list[bytes | bytearray] = [
        log(5_000),
        scalar(7_000) * 3,
        framed(bytes(700)),
        log(15_000),
        version(),
        log(3),
    ]
    found = [int(step) for step in read(tmp_path, b"".join(parts)).series["aa"].step]
    assert found == [*range(1000, 6000), *[7000] * 3, *range(1000, 16_000), 1000, 1001, 1002]


@pytest.mark.parametrize("length", [0, 1, 2, 9, 32, 33])
def test_checksums_equal_those_of_google(length: int) -> None:
    """The CRC-32C by columns is that of google-crc32c, for odd and even lengths."""
    rows = np.random.default_rng(length).integers(0, 256, (50, length)).astype(np.uint8)
    assert crc32c(rows).tolist() == [google_crc32c.value(row.tobytes()) for row in rows]
