"""Rows that a program printed and that its logger wrote once more into the same file."""

from pathlib import Path

import pytest

from runlens import read
from runlens.sources.console.echoes import without_echoes

ROW = "Epoch [{n}/20] Train Loss: {loss:.4f} Val Loss: {held:.4f}"
STAMP = "2026-01-22 14:{n:02d}:30,260 - INFO - "


def rows(*before: str) -> list[str]:
    """Write a row of each epoch as often as there are beginnings."""
    said = [ROW.format(n=n, loss=2 / n, held=2.2 / n) for n in range(1, 21)]
    return [one.format(n=n) + line for n, line in enumerate(said, 1) for one in before]


@pytest.mark.parametrize("before", [("", STAMP), (STAMP, ""), (STAMP, "INFO:train:")])
def test_a_row_printed_and_logged_is_one(tmp_path: Path, before: tuple[str, ...]) -> None:
    """At the step that it names, with the time of the logger."""
    (tmp_path / "train.log").write_text("\n".join(["Device: cuda", *rows(*before), ""]))
    run = read(tmp_path / "train.log")
    assert run.curve("train_loss").step.tolist() == list(range(1, 21))
    assert run.curve("eval_loss").value[-1] == pytest.approx(0.11)


@pytest.mark.parametrize(
    "lines",
    [
        [f"12:00:{n:02d} INFO loss 0.693" for n in range(20)],  # it stands still
        ["loss 0.5", "INFO loss 0.5"],  # twice is chance
        [*rows(""), "loss 0.5", "INFO loss 0.5"],
        [f"INFO loss {n}" for n in range(20)],
        [f"{data} - loss {n}.5" for n in range(9) for data in ("Train", "Val")],
        [f"{name} - loss {n}.5" for n in range(9) for name in ("anna", "")],
        [*(f"line {n}" for n in range(40)), *["loss 1", "INFO loss 1"] * 3],  # a few of many
        ["", "loss 1", "", "INFO", "====", "INFO ===="],
        [],
    ],
)
def test_other_lines_are_rows_of_their_own(lines: list[str]) -> None:
    """Values that repeat have the same before them, but for its digits."""
    others = list(enumerate(lines))
    assert without_echoes(others) == others
