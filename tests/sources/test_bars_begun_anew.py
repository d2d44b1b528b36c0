"""A bar that has done nothing yet shows what was, at times below the label of the epoch before."""

from pathlib import Path

from runlens import read_all

STATE = (
    "\rEpoch {0}: {1:3d}%|####      | {2}/10 [00:0{3}<00:05,  4.20it/s, v_num=x, loss={4:.3f}{5}]"
)


def states(epoch: int, first: int, last: int, label: int, held_out: str) -> str:
    """Return the states of a bar, drawn over each other."""
    return "".join(
        STATE.format(label, 10 * n, n, n % 10, 1 + 9 / (epoch * 10 + n + 1), held_out)
        for n in range(first, last + 1)
    )


def test_a_bar_at_nothing_begins_no_training_anew(tmp_path: Path) -> None:
    """`Epoch 0:   0%` stands between the end of epoch 0 and the start of epoch 1."""
    text, held_out = "", ""
    for epoch in range(4):
        if epoch:
            text += states(epoch - 1, 10, 10, epoch - 1, held_out)
            text += states(epoch, 0, 0, epoch - 1, held_out)
        text += states(epoch, 0, 10, epoch, held_out) + "\n"
        held_out = f", val/loss={3 - 0.1 * epoch:.3f}"
        text += "Validation:  50%|##   | 1/2 [00:00<00:00,  7.16it/s]\x1b[A\n"
    log = tmp_path / "train.log"
    log.write_text(text)
    (run,) = read_all(log)
    assert run.curve("eval_loss").value.tolist()[0] == 3
    assert run.curve("train_loss").step[-1] == 40


def test_a_bar_of_each_epochs_evaluation_is_no_plan_of_the_run(tmp_path: Path) -> None:
    """It stands at 0 behind the row of epoch 0, as the bar of a run would at step 0."""
    bar = "\r{0:3.0%}|###   | {1}/{2} [00:0{3}<00:09,  1.00s/it]"
    text = ""
    for epoch in range(5):
        for total in (17, 5):
            text += "".join(bar.format(n / total, n, total, n % 9) for n in range(total + 1)) + "\n"
        text += f"{'-' * 20}\nEpoch {epoch}/100\nTRAIN LOSS: {1 / (epoch + 2):.4f}\n"
        text += f"VAL LOSS: {1 / (epoch + 3):.4f}\n\n"
    log = tmp_path / "train.log"
    log.write_text(text + "".join(bar.format(n / 17, n, 17, n) for n in range(5)))
    (run,) = read_all(log)
    assert (run.state.planned_epochs, run.state.settled) == (100, "unknown")
