"""Evaluation too rare: what the drawn cases cannot say."""

from runlens.engine import examine
from runlens.rules.config.eval_too_rare import BAD, RULE
from runlens.rules.rule import drawn
from runlens.run import State
from runlens.signals import Signals


def test_an_interval_beyond_the_plan_is_no_evaluation() -> None:
    """Once its evaluations were counted as 0."""
    run = next(case for case in BAD if case.name.startswith("an interval longer")).run()
    title = examine(RULE, run, Signals(run)).findings[0].title
    assert title.startswith("The run has no evaluation in 500 steps")


def test_a_run_cut_short_is_not_said_to_have_made_its_whole_plan() -> None:
    """Evaluation was off for the steps that were made, not for those that were planned."""
    run = drawn(
        "cut",
        train_loss="0:2 130:1.8",
        config={"eval_strategy": "no"},
        state=State("stopped_early", planned_steps=1200),
    ).run()
    title = examine(RULE, run, Signals(run)).findings[0].title
    assert title == "Evaluation was off for the whole run."
