"""Weights that were initialized anew within a history, and what only looks like it."""

import numpy as np
import pytest

from runlens.history import FloatArray, History, columns
from runlens.rules import LISTED
from runlens.rules.rule import loaded
from runlens.run import Run, Task
from runlens.signals import Signals

RULES = {rule.slug: loaded(rule) for rule in LISTED if rule.slug in {"divergence", "loss-spike"}}


def decay(points: int, first: float, last: float, pace: float) -> FloatArray:
    """Draw a fall that slows down."""
    return last + (first - last) * np.exp(-np.arange(points) / pace)


def run_of(loss: FloatArray, evals: FloatArray | None = None, task: Task = "other") -> Run:
    """Draw a run of a loss and of an evaluation after each row."""
    step = np.arange(1, len(loss) + 1)
    made = {"train_loss": columns(step, loss)}
    if evals is not None:
        made["eval_loss"] = columns(step, evals)
    return Run(id="a", name="a", history=History(made, ("drawn",)), task=task)


FIRST = decay(40, 0.75, 0.055, 3)


@pytest.mark.parametrize(
    ("second", "at"),
    [
        (decay(20, 0.75, 0.055, 3), [41]),  # the same descent again
        (decay(20, 0.75, 0.055, 0.5), []),  # a spike: it is over at once
        (decay(20, 0.4, 0.055, 3), []),  # half as high: no untrained model
        (np.full(20, 0.75), []),  # it does not come down: it diverged
    ],
)
def test_a_loss_that_repeats_its_first_descent_begins_anew(
    second: FloatArray, at: list[int]
) -> None:
    """Back at its own first value, and down again as it came down first."""
    loss = np.concatenate([FIRST, second])
    run = run_of(loss * np.random.default_rng(7).normal(1.0, 0.02, len(loss)))
    signals = Signals(run)
    assert signals.begun_anew == at
    if at:
        for rule in RULES.values():
            assert rule.check(run, signals, rule.limits).status == "passed"


@pytest.mark.parametrize(("tested", "at"), [(0.70, [51]), (1.9, [])])
def test_two_losses_of_a_coin_at_once_are_new_weights(tested: float, at: list[int]) -> None:
    """The history begins late; loss and evaluation are both ln 2 at the jump."""
    again = np.array([0.693, 0.55, 0.427, 0.243, 0.116, 0.1, 0.077, 0.08, 0.065, 0.061, 0.06, 0.06])
    loss = np.concatenate([np.linspace(0.07, 0.04, 50), again])
    evals = np.where(np.arange(len(loss)) < 50, 1.7, tested)
    assert Signals(run_of(loss, evals, "classification")).begun_anew == at
