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


@pytest.mark.parametrize(
    ("dumps", "plan"),
    [
        (["params: {'epochs': 1, 'lr': 0.1}", "params: {'epochs': 12, 'lr': 0.1}"], 12),
        (["Cfg({'MAX_EPOCH': 90, 'LR': 0.1, 'BENCHMARK': Cfg({'NUM_EPOCHS': 5})})"] * 3, 90),
        (["Cfg({'MAX_EPOCH': 90, 'LR': 0.1, 'SECOND': Cfg({'NUM_EPOCHS': 5})})"] * 3, None),
    ],
)
def test_the_epochs_that_settings_of_the_last_launch_name(
    tmp_path: Path, dumps: list[str], plan: int | None
) -> None:
    """Those of a launch before it were others; a part that measures speed has epochs of its own."""
    text = "".join(f"2024-01-01 10:0{n}:00 - {one}\n" for n, one in enumerate(dumps))
    assert read(written(tmp_path, text)).state.planned_epochs == plan


@pytest.mark.parametrize("beside", ["Success    : True", "   Function evaluations: 41"])
def test_iterations_that_an_optimiser_took_are_no_plan(tmp_path: Path, beside: str) -> None:
    """It says so where it is done, and a log without rows that says so too is finished."""
    text = f"Intercept  : 0.5\nIterations : 7\n{beside}\nTraining completed in 3.5 s\n"
    state = read(written(tmp_path, text)).state
    assert (state.kind, state.planned_steps) == ("finished", None)


def test_a_log_without_rows_is_done_where_it_says_so(tmp_path: Path) -> None:
    """How far it came nothing tells; of rows that are there it does."""
    text = "Steps: 700\n{}Training completed in 3.5 s\n"
    assert read(written(tmp_path, text.format(""))).state.kind == "finished"
    rows = "".join(f"step {n} loss {2 / n:.3f}\n" for n in range(1, 30))
    assert read(written(tmp_path, text.format(rows))).state.kind == "finished"
    rows = f"Training for 700 iterations\n{rows}"
    assert read(written(tmp_path, text.format(rows))).state.kind == "stopped_early"


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
