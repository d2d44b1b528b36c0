"""Launches of one folder: which goes on from which, and which restarted."""

from pathlib import Path

import numpy as np
import pytest

from runlens import read, read_all
from tests.sources.event_files import START, curve, scalar, written
from tests.sources.writers import events, log_rows, losses, state

A, B = losses(1), losses(2)


def test_two_launches_from_the_start_are_two_runs_whatever_a_later_file_says(
    tmp_path: Path,
) -> None:
    """The evaluation behind each is in a file of its own, that could follow either."""
    events(tmp_path / "runs/one", A)
    events(tmp_path / "runs/one", [2.0], first=41, launch=1, tag="eval/loss")
    events(tmp_path / "runs/two", B, launch=2)
    events(tmp_path / "runs/two", [2.1], first=41, launch=3, tag="eval/loss")
    state(tmp_path, log_rows(B), max_steps=400)
    first, second = read_all(tmp_path)
    assert sorted(len(run.curve("train_loss")) for run in (first, second)) == [40, 40]
    assert not any("disagrees" in one.text for run in (first, second) for one in run.problems)


def test_a_launch_goes_on_from_the_last_that_was_started(tmp_path: Path) -> None:
    """Two runs came near its first step, the one long before the other."""
    events(tmp_path / "logs", A[:20])
    events(tmp_path / "logs", A[18:32], first=19, launch=1)
    events(tmp_path / "logs", B[:30], launch=30)
    events(tmp_path / "logs", B[30:], first=31, launch=31)
    first, second = read_all(tmp_path)
    assert {run.curve("train_loss").step[-1] for run in (first, second)} == {320, 400}


def test_the_evaluation_at_the_last_step_belongs_to_the_training(tmp_path: Path) -> None:
    """It stands in a second file, a while after the end."""
    trained = [*curve("train/loss", range(10, 401, 10)), *curve("eval/loss", range(100, 401, 100))]
    written(tmp_path / "logs", trained)
    behind = [scalar("eval/loss", 400, 0.77, START + 9_000)]
    written(tmp_path / "logs", behind, "events.out.tfevents.1700009000.box.17.1", START + 9_000)
    (run,) = read_all(tmp_path)
    assert len(run.curve("train_loss")) == 40


def test_a_card_that_rounds_to_four_decimals_is_of_the_run_beside_it(tmp_path: Path) -> None:
    """0.0774 says the same as 0.07743."""
    rows = log_rows(np.round(A / 50, 4))
    for row in rows[4::5]:
        row["eval_loss"] = float(row["loss"]) / 7
    state(tmp_path, rows)
    cells = [
        f"| {row['loss']:.4f} | {row['step'] / 100} | {row['step']} | {row['eval_loss']:.4f} |"
        for row in rows[4::5]
    ]
    head = "| Training Loss | Epoch | Step | Validation Loss |\n|:---:|:---:|:---:|:---:|\n"
    (tmp_path / "README.md").write_text(f"### Training results\n\n{head}" + "\n".join(cells))
    assert len(read(tmp_path).sources) == 2


def test_a_run_of_checkpoints_is_called_after_the_last(tmp_path: Path) -> None:
    """Beside another run; whose state lies above, by that."""
    for rows in (10, 30, 20):
        state(tmp_path / f"checkpoint-{10 * rows}", log_rows(A[:rows]), global_step=10 * rows)
    events(tmp_path / "runs" / "old", B)
    assert [run.name for run in read_all(tmp_path)] == ["checkpoint-300", "runs/old"]
    state(tmp_path, log_rows(A), global_step=400)
    assert [run.name for run in read_all(tmp_path)] == ["runs/old", "trainer_state.json"]


def test_rounds_that_all_begin_at_the_first_step_are_runs(tmp_path: Path) -> None:
    """No epoch says why the steps begin anew, which is told."""
    lines = [f"Step {step} loss: {2 / step + r:.3f}" for r in range(4) for step in range(1, 20)]
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n")
    runs = read_all(tmp_path)
    assert [run.name for run in runs] == [f"train.log ({n} of 4)" for n in (1, 2, 3, 4)]
    assert [run.curve("train_loss").value[-1] for run in runs] == [0.105, 1.105, 2.105, 3.105]
    assert all("no epoch says why" in run.problems[0].text for run in runs)


def test_the_bar_of_another_program_is_no_end_of_the_run(tmp_path: Path) -> None:
    """Its log lies in the same folder, with a plan of its own."""
    bars = "".join(f"  {n}%|##| {n * 50}/5000 [00:01<00:02, 1.0it/s]\n" for n in (10, 50, 100))
    (tmp_path / "generate.log").write_text(f"Processed prompts:\n{bars}")
    state(tmp_path, log_rows(A), max_steps=420, global_step=400)
    assert read(tmp_path).state.done_steps == 400


def epochs(count: int, shift: float) -> str:
    """Write a training that counts steps over its epochs."""
    return "".join(
        f"Epoch: {n // 50 + 1}, iter: {n + 1}, Loss: {2 / (n + 1) + shift:.4f}\n"
        for n in range(50 * count)
    )


@pytest.mark.parametrize(
    ("first", "measured", "metrics"),
    [
        (3, range(1, 21), [{"train_loss"}, {"train_loss", "FID"}]),
        (20, range(1, 21), [{"FID"}, {"train_loss"}, {"train_loss"}]),
        (3, range(1, 4), [{"FID"}, {"train_loss"}, {"train_loss"}]),
        (3, range(19, 21), [{"FID"}, {"train_loss"}, {"train_loss"}]),
        (3, range(1, 25), [{"FID"}, {"train_loss"}, {"train_loss"}]),
    ],
)
def test_scores_belong_to_the_only_start_that_came_so_far(
    tmp_path: Path, first: int, measured: range, metrics: list[set[str]]
) -> None:
    """Their file has no loss; a few may be of each, as may those that both starts reached."""
    (tmp_path / "loss_log.txt").write_text(epochs(first, 0.1) + epochs(20, 0.2))
    scores = "".join(f"Epoch: {n}, iter: {50 * n}, FID: {300 / n:.4f}\n" for n in measured)
    (tmp_path / "fid_log.txt").write_text(scores)
    found = [set(run.history.metrics) for run in read_all(tmp_path)]
    assert sorted(found, key=sorted) == sorted(metrics, key=sorted)


def test_a_training_of_its_own_belongs_to_none(tmp_path: Path) -> None:
    """It has a loss."""
    (tmp_path / "loss_log.txt").write_text(epochs(3, 0.1) + epochs(20, 0.2))
    other = "".join(f"Epoch: {n}, iter: {50 * n}, Loss: {3 / n:.4f}\n" for n in range(1, 21))
    (tmp_path / "other_log.txt").write_text(other)
    assert len(read_all(tmp_path)) == len(("first", "second", "other"))
