"""Stairs whose epochs are known by another way, or not at all."""

from dataclasses import replace

import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.loss.epoch_staircase import RULE
from runlens.rules.rule import Case, drawn
from runlens.run import Run, State
from runlens.signals import Signals

STAIRS = "0:1.8 299:1.78 300:1.4 599:1.38 600:1.05 900:1.03"


def ask(run: Run) -> Outcome:
    """Examine one run."""
    return examine(RULE, run, Signals(run))


def test_plan_tells_the_epochs_where_no_epoch_is_logged() -> None:
    """900 steps in three epochs are as good as an epoch column; nothing at all is unmet."""
    run = drawn("stairs", train_loss=STAIRS).run()
    assert ask(run).status == "unmet"
    outcome = ask(replace(run, state=State(planned_steps=900, planned_epochs=3)))
    assert outcome.findings[0].onset.step in {300, 310}


@pytest.mark.parametrize(("end", "harmless"), [(0.05, False), (0.08, True)])
def test_three_passes_are_usual_unless_nothing_of_the_loss_is_left(
    end: float, harmless: bool
) -> None:
    """Pairs that are known by heart at the end of the third epoch, and no evaluation."""
    half = 0.3 + end / 2
    curve = f"0:0.6 299:0.6 300:{half} 599:{half} 600:{end} 900:{end}"
    case = Case("s", {"train_loss": curve}, noise=0.002, steps_per_epoch=300)
    assert ask(case.run()).findings[0].harmless is harmless


@pytest.mark.parametrize(
    ("evals", "told"),
    [
        ("150:1.7 300:1.5 900:1.2", set()),
        ("150:1.7 300:1.5 900:1.6", {"num_train_epochs", ""}),
        ("", {""}),
    ],
)
def test_fewer_epochs_only_where_evaluation_no_longer_improves(evals: str, told: set[str]) -> None:
    """Steps alone are usual in fine-tuning: the passes may still pay."""
    curves = {"train_loss": STAIRS} | ({"eval_loss": evals} if evals else {})
    case = Case("s", curves, noise=0.002, config={"num_train_epochs": 3}, steps_per_epoch=300)
    assert {fix.setting for fix in ask(case.run()).findings[0].fixes} == told
