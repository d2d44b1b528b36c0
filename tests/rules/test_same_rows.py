"""An evaluation that is the training itself, to the last digit."""

import numpy as np
import pytest

from runlens.engine import examine
from runlens.history import FloatArray, History, columns
from runlens.rules.evaluation.eval_leak import RULE
from runlens.run import Run
from runlens.signals import Signals

LOSSES = np.array([17.1167, 12.3003, 8.95505, 6.57081, 4.8891, 3.69686])


def leaks(train: FloatArray, evals: FloatArray) -> bool:
    """Ask about two losses at the same steps."""
    step = np.arange(1, len(train) + 1)
    series = {"train_loss": columns(step, train), "eval_loss": columns(step[: len(evals)], evals)}
    run = Run("s", "s", History(series), task="other")
    findings = examine(RULE, run, Signals(run)).findings
    return any("one number" in finding.title for finding in findings)


@pytest.mark.parametrize(
    ("train", "evals", "found"),
    [
        (LOSSES, LOSSES, True),
        (LOSSES, LOSSES + np.array([0, 0, 0, 1e-5, 0, 0]), False),  # one digit of one row
        (LOSSES[:3], LOSSES[:3], False),  # three may agree
        (np.round(LOSSES, 2), np.round(LOSSES, 2), False),  # so may what is rounded
        (np.full(6, 0.69315), np.full(6, 0.69315), False),  # a model that never moved
    ],
)
def test_both_losses_are_one_number_at_each_point(
    train: FloatArray, evals: FloatArray, found: bool
) -> None:
    """Other rows have another loss, if only in its last digit."""
    assert leaks(train, evals) is found
