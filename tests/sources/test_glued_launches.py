"""Launches in one log: rows without an end of line, counters of images, another interval."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from runlens import read_all
from runlens.run import Run

LOST = [4.5, 61.25, 9e11, *["nan"] * 12]


def rows(counts: Sequence[int], losses: Sequence[object]) -> list[str]:
    """Write rows as a program does that counts the images of an epoch."""
    return [
        f"[epoch 1,imgs {count:5d}] loss: {loss}  time: 10.023 s"
        for count, loss in zip(counts, losses, strict=True)
    ]


def runs(folder: Path, text: str) -> list[Run]:
    """Read a text as a log."""
    (folder / "train_log.txt").write_text(text)
    return read_all(folder / "train_log.txt")


def test_rows_without_an_end_of_line_are_rows(tmp_path: Path) -> None:
    """The program was mended behind its first launch, of which no row is lost."""
    first = rows(range(6, 66, 15), [6.5, 40.25, 1162.5, "nan"])
    second = rows(range(6, 231, 15), LOST)
    one, other = runs(tmp_path, "".join(first) + "\n".join([*second, ""]))
    assert one.curve("train_loss").step.tolist() == [6, 21, 36, 51]
    assert other.curve("train_loss").step.tolist() == list(range(6, 231, 15))


@pytest.mark.parametrize(
    "text",
    [
        # two data in a line: a space parts them
        "\n".join(f"ep {n}, loss: {1 / n:.2f} ep {n}, val loss: {2 / n:.2f}" for n in range(1, 9)),
        # the first line is all that is so, and none below bears it out
        "ep 1, loss: 0.5ep 2, loss: 0.4\n" + "\n".join(f"step {n} loss 0.{n}" for n in range(9)),
        "\n".join(f"{1 / n}" for n in range(1, 9)),
    ],
)
def test_lines_of_other_logs_stay_whole(tmp_path: Path, text: str) -> None:
    """What parts the halves of a row is no lost end of line."""
    (run,) = runs(tmp_path, text + "\n")
    assert len(run.curve("train_loss")) in {8, 10}


def test_a_launch_that_logs_less_often_begins_above_the_last_row(tmp_path: Path) -> None:
    """Its rows are multiples of their own interval, and NaN weights never come back."""
    counts, losses = list(range(6, 231, 15)), [*LOST]
    later = rows(range(300, 2400, 300), [0.05 + n / 1000 for n in range(7)])
    one, other = runs(tmp_path, "\n".join([*rows(counts, losses), *later, ""]))
    assert np.isnan(one.curve("train_loss").value[-1])
    assert np.isfinite(other.curve("train_loss").value).all()


@pytest.mark.parametrize(
    ("later", "losses"),
    [
        (range(300, 2400, 300), [2.5] * 15),  # nothing was lost: the program logs less often
        (range(320, 2420, 300), LOST),  # no multiples of their interval
        (range(231, 336, 15), LOST),  # the interval is the same
        (range(300, 900, 300), LOST),  # two rows make no interval
        ((300, 600, 900, 1300, 1500), LOST),  # nor does this
    ],
)
def test_rows_that_go_on_are_of_one_launch(
    tmp_path: Path, later: Sequence[int], losses: Sequence[object]
) -> None:
    """A batch without a target may be NaN, and the next one is not."""
    finite = rows(later, [0.05 + n / 1000 for n in range(len(later))])
    (run,) = runs(tmp_path, "\n".join([*rows(range(6, 231, 15), losses), *finite, ""]))
    assert len(run.curve("train_loss")) == 15 + len(later)
