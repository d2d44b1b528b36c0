"""Completions cut: the limit that is proposed, and shares in percent."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.completions_clipped import RULE
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_the_recorded_limit_is_doubled() -> None:
    """Old and new stand in the fix."""
    config = {"max_completion_length": 200}
    case = drawn("cut", task="grpo", config=config, len_clipped="0:0.95 600:0.95")
    fix = outcome_of(case).findings[0].fixes[0]
    assert (fix.setting, fix.old, fix.new) == ("max_completion_length", 200, 400)


def test_percent_are_understood() -> None:
    """5 % is no 5."""
    case = drawn("percent", task="grpo", len_clipped="0:5 600:5")
    assert outcome_of(case).status == "passed"
