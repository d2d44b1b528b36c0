"""A loss alone in its line beside rows that say where in the training they stand."""

from pathlib import Path

import pytest

from runlens.run import Run
from tests.sources.written import run_of


def _logged(folder: Path, row: str, between: str) -> Run:
    lines = [
        line
        for epoch in (1, 2)
        for step in range(1, 50)
        for line in (
            row.format(epoch=epoch, step=step, loss=f"{0.7 - step / 999:.4f}"),
            f"batch_idx: {step}",
            "graph_loss: 0.002",
            between.format(step=step, loss=f"{1 / (step + 400 * epoch):.5f}"),
        )
    ]
    return run_of(folder, "train.log", "\n".join([*lines, ""]))


def test_the_loss_that_stands_with_its_step_is_that_of_the_training(tmp_path: Path) -> None:
    """What is printed alone is of something else that the program works out."""
    row = "Epoch [{epoch}/10], Step [{step}/49], Loss: {loss}"
    run = _logged(tmp_path, row, "total_loss: {loss}")
    assert run.curve("train_loss").value[0] == pytest.approx(0.699)
    assert len(run.curve("train_loss")) == 98
    assert run.state.planned_steps == 490


@pytest.mark.parametrize(
    ("row", "between"),
    [
        # of the epoch alone, which goes by many steps
        ("Epoch {epoch}/10 step total 49 score: {loss}", "total_loss: {loss}"),
        # it counts, or has others beside it
        ("Epoch [{epoch}/10], Step [{step}/49], Score: {loss}", "total_loss: {loss}"),
    ],
)
def test_elsewhere_a_loss_alone_is_read(tmp_path: Path, row: str, between: str) -> None:
    """No other is logged."""
    run = _logged(tmp_path, row, between)
    assert run.curve("train_loss").value.max() < 0.01
