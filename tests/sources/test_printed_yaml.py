"""Configurations that a log prints as YAML."""

from pathlib import Path

import pytest

from runlens import read
from runlens.sources.console.printed_yaml import (
    FEWEST,
    MAX_FIRST,
    MAX_LINES,
    printed_yaml,
    without_yaml,
)

BLOCK = """[2022-03-23 02:57:38,033][root][INFO] - seed: 30
batch_size: 5
optimizer:
  _target_: torch.optim.Adam
  lr: 0.001
scheduler:
  milestones:
  - 1000
  - 1000
names:
- a
- a
loss:
  _target_: loss.ContrastiveLoss""".splitlines()


def test_what_hydra_prints_is_read(tmp_path: Path) -> None:
    """Nested settings too, by which the task is told."""
    rows = [f"Epoch {n} | Train acc: 0.9{n} | Train loss: {0.5 / n:.3f}" for n in range(1, 9)]
    path = tmp_path / "train.log"
    path.write_text("\n".join(["[root] - Configuration:", "", *BLOCK, "", "[root] - ==", *rows]))
    run = read(path)
    assert run.config["learning_rate"].value == 0.001
    assert run.config["scheduler.milestones"].value == "1000, 1000"
    assert run.config["seed"].value == 30
    assert run.task == "contrastive"
    assert len(run.curve("train_loss")) == 8


def test_a_block_ends_with_its_last_line() -> None:
    """At a line that is no YAML, or that names a setting again, and after so many lines."""
    found = printed_yaml([*BLOCK, "Training begins"], 0)
    assert found is not None
    assert found[1] == len(BLOCK)
    again = printed_yaml([*BLOCK, "batch_size: 7"], 0)
    assert again == found
    long = printed_yaml([*BLOCK, *(f"key{n}: {n}" for n in range(MAX_LINES))], 0)
    assert long is not None
    assert long[1] == MAX_LINES


@pytest.mark.parametrize(
    "lines",
    [
        BLOCK[2 : 1 + FEWEST],  # too few of them
        ["seed: 1", "batch_size: 5", "lr: 0.1", "a: 1", "b: 1", "c: 1", "d:", "  e: 1"],  # flat
        ["x: 1", "lr: 0.1", "y:", "  a: 1", "  b: 1", "z: 1"],  # one that is known
        [f"seed: {MAX_FIRST * 'x'}", *BLOCK[1:]],  # no line of a setting
        ["seed: 1", "lr: 0.1", "a:", "    b: 1", "  c: 1", "d: 1"],  # no YAML
    ],
)
def test_what_is_no_configuration(lines: list[str]) -> None:
    """It is left to other readers."""
    assert printed_yaml(lines, 0) is None


DUMP = """CUDNN_BENCHMARK: false
SEED: 3
DATASETS:
  TEST:
  - val
  TRAIN:
  - train
MODEL:
  BATCH_SIZE: 64
  SCORE_THRESH_TEST: 0.05
  SMOOTH_L1_LOSS_BETA: 0.1
  FOCAL_LOSS_GAMMA: 2.0
SOLVER:
  # Avoid Inf/NaN error
  BASE_LR: 0.004
  MAX_ITER: 18500
  STEPS:
  - 14000
  - 17000
  WEIGHT_DECAY: 0.0001
TEST:
  EVAL_PERIOD: 500
VERSION: 2""".splitlines()


def test_what_a_log_prints_of_its_settings_is_not_measured(tmp_path: Path) -> None:
    """Nor is ``TEST:`` in it a heading of the rows below; launches print it again."""
    text = []
    for launch in range(3):
        rows = range(20 * launch, 20 * launch + 20)
        text += ["[01/02 03:04:05] d2 INFO: Running with full config:", *DUMP, ""]
        text += [f"[01/02 03:04:05] d2 INFO:  iter: {20 * n + 19}  total_loss: {9 / (n + 1):.4f}"
                 "  lr: 0.004" for n in rows]  # fmt: skip
    path = tmp_path / "log.txt"
    path.write_text("\n".join([*text, ""]))
    run = read(path)
    assert set(run.history.metrics) == {"train_loss", "learning_rate"}
    assert len(run.curve("train_loss")) == 60


@pytest.mark.parametrize("lines", [BLOCK, ["loss:", "  a: 1"], ["loss:", "b: 1"], ["val:"]])
def test_short_blocks_stay(lines: list[str]) -> None:
    """Such may be the records of a log."""
    others = list(enumerate(["word", *lines]))
    assert without_yaml(others) == others


def test_lines_before_and_behind_a_long_block_stay() -> None:
    """It begins with the settings right above the first that has others below it."""
    others = list(enumerate(["a word", *DUMP, "another word"]))
    assert without_yaml(others) == [others[0], others[-1]]
    twice = list(enumerate(["a word", *DUMP, *DUMP, "another word"]))
    assert without_yaml(twice) == [twice[0], twice[-1]]
