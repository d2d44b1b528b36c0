"""Reward hacking: a part of the reward that falls is not enough."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.reward_hacking import RULE
from runlens.rules.rule import Case
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_one_part_of_the_reward_that_falls_is_no_hack_by_itself() -> None:
    """The part may be a penalty; it counts only beside a second sign."""
    curves = {
        "reward": "0:0.2 900:0.9",
        "reward:form": "0:0.1 900:1",
        "reward:answer": "0:0.3 900:0.05",
    }
    assert outcome_of(Case("one part", curves, task="grpo")).status == "passed"
    far = curves | {"kl": "0:0.05 300:0.2 500:4 900:6"}
    assert outcome_of(Case("and far away", far, task="grpo")).status == "found"
