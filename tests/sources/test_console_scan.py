"""The fast way through a console log: it finds what the careful way finds, line by line."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runlens.sources import console
from runlens.sources.console import scanner
from runlens.sources.console.bulk import decoded
from runlens.sources.console.scanner import Scanned, scan
from runlens.sources.console.sorting import sort
from runlens.sources.reading import SourceReading

TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/home/me/train.py", line 12, in main\n    trainer.train()\n'
    "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
)


def bar(done: int, total: int = 60, rate: str = "9.00it/s", label: str = "") -> str:
    """Return a bar as tqdm draws it, in blocks of three bytes each."""
    blocks = ("█" * (10 * done // total)).ljust(10)
    return f"{label}{100 * done // total:3d}%|{blocks}| {done}/{total} [00:01<00:02, {rate}]"


def row(step: int, loss: float | str, quote: str = "", name: str = "loss") -> str:
    """Return a row as the Trainer prints it."""
    values = {name: loss, "grad_norm": 1.5e-05 * step, "epoch": round(step / 20, 4)}
    return "{" + ", ".join(f"'{key}': {quote}{v}{quote}" for key, v in values.items()) + "}"


def launch(
    rows: int = 12, quote: str = "", label: str = "", first: int = 0, clear: str = " " * 30 + "\r"
) -> str:
    """Return what a launch prints: bars by carriage returns, rows, an evaluation each 4 rows."""
    text = ""
    for number in range(first + 1, first + rows + 1):
        step = 5 * number
        loss = ["nan", "inf", "-inf"][number % 3] if number % 5 == 0 else 3.0 - number / 10
        text += f"\r{bar(step - 3, label=label)}\r{bar(step, label=label)}"
        text += f"\r{clear}{row(step, loss, quote)}\n\r{bar(step, label=label)}"
        if number % 4 == 0:
            text += f"\r{bar(1, 2)}\r{bar(2, 2)}\r{clear}{row(step, 0.5, quote, 'eval_loss')}\n"
            text += f"Saving model checkpoint to out/checkpoint-{step}\n\r{bar(step, label=label)}"
    return text + "\n"


def ranks(text: str) -> str:
    """Return what two processes print that have one output: every row twice."""
    twice = (f"{line}\n{line}" if line.startswith("{") else line for line in text.split("\n"))
    return "\n".join(twice)


LOGS = {
    "numbers": launch(),
    "strings": launch(quote="'"),
    "rows right behind bars": launch(clear=""),
    "no carriage returns": launch().replace("\r", "\n"),
    "nothing else": launch().replace("\n", "\r"),
    "line ends of Windows": launch().replace("\n", "\r\n"),
    "labelled bars": launch(label="Training: ") + launch(label="é: "),
    "stamped bars": launch(label="2024-05-01 10:00:00 train: ", clear=""),
    "launches": launch(9) + TRACEBACK + launch(first=4) + "{'train_runtime': 9.0, 'epoch': 3.0}",
    "ranks": ranks(launch()),
    "named ranks": launch(label="[rank0]:") + f"[rank1]: {row(60, 1.0)}\n" + TRACEBACK,
    "data that is prepared": f"\r{bar(3, 7, '99.0 examples/s')}\n{bar(5, 60)}\n{launch()}",
    "padded bars": launch().replace("it/s]", "it/s]   "),
    "rows of other values": launch().replace("'grad_norm': 0.0003", "'note': 'x', 'grad': None"),
    "rows of other numbers": launch().replace("0.0003", ".5").replace("2.9", "+2.9"),
    "escapes": launch().replace("grad_norm", "grad\\norm"),
    "rows without a date": launch().replace("epoch", "lr"),
    "no rows": "".join(f"\r{bar(n, label='Epoch 1')}" for n in range(50)) + "\n" + TRACEBACK,
    "a long line": launch() + "x" * 5_000 + launch(first=12),
    "half a row": launch()[:-200],
    "broken UTF-8": launch() + "\udcff\n" + launch(first=12),
}


def reading(data: bytes) -> SourceReading:
    """Read a log."""
    read = SourceReading(Path("train.log"), "console")
    console.take(read, data)
    return read


def careful(data: bytes, *, numbered: bool = True) -> Scanned:
    """Take a log apart so that every line is left to be read for itself."""
    found = scan(data, numbered=numbered)
    return Scanned(
        found.text,
        found.bars.taken(slice(0, 0)),
        found.rows[:0],
        np.arange(len(found.text)),
        np.zeros_like(found.bare),
    )


def assert_equal(fast: SourceReading, slow: SourceReading) -> None:
    """Fail where two readings differ."""
    assert list(fast.series) == list(slow.series)
    for name, series in fast.series.items():
        for column, other in zip(series, slow.series[name], strict=True):
            np.testing.assert_array_equal(column, other, strict=True)
    fast.series = slow.series = {}
    assert fast == slow


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], tuple[SourceReading, SourceReading]]:
    """Read a log in both ways, the fast one in blocks of few lines."""

    def read(data: bytes) -> tuple[SourceReading, SourceReading]:
        with monkeypatch.context() as patch:
            patch.setattr(scanner, "BLOCK", 700)
            fast = reading(data)
        with monkeypatch.context() as patch:
            patch.setattr(console, "scan", careful)
            return fast, reading(data)

    return read


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_both_ways_read_the_same(
    log: str, both: Callable[[bytes], tuple[SourceReading, SourceReading]]
) -> None:
    """Whatever a log looks like, how fast it is read changes nothing."""
    fast, slow = both(log.encode(errors="surrogateescape"))
    assert fast.series or fast.events
    assert_equal(fast, slow)


PIECES = [
    *("\r", "\n", " ", "  7%|", "100%|", "| 3/60 [", "| 12/60 [", "00:01<00:02, 9.0it/s", "]"),
    *("{", "}", "'loss': 0.5", "'epoch': 1.0", ", ", "'x': 'nan'", ": ", "\\", "%|", "|"),
    *("4it [", "examples/s", bar(7), bar(9, label="Map: "), row(7, 1.0), row(9, "nan", "'")),
    *("12345678901234567", "2024-05-01 10:00:00 "),
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_pieces_in_any_order_are_read_the_same(pieces: list[str]) -> None:
    """Marks where no bar and no row has them leave a line to the careful way."""
    data = "".join(pieces).encode()
    fast, slow = reading(data), SourceReading(Path("train.log"), "console")
    console.fill(slow, sort(careful(data)))
    assert_equal(fast, slow)


@pytest.mark.parametrize("quote", ["", "'"])
def test_nearly_all_of_a_trainer_log_goes_the_fast_way(quote: str) -> None:
    """Bars, rows and cleared lines need no look of their own; nan and inf do not either."""
    found = scan(launch(40, quote).encode())
    assert [found.text.line(at)[:6] for at in found.single.tolist()] == ["Saving"] * 10
    rows, left = decoded(found.text.data, found.rows)
    assert (len(rows), len(left)) == (50, 0)


def test_one_odd_row_leaves_the_others_fast() -> None:
    """A batch that is no JSON is taken row by row."""
    data = launch(40).replace("'epoch': 1.0}", "'epoch': (1.0)}").encode()
    found = scan(data)
    rows, left = decoded(data, found.rows)
    assert (len(rows), len(left)) == (48, 2)


def test_a_line_that_is_no_line_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies before and behind megabytes without a line end is read."""
    monkeypatch.setattr(scanner, "BLOCK", 2_000)
    monkeypatch.setattr(scanner, "MAX_LONG_LINE", 4_000)
    read = reading((launch() + "x" * 9_000 + "\n" + launch(first=12)).encode())
    assert len(read.series["loss"].step) == 24
    assert not any("xxx" in line for line in read.log_tail)
