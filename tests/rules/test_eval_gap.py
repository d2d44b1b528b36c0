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
