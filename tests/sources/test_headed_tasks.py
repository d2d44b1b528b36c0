"""Results below headings that come by turns, each of a task of its own."""

from pathlib import Path

import pytest

from runlens.sources.console.headed_tasks import with_tasks_named
from tests.sources.written import run_of


def _rounds(tasks: range, rounds: int = 12) -> str:
    lines = [
        line
        for n in range(rounds)
        for task in ["", *tasks]
        for line in (
            [f"Round {n}", "Evaluate global model"]
            if task == ""
            else [f"evaluation for task {task}", f"Train Loss: {(3 - n / 9) * (1 + 5 * task):.3f}"]
        )
    ]
    return "\n".join([*lines, ""])


def test_tasks_that_come_by_turns_have_a_curve_each(tmp_path: Path) -> None:
    """No value goes on from that of another task."""
    run = run_of(tmp_path, "train.log", _rounds(range(2)))
    assert "train_loss" not in run.history.metrics
    first, second = (run.curve(f"task_{n}/Train Loss").value for n in (0, 1))
    assert len(first) == len(second) == 12
    assert second[0] == pytest.approx(18)


def test_the_only_task_is_the_training(tmp_path: Path) -> None:
    """It has no turn."""
    run = run_of(tmp_path, "train.log", _rounds(range(1)))
    assert len(run.curve("train_loss")) == 12


@pytest.mark.parametrize(
    "lines",
    [
        ["task 0", "loss: 2.5", "task 0", "loss: 2.1", "task 1", "loss: 2.4"],  # one by one
        ["task 0", "epoch: 1", "loss: 2.5", "task 1", "epoch: 1", "loss: 2", "task 0", "loss: 1"],
        ["task 0", "", "loss: 2.5", "task 1", "done", "task 0", "so far loss 3"],  # none below
        ["epoch 0", "loss: 2.5", "epoch 1", "loss: 2.5", "epoch 0", "loss: 3"],
    ],
)
def test_other_headings_name_nothing(lines: list[str]) -> None:
    """Tasks that are trained one after the other, and what counts."""
    others = list(enumerate(lines))
    assert with_tasks_named(others) == others
