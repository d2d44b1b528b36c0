"""Evaluations that a log shows batch by batch, or says again as what was best so far."""

from pathlib import Path

import numpy as np
import pytest

from runlens.sources.console.trainings import Counts, tell_apart
from tests.sources.written import run_of


def gluon(epochs: int, dev: int = 30) -> list[str]:
    """Return a log of GluonNLP's finetuning, with an evaluation of `dev` batches an epoch."""
    lines = ["INFO:root:Now we are doing BERT classification training on gpu(0)!"]
    for epoch in range(1, epochs + 1):
        lines += [
            f"INFO:root:[Epoch {epoch} Batch {n}/100] loss={2 / epoch - n / 200:.4f}, "
            f"lr=0.0000100, metrics:accuracy:{0.5 + epoch / 20:.4f}"
            for n in range(10, 101, 10)
        ]
        lines += ["INFO:root:Now we are doing evaluation on dev with gpu(0)."]
        lines += [
            f"INFO:root:[Batch {n}/30] loss={epoch + n / 100:.4f}, metrics:accuracy:0.9"
            for n in range(10, dev + 1, 10)
        ]
        lines += [f"INFO:root:validation metrics:accuracy:{0.6 + epoch / 50:.4f}"]
    return lines


def test_batches_of_an_evaluation_are_no_rows_of_the_training(tmp_path: Path) -> None:
    """Their mean is the loss of the evaluation; they restart nothing."""
    run = run_of(tmp_path, "train.log", "\n".join([*gluon(4), ""]))
    assert len(run.curve("train_loss")) == 40
    assert run.curve("eval_loss").value.tolist() == pytest.approx([1.2, 2.2, 3.2, 4.2])
    assert run.curve("eval_loss").step.tolist() == [100, 200, 300, 400]
    assert run.curve("eval_accuracy").value.tolist() == pytest.approx([0.62, 0.64, 0.66, 0.68])


def test_an_evaluation_that_was_cut_off_has_no_mean(tmp_path: Path) -> None:
    """The batches that are missing may be others."""
    lines = gluon(4)
    run = run_of(tmp_path, "train.log", "\n".join([*lines[:-2], ""]))
    assert run.curve("eval_loss").value.tolist() == pytest.approx([1.2, 2.2, 3.2])


def paddle(first: int, end: int, loss: float) -> list[str]:
    """Return a launch of PaddleOCR from one epoch to another, which counts its own iterations."""
    lines = []
    for number, epoch in enumerate(range(first, end)):
        for n in range(20, 101, 20):
            loss *= 0.98
            at = f"epoch: [{epoch}/20], iter: {100 * number + n}"
            lines += [f"{at}, lr: 0.001, loss: {loss:.6f}, acc: 0.5, norm_edit_dis: 0.9"]
        lines += [f"cur metric, acc: {epoch / 40}, norm_edit_dis: 0.8, fps: 300.5"]
        lines += [f"best metric, acc: 0.3, norm_edit_dis: 0.8, fps: 300.5, best_epoch: {first}"]
    return [f"[2022/03/01 10:00:{n % 60:02d}] root INFO: {line}" for n, line in enumerate(lines)]


def test_what_was_best_so_far_is_no_row_and_the_current_is_held_out(tmp_path: Path) -> None:
    """Of PaddleOCR, whose evaluation names its numbers as the training does."""
    run = run_of(tmp_path, "train.log", "\n".join([*paddle(1, 9, 4.0), ""]))
    assert len(run.curve("train_accuracy")) == 40
    assert run.curve("eval_accuracy").value.tolist() == [n / 40 for n in range(1, 9)]
    assert "best_epoch" not in run.history.metrics


def test_launches_that_go_on_with_the_epochs_are_one_training(tmp_path: Path) -> None:
    """Each counts its own iterations, and the epochs say how many were before."""
    lines = [*paddle(5, 9, 4.0), *paddle(8, 12, 1.8), *paddle(12, 13, 0.8), ""]
    run = run_of(tmp_path, "train.log", "\n".join(lines))
    loss = run.curve("train_loss")
    assert loss.step.tolist() == list(range(20, 801, 20))
    assert loss.epoch[-1] == 12
    assert len(run.segments) == 2  # one went back, to the last epoch of the first


@pytest.mark.parametrize(
    ("epochs", "loss", "whole"),
    [
        ("1 1 2 2 3 3", "4 3 3 2 2 2", True),
        ("0 0 1 1 2 2", "4 3 3 2 2 2", False),  # from the first epoch
        ("5 5 6 6 7 7", "4 3 3 2 2 2", False),  # behind epochs that are not there
        ("1 1 1 1 1 1", "4 3 3 2 2 2", False),  # no epoch of theirs is whole
        ("1 1 3 3 5 5", "4 3 3 2 2 2", False),  # epochs are left out
        ("1 1 2 2 3 3", "6 5 4 4 3 3", False),  # the loss begins anew
    ],
)
def test_launches_that_may_be_others_are_not_joined(epochs: str, loss: str, *, whole: bool) -> None:
    """Where epochs or the loss do not go on, or do not say how many steps they have."""
    first, values = "0 0 0 1 1" if whole or epochs[0] != "1" else "0 0 0 0 0", "6 6 5 5 4"
    epoch = np.array([*map(int, first.split()), *map(int, epochs.split())])
    value = np.array([*map(float, values.split()), *map(float, loss.split())])
    step = np.array([*range(1, 6), *range(1, 7)])
    unsaid = np.full(len(step), -1)
    for counts in (Counts(epoch, step, unsaid), Counts(epoch, unsaid, step)):
        found = tell_apart(counts, ["loss"] * len(step), value, lambda _at, _alike: False, unsaid)
        assert (found.ahead is not None) == whole
        if found.ahead is not None:
            assert found.ahead.tolist() == [0] * 5 + [2] * 6
