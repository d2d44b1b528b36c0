"""A sum that rises as a weight in it grows: no divergence and no overfitting; look-alikes are."""

from typing import Any

import numpy as np
import pytest

from runlens.engine import diagnose
from runlens.history import FloatArray, History, columns
from runlens.rules.loss import parts
from runlens.run import Run

STEPS = np.arange(1, 121)
GROWING = np.minimum(STEPS / 60, 1.0) * 0.5


def annealed(weight: FloatArray = GROWING, lost: float = 0.0, **more: Any) -> Run:
    """Return a run whose loss is a data term and a penalty by its weight, in both sets of rows."""
    penalty = 60 + 600 * np.exp(-STEPS / 6)
    data = 48 + 150 * np.exp(-STEPS / 4) + 5 * weight / 0.5 + lost * np.maximum(STEPS - 60, 0)
    logged = {
        "train_loss": data + weight * penalty,
        "bce": data,
        "kld": penalty,
        "eval_loss": data + 4 + weight * penalty,
        "eval_bce": data + 4,
        "eval_kld": penalty,
        "beta": weight,
        **more,
    }
    series = {name: columns(STEPS, value) for name, value in logged.items() if len(value)}
    return Run("vae", "vae", History(series), task="other")


def told(run: Run) -> set[str]:
    """Return the rules that find something, but those of what is not logged."""
    found = {one.rule for incident in diagnose(run).incidents for one in incident.findings}
    return found & {"divergence", "hockey-stick", "plateau", "loss-spike"}


def test_a_growing_weight_lifts_the_sum() -> None:
    """Under the weight of the end the sum falls all along: what rose is what was asked for."""
    run = annealed()
    assert run.curve("train_loss").value[-1] > 1.15 * run.curve("train_loss").value.min()
    said = "beta, the weight of kld, grew from 0.008333 to 0.5; at 0.5 throughout, the sum would"
    assert parts.lifted(run).startswith(said)
    assert parts.lifted(run, "eval_loss").startswith("beta, the weight of eval kld, grew")
    assert not told(run)
    assert diagnose(run).verdict.health == "healthy"


@pytest.mark.parametrize(
    "run",
    [
        annealed(lost=1.0),  # the data term rises once the weight stands: it was lost
        annealed(kld=np.zeros(0), eval_kld=np.zeros(0)),  # nothing says what the weight weighs
        annealed(weight=np.full(120, 0.5), lost=1.0),  # a weight that stands
        annealed(beta=np.linspace(0, 1, 120)),  # it grows beside the sum, and is no part of it
        annealed(bce=np.full(120, np.nan), eval_bce=np.zeros(0)),  # a part without numbers
    ],
)
def test_look_alikes_of_a_lifted_sum(run: Run) -> None:
    """What the weight does not explain row by row stays what it is."""
    assert not parts.lifted(run)


def test_what_is_lost_beside_a_growing_weight_is_told() -> None:
    """A data term that rises on after the weight stands is no work of the weight."""
    assert told(annealed(lost=1.0)) & {"divergence", "hockey-stick"}


def test_few_rows_are_no_sum() -> None:
    """Of a few rows any sum may fit."""
    run = annealed()
    short = {name: columns(STEPS[:9], run.curve(name).value[:9]) for name in run.history.metrics}
    assert not parts.lifted(Run("vae", "vae", History(short), task="other"))
