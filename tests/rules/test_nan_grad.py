"""NaN gradient: what the drawn cases cannot say."""

import math

import numpy as np

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.numerics.nan_grad import RULE
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals

LOSS = "0:2.2 300:1.3 900:0.9"


def said(run: Run) -> Outcome:
    """Ask the rule."""
    return examine(RULE, run, Signals(run))


def test_norm_that_was_never_computed_is_unmet() -> None:
    """NaN, or -1, on all points while the loss falls is a norm that nobody computed."""
    for corners in ("0:nan 900:nan", "0:-1 900:-1"):
        outcome = said(drawn("u", noise=0.0, train_loss=LOSS, grad_norm=corners).run())
        assert outcome.status == "unmet"
        assert "not computed" in outcome.reason


def test_single_point_of_unknown_precision_is_quiet() -> None:
    """Where the precision is not recorded, a loss scale cannot be ruled out."""
    case = drawn("q", train_loss=LOSS, grad_norm="0:1 300:nan 310:1 900:1")
    finding = said(case.run()).findings[0]
    assert finding.severity == "info"
    assert finding.confidence.value < 0.5


def test_repeated_learning_rate_proves_a_skipped_update() -> None:
    """The scheduler does not step when the scaler skips: the weights are clean."""
    step = np.arange(1, 101)
    rate = np.linspace(1e-3, 0, 100)
    rate[50] = rate[49]
    norm = np.ones(100)
    norm[49] = math.nan
    history = History(
        {
            "train_loss": columns(step, np.linspace(2, 1, 100)),
            "grad_norm": columns(step, norm),
            "learning_rate": columns(step, rate),
        }
    )
    finding = said(Run("r", "r", history)).findings[0]
    assert finding.severity == "info"
    assert any("skipped 1 update" in item.why for item in finding.ruled_out)


def test_many_points_in_fp16_are_loud() -> None:
    """More than 5 % of the points is beyond the probing of a loss scale."""
    norm = np.ones(100)
    norm[10::10] = math.inf
    step = np.arange(100)
    history = History(
        {"train_loss": columns(step, np.linspace(2, 1, 100)), "grad_norm": columns(step, norm)}
    )
    finding = said(Run("r", "r", history)).findings[0]
    assert finding.severity == "warning"
    assert finding.onset.step == 10
