"""Reward stuck at zero: which function it was, and how few points suffice."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.reward_stuck_zero import RULE
from runlens.rules.rule import Case, drawn
from runlens.run import State
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_the_dead_function_is_named() -> None:
    """Of several reward functions the title names those that never paid."""
    curves = {"reward": "0:0.5 600:0.5", "reward:answer": "0:0 600:0", "reward:form": "0:1 600:1"}
    finding = outcome_of(Case("parts", curves, task="grpo")).findings[0]
    assert "answer" in finding.title
    assert "form" not in finding.title
    assert finding.metric == "reward:answer"


def test_few_points_are_told_quietly() -> None:
    """Eight steps without reward are said, but not as an alarm."""
    outcome = outcome_of(drawn("few", task="grpo", reward="1:0 8:0 /1"))
    assert [finding.severity for finding in outcome.findings] == ["info"]


def test_cut_completions_come_first_among_the_causes() -> None:
    """Who is cut before the answer is never paid: the limit is doubled."""
    case = drawn(
        "cut",
        task="grpo",
        config={"max_completion_length": 128},
        reward="0:0 600:0",
        len_clipped="0:0.95 600:0.95",
    )
    finding = outcome_of(case).findings[0]
    assert finding.causes[0].what == "Completion limit too short for the task"
    assert (finding.fixes[0].old, finding.fixes[0].new) == (128, 256)


def test_rare_successes_without_a_trend_are_a_warning() -> None:
    """Four of five steps at exactly 0 teach nothing, though the fifth paid."""
    paid = " ".join(f"{at - 10}:0 {at}:0.2 {at + 10}:0" for at in range(50, 1000, 50))
    outcome = outcome_of(drawn("rare", task="grpo", reward=f"0:0 {paid} 1000:0"))
    assert [finding.severity for finding in outcome.findings] == ["warning"]
    assert outcome.findings[0].title.startswith("Reward was 0 at ")


def test_a_reward_that_is_nearly_always_zero_stayed_there() -> None:
    """One step of a hundred is no other level, and is counted."""
    outcome = outcome_of(drawn("once", task="grpo", reward="0:0 490:0 500:0.2 510:0 1000:0"))
    assert "was 0 at 100 of 101 points" in outcome.findings[0].title


def test_what_is_ruled_out_is_the_spread_of_the_same_function() -> None:
    """One function of two is stuck: the spread of their sum says nothing about it."""
    curves = {
        "reward": "0:0.5 600:0.5",
        "reward:format": "0:0.5 600:0.5",
        "reward:answer": "0:0 600:0",
        "reward_std": "0:0.4 600:0.4",
    }
    assert not outcome_of(Case("sum", curves, task="grpo")).findings[0].ruled_out
    told = Case("own", curves | {"reward_std:answer": "0:0 600:0"}, task="grpo")
    assert outcome_of(told).findings[0].ruled_out[0].why == "the median of reward_std:answer is 0"


def test_a_plan_that_has_hardly_begun_is_no_alarm() -> None:
    """What is known of the plan decides before the number of frames does."""
    early = State(done_steps=200_000, planned_steps=50_000_000)
    case = Case("early", {"reward": "0:0 200000:0 /2000"}, task="rl", state=early)
    assert outcome_of(case).findings[0].severity == "info"


def test_a_frozen_policy_on_its_floor_is_loud() -> None:
    """A constant penalty is a sparse environment, unless the entropy never moves by a digit."""
    curves = {"reward": "0:-100 6000:-100 /100", "learning_rate": "0:3e-4 6000:3e-4"}
    moving = Case("moves", curves | {"entropy": "0:1 6000:0.8 /50"}, noise=0, task="rl")
    frozen = Case("frozen", curves | {"entropy": "0:0.03 6000:0.03 /50"}, noise=0, task="rl")
    assert outcome_of(moving).findings[0].severity == "info"
    assert outcome_of(frozen).findings[0].severity == "warning"


def test_one_rewarded_step_of_a_few_is_told_quietly() -> None:
    """Of 25 steps one in five has a reward: told as info, of 60 aloud."""
    twenty = " ".join(f"{at}:{0.25 if at % 5 == 2 else 0}" for at in range(1, 26))
    sixty = " ".join(f"{at}:{0.25 if at % 5 == 2 else 0}" for at in range(1, 61))
    for curve, severity in ((twenty, "info"), (sixty, "warning")):
        run = Case("rare", {"reward": f"{curve} /1"}, noise=0, task="grpo")
        assert [one.severity for one in outcome_of(run).findings] == [severity]


def test_the_highest_reward_of_a_group_is_no_other_reward() -> None:
    """The trainer verl logs the highest of each batch, and seconds with reward in their name."""
    curves = {
        "reward": "1:0 25:0 /1",
        "critic/rewards/max": "1:0 25:0.25 /1",
        "timing_s/reward": "1:0.2 25:0.3 /1",
    }
    assert outcome_of(Case("verl", curves, task="grpo")).findings
    other = {"reward": "1:0 25:0 /1", "my_reward": "1:0 25:0.25 /1"}
    assert not outcome_of(Case("own", other, task="grpo")).findings
