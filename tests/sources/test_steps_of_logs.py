"""Where the rows of a log stand: which of its counters is its own, and what else names rows."""

import json
from pathlib import Path

import numpy as np
import pytest

from runlens import read, read_all
from runlens.run import Run

VALUES = [round(2 / n + 0.01 * (n % 3), 4) for n in range(1, 41)]


def of_log(folder: Path, text: str, name: str = "train.log") -> Run:
    """Return the run that a log shows."""
    (folder / name).write_text(text + "\n")
    return read(folder / name)


def test_values_behind_a_bar_without_a_sign_between(tmp_path: Path) -> None:
    """A row that begins where its bar ends; of its last name the sign was forgotten."""
    bars = [
        f"Epoch {n} /20:   0%|          | {n - 1}/20 [00:01<00:09, 1.0s/it]" for n in range(1, 21)
    ]
    rows = [f"L_adv:0.{n}1,L_total:{20 / n:.3f},disc_loss0.{n}7" for n in range(1, 21)]
    text = "\r".join(f"{bar}{row}\n{bar}" for bar, row in zip(bars, rows, strict=True))
    run = of_log(tmp_path, text, "nohup.out")
    assert run.curve("train_loss").value.tolist() == [round(20 / n, 3) for n in range(1, 21)]
    assert run.curve("d_loss").value.tolist() == [float(f"0.{n}7") for n in range(1, 21)]
    assert run.curve("L_adv").value.tolist() == [float(f"0.{n}1") for n in range(1, 21)]
    assert run.curve("train_loss").step.tolist() == list(range(1, 21))


def test_a_frame_of_pandas_counts_by_the_column_without_a_name(tmp_path: Path) -> None:
    """As it is printed, and as CSV."""
    said = "training begins\n"
    frame = "       loss       acc\n" + "\n".join(
        f"{n}  {2 / (n + 1):.6f}  0.8{n}2343" for n in range(8)
    )
    table = ",loss,acc\n" + "\n".join(f"{n},{2 / (n + 1):.6f},0.8{n}2343" for n in range(8))
    for text in (frame, table):
        curve = of_log(tmp_path, f"{said}{text}\ndone").curve("train_loss")
        assert curve.step.tolist() == list(range(8))
        assert curve.value.tolist() == [round(2 / (n + 1), 6) for n in range(8)]


def test_a_row_that_comes_once_counts_by_its_twins(tmp_path: Path) -> None:
    """What nanoGPT prints before its first step, which ran out of memory."""
    trace = (
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\nRuntimeError: CUDA error'
    )
    both = "step 0: train loss 10.9512, val loss 10.9486"
    assert of_log(tmp_path, f"{both}\n{trace}").curve("eval_loss").value.tolist() == [10.9486]
    assert not of_log(tmp_path, f"step 0: loss 10.9512\n{trace}").history.metrics


@pytest.mark.parametrize("width", [6, 15])
def test_a_list_that_is_wrapped_goes_on_from_line_to_line(tmp_path: Path, width: int) -> None:
    """Its numbers are nearer to those beside them than to those above."""
    values = [round(3 * 0.97**n, 4) for n in range(100)]
    lines = [values[n : n + width] for n in range(0, 100, width)]
    text = "\n".join(" ".join(map(str, line)) for line in lines)
    curve = of_log(tmp_path, text, "critic_loss.txt").curve("critic_loss")
    assert curve.value.tolist() == values
    assert curve.step.tolist() == list(range(1, 101))


@pytest.mark.parametrize(
    "lines",
    [
        [f"{2 / n:.3f} {80 + n / 7:.3f}" for n in range(1, 12)],  # two measures
        [*(f"{2 / n:.3f} {2.1 / n:.3f}" for n in range(1, 12)), "1.0 2.0 3.0"],
        [*(f"{2 / n:.3f} {2.1 / n:.3f}" for n in range(1, 12)), "end", "1.0 2.0"],
        [f"{10 * n} {10 * n + 1} {10 * n + 2}" for n in range(1, 12)],  # whole numbers
    ],
)
def test_columns_are_no_list(tmp_path: Path, lines: list[str]) -> None:
    """They differ more from one another than from what stands above them, or no list is so long."""
    (tmp_path / "loss.txt").write_text("\n".join([*lines, ""]))
    lengths = [len(run.curve(n)) for run in read_all(tmp_path) for n in run.history.metrics]
    assert max(lengths, default=0) < 2 * len(lines)


def test_parts_of_a_history_have_steps_of_their_own(tmp_path: Path) -> None:
    """Lists beside a list of steps, rows with a step; what has none is told."""
    whole = {
        "rewards": VALUES,
        "timesteps": [10 * n for n in range(1, 41)],
        "eval_rewards": [1.0, 2.0, 3.0],
        "eval_timesteps": [100, 200, 400],
        "updates": [{"step": 50 * n, "policy_loss": 0.5 / n} for n in range(1, 9)],
        "lr": [0.1, 0.2, 0.3, 0.4, 0.5],
        "notes": ["a", "b"],
        "events": [{"name": "begun"}, {"name": "saved"}],
        "saved_steps": [200, 300, 350, 400],
    }
    (tmp_path / "history.json").write_text(json.dumps(whole))
    run = read(tmp_path / "history.json")
    assert run.curve("policy_loss").step.tolist() == [50 * n for n in range(1, 9)]
    assert run.curve("eval_rewards").step.tolist() == [100, 200, 400]
    assert run.curve("reward").step.tolist() == [10 * n for n in range(1, 41)]
    assert any("lr (5 values)" in problem.lost for problem in run.problems)


@pytest.mark.parametrize("names", [("train", "val"), ("first", "second")])
def test_rows_of_several_data_are_told_apart_by_their_keys(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    """Each of them has a loss."""
    train, val = names
    rows = {
        train: [{"step": 10 * n, "loss": 2 / n} for n in range(1, 9)],
        val: [{"step": 40 * n, "loss": 3 / n} for n in range(1, 3)],
    }
    (tmp_path / "history.json").write_text(json.dumps(rows))
    curves = [run.curve(n) for run in read_all(tmp_path) for n in run.history.metrics]
    assert sorted(curve.step.tolist() for curve in curves) == [
        [10 * n for n in range(1, 9)],
        [40, 80],
    ]


def test_parts_that_count_epochs_beside_steps_are_not_mixed(tmp_path: Path) -> None:
    """Of steps and epochs that with more rows is taken."""
    whole = {
        "losses": VALUES,
        "loss_steps": [10 * n for n in range(1, 41)],
        "val": [{"epoch": n, "acc": n / 9} for n in range(1, 5)],
        "still": [3, 3, 3],
        "eval_steps": [3, 2, 1],
    }
    (tmp_path / "history.json").write_text(json.dumps(whole))
    assert len(read(tmp_path / "history.json").curve("train_loss")) == 40  # as a list by itself


def test_a_dict_among_the_lines_of_a_log_is_not_its_row(tmp_path: Path) -> None:
    """The state of a checkpoint that was printed before each phase; and a log of dicts alone."""
    meta = "meta: {'iteration': 23, 'val_loss': 1.3549}"
    lines = [f"  epoch {n}/8  loss={2 / n:.4f} (p={1.6 / n:.4f})" for n in range(1, 9)]
    run = of_log(tmp_path, "\n".join([meta, *lines]))
    assert run.curve("train_loss").step.tolist() == list(range(1, 9))
    dicts = "\n".join([f"{{'loss': {2 / n}, 'epoch': {n}}}" for n in range(1, 9)])
    others = "\n".join(["Saved the model"] * 12)
    assert len(of_log(tmp_path, f"{dicts}\n{others}").curve("train_loss")) == 8


def test_steps_of_an_answer_count_no_training(tmp_path: Path) -> None:
    """They go up and down where the iterations above them go on; beside others they count."""
    rng = np.random.default_rng(5)
    lines = []
    for n in range(1, 31):
        lines.append(f"=== ITERATION {n}/60 ===")
        lines += [
            f"Grounded reward: combined={rng.random():.3f} | fmt={rng.random():.3f} "
            f"n_steps={rng.integers(2, 12)}"
            for _ in range(6)
        ]
        lines.append(f"Iter {n} | loss={2 / n:.4f} | reward mean={0.5 + n / 99:.4f}")
    (tmp_path / "train.log").write_text("\n".join([*lines, ""]))
    (run,) = read_all(tmp_path)
    assert run.curve("train_loss").step.tolist() == list(range(1, 31))


def test_rows_without_a_name_stand_beside_named_ones(tmp_path: Path) -> None:
    """Where they are most of a log: ``[0] 10 44.36 0.23`` beside its scores."""
    lines = []
    for n in range(1, 61):
        lines.append(f"[{n // 20}] {10 * n} {40 / n + 0.1234} {0.2 + n / 999}")
        if n % 5 == 0:
            lines.append(f"[{n // 20}] {10 * n} IOU:  [{0.3 + n / 99:.4f}, {0.2 + n / 99:.4f}]")
    run = of_log(tmp_path, "\n".join(lines))
    curve = run.curve("column 3")
    assert curve.step.tolist() == [10 * n for n in range(1, 61)]
    assert curve.value[0] == pytest.approx(40.1234)


@pytest.mark.parametrize(
    ("losses", "task"),
    [((7.94, 9.09, 10.44, 12.72), "other"), ((10.4, 9.1, 8.0, 7.1), "pretrain")],
)
def test_a_loss_that_rises_began_low(tmp_path: Path, losses: tuple[float, ...], task: str) -> None:
    """The level at which it began tells the task; of one that falls that is its first value."""
    rows = "\n".join(f"{n}\t{loss}" for n, loss in enumerate(losses))
    assert of_log(tmp_path, f"Epoch\tLoss\n{rows}").task == task


def fitted(losses: list[float]) -> str:
    """Return what Keras prints of ``fit(epochs=5)``, again and again."""
    lines = []
    for n, loss in enumerate(losses):
        lines += [f"Round #: {n // 5}"] * (n % 5 == 0)
        lines += [f"Epoch {n % 5 + 1}/5", f"99/99 [=======] - 3s 35us/sample - loss: {loss:.4f}"]
    return "\n".join(lines)


@pytest.mark.parametrize(("rounds", "trainings"), [(8, 1), (3, 1), (2, 2)])
def test_epochs_that_are_counted_again_while_the_loss_goes_on(
    tmp_path: Path, rounds: int, trainings: int
) -> None:
    """They are of one training, unless they are but two; folds, whose loss begins anew, are not."""
    losses = [round(2.4 * 0.93**n, 4) for n in range(5 * rounds)]
    (tmp_path / "train.log").write_text(fitted(losses))
    runs = read_all(tmp_path / "train.log")
    assert len(runs) == trainings
    assert [v for run in runs for v in run.curve("train_loss").value.tolist()] == losses
    if trainings == 1:
        assert runs[0].curve("train_loss").step.tolist() == list(range(1, 5 * rounds + 1))
    (tmp_path / "folds.log").write_text(fitted(losses[:5] * rounds))
    assert len(read_all(tmp_path / "folds.log")) == rounds


def test_the_steps_of_each_episode_count_no_training(tmp_path: Path) -> None:
    """They go up and down while the episodes go on one by one; those of launches do not."""
    rows = [
        f"Episode: {n} step: {900 + n * 37 % 90} training_step: {900 * n} Reward: {n / 10 - 21:.3f}"
        for n in range(40)
    ]
    assert of_log(tmp_path, "\n".join(rows)).curve("reward").step.tolist() == list(range(40))
    whole = [f"Episode: {n} step: {900 * (n + 1)} Reward: {n / 10 - 21:.3f}" for n in range(40)]
    steps = [900 * (n + 1) for n in range(40)]
    assert of_log(tmp_path, "\n".join(whole)).curve("reward").step.tolist() == steps
