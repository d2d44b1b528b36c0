"""Reading metrics as JSON Lines: LLaMA-Factory, ms-swift, and loops of one's own."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.sources.files import walk
from runlens.sources.tables import durations, jsonl_log


def written(folder: Path, *rows: Any, name: str = "metrics.jsonl") -> Path:
    """Write rows, each as a line; text as it is."""
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def factory(step: int, total: int = 100, **more: Any) -> dict[str, Any]:
    """Return a row of LLaMA-Factory."""
    clock = {"elapsed_time": f"0:00:{step % 60:02}", "remaining_time": "0:01:00"}
    return {"current_steps": step, "total_steps": total, **more, "percentage": 1.0, **clock}


def test_llama_factory_rows_have_step_plan_and_clock(tmp_path: Path) -> None:
    """A null is not logged; percentages and remaining times are no metrics."""
    rows = [
        factory(5, loss=2.0, eval_loss=None, lr=1e-4, epoch=0.5),
        factory(10, loss=1.5, eval_loss=None, lr=9e-5, epoch=1.0),
        factory(10, loss=None, eval_loss=1.75, lr=None, epoch=1.0),
        factory(10, total=100, epoch=1.0),
    ]
    reading = jsonl_log.read(written(tmp_path, *rows, name="trainer_log.jsonl"))
    assert set(reading.series) == {"loss", "eval_loss", "lr", "elapsed_time"}
    assert reading.series["loss"].step.tolist() == [5, 10]
    assert reading.series["loss"].epoch.tolist() == [0.5, 1.0]
    assert reading.series["elapsed_time"].value.tolist() == [5, 10]
    assert reading.hints.planned_steps == 100
    assert reading.framework == "llama-factory"


def test_log_that_breaks_off_has_no_closing_row(tmp_path: Path) -> None:
    """The closing row has no loss; without it, and short of the plan, the run was stopped."""
    rows = [factory(step, loss=2.0) for step in range(5, 50, 5)]
    cut = read(written(tmp_path, *rows, name="trainer_log.jsonl"))
    assert cut.state.kind == "stopped_early"
    closed = read(written(tmp_path, *rows, factory(45), name="trainer_log.jsonl"))
    assert closed.state.kind == "unknown"


def test_closing_evaluation_with_a_count_of_its_own_is_no_step(tmp_path: Path) -> None:
    """Step 2 of 2 after step 100 of 100."""
    rows = [factory(50, loss=2.0), factory(100, loss=1.0), factory(2, total=2, eval_loss=0.5)]
    reading = jsonl_log.read(written(tmp_path, *rows, name="trainer_log.jsonl"))
    assert "eval_loss" not in reading.series
    assert (reading.hints.done_steps, reading.hints.planned_steps) == (100, 100)


def test_prediction_is_no_training(tmp_path: Path) -> None:
    """Progress without any loss: it is said why there is nothing to diagnose."""
    path = written(tmp_path, factory(5), factory(10), name="trainer_log.jsonl")
    with pytest.raises(NothingReadable, match="a prediction or evaluation run"):
        read(path)


def test_rows_of_two_processes_count_once_and_a_resume_is_seen(tmp_path: Path) -> None:
    """The second process lags behind by up to two rows; a fall by many is the next launch."""
    steps = [10, 10, 20, 30, 20, 40, 30, 50, 40, 60, 50, 70, 60, 70]
    again = [40, 40, 50, 50, 60, 60, 70, 70, 80, 80]
    rows = [factory(step, loss=3.0 - step / 100) for step in steps]
    rows += [factory(step, loss=1.0) for step in [s - 30 for s in again]]
    reading = jsonl_log.read(written(tmp_path, *rows, name="trainer_log.jsonl"))
    loss = reading.series["loss"]
    assert loss.step.tolist() == [10, 20, 30, 40, 50, 60, 70, 10, 20, 30, 40, 50]
    assert loss.launch.tolist() == [0] * 7 + [1] * 5
    assert "several processes" in reading.problems[0].text


def test_accuracy_of_llama_factory_is_that_of_preferences(tmp_path: Path) -> None:
    """It copies rewards/accuracies of TRL under that name."""
    path = written(tmp_path, factory(5, loss=0.6, accuracy=0.5), name="trainer_log.jsonl")
    assert set(jsonl_log.read(path).series) >= {"rewards/accuracies"}


def test_state_and_log_of_one_run_are_not_doubled(tmp_path: Path) -> None:
    """The state adds what the log lacks, the log what the state lacks."""
    log = [{"step": n, "loss": 2.0 - n / 100, "grad_norm": 1.0} for n in range(10, 101, 10)]
    state = {"log_history": log, "global_step": 100, "max_steps": 100}
    (tmp_path / "trainer_state.json").write_text(json.dumps(state))
    rows = [factory(n, loss=2.0 - n / 100, lr=1e-4) for n in range(10, 101, 10)]
    written(tmp_path, *rows, factory(100), name="trainer_log.jsonl")
    run = read(tmp_path)
    assert [len(run.curve(m)) for m in ("train_loss", "grad_norm", "learning_rate")] == [10] * 3
    assert run.framework == "llama-factory"
    assert not run.problems


def test_ms_swift_says_step_and_plan_in_one_word(tmp_path: Path) -> None:
    """Its closing row is a summary, its last line repeats all rows."""
    rows = [
        {"loss": 20.5, "global_step/max_steps": "1/438", "memory(GiB)": 15.97},
        {"loss": 3.9, "global_step/max_steps": "10/438", "elapsed_time": "1m 31s"},
        {"train_runtime": 2959.8, "train_loss": 0.28, "global_step/max_steps": "438/438"},
        {"log_history": [{"loss": 20.5, "step": 1}], "global_step": 438},
    ]
    reading = jsonl_log.read(written(tmp_path, *rows, name="logging.jsonl"))
    assert reading.series["loss"].step.tolist() == [1, 10]
    assert reading.series["memory(GiB)"].value.tolist() == [15.97]
    assert reading.series["elapsed_time"].value.tolist() == [91]
    assert reading.hints.summary
    assert (reading.framework, reading.precision) == ("ms-swift", "rounded")


def test_not_finite_numbers_and_numbers_as_text(tmp_path: Path) -> None:
    """NaN and Infinity are values, whether JSON allows them or not."""
    path = written(
        tmp_path,
        '{"step": 1, "loss": NaN}',
        '{"step": 2, "loss": "nan"}',
        '{"step": 3, "loss": -Infinity}',
        '{"step": 4, "loss": "0.5", "done": true, "note": null}',
    )
    series = jsonl_log.read(path).series
    assert set(series) == {"loss"}
    np.testing.assert_array_equal(series["loss"].value, [math.nan, math.nan, -math.inf, 0.5])


def test_inner_objects_are_named_by_their_path(tmp_path: Path) -> None:
    """But for those that only say that metrics follow."""
    rows = [{"step": n, "metrics": {"loss": 1.0, "eval": {"loss": 2.0}}} for n in (1, 2)]
    run = read(written(tmp_path, *rows))
    assert len(run.curve("train_loss")) == len(run.curve("eval_loss")) == 2


def test_objects_that_go_too_deep_are_left_out(tmp_path: Path) -> None:
    """A dump of a model's settings is no metric."""
    row = {"step": 1, "loss": 1.0, "a": {"b": {"c": {"d": {"x": {"e": 5}}}, "f": 6}}, "g": [1, 2]}
    assert set(jsonl_log.read(written(tmp_path, row)).series) == {"loss", "a/b/f"}


def test_pointer_of_git_lfs_says_so(tmp_path: Path) -> None:
    """Under a name that only logs have."""
    pointer = "version https://git-lfs.github.com/spec/v1\n"
    for name in ("trainer_log.jsonl", "data.jsonl"):
        (tmp_path / name).write_text(pointer)
    assert [p.name for p in jsonl_log.find(tmp_path, walk(tmp_path))] == ["trainer_log.jsonl"]
    with pytest.raises(NothingReadable, match="git lfs pull"):
        read(tmp_path)


def test_row_without_a_step_is_at_the_step_before_it(tmp_path: Path) -> None:
    """As evaluations are often written."""
    rows = [{"step": 10, "loss": 1.0}, {"val_loss": 1.5}, {"step": 20, "loss": 0.9}]
    reading = jsonl_log.read(written(tmp_path, *rows))
    assert reading.series["val_loss"].step.tolist() == [10]


def test_constant_plan_in_each_row_is_the_plan(tmp_path: Path) -> None:
    """It is neither the step nor a metric."""
    rows = [{"step": n, "max_steps": 50, "loss": 1.0} for n in range(10, 40, 10)]
    reading = jsonl_log.read(written(tmp_path, *rows))
    assert reading.hints.planned_steps == 50
    assert set(reading.series) == {"loss"}


def test_plan_without_end_is_none(tmp_path: Path) -> None:
    """Some loops write infinity for "until I stop it"."""
    rows = [{"step": n, "max_steps": math.inf, "loss": 1.0} for n in range(10, 40, 10)]
    assert jsonl_log.read(written(tmp_path, *rows)).hints.planned_steps is None


def test_torn_last_line_and_bad_lines_are_counted(tmp_path: Path) -> None:
    """A file that is still being written loses its last row alone."""
    path = written(tmp_path, {"step": 1, "loss": 1.0}, "oops", {"step": 2, "loss": 0.9})
    path.write_text(path.read_text() + '{"step": 3, "lo')
    reading = jsonl_log.read(path)
    assert reading.series["loss"].step.tolist() == [1, 2]
    torn, bad = reading.problems
    assert "ends in the middle of a row" in torn.text
    assert "line 2" in bad.text
    assert bad.lost == "1 of 4 lines"


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "hi", "completion": "there"},
        {"step": 1, "reward": 0.5, "completion": "long " * 100},
        {"messages": [{"role": "user", "content": "hi"}]},
        {"idx": 1, "score": 0.5},
        {"role": "user", "time": 1.5},
        [1, 2],
    ],
)
def test_data_is_no_log(tmp_path: Path, row: Any) -> None:
    """Data sets, generations and chats lie beside runs as JSON Lines too."""
    written(tmp_path, row, row)
    assert jsonl_log.find(tmp_path, walk(tmp_path)) == []


@pytest.mark.parametrize("name", ["trainer_log.jsonl", "any.jsonl", "metrics.json", "x.log.json"])
def test_logs_are_found_by_their_rows(tmp_path: Path, name: str) -> None:
    """Detectron2 and mmengine write JSON Lines into .json files."""
    path = written(tmp_path, {"iteration": 19, "total_loss": 2.5}, name=name)
    assert jsonl_log.find(tmp_path, walk(tmp_path)) == [path]
    assert jsonl_log.read(path).series["total_loss"].step.tolist() == [19]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0:01:40", 100),
        ("1 day, 0:08:23", 86_903),
        ("3 days, 17:51:32", 323_492),
        ("46m 13s", 2_773),
        ("1h 2m 3s", 3_723),
        ("1d 2h", 93_600),
        ("0s", 0),
        ("", None),
        ("soon", None),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    """As LLaMA-Factory and ms-swift print them."""
    assert durations.seconds(text) == seconds


LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
KEY = st.sampled_from(
    ["step", "loss", "epoch", "current_steps", "total_steps", "global_step/max_steps", "time",
     "split", "max_steps", "log_history", "elapsed_time", "train_runtime"]
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@example(rows=[{"loss": math.inf}, {"loss": math.inf}])
@given(st.lists(st.dictionaries(KEY, LEAF | st.lists(LEAF, max_size=2)), max_size=8))
def test_no_content_raises(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    """Whatever the keys hold, the reader ends with a reading."""
    reading = jsonl_log.read(written(tmp_path_factory.mktemp("any"), *rows))
    assert all(len(series.step) == len(series.value) for series in reading.series.values())


def test_a_step_of_the_whole_system_counts_but_that_of_a_part_does_not(tmp_path: Path) -> None:
    """ROLL writes ``system/step``; a step of an evaluation is a number like others."""
    rows = [{"system/step": n, "eval/step": 7, "actor/pg_loss": n / 9} for n in range(3, 9)]
    (tmp_path / "metrics.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (reading,) = [jsonl_log.read(path) for path in jsonl_log.find(tmp_path, walk(tmp_path))]
    assert reading.series["actor/pg_loss"].step.tolist() == [3, 4, 5, 6, 7, 8]
    assert "eval/step" in reading.series
    assert not reading.problems


@pytest.mark.parametrize(("clock", "told"), [(101.0, 0), (99.0, 1)])
def test_a_clock_that_goes_on_within_a_step_loses_nothing(
    tmp_path: Path, clock: float, told: int
) -> None:
    """A training row and an evaluation row of one step differ in it; what falls back is a value."""
    rows: list[Any] = [{"step": at, "loss": 1.0, "wall": at * 10.0} for at in range(1, 31)]
    rows.insert(10, {"step": 10, "eval_loss": 1.5, "wall": clock})
    reading = jsonl_log.read(written(tmp_path, *rows))
    assert len(reading.problems) == told


def test_trials_of_bayesian_optimization(tmp_path: Path) -> None:
    """Each is a training with settings and a score of its own; what was sought is no label."""
    clock = {"datetime": "2020-05-17 00:37:19", "elapsed": 0.0, "delta": 0.0}
    rows = [{"target": n / 10, "params": {"lr": 10.0**-n}, "datetime": clock} for n in (1, 2, 3)]
    path = tmp_path / "logs.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    runs = read_all(tmp_path)
    assert [run.curve("value").value.tolist() for run in runs] == [[0.1], [0.2], [0.3]]
    assert [run.number("learning_rate") for run in runs] == [0.1, 0.01, 0.001]
    labelled = [{"target": n, "params": "a", "datetime": "b"} for n in (1, 2, 3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in labelled))
    assert not jsonl_log.looks_like_log(path)
