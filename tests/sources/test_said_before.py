"""What the sentence of PyTorch's tutorial says of held-out data, in the line of a row."""

from pathlib import Path

import pytest

from runlens import read_all
from runlens.run import Run

SAID = "The average error of the model on the 13 test images  is: 0.{}5 "


def run_of(folder: Path, *lines: str) -> Run:
    """Read a log."""
    (folder / "loss_log.txt").write_text("\n".join([*lines, ""]))
    (run,) = read_all(folder / "loss_log.txt")
    return run


def epoch(number: int, said: str = "") -> list[str]:
    """Write the rows of an epoch, and the last again behind what was said of it."""
    rows = [f"Epoch [{number}/9], Step [{n}/37], Loss: 0.{9 - number}{n}" for n in (12, 24, 36)]
    return [*rows, f"{said}Epoch [{number}/9], Step [37/37], Loss: 0.{9 - number}9"]


def test_the_loss_behind_the_sentence_is_that_of_the_training(tmp_path: Path) -> None:
    """And the number in it is of the test data."""
    lines = [line for n in range(1, 9) for line in epoch(n, SAID.format(n))]
    run = run_of(tmp_path, *lines)
    assert len(run.curve("train_loss")) == 4 * 8
    held = run.curve("eval_error")
    assert held.value.tolist() == [float(f"0.{n}5") for n in range(1, 9)]
    assert held.step.tolist() == [37 * n for n in range(1, 9)]


@pytest.mark.parametrize(
    "said",
    [
        "Error of the lens on the 13 test images is: 0.25",  # of no model, and no row behind it
        "Accuracy of the network on the 10000 test images: 54 %",  # alone in its line
    ],
)
def test_a_sentence_of_its_own_is_left_as_it_is(tmp_path: Path, said: str) -> None:
    """The loss of the row above keeps its place."""
    lines = [line for n in range(1, 9) for line in [*epoch(n), said]]
    run = run_of(tmp_path, *lines)
    assert len(run.curve("train_loss")) == 4 * 8
    assert run.curve("train_loss").value.tolist()[3] == 0.89
