"""Branches of the readers that a whole log reaches by chance alone, each with what it is for."""

import json
from pathlib import Path

import numpy as np
import pytest

from runlens import read
from runlens.sources import json_columns, trainer_state
from runlens.sources.console.learned import alike_placed
from runlens.sources.console.mining.counting import Counters, counters
from runlens.sources.console.mining.layouts import layouts
from runlens.sources.console.records import Placed, Record
from runlens.sources.console.rows import Found
from runlens.sources.wandb_dir import proto


def test_a_column_that_some_rows_lack_keeps_the_steps_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long trainer state, whose rows come as columns; two metrics of the same rows too."""
    log = [{"step": n, "loss": n / 8} for n in range(1, 41)]
    evaluations = [{"step": n, "eval_loss": n / 4, "eval_wer": n / 2} for n in range(5, 41, 5)]
    rows = sorted([*log, *evaluations], key=lambda row: row["step"])
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps({"log_history": rows}))
    monkeypatch.setattr(json_columns, "PART", 200)
    series = trainer_state.read(path).series
    assert series["loss"].step.tolist() == list(range(1, 41))
    for name, share in (("eval_loss", 4), ("eval_wer", 2)):
        assert series[name].step.tolist() == list(range(5, 41, 5))
        assert series[name].value.tolist() == [n / share for n in range(5, 41, 5)]


def test_system_metrics_with_a_damaged_time_are_read_without_it() -> None:
    """Field 2 is the time, which breaks off within its first number; field 3 an item."""
    key, value = b"cpu", b"1.5"
    item = b"\x0a" + bytes([len(key)]) + key + b"\x82\x01" + bytes([len(value)]) + value
    damaged = b"\x12\x01\x08" + b"\x1a" + bytes([len(item)]) + item
    assert proto.stats(damaged) == (None, [("cpu", 1.5)])


def test_a_brace_too_many_ends_no_dict(tmp_path: Path) -> None:
    """Rows of nested dicts, behind which somebody printed one brace more."""
    row = "{{'train': {{'loss': {0}}}, 'val': {{'loss': {1}}}}}}}, 'epoch': {2}}}"
    lines = [row.format(2 / n, 3 / n, n) for n in range(1, 9)]
    (tmp_path / "train.log").write_text("\n".join([*lines, ""]))
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == [2 / n for n in range(1, 9)]


def test_a_step_that_is_the_same_in_all_epochs_counts_nothing(tmp_path: Path) -> None:
    """The epochs beside it do."""
    lines = [f"epoch: {n} global_step: 500 loss: {2 / n:.4f}" for n in range(1, 9)]
    (tmp_path / "train.log").write_text("\n".join([*lines, ""]))
    assert read(tmp_path).curve("train_loss").step.tolist() == list(range(1, 9))


def test_steps_that_fall_while_episodes_rise_are_those_of_each() -> None:
    """So the episode counts."""
    steps = [200 - n * 37 % 100 for n in range(60)]
    (one,) = layouts([(n, f"episode {n} | step {steps[n]} | x: 0.{n}") for n in range(60)], {})
    assert counters(one, *one.array()) == Counters(step=-1, epoch=0)


@pytest.mark.parametrize("train", ["mse", "train_loss"])
def test_a_held_out_loss_of_another_kind_is_not_taken(tmp_path: Path, train: str) -> None:
    """Where it begins far from the training loss, or that is of a named kind."""
    rows = [f"{n},{2 / n},{900 / n}" for n in range(1, 9)]
    text = "\n".join([f"epoch,{train},val_contrastive_loss", *rows, ""])
    (tmp_path / "metrics.csv").write_text(text)
    assert "eval_loss" not in read(tmp_path).history.metrics


def found(steps: list[int], trainings: list[int] | None) -> Found:
    """Return rows of one loss at these steps and in these trainings."""
    records = [Record(at, ("loss",), ("1.0",)) for at in range(len(steps))]
    training = None if trainings is None else np.array(trainings)
    launch = np.zeros(len(steps), dtype=np.int64)
    return Found(records, Placed(np.array(steps), launch, training=training))


def test_rows_of_a_learned_layout_stand_where_those_of_a_known_one_do() -> None:
    """In as many trainings, at the same steps."""
    known = found([1, 2, 1, 2], [0, 0, 1, 1])
    assert alike_placed(known, known)
    assert not alike_placed(found([1, 2, 3, 4], [0, 0, 1, 1]), known)
    assert not alike_placed(found([1, 2, 1, 2], [0, 0, 0, 0]), known)
    assert not alike_placed(found([1, 2, 1, 2], None), known)
