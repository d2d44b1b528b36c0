"""Plans of launches that left no row, or whose bar alone counts."""

from pathlib import Path

import pytest

from runlens import read

DIED = (
    'Traceback (most recent call last):\n  File "/a/train.py", line 28, in <module>\n    main()\n'
)
DIED += "FileExistsError: the folder exists\n"


def written(folder: Path, text: str, name: str = "train.log") -> Path:
    """Write a file."""
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "setting",
    ["Steps: {}", "INFO:root:num_steps: {}", "2024-01-01 10:00:00 - INFO - Max iters = {}"],
)
def test_the_plan_of_the_last_launch(tmp_path: Path, setting: str) -> None:
    """Where none left a row."""
    text = "".join(f"{setting.format(n)}\nwarmup steps: 100\n{DIED}" for n in (30_000, 3_000))
    assert read(written(tmp_path, text)).state.planned_steps == 3_000


def test_the_epochs_of_the_last_launch(tmp_path: Path) -> None:
    """They are a plan as well."""
    text = "".join(f"[INFO] num_epochs: {n}\n{DIED}" for n in (30, 3))
    assert read(written(tmp_path, text)).state.planned_epochs == 3


def test_steps_that_a_sentence_above_the_bar_names(tmp_path: Path) -> None:
    """Its total is that of the run then, and no epoch's; a NaN in a sentence is no value."""
    bars = "".join(
        f"Training:   0%|          | {n}/900 [00:{n:02}<9:28:17,  1.4s/it, Loss={3 - n / 50:.4f}]\n"
        + "[WARNING] NaN loss detected! Skipping batch.\n" * (n in {7, 12})
        for n in range(1, 40)
    )
    run = read(written(tmp_path, f"Training for 900 total iterations (updates)...\n{bars}"))
    assert run.state.planned_steps == 900
    assert len(run.curve("train_loss")) == 39
    assert [event.step for event in run.messages("num")] == [7, 12]
    assert (
        read(written(tmp_path, f"Training for 80 total iterations\n{bars}")).state.planned_steps
        is None
    )
