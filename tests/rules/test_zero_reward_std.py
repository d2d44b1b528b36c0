"""Groups without spread: rows without rewards, and the solved task."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.zero_reward_std import RULE
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_only_rows_with_rewards_count() -> None:
    """With several updates per batch only some rows carry rewards."""
    case = drawn(
        "four updates",
        task="grpo",
        entropy="0:1 600:1",
        frac_zero_std="0:1 600:1 /40",
        reward="0:0 600:0 /40",
    )
    outcome = outcome_of(case)
    assert outcome.status == "found"
    assert "all 16 points" in outcome.findings[0].title


def test_more_completions_a_prompt_are_proposed_only_if_few_are_made() -> None:
    """Sixteen are enough; four are not."""
    curves = {"frac_zero_std": "0:1 600:1", "reward": "0:0 600:0"}
    for made, proposed in ((4, [16]), (16, [])):
        case = Case("made", curves, task="grpo", config={"num_generations": made})
        fixes = outcome_of(case).findings[0].fixes
        assert [fix.new for fix in fixes if fix.setting == "num_generations"] == proposed


def test_three_rows_of_one_reward_are_told_and_the_reward_is_asked_first() -> None:
    """Each row is of several completions; where the rewards of rows differ there is more to say."""
    for reward, first in (("0:-3 20:-3", "known-correct"), ("0:-3 10:-1 20:-2", "completions")):
        case = drawn("three", noise=0.0, task="grpo", reward=reward, reward_std="0:0 20:0")
        found = outcome_of(case).findings[0]
        assert found.severity == "info"
        assert first in found.fixes[0].what
