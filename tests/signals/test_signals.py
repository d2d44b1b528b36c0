"""Quantities that rules share: computed once, of finite points, known or None."""

import math
from itertools import count

import numpy as np
import pytest

from runlens.history import History, Observation, columns
from runlens.rules.rule import drawn
from runlens.run import Problem, Run, State
from runlens.signals import Signals

RUN = drawn("s", steps_per_epoch=50, train_loss="0:3 400:1", learning_rate="0:0 40:2e-3 400:0")


def test_what_is_asked_twice_is_computed_once() -> None:
    """Rules share it."""
    signals, numbers = Signals(RUN.run()), count(7)
    assert [signals.keep("x", lambda: next(numbers)) for _ in range(2)] == [7, 7]
    assert signals.smooth("train_loss") is signals.smooth("train_loss")
    assert signals.keep("none", lambda: None) is None


def test_curves_are_finite() -> None:
    """NaN is judged by rules of its own."""
    history = History.of(
        Observation("x", at, value) for at, value in enumerate([1.0, math.nan, math.inf, 2.0])
    )
    assert Signals(Run("r", "r", history)).curve("x").value.tolist() == [1.0, 2.0]


def test_a_metric_that_was_not_logged_has_a_signal_too() -> None:
    """Empty or neutral, never an exception."""
    signals = Signals(Run("r", "r", History({})))
    assert len(signals.curve("x")) == len(signals.smooth("x")) == 0
    assert signals.sigma("x") > 0
    assert signals.trend("x").p == 1
    assert math.isnan(signals.levels("x").end)
    assert signals.interval("x") == 1
    assert signals.peak_learning_rate is None
    assert signals.learning_rate_at(5) is None
    assert signals.steps_per_epoch is None
    assert signals.restarts == []
    assert not signals.partial


def test_interval_peak_and_rate() -> None:
    """As logged; between two points by a straight line."""
    signals = Signals(RUN.run())
    assert signals.interval("train_loss") == 10
    assert signals.peak_learning_rate == pytest.approx(2e-3)
    assert signals.learning_rate_at(20) == pytest.approx(1e-3)
    assert signals.steps_per_epoch == pytest.approx(50)
    assert signals.settled_from == signals.warmup.end == 40


def test_the_configured_rate_stands_in_for_the_logged_one() -> None:
    """Better than nothing."""
    run = drawn("c", config={"learning_rate": 1e-4}, train_loss="0:3 400:1").run()
    assert Signals(run).peak_learning_rate == 1e-4


def test_epochs_are_known_by_the_plan() -> None:
    """Where no row names its epoch."""
    run = drawn("p", train_loss="0:3 400:1", state=State(planned_steps=900, planned_epochs=3))
    assert Signals(run.run()).steps_per_epoch == 300


def test_gradients_may_be_judged_after_warmup_else_after_a_twentieth() -> None:
    """The norm of the very first steps is no signal."""
    assert Signals(drawn("n", train_loss="0:3 400:1").run()).settled_from == 20


@pytest.mark.parametrize(
    ("first", "every", "lost", "partial"),
    [(10, 10, "", False), (500, 10, "", True), (500, 500, "", False), (10, 10, "earlier", True)],
)
def test_a_history_that_begins_late_is_partial(
    first: int, every: int, lost: str, *, partial: bool
) -> None:
    """Unless it logs that rarely; or a reader says that the start is lost."""
    step = np.arange(first, 2_001, every)
    history = History({"train_loss": columns(step, np.ones(len(step)))})
    problems = (Problem("log", "is cut", f"the {lost} rows"),) if lost else ()
    assert Signals(Run("r", "r", history, problems=problems)).partial == partial


@pytest.mark.parametrize(
    ("losses", "learns"),
    [
        ((1.29, 1.26, 1.25, 1.23, 1.22), True),  # one order of 120
        ((1.29, 1.26, 1.25, 1.23), False),  # one of 24
        ((1.29, 1.25, 1.26, 1.23, 1.22), False),
        ((1.22, 1.23, 1.25, 1.26, 1.29), False),
    ],
)
def test_few_losses_that_only_fall_are_no_chance(
    losses: tuple[float, ...], *, learns: bool
) -> None:
    """Their noise is not known, so their order counts."""
    points = " ".join(f"{10 * n}:{value}" for n, value in enumerate(losses))
    run = drawn("few", noise=0.0, train_loss=points).run()
    assert Signals(run).learns == learns


def test_evaluations_that_begin_before_training_losses_are_no_start() -> None:
    """Epochs of evaluations from 1 on beside the batches of the last epoch."""
    history = History({
        "eval_bleu": columns(np.arange(1, 6), np.linspace(0.1, 0.2, 5)),
        "train_loss": columns(np.arange(900, 1_100), np.linspace(2.0, 1.9, 200)),
    })  # fmt: skip
    signals = Signals(Run("r", "r", history))
    assert signals.partial
    assert signals.begins == 900


@pytest.mark.parametrize(
    ("epochs", "per"),
    [
        ([0] * 10 + [1] * 10 + [2] * 9, 100),  # the last one is not at its end
        ([0] * 4 + [1] * 10 + [2] * 5, 100),  # the first was joined late
        ([0] * 10 + [1] * 9, 180),  # one border alone does not say how far an epoch goes
        ([0.1 * at for at in range(20)], 100),
        ([0] * 5 + [1] * 5 + [0] * 5 + [1] * 5 + [2] * 2, 105),  # it was begun anew
    ],
)
def test_whole_numbered_epochs_are_as_long_as_from_one_border_to_the_next(
    epochs: list[float], per: float
) -> None:
    """The number stands for all rows of an epoch, and the last row lies within it."""
    steps = 10 * np.arange(len(epochs))
    history = History({"train_loss": columns(steps, np.ones(len(epochs)), epochs)})
    assert Signals(Run("r", "r", history)).steps_per_epoch == pytest.approx(per)
