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
