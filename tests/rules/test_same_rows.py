"""An evaluation that is the training itself, to the last digit."""

from typing import Any

import numpy as np
import pytest

from runlens.engine import examine
from runlens.history import FloatArray, History, columns
from runlens.rules.evaluation.eval_leak import RULE
from runlens.rules.rule import drawn
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


STAIRS = "0:4 100:3.8 110:3.2 200:3.1 210:2.4 300:2.3"
BELOW = "/50 50:3.8 100:3.7 150:3 200:2.8 250:2.2 300:2.1"


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({}, True),
        ({"eval_runtime": "/50 50:4.1 300:4.1"}, False),  # 205 rows beside 200
        ({"eval_loss": "/50 50:3.8 100:3.7 300:3.6"}, False),  # other rows, as many: an equal split
        ({"eval_loss": "/50 50:3.8 100:3.7 150:3 200:2.8 250:2.2 300:2.5"}, False),
        ({"eval_loss": "/50 200:2.8 250:2.2 300:2.1"}, False),  # three may be chance
        ({"train_loss": "0:4 300:2.3"}, False),  # nothing is memorized: both come down alike
        ({"train_loss": "0:4 100:3.8 110:3.7 200:3.6 210:3.5 300:3.4"}, False),  # by a little
        ({"train_loss": "0:4 100:3.8 110:3.2 300:3.1"}, False),  # at one of two
        ({"steps_per_epoch": None}, False),
        ({"config": {}}, False),  # the batch is not known
        ({"eval_throughput_samples": "/50 50:0 300:0"}, False),
    ],
)
def test_as_many_rows_that_are_memorized_with_the_training(
    more: dict[str, Any], *, found: bool
) -> None:
    """Rows that training does not see stay behind as each epoch takes its own rows down."""
    curves = {
        "train_loss": STAIRS,
        "eval_loss": BELOW,
        "eval_runtime": "/50 50:4 300:4",
        "eval_throughput_samples": "/50 50:50 300:50",
        "steps_per_epoch": 100,
        "config": {"per_device_train_batch_size": 2},
    }
    run = drawn("as many", noise=0, **{**curves, **more}).run()
    told = [one.title for one in examine(RULE, run, Signals(run)).findings]
    assert any("both sets have 200 rows" in title for title in told) is found
