"""Reward collapse: the way back."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.reward_collapse import RULE
from runlens.rules.rule import Case, drawn
from runlens.run import Event
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_the_checkpoint_at_the_peak_is_proposed_first() -> None:
    """The last one saved before the fall, not the latest."""
    saved = tuple(
        Event("checkpoint", at, data={"path": f"out/checkpoint-{at}"}) for at in (200, 800)
    )
    case = drawn(
        "saved", noise=0.05, task="grpo", events=saved, reward="0:0.2 300:0.8 500:0.1 900:0.05"
    )
    assert outcome_of(case).findings[0].fixes[0].what == "Use checkpoint-200"


def test_a_model_that_was_good_from_the_start_can_collapse() -> None:
    """No rise is needed where the end lies far below the start."""
    case = drawn("good model", noise=0.1, task="grpo", reward="0:0.9 150:0.85 200:0.01 400:0.01")
    outcome = outcome_of(case)
    assert outcome.status == "found"
    onset = outcome.findings[0].onset.step
    assert onset is not None
    assert 130 <= onset <= 210
