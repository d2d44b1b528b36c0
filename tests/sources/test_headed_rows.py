"""Rows below lines that name their epoch, and other ways in which epochs and trainings are told."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.naming.words import words


def put(folder: Path, *lines: str) -> Path:
    """Write a log."""
    path = folder / "train.log"
    path.write_text("\n".join(lines) + "\n")
    return path


def below(epoch: int, of: int, batches: int, total: int, *, loss: float) -> list[str]:
    """Return the rows of one counter, as Paddle's high-level API prints them."""
    steps = [*range(10, batches, 10), batches]
    head = [f"Epoch {epoch}/{of}"] if of else ["Eval begin..."]
    return head + [f"step {n}/{total} - loss: {loss - n / 1000:.4f} - acc: 0.5" for n in steps]


def test_a_counter_below_a_line_that_names_the_epoch_counts_its_batches(tmp_path: Path) -> None:
    """Its evaluation begins it anew with a total of its own, and its last row is the result."""
    lines = ["my program"]
    for epoch in (1, 2, 3):
        lines += below(epoch, 3, 45, 45, loss=2 - epoch / 4)
        lines += below(epoch, 0, 20, 20, loss=1.5 - epoch / 4)
    (run,) = read_all(put(tmp_path, *lines))
    assert run.curve("train_loss").step.tolist()[:7] == [10, 20, 30, 40, 45, 55, 65]
    assert run.curve("eval_loss").step.tolist() == [45, 90, 135]
    assert run.curve("eval_loss").value.tolist() == [1.23, 0.98, 0.73]
    assert (run.state.planned_epochs, run.state.kind) == (3, "finished")


def test_a_counter_that_goes_on_below_the_next_line_counts_steps(tmp_path: Path) -> None:
    """So it does where a line names an epoch before the first row is none of it."""
    rows = [f"step {n}/900 loss: {2 / n:.4f}" for n in range(10, 90, 10)]
    run = read(put(tmp_path, "Epoch 1/90", *rows[:4], "Epoch 2/90", *rows[4:]))
    assert run.curve("train_loss").step.tolist() == list(range(10, 90, 10))
    assert run.state.planned_steps == 900


def test_what_is_printed_before_every_row_begins_no_training(tmp_path: Path) -> None:
    """Tensors that a loop prints for its author stand before the first row too."""
    lines = ["my program"]
    for epoch in (1, 2):
        lines.append(f"==> Epoch {epoch}/2")
        for n in range(12):
            noise = ["features", "tensor of the batch", f"device cuda:{n % 4}", "grad_fn Norm"]
            lines += [*noise, f"train_loss {3 - epoch / 2 - n / 50:.4f}"]
    (run,) = read_all(put(tmp_path, *lines))
    assert len(run.curve("train_loss")) == 24


def test_epochs_that_fall_with_the_steps_tell_short_trainings_apart(tmp_path: Path) -> None:
    """A start that came to its second row only is one of its own."""
    rows = [
        [
            f"Epoch: {n // 3}/{of}, Iteration step: {100 * n + 100}, loss: {3 - n / 20:.3f}"
            for n in range(many)
        ]
        for of, many in ((9, 15), (12, 2), (5, 15))
    ]
    runs = read_all(put(tmp_path, "my program", *(row for some in rows for row in some)))
    assert [run.state.planned_epochs for run in runs] == [9, 12, 5]
    assert [len(run.curve("train_loss")) for run in runs] == [15, 2, 15]
    assert runs[-1].state.kind == "finished"


def test_the_label_of_a_bar_tells_the_plan(tmp_path: Path) -> None:
    """Its own total is that of an epoch."""
    bars = [
        f"Train Epoch: [{n}/4], lr: 0.06, Loss: {7 / n:.4f}: 100%|##########| 97/97 [00:22<00:00]"
        for n in (1, 2, 3, 4)
    ]
    state = read(put(tmp_path, *bars)).state
    assert (state.done_epochs, state.planned_epochs, state.kind) == (4, 4, "finished")
    assert read(put(tmp_path, "a program", *bars[:3])).state.settled == "unknown"


def test_a_bar_that_is_called_by_its_epoch_has_no_plan_in_steps(tmp_path: Path) -> None:
    """Lightning draws it as that of the training first."""
    bar = "Training: 0it [00:00, ?it/s]\rTraining:   0%|          | 0/2369 [00:00<?, ?it/s]\r"
    bar += "Epoch 0:   0%|          | 0/2369 [00:00<?, ?it/s]"
    died = ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "ValueError: x"]
    assert read(put(tmp_path, "a program", bar, *died)).state.planned_steps is None


def test_a_unit_that_stands_apart_is_no_cell(tmp_path: Path) -> None:
    """A table that pads its numbers writes the unit of a time behind the column's room."""
    head = "Epoch    Train Loss   Train Acc    Test Loss    Test Acc     Time    "
    rows = [
        f"{n:<8} {2 / n:<12.4f} 0.3{n:<10} {3 / n:<12.4f} 0.2{n:<10} 0.55    s" for n in (1, 2, 3)
    ]
    run = read(put(tmp_path, "TRAINING START", "", head, "-" * 70, *rows))
    assert run.curve("train_loss").value.tolist() == [2.0, 1.0, 0.6667]
    assert run.curve("eval_loss").step.tolist() == [1, 2, 3]


def test_losses_named_as_in_papers(tmp_path: Path) -> None:
    """``L_total``; a left hand is none."""
    rows = [f"epoch {n}, L_adv: 0.{60 - n}, L_hand: 0.5, L_total: {9 / n}" for n in range(1, 19)]
    run = read(put(tmp_path, *rows))
    assert run.curve("train_loss").value[:2].tolist() == [9.0, 4.5]
    assert words("L_adv") == ("loss", "adv")
    assert words("L_hand") == ("l", "hand")


@pytest.mark.parametrize("first", [0, 1])
def test_a_score_above_the_row_of_its_epoch(tmp_path: Path, first: int) -> None:
    """Both name the epoch, the heading and the row, from 0 on or from 1."""
    epochs = range(first, first + 9)
    lines = [
        f"Epoch:{n}\n0: 0.9{n}\n1: 0.2{n}\nmiou: 0.3{n}\nEpoch:{n}, loss is 0.5{n}" for n in epochs
    ]
    run = read(put(tmp_path, *lines))
    for name, whole in (("miou", 0.3), ("train_loss", 0.5)):
        assert run.curve(name).step.tolist() == list(epochs)
        assert run.curve(name).value.tolist() == [round(whole + n / 100, 2) for n in epochs]
