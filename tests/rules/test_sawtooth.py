"""Teeth that the loop explains, and teeth that it does not."""

import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.loss.sawtooth import RULE
from runlens.rules.rule import drawn
from runlens.run import Run, Setting
from runlens.signals import Signals
from tests.rules.said import explained

TEETH = "0:3 300:1.6 2000:1.4 ~0.4/150"


def ask(run: Run) -> Outcome:
    """Examine one run."""
    return examine(RULE, run, Signals(run))


@pytest.mark.parametrize(
    ("config", "severity"),
    [
        ({}, "warning"),
        ({"eval_steps": 150}, "info"),
        ({"save_steps": 145}, "info"),
        ({"save_steps": 400}, "warning"),
        ({"group_by_length": True}, "info"),
    ],
)
def test_period_of_the_loop_is_only_noted(config: dict[str, Setting], severity: str) -> None:
    """Evaluation, saving and batches grouped by length explain teeth of their period."""
    finding = ask(drawn("teeth", train_loss=TEETH, config=config).run()).findings[0]
    assert finding.severity == severity


def test_cycling_learning_rate_explains_the_teeth() -> None:
    """A rate that moves with the loss is named, and the finding is info."""
    rate = "0:1e-3 2000:1e-3 ~5e-4/150"
    finding = explained("sawtooth", drawn("cycle", train_loss=TEETH, learning_rate=rate).run())
    assert finding.severity == "info"
    assert "learning rate" in finding.causes[0].evidence_for


def test_period_is_given_in_steps() -> None:
    """Points ten steps apart, teeth of 150 steps."""
    finding = ask(drawn("steps", train_loss=TEETH).run()).findings[0]
    assert finding.evidence[1].value == pytest.approx(150, rel=0.1)


def test_teeth_are_dated_at_the_foot_of_the_first() -> None:
    """A smooth fall, then one quick rise after the other: the first is one of them."""
    rises = " ".join(f"{at}:1.5 {at + 10}:2.3 {at + 70}:1.55" for at in range(600, 2000, 150))
    finding = ask(drawn("late", noise=0.005, train_loss=f"0:3 300:1.7 {rises}").run()).findings[0]
    assert finding.onset.step == pytest.approx(605, abs=15)
