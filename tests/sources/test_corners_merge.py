"""Corners of merging that no other test reaches."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.history import FloatArray
from runlens.run import Event, Run
from runlens.sources.merging import candidates, group, merge
from runlens.sources.merging.merge import runs_of
from runlens.sources.reading import Series, SourceReading, series
from tests.sources.writers import arguments, console, events, log_rows, losses, tracked
from tests.sources.writers import state as trainer_state

STEPS = np.arange(10, 410, 10)
LOSS = losses(1)
BANNER = "***** Running training *****\n  Num Epochs = 4\n  Total optimization steps = 400\n"
TRACE = 'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\nValueError: bad\n'


def state(folder: Path, rows: list[dict[str, float]]) -> Path:
    """Write a trainer state of these rows."""
    (folder / "trainer_state.json").write_text(json.dumps({"log_history": rows}))
    return folder


def test_two_names_of_one_metric_with_other_values_are_both_kept(tmp_path: Path) -> None:
    """TRL's two lengths of completions mean one metric; a loop of one's own logs both apart."""
    rows = [
        {
            "step": step,
            "loss": 1 / step,
            "completion_length": 100.0 + step,
            "completions/mean_length": 50.0 + step,
        }
        for step in range(1, 6)
    ]
    run = read(state(tmp_path, rows))
    lengths = {tuple(run.curve(name).value.tolist()) for name in run.history.metrics}
    assert (101, 102, 103, 104, 105) in lengths
    assert (51, 52, 53, 54, 55) in lengths


def test_a_longer_series_takes_the_name_and_the_other_keeps_its_own(tmp_path: Path) -> None:
    """Whichever was logged first."""
    rows = [{"step": step, "loss": 1 / step, "completions/mean_length": 7.0} for step in (1, 2)]
    rows[0]["completion_length"] = 9.0
    short_last = read(state(tmp_path, rows))
    rows[0] = {"step": 1, "completion_length": 9.0, **rows[0]}
    for run in (short_last, read(state(tmp_path, rows))):
        assert run.curve("len_mean").value.tolist() == [7.0, 7.0]
        assert run.curve("completion_length").value.tolist() == [9.0]


def test_the_same_numbers_under_two_names_are_one_metric(tmp_path: Path) -> None:
    """As TRL logs them for a while: nothing is counted twice."""
    rows = [
        {"step": s, "loss": 1 / s, "completion_length": 3.0 + s, "completions/mean_length": 3.0 + s}
        for s in range(1, 6)
    ]
    assert set(read(state(tmp_path, rows)).history.metrics) == {"train_loss", "len_mean"}


def reading(path: str, kind: str, curves: Mapping[str, Series], **more: Any) -> SourceReading:
    """Return a reading as a reader would hand it over."""
    return SourceReading(Path("r") / path, kind, series=dict(curves), **more)


def merged(*readings: SourceReading) -> list[Run]:
    """Return the runs that readings make up."""
    return runs_of(Path("r"), "r", readings)


def loss(values: FloatArray = LOSS, first: int = 0, last: int = 40) -> dict[str, Series]:
    """Return the training loss of some rows."""
    return {"loss": series(STEPS[first:last], values[first:last])}


def test_a_log_that_fits_two_runs_joins_neither() -> None:
    """It lies beside both, and nothing in it says whose it is."""
    accuracy = {"accuracy": series(STEPS, np.linspace(0.2, 0.9, 40))}
    runs = merged(
        reading("a/trainer_state.json", "trainer_state", loss()),
        reading("b/trainer_state.json", "trainer_state", loss(losses(2))),
        reading("c/metrics.csv", "csv", accuracy),
    )
    assert [sorted(run.history.metrics) for run in runs] == [
        ["train_loss"], ["train_loss"], ["train_accuracy"],
    ]  # fmt: skip


def test_renamed_logs_of_wandb_without_an_id_are_runs_of_their_own() -> None:
    """W&B makes one log a launch: two that share no metric lie together by chance."""
    runs = merged(
        reading("one.wandb", "wandb", loss()),
        reading("two.wandb", "wandb", {"reward": series(STEPS, -LOSS)}),
    )
    assert len(runs) == 2


def test_what_died_early_with_two_good_runs_beside_it_is_one_run(tmp_path: Path) -> None:
    """Its tracker and its event file hold settings only; the log above them holds the error."""
    for name, seed in (("a", 1), ("b", 2)):
        trainer_state(tmp_path / name, log_rows(losses(seed)))
    dead = tmp_path / "dead"
    tracked(dead / "wandb", [], "xyz", code=1)
    arguments(events(dead / "outputs/runs/x", [], launch=1), {"learning_rate": 1.0})
    console(dead / "train.log", [], end=TRACE)
    runs = {run.name: run for run in read_all(tmp_path)}
    assert runs.keys() == {"a", "b", "dead"}
    assert runs["dead"].state.kind == "crashed"
    assert runs["dead"].number("learning_rate") == 1.0
    assert len(runs["dead"].sources) == 3


def test_a_log_above_two_different_runs_is_of_neither(tmp_path: Path) -> None:
    """They are of different kinds, but contradict each other."""
    trainer_state(tmp_path / "out/a", log_rows(losses(1)))
    events(tmp_path / "out/b/runs/x", losses(2))
    console(tmp_path / "train.log", [], end=TRACE)
    assert sorted(len(run.sources) for run in read_all(tmp_path)) == [1, 1, 1]


def test_logs_below_a_folder_of_very_many_are_told_by_their_values() -> None:
    """More lie there than are compared by place; equal values still join."""
    crowd = [
        reading(f"{n}.csv", "csv", loss(losses(n))) for n in range(10, 12 + candidates.ALL)
    ]  # fmt: skip
    exact = reading("x/trainer_state.json", "trainer_state", loss())
    same = reading("x/runs/y/events", "tensorboard", loss())
    other = reading("z/trainer_state.json", "trainer_state", loss(losses(2)))
    runs = merged(*crowd, exact, same, other)
    assert len(runs) == len(crowd) + 2
    assert sorted(len(run.sources) for run in runs)[-2:] == [1, 2]


def test_tables_without_times_that_follow_on_each_other_are_one_run() -> None:
    """Lightning writes a folder ``version_N`` a launch, and no time."""
    (run,) = merged(
        reading("version_0/metrics.csv", "csv", loss(last=25)),
        reading("version_1/metrics.csv", "csv", loss(first=25)),
    )
    assert run.curve("train_loss").step.tolist() == STEPS.tolist()
    assert [segment.first_step for segment in run.segments] == [10, 260]


def test_rows_get_their_steps_from_the_plan_in_the_other_stream(tmp_path: Path) -> None:
    """``train.err`` says 4 epochs and 400 steps, the rows in ``train.out`` their epochs."""
    console(tmp_path / "train.out", LOSS[:20], bars=False)
    bar = "".join(f"\r {n // 4}%|#   | {n}/400 [00:01<00:01, 99.9it/s]" for n in range(301))
    (tmp_path / "train.err").write_text(f"{BANNER}{bar}\n")
    run = read(tmp_path)
    assert run.curve("train_loss").step.tolist() == list(range(10, 210, 10))
    assert run.problems == ()


@pytest.mark.parametrize(("rows", "last"), [(20, 200), (0, 0)])
def test_an_evaluation_before_the_training_gives_no_distance(
    rows: int, last: int, tmp_path: Path
) -> None:
    """With ``eval_on_start`` the first row is at epoch 0: only the rows of the training tell."""
    start = "{'eval_loss': 2.5, 'eval_runtime': 1.0, 'epoch': 0}\n"
    out = console(tmp_path / "train.out", LOSS[:rows], bars=False)
    out.write_text(start + out.read_text())
    bar = "".join(f"\r {n // 4}%|#   | {n}/400 [00:01<00:01, 99.9it/s]" for n in range(301))
    (tmp_path / "train.err").write_text(f"{BANNER}{bar}\n")
    run = read(tmp_path)
    assert run.curve("eval_loss").step.tolist() == [0]
    assert run.curve("train_loss").step.tolist() == list(range(10, last + 1, 10))
    assert run.problems == ()


def test_a_loss_of_a_name_of_its_own_is_the_training_loss(tmp_path: Path) -> None:
    """Where it is the only one; beside another it keeps its name."""
    rows = [{"step": n, "train_loss_local": 1 / n, "lr": 0.1} for n in range(1, 6)]
    assert "train_loss" in read(state(tmp_path, rows)).history.metrics
    for row in rows:
        row["train_loss_teacher"] = 2.0
    metrics = read(state(tmp_path, rows)).history.metrics
    assert {"train_loss_local", "train_loss_teacher"} <= set(metrics)


@pytest.mark.parametrize("word", ["auto", [400]])
def test_a_plan_that_is_no_number_is_no_plan(word: object) -> None:
    """DeepSpeed's "auto", a sweep's list."""
    (run,) = merged(reading("log.csv", "csv", loss(), config={"max_steps": word}))
    assert run.state.planned_steps is None


def test_a_resume_that_a_log_tells_is_told_once() -> None:
    """The log names the checkpoint; the first row behind it begins the launch."""
    resumed = Event("resume", 209, text="resuming from checkpoint-209")
    (run,) = merged(
        reading("a/events", "tensorboard", loss(last=25), started=1.0),
        reading("b/events", "tensorboard", loss(first=20), started=2.0, events=[resumed]),
    )
    assert [event.text for event in run.events_of("resume")] == [resumed.text]


def test_a_launch_that_two_trackers_begin_a_row_apart_is_one() -> None:
    """W&B has the first row of the resume, the event file only the next."""
    kinds = (("wandb", 20), ("tensorboard", 21))
    (run,) = merged(
        *(
            reading(f"{kind}/{launch}/x", kind, curve, started=launch + 1.0, run_id="x")
            for kind, first in kinds
            for launch, curve in enumerate((loss(last=25), loss(first=first)))
        )
    )
    assert [segment.first_step for segment in run.segments] == [10, 210]


def test_steps_that_a_log_rounds_add_no_points() -> None:
    """``4.51e+04`` is 45,056, which the event file has."""
    exact = 2_048 * np.arange(1, 41)
    printed = np.array([float(f"{step:.2e}") for step in exact]).astype(np.int64)
    (run,) = merged(
        reading("events", "tensorboard", {"reward": series(exact, LOSS)}),
        reading("out.log", "console", {"reward": series(printed, LOSS)}, precision="rounded"),
    )
    assert run.curve("reward").step.tolist() == exact.tolist()


def test_the_losses_of_all_ranks_are_one_problem() -> None:
    """Eight ranks log the loss of their own batches: the first is used, and that is said once."""
    curves = [
        loss(LOSS + rank / 10) | {"grad_norm": series(STEPS, LOSS / 2 + rank)} for rank in range(8)
    ]
    logs = [reading(f"rank_{n}.log", "console", some) for n, some in enumerate(curves)]
    (run,) = merged(*logs)
    (problem,) = run.problems
    assert problem.where == "rank_1.log"
    assert "disagrees with rank_0.log on train_loss at step 10" in problem.text
    assert problem.text.endswith("the same holds for 1 more metric and 6 more logs of its launch")
    assert problem.lost == "its values at 560 of 560 points"
    np.testing.assert_array_equal(run.curve("train_loss").value, LOSS)


def test_readings_that_cannot_be_understood_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where none of them can, nothing was read; and so where none can be merged."""

    def failing(*_: object) -> object:
        raise ZeroDivisionError

    state(tmp_path, [{"step": n, "loss": 1 / n} for n in range(1, 9)])
    with monkeypatch.context() as patched:
        patched.setattr(group, "content", failing)
        with pytest.raises(NothingReadable, match="no metric"):
            read(tmp_path)
    monkeypatch.setattr(merge, "_run", failing)
    with pytest.raises(NothingReadable, match="could not be merged"):
        read(tmp_path)


def test_of_two_runs_one_may_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other tells of it."""
    real = getattr(merge, "_run")  # noqa: B009 - its own work is wanted

    def failing(place: Path, given: str, some: list[Any], *more: Any, **how: Any) -> Run:
        if any("second" in str(one.reading.path) for one in some):
            raise ZeroDivisionError
        run: Run = real(place, given, some, *more, **how)
        return run

    for name, rate in (("first", 1.0), ("second", 7.0)):
        (tmp_path / name).mkdir()
        state(tmp_path / name, [{"step": n, "loss": rate / n} for n in range(1, 9)])
    monkeypatch.setattr(merge, "_run", failing)
    (run,) = read_all(tmp_path)
    assert any("could not be merged" in problem.text for problem in run.problems)
