"""Reading what the Trainer wrote, whole and damaged."""

import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import runlens
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


def test_what_a_metric_of_evaluate_returns(tmp_path: Path) -> None:
    """Its score stands in a dict under its own name, those of a class under that of the class."""
    row = {
        "step": 10, "epoch": 1.0, "eval_loss": 0.5, "eval_accuracy": {"accuracy": 0.75},
        "eval_LOC": {"f1": 0.5, "names": ["a"], "each": {"1": 0.1}}, "eval_none": {},
    }  # fmt: skip
    log = [{"step": 5, "epoch": 0.5, "loss": 1.5}, row, {**row, "step": 20}]
    series = trainer_state.read(written(tmp_path, log)).series
    assert set(series) == {"loss", "eval_loss", "eval_accuracy", "eval_LOC_f1"}
    assert series["eval_accuracy"].value.tolist() == [0.75, 0.75]
    assert series["eval_accuracy"].step.tolist() == [10, 20]


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
    assert "ran out of patience (3 evaluations)" in trainer_state.read(path).hints.early_stopping


def test_a_checkpoint_state_is_a_snapshot(tmp_path: Path) -> None:
    """It says nothing about the end, and the checkpoint is an event."""
    folder = tmp_path / "checkpoint-500"
    folder.mkdir()
    reading = trainer_state.read(written(folder, [{"step": 500, "loss": 1.0}]))
    assert reading.hints.snapshot
    assert [(event.kind, event.step) for event in reading.events] == [("checkpoint", 500)]


@pytest.mark.parametrize(
    ("best", "saved"),
    [("./output/checkpoint-200", [("checkpoint", 200, "./output/checkpoint-200")]), ("./out", [])],
)
def test_the_best_checkpoint_is_an_event(tmp_path: Path, best: str, saved: list[object]) -> None:
    """The state names the checkpoint that the Trainer keeps; without a step it is of none."""
    path = written(tmp_path, [{"step": 500, "loss": 1.0}], best_model_checkpoint=best)
    events = trainer_state.read(path).events
    assert [(event.kind, event.step, event.data["path"]) for event in events] == saved


def values(path: Path) -> dict[str, dict[int, float]]:
    """Return what is read of a state: by name, the value of each step."""
    found = trainer_state.read(path).series
    return {
        name: dict(zip(one.step.tolist(), one.value.tolist(), strict=True))
        for name, one in found.items()
    }


def test_rows_of_all_kinds_are_told_apart_by_their_keys(tmp_path: Path) -> None:
    """Evaluations of several sets at one step, with and without a loss; foreign keys are let be."""
    log = [
        {"step": 10, "epoch": 0.5, "loss": 2.0, "lr": 1e-4, "note": "x", "parts": [1], "on": True},
        {"step": 10, "epoch": 0.5, "eval_wiki_loss": 1.5, "eval_wiki_runtime": 3},
        {"step": 10, "epoch": 0.5, "eval_code_loss": 1.25},
        {"step": 20, "epoch": 1.0, "eval_runtime": 3.5, "eval_samples_per_second": 9},
        {"step": 20, "epoch": 1.0, "loss": -0.5, "odd": 2**70},
    ]
    assert values(written(tmp_path, log, some_new_key={"a": [1]})) == {
        "loss": {10: 2.0, 20: -0.5},
        "lr": {10: 1e-4},
        "eval_wiki_loss": {10: 1.5},
        "eval_wiki_runtime": {10: 3.0},
        "eval_code_loss": {10: 1.25},
        "eval_runtime": {20: 3.5},
        "eval_samples_per_second": {20: 9.0},
        "odd": {20: 2.0**70},
    }


def test_rows_keep_their_order(tmp_path: Path) -> None:
    """Rows of different keys in turns; several evaluations of one step; an epoch that goes back."""
    log = [
        {"step": 10, "epoch": 1.0, "loss": 3.0, "grad_norm": 1.0},
        {"step": 10, "epoch": 1.0, "eval_loss": 2.0},
        {"step": 10, "epoch": 1.0, "eval_loss": 2.5},
        {"step": 20, "epoch": 0.5, "loss": 2.0},
        {"step": 30, "epoch": 0.75, "loss": 1.0, "grad_norm": 2.0},
        {"step": 20, "loss": 2.25},
    ]
    series = trainer_state.read(written(tmp_path, log)).series
    assert series["loss"].step.tolist() == [10, 20, 30, 20]
    assert series["loss"].value.tolist() == [3.0, 2.0, 1.0, 2.25]
    np.testing.assert_array_equal(series["loss"].epoch, [1.0, 0.5, 0.75, math.nan])
    assert series["eval_loss"].value.tolist() == [2.0, 2.5]


def test_a_state_of_windows(tmp_path: Path) -> None:
    """Lines end with CR LF, paths have backslashes."""
    path = written(
        tmp_path, [{"step": 10, "loss": 2.0}], best_model_checkpoint=r"out\checkpoint-10"
    )
    path.write_bytes(
        json.dumps(json.loads(path.read_text()), indent=2).replace("\n", "\r\n").encode()
    )
    reading = trainer_state.read(path)
    assert reading.series["loss"].value.tolist() == [2.0]
    assert reading.config["best_model_checkpoint"] == r"out\checkpoint-10"
    assert reading.problems == []


def test_not_a_number_is_read_wherever_it_stands(tmp_path: Path) -> None:
    """Python writes NaN without quotes, at the top too; a name may look like one."""
    log = [{"step": 1, "loss": math.nan, "up": math.inf, "down": -math.inf, "a: NaN, ": 2.0}]
    for text in (
        json.dumps({"best_metric": math.nan, "log_history": log}, indent=2),
        json.dumps({"log_history": [{**log[0], "a: NaN, ": 2.0}]}, separators=(",", ":")),
    ):
        (tmp_path / "trainer_state.json").write_text(text)
        found = values(tmp_path / "trainer_state.json")
        assert math.isnan(found["loss"].pop(1))
        assert found == {
            "loss": {},
            "up": {1: math.inf},
            "down": {1: -math.inf},
            "a: NaN, ": {1: 2.0},
        }


def test_only_the_closing_row(tmp_path: Path) -> None:
    """A run that was shorter than its logging_steps: all that is known of its loss is the mean."""
    closing: dict[str, float | str] = {"step": 78, "epoch": 3.0, "train_runtime": 60.3}
    for mean in ({"train_loss": 9.09}, {"train_loss": "lost"}, {}):
        row = closing | mean
        reading = trainer_state.read(written(tmp_path, [row], global_step=78, max_steps=78))
        assert (reading.hints.summary, reading.hints.done_steps) == (True, 78)
        (problem,) = reading.problems
        assert problem.text.startswith("has only its final summary row")
        told = mean.get("train_loss") == 9.09
        assert problem.text.endswith("is the mean of the whole run") == told
        assert [some.value.tolist() for some in reading.series.values()] == [[9.09]] * told


def test_the_closing_row_is_no_point_of_a_curve(tmp_path: Path) -> None:
    """Where rows were logged."""
    closing = {"step": 20, "epoch": 2.0, "train_loss": 9.09, "train_runtime": 60.3}
    rows = [{"step": 10, "epoch": 1.0, "loss": 8.0}, closing]
    reading = trainer_state.read(written(tmp_path, rows, global_step=20, max_steps=20))
    assert list(reading.series) == ["loss"]


def test_operations_of_a_sample(tmp_path: Path) -> None:
    """As far as the state tells; of a state without them nothing is."""
    rows = [{"step": 10, "epoch": 1.0, "loss": 8.0}]
    for state, flos in (
        ({"total_flos": 8e13, "train_batch_size": 4}, 1e12),
        ({"total_flos": 8e13}, 4e12),
        ({"total_flos": 0.0}, 0.0),
        ({"total_flos": float("inf")}, None),
        ({}, None),
    ):
        reading = trainer_state.read(written(tmp_path, rows, global_step=20, **state))
        assert reading.config.get("flos_per_sample") == flos


def test_a_pointer_of_git_lfs_is_told(tmp_path: Path) -> None:
    """The file was not downloaded; that is not broken JSON."""
    path = tmp_path / "trainer_state.json"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 130\n")
    (problem,) = trainer_state.read(path).problems
    assert "git lfs pull" in problem.text


def test_the_end_of_older_states_is_read_without_the_newer_keys(tmp_path: Path) -> None:
    """Neither stateful_callbacks nor logging_steps nor best_global_step need be there."""
    path = written(tmp_path, [{"step": 1090, "loss": 1.0}], global_step=1095, max_steps=1095)
    hints = trainer_state.read(path).hints
    assert (hints.planned_steps, hints.done_steps, hints.summary) == (1095, 1095, False)
    assert hints.early_stopping == ""


ROWS = [{"step": 10 * n, "epoch": n / 10, "loss": 3 - n / 10, "lr": 1e-4} for n in range(1, 21)]


def whole() -> str:
    """Return a state as the Trainer writes it: keys sorted, indented."""
    state = {"epoch": 2.0, "global_step": 200, "log_history": ROWS, "max_steps": 1234}
    return json.dumps(state, indent=2, sort_keys=True) + "\n"


def test_a_state_cut_in_mid_write_keeps_its_whole_rows(tmp_path: Path) -> None:
    """Cut at any byte: the rows before the cut, no half number, and the amount that is lost."""
    path, text = tmp_path / "trainer_state.json", whole()
    ends = [at for at in range(len(text)) if text.startswith("}", at)][: len(ROWS)]
    for size in range(text.index("max_steps") + 15):
        path.write_text(text[:size])
        reading = trainer_state.read(path)
        kept = sum(end < size for end in ends)
        steps = reading.series["loss"].step.tolist() if reading.series else []
        assert steps == [row["step"] for row in ROWS[:kept]]
        assert reading.hints.planned_steps is None
        (problem,) = reading.problems
        assert f"{kept} whole rows of its log_history were kept" in problem.text or not kept
        assert problem.lost == "the whole file" or problem.lost.endswith(f" of {size:,} bytes")


def test_a_state_cut_behind_its_log_keeps_all_rows_and_the_keys(tmp_path: Path) -> None:
    """A number that the end of the file may have cut is left out."""
    path = tmp_path / "trainer_state.json"
    path.write_text(whole().replace("1234\n}", '1234,\n  "num_train_epochs": 3'))
    reading = trainer_state.read(path)
    assert len(reading.series["loss"].step) == 20
    assert (reading.hints.planned_steps, reading.hints.planned_epochs) == (1234, None)
    assert reading.problems[0].lost.startswith("22 of ")


@pytest.mark.parametrize(
    "damage", [b"\0\0\0\0\0\0\0\0\0\0", b'"', b"\xff", b"{", b"[", b"}", b", "]
)
def test_damage_within_the_log_costs_the_rows_it_hit(tmp_path: Path, damage: bytes) -> None:
    """The rows before and behind it are kept, and what is said behind the log."""
    path, data = tmp_path / "trainer_state.json", bytearray(whole().encode())
    place = data.index(b'"loss": 2.2')
    data[place - 5 : place - 5 + len(damage)] = damage
    path.write_bytes(data)
    reading = trainer_state.read(path)
    found = dict(zip(*reading.series["loss"][:2], strict=True))
    assert found == {row["step"]: row["loss"] for row in ROWS if row["step"] != 80}
    assert reading.hints.planned_steps == 1234
    assert int(reading.problems[0].lost.split()[0]) < 120


def test_a_state_that_was_written_twice_is_read_once(tmp_path: Path) -> None:
    """What stands behind the end of the object is told and left alone."""
    path = tmp_path / "trainer_state.json"
    path.write_text(whole() + "x" * 1_000)
    reading = trainer_state.read(path)
    assert len(reading.series["loss"].step) == 20
    assert "Extra data" in reading.problems[0].text
    assert reading.problems[0].lost.startswith("1,000 of ")


@pytest.mark.parametrize(
    "text",
    [
        '{"log_history": [' + '{"step": 1, "a": [' * 20_000,
        '{"log_history": [' + '{"' * 20_000,
        '{"log_history": [{"step": 1},' + "}, {" * 50_000,
        '{"log_history": [{"step": 1},' + "[" * 200_000,
        '{"log_history": [{"step": ' + "9" * 100_000 + '}, {"step": 1',
    ],
)
def test_salvage_takes_neither_long_nor_raises(tmp_path: Path, text: str) -> None:
    """Text made to be searched over and over is given up."""
    path = tmp_path / "trainer_state.json"
    path.write_text(text)
    began = time.process_time()
    assert trainer_state.read(path).problems
    assert time.process_time() - began < 2


def test_data_without_a_length_has_no_planned_epochs(tmp_path: Path) -> None:
    """The Trainer writes sys.maxsize for them: no plan that could be missed."""
    rows = [{"step": n, "loss": 2.0 - n / 50} for n in range(1, 31)]
    state = {"log_history": rows, "num_train_epochs": sys.maxsize, "max_steps": 30}
    (tmp_path / "trainer_state.json").write_text(json.dumps(state))
    hints = trainer_state.read(tmp_path / "trainer_state.json").hints
    assert (hints.planned_epochs, hints.planned_steps) == (None, 30)


@pytest.mark.parametrize(("rows", "first"), [(8, 3.0), (7, 9.0)])
def test_the_loss_of_the_trainer_is_the_training_loss(
    tmp_path: Path, rows: int, first: float
) -> None:
    """What a loop logs at each step beside it is a part; of few rows it may stand for it."""
    own: list[dict[str, float]] = [{"step": at, "loss_total": 9.0} for at in range(1, 41)]
    own += [{"step": 5 * at, "loss": 3.0} for at in range(1, rows + 1)]
    written(tmp_path, own, max_steps=40, global_step=40)
    assert runlens.read(tmp_path).curve("train_loss").value[0] == first


def test_an_epoch_that_falls_back_while_the_steps_go_on_is_a_resume(tmp_path: Path) -> None:
    """The Trainer counts it anew from the data that it was resumed with."""
    epochs = [0.2, 0.4, 0.6, 0.05, 0.1]
    log = [{"step": 500 * n, "epoch": e, "loss": 3 - n / 4} for n, e in enumerate(epochs, 1)]
    log += [{"step": 2500, "epoch": 0.1, "eval_loss": 2.0}]
    reading = trainer_state.read(written(tmp_path, log))
    assert [(event.kind, event.step) for event in reading.events] == [("resume", 2000)]
    assert "from 0.6 to 0.05" in reading.events[0].text
    only = trainer_state.read(written(tmp_path, log[-1:]))
    assert not only.events
