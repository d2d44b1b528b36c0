"""Statistics of the data that are off where the fault begins."""

import numpy as np
import pytest

from runlens import diagnose
from runlens.cause import Cause
from runlens.history import History, columns
from runlens.run import Run

ROWS, AT = 80, 50
NEAR, BEYOND = 10.09, 11.2  # nine and eleven times all scatter before, 0.553 about 5.111


def leading(loss: float, **said: float) -> Cause:
    """Return the first cause of a run whose loss is another at one row, beside what is logged."""
    step = np.arange(ROWS)
    noise = np.random.default_rng(3).normal(0, 0.02, ROWS)
    train = 2 * np.exp(-step / 30) + 0.5 + noise
    train[AT:] = np.where(np.isfinite(loss), train[AT:], np.nan)
    train[AT] = loss
    metrics = {"train_loss": train}
    for name, value in said.items():
        usual = 5 + np.abs(noise) * 10
        usual[AT] = value
        metrics[name] = usual
    epoch = np.full(ROWS, np.nan)
    history = History({name: columns(step, value, epoch) for name, value in metrics.items()})
    run = Run("odd", "odd", history, task="other")
    return diagnose(run).incidents[0].findings[0].causes[0]


@pytest.mark.parametrize(
    ("loss", "name", "value", "what"),
    [
        (18.0, "input_absmax", 119.0, "A few unusual batches"),
        (18.0, "input_absmax", BEYOND, "A few unusual batches"),
        (np.inf, "tgt_min", -np.inf, "Data that are no numbers"),
        (np.nan, "targets_mean", np.nan, "Data that are no numbers"),
    ],
)
def test_a_statistic_that_is_off_names_the_data(
    loss: float, name: str, value: float, what: str
) -> None:
    """At the row of the fault, and at none before."""
    cause = leading(loss, **{name: value})
    assert (cause.what, cause.rank) == (what, "most likely")
    assert "at step 50" in cause.evidence_for


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("input_absmax", NEAR),  # above what it was by nine times its scatter
        ("act_absmax", 119.0),  # of activations, which follow from the weights
        ("input_loss_max", 119.0),
        ("inputs", 119.0),  # a count
    ],
)
def test_others_say_nothing_of_the_data(name: str, value: float) -> None:
    """What is near its level, and what training itself made."""
    assert name.partition("_")[0] not in leading(18.0, **{name: value}).evidence_for.lower()
