"""Reward hacking: a part of the reward that falls is not enough."""

from runlens.diagnosis import Outcome
from runlens.engine import diagnose, examine
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


def test_most_held_out_scores_must_fall() -> None:
    """Of many scores one always falls by chance."""
    falls, holds = "0:0.3 500:0.05 /100", "0:0.3 500:0.3 /100"
    curves = {"reward": "0:-19 300:-10 590:-2", "eval_math_acc_best_16": falls}
    noise = {"reward": 0.02}
    outcome = outcome_of(Case("one falls", curves, noise=noise, task="grpo"))
    assert outcome.status == "found"
    assert "eval_math_acc_best_16 went from" in outcome.findings[0].title
    more = {"eval_code_acc": holds, "eval_qa_acc": holds.replace("500:0.3", "500:0.31")}
    assert (
        outcome_of(Case("others hold", curves | more, noise=noise, task="grpo")).status == "passed"
    )


def test_a_reward_that_is_earned_with_fewer_right_answers_is_the_cause() -> None:
    """Not a rate out of its usual range: a policy that it throws would earn less."""
    case = next(one for one in RULE.bad if one.name == "right answers fall in 18 points")
    rate = Case(case.name, case.curves, noise=0, task="grpo", config={"learning_rate": 20})
    lead = diagnose(rate.run()).incidents[0].findings[0]
    assert (lead.causes[0].kind, lead.causes[0].rank) == ("reward-function", "most likely")
