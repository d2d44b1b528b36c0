"""One row that is left of many, each written over the one before, in a log of many other lines."""

from pathlib import Path

import pytest

from runlens import read
from runlens.run import Run

OTHERS = [f"some text with a number {n}.py" for n in range(80)]
ROW = " Epoch:   54 - loss: 0.0567 - acc: 0.9862"


def run_of(folder: Path, *rows: str) -> Run:
    """Return the run of a log with these rows among other lines."""
    (folder / "train.log").write_text("\n".join([*OTHERS, *rows, *OTHERS, ""]))
    return read(folder / "train.log")


@pytest.mark.parametrize("row", [ROW, "iter 54 loss=0.0567 acc=0.9862"])
def test_it_keeps_its_step(row: str, tmp_path: Path) -> None:
    """And each number its name."""
    run = run_of(tmp_path, row)
    assert run.last_step == 54
    assert run.curve("train_loss").value.tolist() == [0.0567]
    assert run.curve("train_accuracy").value.tolist() == [0.9862]
    assert not run.problems


@pytest.mark.parametrize(
    "rows",
    [
        ("Best epoch: 54 - loss: 0.0567 - acc: 0.9862",),
        ("Epoch 54 had a loss of 0.0567 and an acc of 0.98",),
        ("Epoch: 54 - loss: 0.0567",),
        ("epochs=54, loss=0.5, acc=1.5",),
        ("epoch=54, patience=9, weight_decay=0.1, label_smoothing=0.1, loss=0.5, acc=1.5",),
        ("loss: 0.0567 - acc: 0.9862 - Epoch: 54",),
        (ROW, "Epoch 12 | val loss: 0.0567 | val acc: 0.9862"),
    ],
)
def test_a_result_is_no_row(rows: tuple[str, ...], tmp_path: Path) -> None:
    """What was best, a sentence, a single number, and the ends of two."""
    assert run_of(tmp_path, *rows).last_step != 54
