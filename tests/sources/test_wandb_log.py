"""The framing of W&B's log: records come back whole, damage costs what it hit and no more."""

import pytest

from runlens.sources.wandb_dir.chunks import BLOCK
from runlens.sources.wandb_dir.log import HEADER, Log
from tests.sources.wandb_files import framed

RECORDS = [bytes([number % 251]) * (40 + 37 * number % 900) for number in range(400)]
LONG = b"x" * (3 * BLOCK)


def test_whole_log() -> None:
    """Records of all lengths come back, those over several blocks too, and nothing is lost."""
    records = [*RECORDS, LONG, b"", b"end"]
    log = Log(framed(records))
    assert list(log) == records
    assert (log.skipped, log.unfinished) == ([], 0)


@pytest.mark.parametrize("at", [7, 11, 13, 14, 500, 32767, 32770, 100_000])
def test_one_flipped_byte_costs_one_record(at: int) -> None:
    """Everything before and after one flipped byte is kept, and its place is told."""
    data = bytearray(framed(RECORDS))
    data[at] ^= 0xFF
    log = Log(bytes(data))
    kept = list(log)
    assert len(kept) == len(RECORDS) - 1
    assert [record for record in RECORDS if record in kept] == kept
    assert len(log.skipped) == 1
    start, end = log.skipped[0]
    assert start <= at < end
    assert end - start < 2000


@pytest.mark.parametrize("amount", [-3000, -1, 1, 3000])
def test_bytes_cut_out_or_put_in(amount: int) -> None:
    """A shift of all later blocks costs a few records, never an invented one."""
    data = framed(RECORDS)
    at = 50_000
    data = data[:at] + b"\x01" * max(amount, 0) + data[at + max(-amount, 0) :]
    log = Log(data)
    kept = list(log)
    assert set(kept) <= set(RECORDS)
    assert len(kept) > len(RECORDS) - 40
    assert log.skipped


def test_zeros_in_the_middle() -> None:
    """A block of zeros, as a disk error leaves it, costs that block."""
    data = bytearray(framed(RECORDS))
    data[BLOCK : 2 * BLOCK] = bytes(BLOCK)
    log = Log(bytes(data))
    kept = list(log)
    assert kept[0] == RECORDS[0]
    assert kept[-1] == RECORDS[-1]
    assert sum(map(len, kept)) > sum(map(len, RECORDS)) - BLOCK - 2000
    assert sum(end - start for start, end in log.skipped) >= BLOCK


def test_cut_anywhere() -> None:
    """A log cut at any byte gives the records that are whole, and the rest is counted."""
    data = framed(RECORDS[:20])
    whole = len(HEADER)
    for end in range(len(HEADER), len(data)):
        log = Log(data[:end])
        kept = list(log)
        assert kept == RECORDS[: len(kept)]
        whole = len(framed(RECORDS[: len(kept)]))
        assert log.unfinished == end - whole
        assert log.skipped == []


def test_cut_between_the_chunks_of_a_record() -> None:
    """A log that ends with a block, inside a record, is unfinished from that record on."""
    data = framed([b"first", LONG])[:BLOCK]
    log = Log(data)
    assert list(log) == [b"first"]
    assert log.unfinished == BLOCK - len(framed([b"first"]))


def test_lost_first_chunk() -> None:
    """The later chunks of a record whose first chunk is lost are skipped, not returned."""
    data = bytearray(framed([b"first", LONG, b"last"]))
    data[100] ^= 1
    log = Log(bytes(data))
    assert list(log) == [b"first", b"last"]


def test_other_files_are_not_taken_for_a_log() -> None:
    """Text is no log; a log with a damaged header is one."""
    assert not Log(b"step,loss\n1,2.0\n" * 100).known
    assert Log(b"\0" * len(HEADER) + framed(RECORDS)[len(HEADER) :]).known
    assert Log(HEADER).known
