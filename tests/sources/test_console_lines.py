"""Rows that are no dicts, as each framework prints them."""

from pathlib import Path

import numpy as np
import pytest

from runlens.sources import console
from runlens.sources.reading import SourceReading


def reading(folder: Path, *lines: str) -> SourceReading:
    """Write a log of these lines and read it."""
    path = folder / "train.log"
    path.write_text("\n".join(lines) + "\n")
    return console.read(path)


def points(read: SourceReading, name: str) -> list[tuple[int, float]]:
    """Return steps and values of a series."""
    curve = read.series[name]
    return [(int(step), float(value)) for step, value in zip(curve.step, curve.value, strict=True)]


def test_nanogpt(tmp_path: Path) -> None:
    """Both losses of a `step` line are evaluation means; an mfu of -100 % is not known yet."""
    read = reading(
        tmp_path,
        "step 0: train loss 10.9892, val loss 10.9905",
        "iter 0: loss 10.9733, time 42422.97ms, mfu -100.00%",
        "iter 10: loss 9.4048, time 2932.14ms, mfu 22.96%",
        "step 20: train loss 9.0, val loss 9.1",
    )
    assert read.framework == "nanogpt"
    assert points(read, "loss") == [(0, 10.9733), (10, 9.4048)]
    assert points(read, "val_loss") == [(0, 10.9905), (20, 9.1)]
    assert points(read, "eval_train_loss") == [(0, 10.9892), (20, 9.0)]
    assert points(read, "mfu") == [(10, 0.2296)]
    assert points(read, "dt_ms")[1] == (10, 2932.14)
    assert not read.steps_inferred


def test_megatron(tmp_path: Path) -> None:
    """Names keep their units, validation is told from training."""
    line = (
        " iteration {n:8d}/    2500 | consumed samples:           32 |"
        " elapsed time per iteration (ms): 4220.8 | learning rate: 1.500E-07 |"
        " lm loss: 1.06{n}E+01 | loss scale: 32768.0 | grad norm: 14.113 |"
    )
    held_out = " validation loss at iteration 2 | lm loss value: 1.36E+01 | lm loss PPL: 8.08E+05 |"
    read = reading(tmp_path, line.format(n=1), line.format(n=2), held_out)
    assert read.framework == "megatron"
    assert read.hints.planned_steps == 2500
    assert points(read, "lm loss") == [(1, 10.61), (2, 10.62)]
    assert points(read, "loss scale") == [(1, 32768.0), (2, 32768.0)]
    assert points(read, "elapsed time per iteration (ms)")[0] == (1, 4220.8)
    assert points(read, "lm loss validation") == [(2, 13.6)]


def test_verl(tmp_path: Path) -> None:
    """Each line has the name of a Ray process before it, and minus signs are no separators."""
    line = (
        "(TaskRunner pid=20) step:{n} - actor/entropy:1.1 - actor/pg_loss:-1.7e-10 - actor/lr:1e-06"
    )
    read = reading(tmp_path, line.format(n=1), line.format(n=2))
    assert read.framework == "verl"
    assert points(read, "actor/pg_loss") == [(1, -1.7e-10), (2, -1.7e-10)]
    assert points(read, "actor/lr")[1] == (2, 1e-6)


def test_batches_of_an_epoch_are_counted_on(tmp_path: Path) -> None:
    """Of a row that names epoch and batch (minimind) the step goes on over the epochs."""
    line = "Epoch:[{e}/2]({n}/100), loss: 2.{n}, lr: 0.00050, epoch_time: 3.0min"
    read = reading(tmp_path, *(line.format(e=e, n=n) for e in (1, 2) for n in (50, 100)))
    assert points(read, "loss") == [(50, 2.5), (100, 2.1), (150, 2.5), (200, 2.1)]
    assert read.hints.planned_steps == 200
    assert read.steps_inferred
    assert read.series["loss"].epoch.tolist() == [0.5, 1.0, 1.5, 2.0]


@pytest.mark.parametrize(
    ("lines", "name", "expected"),
    [
        (
            [
                "step:1/6 train_loss:10.9 train_time:74701ms",
                "step:2/6 train_loss:8.68 train_time:9ms",
            ],
            "train_loss",
            [(1, 10.9), (2, 8.68)],
        ),
        (["s:0 trl:10.96", "s:1 trl:10.81", "s:1 tel:10.90"], "val_loss", [(1, 10.9)]),
        (
            [
                "step 00010/00100 (10.00%) | loss: 3.2 | dt: 5.08ms | tok/sec: 25,212 | mfu: 0.00",
                "step 00011/00100 (11.00%) | loss: nan | dt: 5.08ms | tok/sec: 25,100 | mfu: 0.00",
            ],
            "tok/sec",
            [(10, 25212.0), (11, 25100.0)],
        ),
        (
            ["Step 10 | loss 1.2 | lr 1e-4", "Step 20 | loss 1.1 | lr 2e-4"],
            "lr",
            [(10, 1e-4), (20, 2e-4)],
        ),
        (
            [
                "2024-01-02 03:04:05 - INFO - step=3, loss=.5",
                "2024-01-02 03:04:06 - INFO - step=4, loss=.4",
            ],
            "loss",
            [(3, 0.5), (4, 0.4)],
        ),
        (
            ["epoch 1 train_loss 0.5 val_loss 0.6", "epoch 2 train_loss 0.4 val_loss 0.7"],
            "val_loss",
            [(1, 0.6), (2, 0.7)],
        ),
        (
            ["Epoch: 01 | Time: 3s", "\tTrain Loss: 0.9 | Train Acc: 60%"] * 1
            + ["Epoch: 02 | Time: 3s", "\tTrain Loss: 0.8 | Train Acc: 70%"],
            "Train Acc",
            [(1, 0.6), (2, 0.7)],
        ),
        (
            ["Train Epoch: 1 [0/600 (0%)]\tLoss: 2.3", "Train Epoch: 1 [300/600 (50%)]\tLoss: 1.3"],
            "Loss",
            [(0, 2.3), (300, 1.3)],
        ),
    ],
)
def test_layouts(
    tmp_path: Path, lines: list[str], name: str, expected: list[tuple[int, float]]
) -> None:
    """One parser reads what own training loops and smaller frameworks print."""
    assert points(reading(tmp_path, *lines), name) == expected


def test_time_stamps_are_kept(tmp_path: Path) -> None:
    """The time at the start of a row goes into the series."""
    read = reading(tmp_path, *(f"[1970-01-01 00:01:0{n},500] step {n} loss 1.0" for n in (1, 2)))
    assert read.series["loss"].time.tolist() == [61.5, 62.5]
    assert read.started == 61.5


def test_prose_is_no_metric(tmp_path: Path) -> None:
    """Numbers in sentences, sums and exercises do not become curves."""
    read = reading(
        tmp_path,
        "Step 1: Calculate the loss of 3 apples and the reward of 12 dollars per day.",
        "Step 2: Add the amount to 200.",
        "Step 3: the accuracy matters more than 5 points",
        "We had 3 epochs and the loss was fine.",
    )
    assert read.series == {}


def test_tables_of_stable_baselines(tmp_path: Path) -> None:
    """Names of a nested table get their section."""
    rows = ["-" * 30, "| rollout/           |      |", "|    ep_rew_mean     | 12.5 |"]
    rows += ["| time/              |      |", "|    total_timesteps | 2048 |", "-" * 30]
    read = reading(tmp_path, *rows, *[line.replace("2048", "4096") for line in rows])
    assert points(read, "rollout/ep_rew_mean") == [(2048, 12.5), (4096, 12.5)]


def test_values_in_a_bar_count_once(tmp_path: Path) -> None:
    """A postfix repeats its values until new ones are there."""
    bars = [
        f"Training:   1%|     | {n}/5000 [00:22<54:11, 1.5it/s, loss={loss}, mfu=0.8%]"
        for n, loss in ((28, 10.9), (29, 10.9), (29, 10.8), (30, 10.8), (30, 10.7))
    ]
    read = reading(tmp_path, "\r".join(bars))
    assert points(read, "loss") == [(28, 10.9), (29, 10.8), (30, 10.7)]
    assert points(read, "mfu")[0] == (28, 0.008)


def test_lightning_says_the_steps_of_an_epoch(tmp_path: Path) -> None:
    """Its bar counts validation batches too; the line on the checkpoint has the true step."""
    lines = []
    for epoch in (0, 1):
        lines += [
            f"Epoch {epoch}:  42%|##  | 84/198 [00:01<00:02, 2.1it/s, loss={3 - epoch}.5, v_num=6]"
        ]
        lines += ["Validation DataLoader 0: 100%|####| 30/30 [00:07<00:00,  4.01it/s]"]
        lines += [
            f"Epoch {epoch}, global step {168 * (epoch + 1)}: 'val_loss' reached 0.{9 - epoch}"
        ]
    read = reading(tmp_path, *lines)
    assert points(read, "loss") == [(84, 3.5), (252, 2.5)]
    assert points(read, "val_loss") == [(168, 0.9), (336, 0.8)]


def test_a_second_start_in_one_file_is_a_launch(tmp_path: Path) -> None:
    """The counter begins again near zero."""
    once = [f"step {n} loss 1.5" for n in range(10, 60, 10)]
    read = reading(tmp_path, *once, *once)
    assert read.series["loss"].launch.tolist() == [0] * 5 + [1] * 5
    assert [event.kind for event in read.events] == ["launch"]


def test_printed_rewards_become_mean_and_spread(tmp_path: Path) -> None:
    """A loop that prints only the tensor of a batch's rewards still has a reward curve."""
    read = reading(tmp_path, *["time: 7.13s  rewards: tensor([-1., 0., -1., 0.])"] * 3)
    assert points(read, "reward") == [(1, -0.5), (2, -0.5), (3, -0.5)]
    assert read.series["reward_std"].value == pytest.approx(np.full(3, 0.57735), abs=1e-4)


@pytest.mark.parametrize(
    ("lines", "name", "expected"),
    [
        (  # a share and a time within a block
            [f"step {n}\nloss: 0.5\nAccuracy: {n}0%\nlatency: 5 ms" for n in (1, 2)],
            "Accuracy",
            [(1, 0.1), (2, 0.2)],
        ),
        (  # several rows an epoch without a counter of their own
            [f"epoch 1 loss 0.{n}" for n in range(1, 5)],
            "loss",
            [(1, 0.1), (2, 0.2), (3, 0.3), (4, 0.4)],
        ),
        (  # many validation rows between two steps share the way
            ["step 0 loss 5.0", "step 10 loss 4.0", *["val loss 3.0"] * 4, "step 50 loss 3.0"],
            "val loss",
            [(20, 3.0), (30, 3.0), (40, 3.0), (50, 3.0)],
        ),
        (  # a line that is no row, however wide it is
            ["step 1 loss 2.0", "step 2 loss " + "9" * 30_000, "step 3 loss 1.0"],
            "loss",
            [(1, 2.0), (3, 1.0)],
        ),
        (  # a line with more numbers than are remembered
            [f"step {n} loss 2.0 " + "1 " * 2100 for n in (1, 2)],
            "loss",
            [(1, 2.0), (2, 2.0)],
        ),
    ],
    ids=["block", "counted", "share", "wide", "many"],
)
def test_rows_at_the_edge(
    tmp_path: Path, lines: list[str], name: str, expected: list[tuple[int, float]]
) -> None:
    """Where a counter is missing, or a line is not like others."""
    assert points(reading(tmp_path, *lines), name) == expected


def test_nanogpt_is_known_by_its_mfu_alone(tmp_path: Path) -> None:
    """A log without an evaluation has only the rows of iterations."""
    line = "iter {n}: loss 9.4048, time 2932.14ms, mfu 22.96%"
    assert reading(tmp_path, line.format(n=1), line.format(n=2)).framework == "nanogpt"


def test_a_table_without_a_counter_is_none(tmp_path: Path) -> None:
    """Cells that are no numbers are passed over, and so is a table that names no steps."""
    rule = "-" * 30
    table = [rule, "| total_timesteps | {n} |", "| ep_rew_mean | 1.5 |", "| device | cuda |", rule]
    other = [rule, "| price | 5 |", rule]
    lines = [line.format(n=n) for n in (10, 20) for line in (*table, *other)]
    read = reading(tmp_path, *lines, "rewards: tensor([ -1. ])")
    assert points(read, "ep_rew_mean") == [(10, 1.5), (20, 1.5)]
    assert set(read.series) == {"ep_rew_mean"}


@pytest.mark.parametrize(
    ("rows", "done", "planned"),
    [
        ([f"Epoch {n}/20 | Train Loss: {2 / n:.4f}" for n in range(1, 12)], 11, 20),
        ([f"End of epoch {n} / 100 - loss: {9 - n:.4f}" for n in range(5)], 5, 100),
        ([f"Epoch [{n}/9] loss: {9.5 - n:.4f}" for n in range(10)], 10, 10),  # it names the last
        (["Epoch 1/3 loss: 2.5"] * 3, 1, 3),
        (["Epoch 12/10 loss: 2.5"], 12, 10),  # it went on behind its plan
        (
            [
                f"Epoch: [{epoch}/4][{at}] loss: {3 - epoch - at / 100:.4f}"
                for epoch in range(4)
                for at in range(0, 50, 10)
            ][:-1],
            3.8,
            4,
        ),
        ([f"Epoch {n} loss: {9.5 - n:.4f}" for n in range(5)], 5, None),
        ([f"step {n} loss: {9.5 - n:.4f}" for n in range(5)], None, None),
    ],
)
def test_the_plan_in_epochs(
    tmp_path: Path, rows: list[str], done: float | None, planned: float | None
) -> None:
    """The total behind an epoch is the plan; of the last epoch as much is done as has rows."""
    hints = reading(tmp_path, *rows).hints
    assert (hints.done_epochs, hints.planned_epochs) == (done, planned)
