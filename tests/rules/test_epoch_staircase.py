"""Stairs whose epochs are known by another way, or not at all."""

from dataclasses import replace

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.loss.epoch_staircase import RULE
from runlens.rules.rule import drawn
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
