"""What an audit keeps of a run."""

import time
from dataclasses import replace

import numpy as np
import pytest

from runlens.auditing import rows
from runlens.engine import diagnose
from runlens.history import History, columns
from runlens.nights import RunRow
from runlens.rules.rule import Case, drawn
from runlens.run import Configured, Event, Run, State

HEALTHY = drawn(
    "healthy",
    train_loss="0:2.2 300:1.1 1000:0.9",
    eval_loss="0:2.2 300:1.2 700:0.95 1000:1.0",
    seconds_per_step=3.6,
    state=State("finished", "drawn", "certain", done_steps=1000, planned_steps=1000),
)
BROKEN = drawn(
    "broken",
    train_loss="0:2.2 300:1.1 600:nan 1000:nan",
    seconds_per_step=3.6,
    state=State("crashed", "drawn", "certain", done_steps=1000, planned_steps=2000),
)


def kept(case: Case, **changes: object) -> RunRow:
    """Judge a drawn run and keep its row."""
    run = replace(case.run(), **changes)  # type: ignore[arg-type]
    return rows.row(run, diagnose(run), "runs/a", "runs")


def test_levels_are_robust_and_known_up_to_their_noise() -> None:
    """Ends, bests, when the best evaluation was, and the error of the ends."""
    made = kept(HEALTHY)
    assert made.measures["train_loss.end"] == pytest.approx(0.91, abs=0.03)
    assert made.measures["eval_loss.best"] == pytest.approx(0.96, abs=0.04)
    assert 600 <= (made.measures["eval_loss.best_time"] - 1.7e9) / 3.6 <= 900
    assert made.measures["eval.points"] == 21
    assert 0.001 < made.noises["train_loss.end"] < 0.02
    assert (made.health, made.hours) == ("healthy", 1.0)


def test_error_of_an_end_is_the_scatter_of_ends() -> None:
    """Over many draws of one curve the standard error says how far its ends lie apart."""
    rng = np.random.default_rng(1)
    draws = [1 + 0.1 * rng.normal(size=400) for _ in range(200)]
    ends = [float(np.median(value[-40:])) for value in draws]
    told = float(np.median([rows.end_noise(value) or 0.0 for value in draws]))
    assert told == pytest.approx(float(np.std(ends)), rel=0.5)
    assert rows.end_noise(np.array([1.0, 2.0, 3.0])) is None


def test_the_fault_is_kept_with_its_time_and_leads() -> None:
    """Step 600 of 3.6 seconds each."""
    made = kept(BROKEN)
    lead = next(one for one in made.findings if one.leads)
    assert (lead.rule, lead.severity) == ("nan-loss", "critical")
    assert lead.onset_time == pytest.approx(1.7e9 + 600 * 3.6, abs=40)
    assert made.health == "critical"


def test_onset_between_known_start_and_end_is_dated_at_an_even_pace() -> None:
    """Where no record has a time, but the launch and the end have."""
    run = BROKEN.run()
    bare = {name: run.curve(name) for name in run.history.metrics}
    history = History({name: columns(one.step, one.value) for name, one in bare.items()})
    state = replace(run.state, last_time=2_000.0)
    run = replace(run, history=history, state=state)
    assert kept(BROKEN, history=history).findings[0].onset_time is None
    made = rows.row(replace(run, events=(*run.events, launch(1_000.0))), diagnose(run), "a", "runs")
    assert made.findings[0].onset_time == pytest.approx(1_600, abs=15)


def launch(when: float) -> Event:
    """Draw the launch of a run."""
    return Event("launch", 0, when)


def test_spark_shows_the_blamed_curve_from_its_onset() -> None:
    """30 points of 0 to 20; no number after NaN; half of the plan was done."""
    spark = kept(BROKEN).spark
    assert (spark.metric, len(spark.points), spark.done) == ("train_loss", 30, 0.5)
    assert max(spark.points) == 20
    assert spark.points[-10:] == (-1,) * 10
    assert spark.onset == 18
    assert spark.points[17] >= 0


def test_spark_of_a_wide_range_is_logarithmic() -> None:
    """Else all but the explosion lies on the floor."""
    made = kept(drawn("wide", train_loss="0:10 300:1 600:100000", noise=0.0))
    assert 0 < made.spark.points[0] < 10


def test_spark_of_few_points_has_as_many() -> None:
    """A constant curve lies in the middle."""
    made = kept(drawn("flat", train_loss="0:1 40:1", noise=0.0))
    assert made.spark.points == (10,) * 5


@pytest.mark.parametrize(
    ("config", "gpus"),
    [
        ({}, 1),
        ({"num_processes": 4, "gpu_count": 8}, 4),
        ({"gpu_count": 8}, 8),
        ({"num_processes": "many"}, 1),
        ({"num_processes": 0}, 1),
    ],
)
def test_gpus_are_processes_else_those_of_the_machine(
    config: dict[str, int | str], gpus: int
) -> None:
    """One where nothing tells."""
    known = {key: Configured(value, "drawn") for key, value in config.items()}
    assert kept(HEALTHY, config=known).gpus == gpus


def test_time_between_launches_is_no_time_of_the_run() -> None:
    """Two hours of training with a day between them."""
    step = np.arange(0, 200, 10)
    when = 1.7e9 + np.linspace(0, 3600, 20)
    joined = columns(
        np.concatenate([step, step + 200]),
        np.linspace(2, 1, 40),
        time=np.concatenate([when, when + 90_000]),
        segment=np.repeat([0, 1], 20),
    )
    made = kept(HEALTHY, history=History({"train_loss": joined}))
    assert made.hours == pytest.approx(2.0)
    assert made.paused == pytest.approx(90_000 - 3600)


def test_a_run_without_times_has_no_hours() -> None:
    """Unknown, not zero."""
    made = kept(replace(HEALTHY, seconds_per_step=None))
    assert (made.started, made.hours) == (None, None)


def test_a_run_without_anything_is_a_row_too() -> None:
    """No metric, no setting."""
    made = kept(HEALTHY, history=History({}), state=State())
    assert (made.spark.points, made.measures, made.group) == (
        (),
        {"eval.points": 0.0},
        "sft · healthy · transformers",
    )


def test_several_runs_of_one_place_have_keys_of_their_own() -> None:
    """Equal names are told apart; a run alone is its place."""
    run = HEALTHY.run()
    twice = [run, replace(run, name="b"), run]
    assert rows.parts([run]) == [""]
    assert rows.parts(twice) == ["healthy", "b", "healthy~2"]
    made = rows.row(run, diagnose(run), "runs/a", "runs", part="b")
    assert (made.key, made.place) == ("runs/a#b", "runs/a")


def test_a_row_costs_next_to_nothing() -> None:
    """Some milliseconds at most, on any machine: a diagnosis takes ten times as long."""
    run: Run = HEALTHY.run()
    diagnosis = diagnose(run)
    begun = time.process_time()
    for _ in range(20):
        rows.row(run, diagnosis, "runs/a", "runs")
    assert (time.process_time() - begun) / 20 < 0.01
