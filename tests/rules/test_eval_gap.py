"""Evaluation gap: one that swings."""

import numpy as np
import pytest

from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.evaluation.eval_gap import RULE
from runlens.run import Run
from runlens.signals import Signals


@pytest.mark.parametrize(("last", "found"), [(1.3, True), (0.4, False)])
def test_a_gap_that_swings_is_told_where_it_grew_several_fold(last: float, *, found: bool) -> None:
    """Its order has no steady trend, and is no chance."""
    rng = np.random.default_rng(2)
    step = np.arange(200)
    train = 0.3 + 2.5 * np.exp(-step / 30)
    gap = 0.25 + (last - 0.25) * np.minimum(1, step / 40)
    evals = train + gap * np.exp(0.35 * rng.standard_normal(200))
    run = Run(
        "swings",
        "swings",
        History({"train_loss": columns(step, train), "eval_loss": columns(step, evals)}),
        task="other",
    )
    assert bool(examine(RULE, run, Signals(run)).findings) == found


@pytest.mark.parametrize(("top", "found"), [(0.99, True), (99.0, True), (9_900.0, False)])
def test_counts_of_right_answers_are_no_accuracy(top: float, found: bool) -> None:
    """Above 100 % they are of another unit."""
    step = np.arange(1, 9)
    series = {
        "train_accuracy": columns(step, np.linspace(0.5, 1.0, 8) * top),
        "eval_accuracy": columns(step, np.full(8, 0.3) * max(1.0, top)),
    }
    run = Run("s", "s", History(series), task="classification")
    titles = [one.title for one in examine(RULE, run, Signals(run)).findings]
    assert any("accuracy ends" in title for title in titles) is found
