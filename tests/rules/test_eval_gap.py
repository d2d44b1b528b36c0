"""Evaluation gap: one that swings."""

import numpy as np
import pytest

from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.evaluation.eval_gap import RULE
from runlens.rules.rule import drawn
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


@pytest.mark.parametrize(
    ("train", "second", "noise", "status"),
    [
        ("0:1.2 300:0.5 400:0.48", 2.35, 0.05, "found"),
        ("0:1.2 300:0.5 400:0.48", 1.65, 0.01, "unmet"),  # a tenth worse
        ("0:1.2 300:0.5 400:0.48", 2.1, 0.3, "unmet"),  # single batches scatter as much
        ("0:1.2 400:0.8", 2.35, 0.01, "unmet"),  # a third of the training loss is gone
        ("0:1.2 400:1.2", 2.35, 0.01, "unmet"),  # nothing was learned
        ("0:9 300:4.1 400:4", 2.35, 0.01, "unmet"),  # below the training loss
        ("500:1.2 600:0.5", 2.35, 0.01, "unmet"),  # not beside it
    ],
)
def test_two_evaluations_that_part(train: str, second: float, noise: float, status: str) -> None:
    """The second must be far above the first, and above a training loss that halved."""
    run = drawn(
        "two",
        noise={"train_loss": noise},
        task="other",
        train_loss=train,
        eval_loss=f"350:1.5 400:{second}",
    ).run()
    outcome = examine(RULE, run, Signals(run))
    assert outcome.status == status
    assert [one.severity for one in outcome.findings] == ["info"] * (status == "found")
