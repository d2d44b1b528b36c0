"""The table of numbers: rounded as shown, beside their noise, one row that decides."""

import math

import numpy as np
import pytest

from runlens.comparing.measures import measures, shown
from runlens.comparing.seeds import between
from runlens.comparison import Measure
from runlens.history import FloatArray
from runlens.run import Run
from tests.comparing.drawn_runs import falling, run


def rows(a: Run, b: Run) -> dict[str, Measure]:
    """Return the rows by what they say."""
    return {row.what: row for row in measures(a, b, "step")}


def deciding(a: Run, b: Run) -> Measure:
    """Return the one row that decides."""
    found = [row for row in measures(a, b, "step") if row.decides]
    assert len(found) == 1
    return found[0]


def evals(count: int, level: float, seed: int, noise: float = 0.002) -> FloatArray:
    """Return evaluations that fall to a level."""
    return level * falling(count, seed, noise)


def test_a_better_run_is_better_with_its_interval() -> None:
    """B ends 20 % lower: clear, and zero outside the interval."""
    row = deciding(run({"train_loss": falling(300, 1)}), run({"train_loss": 0.8 * falling(300, 2)}))
    assert row.what == "Last train loss"
    assert (row.clear, row.favours, row.noise_from, row.limit) == (True, "b", "within", 5.0)
    assert row.interval is not None
    assert row.interval[0] < row.interval[1] < 0


def test_a_run_that_differs_by_noise_alone_is_no_better() -> None:
    """Zero lies within the interval."""
    row = deciding(run({"train_loss": falling(300, 1)}), run({"train_loss": falling(300, 2)}))
    assert not row.clear
    assert row.favours == ""
    assert row.interval is not None
    assert row.interval[0] < 0 < row.interval[1]


def test_clear_and_the_interval_never_contradict_each_other() -> None:
    """Clear means that zero is outside; less than 1 % is inside by the least noise."""
    for seed in range(30):
        size = 1 + 0.01 * (seed % 6)
        a, b = falling(200, seed, 0.01), size * falling(200, 100 + seed, 0.01)
        row = deciding(run({"train_loss": a}), run({"train_loss": b}))
        assert row.interval is not None
        assert not row.clear or not row.interval[0] <= 0 <= row.interval[1]
        assert (row.times or 0) > row.limit or not row.clear
    row = deciding(run({"train_loss": falling(200)}), run({"train_loss": 1.008 * falling(200)}))
    assert not row.clear
    assert (row.times or 0) <= row.limit


def test_differences_are_those_of_the_rounded_numbers() -> None:
    """So that the table adds up."""
    made = rows(
        run({"train_loss": falling(100, 1), "eval_loss": evals(10, 1.23456, 3)}),
        run({"train_loss": falling(100, 2), "eval_loss": evals(10, 1.24789, 4)}),
    )
    for row in made.values():
        assert row.a is not None
        assert row.b is not None
        assert row.difference == pytest.approx(row.b - row.a, abs=1e-9)
    last = made["Last eval loss"]
    assert (last.a, last.b) == (round(last.a or 0, 3), round(last.b or 0, 3))


@pytest.mark.parametrize(
    ("metric", "value", "seen"),
    [
        ("train_loss", 2.71828, 2.718),
        ("eval_loss", 27.1828, 27.18),
        ("train_loss", -1234.5678, -1234.57),
        ("train_loss", 0.00271828, 0.00272),
        ("learning_rate", 1.23456e-5, 1.23e-5),
        ("grad_norm", 0.123456, 0.1235),
        ("throughput_tokens", 12345.6, 12346),
    ],
)
def test_values_have_the_digits_that_reports_show(metric: str, value: float, seen: float) -> None:
    """Losses three decimals, rates three digits, others four."""
    assert shown(metric, value) == seen


def test_eval_loss_decides_where_both_evaluated_often_enough() -> None:
    """Training alone may memorise: train loss lower, eval loss higher, B is worse."""
    a = run(
        {"train_loss": falling(300, 1), "eval_loss": evals(20, 1.0, 3)}, every={"eval_loss": 15}
    )
    b = run(
        {"train_loss": 0.5 * falling(300, 2), "eval_loss": evals(20, 1.2, 4)},
        every={"eval_loss": 15},
    )
    row = deciding(a, b)
    assert (row.what, row.favours) == ("Last eval loss", "a")
    assert rows(a, b)["Last train loss"].favours == "b"


def test_train_loss_decides_where_few_evaluations_agree_with_it() -> None:
    """Three evaluations know no noise, but say the same."""
    a = run(
        {"train_loss": falling(300, 1), "eval_loss": evals(3, 1.0, 3)}, every={"eval_loss": 100}
    )
    b = run(
        {"train_loss": 0.8 * falling(300, 2), "eval_loss": evals(3, 0.8, 4)},
        every={"eval_loss": 100},
    )
    row = deciding(a, b)
    assert (row.what, row.favours) == ("Last train loss", "b")
    assert "noise not known from 3 common points" in rows(a, b)["Last eval loss"].note


def test_few_evaluations_that_speak_against_training_leave_it_open() -> None:
    """Nothing is claimed."""
    a = run(
        {"train_loss": falling(300, 1), "eval_loss": evals(3, 1.0, 3)}, every={"eval_loss": 100}
    )
    b = run(
        {"train_loss": 0.8 * falling(300, 2), "eval_loss": evals(3, 1.3, 4)},
        every={"eval_loss": 100},
    )
    row = deciding(a, b)
    assert (row.what, row.favours, row.noise) == ("Last eval loss", "", None)


def test_accuracy_decides_where_no_eval_loss_is() -> None:
    """Higher is better."""
    rng = np.random.default_rng(0)
    a = run({"train_loss": falling(100, 1), "eval_accuracy": 0.8 + 0.002 * rng.normal(size=20)})
    b = run({"train_loss": falling(100, 2), "eval_accuracy": 0.9 + 0.002 * rng.normal(size=20)})
    row = deciding(a, b)
    assert (row.what, row.favours) == ("Last eval accuracy", "b")


def test_reinforcement_learning_is_judged_by_its_reward() -> None:
    """The value of a policy's loss says nothing: it has no row."""
    rng = np.random.default_rng(0)
    a = run({"reward": rng.normal(-0.5, 0.1, 300), "train_loss": falling(300, 1)}, task="grpo")
    b = run({"reward": rng.normal(0.5, 0.1, 300), "train_loss": 2 * falling(300, 2)}, task="grpo")
    row = deciding(a, b)
    assert (row.what, row.favours) == ("Last reward", "b")
    assert not any("train loss" in what for what in rows(a, b))


def test_runs_of_unequal_length_are_judged_at_their_equal_end() -> None:
    """B is A stopped at a third: higher at its own end, the same at the same step."""
    a, b = run({"train_loss": falling(300, 1)}), run({"train_loss": falling(300, 2)[:100]})
    made = rows(a, b)
    assert made["Last train loss"].noise is None
    assert "A ends at step 300, B at step 100" in made["Last train loss"].note
    row = deciding(a, b)
    assert row.what == "Train loss at step 100"
    assert not row.clear


def test_a_schedule_cut_short_is_not_judged_against_the_middle_of_a_longer_one() -> None:
    """A has decayed where B is half way: lower there, higher where both have ended."""
    short, long = np.linspace(1e-3, 0, 100), np.linspace(1e-3, 0, 200)
    a = run({"train_loss": falling(100, 1), "learning_rate": short})
    b = np.append(1.2 * falling(100, 2), 0.7 + 0 * falling(100))
    row = deciding(a, run({"train_loss": b, "learning_rate": long}))
    assert (row.what, row.clear, row.noise) == ("Train loss at step 100", False, None)
    assert "0 % of its peak in A" in row.note.replace("\u202f", " ")
    still_worse = run({"train_loss": 1.2 * falling(200, 2), "learning_rate": long})
    assert deciding(a, still_worse).favours == "a"
    stopped = run({"train_loss": 1.2 * falling(200, 2)[:100], "learning_rate": long[:100]})
    assert deciding(run({"train_loss": falling(200, 1), "learning_rate": long}), stopped).clear


def test_a_run_that_ends_in_nan_has_no_last_loss_and_is_judged_before() -> None:
    """The note says from where."""
    broken = falling(300, 2)
    broken[200:] = math.nan
    made = rows(run({"train_loss": falling(300, 1)}), run({"train_loss": broken}))
    last = made["Last train loss"]
    assert (last.b, last.difference, last.clear) == (None, None, False)
    assert last.note == "no number in B from step 201 on"
    assert made["Train loss at step 200"].decides


def test_noise_between_seeds_replaces_that_within_the_runs() -> None:
    """8 % apart is clear within the runs, and nothing where seeds do as much."""
    a, b = run({"train_loss": falling(300, 1)}), run({"train_loss": 1.08 * falling(300, 2)})
    assert deciding(a, b).clear
    repeats = [run({"train_loss": level * falling(300, 3)}) for level in (0.95, 1.0, 1.05)]
    row = next(row for row in measures(a, b, "step", between(repeats)) if row.decides)
    assert (row.noise_from, row.limit, row.clear) == ("seeds", 4.53, False)
    assert row.noise == pytest.approx(2**0.5 * 0.05, rel=0.1)


def test_one_run_too_short_knows_no_noise() -> None:
    """The numbers are shown, nothing is claimed."""
    row = deciding(run({"train_loss": falling(300, 1)}), run({"train_loss": 5 * falling(4, 2)}))
    assert (row.noise, row.clear, row.interval) == (None, False, None)
    assert row.note == "noise not known from 4 common points"


def test_a_metric_of_one_run_alone_is_said_and_decides_nothing_else() -> None:
    """The other one did not log it."""
    a, b = run({"train_loss": falling(300, 1)}), run({"reward": falling(300, 1)})
    made = rows(a, b)
    assert made["Last train loss"].note == "B did not log it"
    assert made["Last reward"].note == "A did not log it"
    assert not any(row.clear for row in made.values())


def test_runs_without_anything_have_no_rows() -> None:
    """And raise nothing."""
    assert measures(run({}), run({}), "step") == ()


def test_effort_is_shown_without_a_verdict() -> None:
    """Speed from the times, duration, step of the best evaluation."""
    curves = {"train_loss": falling(100, 1), "eval_loss": np.array([3.0, 1.0, 2.0, 2.5])}
    a = run(curves, every={"eval_loss": 25}, seconds=2.0)
    b = run(curves, every={"eval_loss": 25}, seconds=4.0)
    made = rows(a, b)
    assert (made["Median steps a second"].a, made["Median steps a second"].b) == (0.5, 0.25)
    assert made["Seconds from the first point to the last"].difference == 198
    assert (made["Step of the best eval loss"].a, made["Step of the best eval loss"].metric) == (
        50,
        "step",
    )
    assert made["Gap, eval − train loss"].a == pytest.approx(1.5, abs=0.05)


def test_a_logged_throughput_that_halves_is_clear() -> None:
    """Against its own scatter."""
    rng = np.random.default_rng(0)
    a = run({"throughput_tokens": rng.normal(3_000, 50, 200)})
    b = run({"throughput_tokens": rng.normal(1_500, 50, 200)})
    row = rows(a, b)["Median tokens a second"]
    assert (row.clear, row.favours, row.decides) == (True, "a", False)
