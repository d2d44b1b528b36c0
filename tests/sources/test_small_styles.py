"""Small ways to print a row that research code has, each read with all that it says."""

from pathlib import Path

import pytest

import runlens


@pytest.mark.parametrize(
    ("row", "curves"),
    [
        ("resetting env. episode reward total was -{n}.5. running mean: -{n}.25",
         {"reward", "running mean"}),
        ("{n:03d} | trn 2.{left} | dev 3.{left} | 12s", {"train_loss", "eval_loss"}),
    ],
)  # fmt: skip
def test_a_row_of_words(tmp_path: Path, row: str, curves: set[str]) -> None:
    """A sentence that states a number, data without the name of what was measured on them."""
    path = tmp_path / "log.txt"
    path.write_text("".join(row.format(n=n, left=60 - n) + "\n" for n in range(11, 31)))
    run = runlens.read(path)
    assert curves <= set(run.history.metrics)
    assert all(len(run.curve(name)) == 20 for name in curves)


def test_results_behind_each_training(tmp_path: Path) -> None:
    """Of kinds of their own, few, at its last epoch: where the next begins, its epochs tell."""
    parts = "[{{12.py:8}} INFO - TimeNLL:0.2{n} MarksNLL:0.3{n} Acc:1.0000\n"
    results = "".join(
        f"[{{{{12.py:7}}}} INFO - {data}: 0.5{{n}}\n{parts}" for data in ("Train", "Val", "Test")
    )
    path = tmp_path / "log.txt"
    path.write_text(
        "".join(
            "".join(
                f"[{{36.py:45}} INFO - Epoch {n:4}, trlast = {2 / n + one:.3f}, val = {2 / n:.3f}\n"
                for n in range(1, last)
            )
            + results.format(n=one)
            for one, last in enumerate((20, 24, 16))
        )
    )
    assert len(runlens.read_all(path)) == 3


def test_an_accuracy_alone_in_a_bar(tmp_path: Path) -> None:
    """Its name begins with the data."""
    bar = "Epoch 0:  {n}%|##    | {n}/100 [00:10<00:20,  1.5it/s, v_num=3, train_acc=0.{n}]\n"
    path = tmp_path / "log.txt"
    path.write_text("".join(bar.format(n=n) for n in range(11, 31)))
    assert len(runlens.read(path).curve("train_accuracy")) == 20
