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


def test_answers_of_one_length_are_no_proof_of_a_limit() -> None:
    """Without a measured cut share a constant length may be how long the answers are."""
    config = {"max_completion_length": 5}
    case = drawn("fixed", noise=0.0, task="grpo", config=config, len_mean="0:5 600:5")
    assert [one.severity for one in outcome_of(case).findings] == ["info"]


def test_four_points_are_enough_where_all_are_cut() -> None:
    """A share near 1 needs no trend; one point alone is none."""
    assert outcome_of(drawn("cut", task="grpo", len_clipped="0:0.95 30:0.95")).status == "found"
    once = drawn("once", task="grpo", noise=0.0, len_clipped="0:0.1 20:0.1 30:0.95")
    assert outcome_of(once).status == "passed"
