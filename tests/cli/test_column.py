"""`--column`: what a column is, said on the command line."""

from collections.abc import Callable
from math import exp
from pathlib import Path

import pytest

from runlens import read
from tests.cli.places import lens


def table(folder: Path) -> Path:
    """Write a table whose names say nothing of a loss."""
    rows = [f"{n},{2 * exp(-n / 9):.4f},{n / 50:.3f}" for n in range(1, 40)]
    path = folder / "metrics.csv"
    path.write_text("\n".join(["step,zig,accuracy", *rows, ""]))
    return path


def log(folder: Path) -> Path:
    """Write a log whose names say nothing of a loss for sure."""
    rows = [
        f"step {n}: zig={2 * exp(-n / 9):.4f} xent={1 + exp(-n / 9):.4f} lr=1e-3"
        for n in range(1, 40)
    ]
    path = folder / "train.log"
    path.write_text("\n".join([*rows, ""]))
    return path


def said(*arguments: str) -> str:
    """Return what `runlens diagnose` prints, in one line."""
    return " ".join(lens("diagnose", *arguments, "--no-html").output.split())


def test_a_verdict_without_a_loss_lists_what_was_read(tmp_path: Path) -> None:
    """With ranges, and with the line that settles it."""
    text = said(str(table(tmp_path)))
    assert "Nothing alarming was seen" in text
    assert "zig (0.026 to 1.790)" in text
    assert "is the train loss, pass --column train_loss=" in text


@pytest.mark.parametrize("write", [table, log])
def test_a_column_is_what_the_user_says(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    """In tables and in logs, before any guess."""
    text = said(str(write(tmp_path)), "--column", "train_loss=zig")
    assert "Train loss fell from 1.790" in text
    assert "was used" not in text


def test_a_guess_is_told(tmp_path: Path) -> None:
    """With what to write where it is wrong."""
    text = said(str(log(tmp_path)))
    assert 'does not name its training loss, so "xent" was used' in text
    assert "pass --column train_loss=NAME" in text


def test_a_column_that_is_not_there_is_told(tmp_path: Path) -> None:
    """With the nearest name that is."""
    (problem,) = read(table(tmp_path), columns={"train_loss": "zag"}).problems
    assert "did you mean 'zig'?" in problem.text


@pytest.mark.parametrize("given", ["train_loss", "=zig", "train_loss="])
def test_half_a_column_is_an_error(tmp_path: Path, given: str) -> None:
    """One line: what it takes."""
    assert "it takes NAME=COLUMN" in said(str(table(tmp_path)), "--column", given)
