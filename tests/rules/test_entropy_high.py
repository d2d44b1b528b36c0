"""Entropy high: advice only."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.entropy_high import RULE
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_it_is_never_an_alarm() -> None:
    """Even text that fell apart is left to the louder rules."""
    case = drawn("apart", task="grpo", entropy="0:0.2 900:9", reward="0:0.8 900:0")
    assert [finding.severity for finding in outcome_of(case).findings] == ["info"]


def test_without_reward_nobody_can_tell() -> None:
    """High entropy alone says nothing about learning."""
    assert outcome_of(drawn("alone", task="grpo", entropy="0:1.2 900:1.8")).status == "unmet"
