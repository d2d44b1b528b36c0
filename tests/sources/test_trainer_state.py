"""Reading what the Trainer wrote, whole and damaged."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from runlens.sources import trainer_state


def written(tmp_path: Path, log: object, **top: object) -> Path:
    """Write a state with this log."""
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps({"log_history": log, **top}))
    return path


def test_summary_row_ends_the_run_and_is_no_point_of_the_curve(tmp_path: Path) -> None:
    """Its train_loss is the mean over the whole run."""
    log = [{"step": 10, "loss": 2.0}, {"step": 10, "train_loss": 2.5, "train_runtime": 3.0}]
    reading = trainer_state.read(written(tmp_path, log, max_steps=10, global_step=10))
    assert set(reading.series) == {"loss"}
    assert reading.hints.summary
    assert (reading.hints.planned_steps, reading.hints.done_steps) == (10, 10)


def test_nan_tokens_strings_and_nulls(tmp_path: Path) -> None:
    """NaN is a value; a string number is a number; null is no observation but for grad_norm."""
    path = tmp_path / "trainer_state.json"
    path.write_text(
        '{"log_history": [{"step": 1, "loss": NaN, "grad_norm": null, "eval_loss": null},'
        ' {"step": 2, "loss": "1.5", "grad_norm": Infinity}]}'
    )
    series = trainer_state.read(path).series
    assert math.isnan(series["loss"].value[0])
    assert series["loss"].value[1] == 1.5
    np.testing.assert_array_equal(series["grad_norm"].value, [math.nan, math.inf])
    assert "eval_loss" not in series


@pytest.mark.parametrize("text", ["", "[]", '{"log_history": 3}', '{"log_history": [1]}', "{"])
def test_damage_is_a_problem_not_an_exception(tmp_path: Path, text: str) -> None:
    """The place is named."""
    path = tmp_path / "trainer_state.json"
    path.write_text(text)
    (problem,) = trainer_state.read(path).problems
    assert problem.where == str(path)


def test_rows_without_a_step_are_counted(tmp_path: Path) -> None:
    """The rest of the log is kept."""
    log = [{"loss": 1.0}, {"step": "x"}, {"step": 3, "loss": 0.5}]
    reading = trainer_state.read(written(tmp_path, log))
    assert reading.series["loss"].step.tolist() == [3]
    assert reading.problems[0].lost == "2 of 3 rows"


def test_early_stopping_by_design_is_seen(tmp_path: Path) -> None:
    """The callback's counter has reached its patience."""
    callback = {
        "EarlyStoppingCallback": {
            "args": {"early_stopping_patience": 3},
            "attributes": {"early_stopping_patience_counter": 3},
        }
    }
    path = written(tmp_path, [{"step": 1, "loss": 1.0}], stateful_callbacks=callback)
    assert "waited 3 of 3" in trainer_state.read(path).hints.early_stopping


def test_a_checkpoint_state_is_a_snapshot(tmp_path: Path) -> None:
    """It says nothing about the end, and the checkpoint is an event."""
    folder = tmp_path / "checkpoint-500"
    folder.mkdir()
    reading = trainer_state.read(written(folder, [{"step": 500, "loss": 1.0}]))
    assert reading.hints.snapshot
    assert [(event.kind, event.step) for event in reading.events] == [("checkpoint", 500)]
