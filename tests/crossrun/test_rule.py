"""What rules over runs share."""

import numpy as np
import pytest

from runlens.crossrun import rule
from tests.auditing.made import found, row


@pytest.mark.parametrize("count", [3, 5, 8, 20])
def test_the_spread_of_few_values_is_not_biased(count: int) -> None:
    """On average it is the standard deviation of what they are drawn from."""
    rng = np.random.default_rng(count)
    told = [rule.scale(rng.normal(size=count).tolist()) for _ in range(3_000)]
    assert float(np.mean(told)) == pytest.approx(1.0, abs=0.05)


def test_one_value_has_no_spread() -> None:
    """Zero, no error."""
    assert rule.scale([3.0]) == rule.scale([]) == 0.0


def test_worse_is_higher_for_a_loss_and_lower_for_a_reward() -> None:
    """As a share of the usual level, whatever its sign."""
    assert rule.worse_by("eval_loss", 1.2, 1.0) == pytest.approx(0.2)
    assert rule.worse_by("reward", 0.8, 1.0) == pytest.approx(0.2)
    assert rule.worse_by("reward", -120, -100) == pytest.approx(0.2)
    assert rule.worse_by("eval_loss", 1.0, 0.0) == 0.0


def test_the_lead_is_the_loudest_first_mover() -> None:
    """Critical before warning, then the earliest; consequences and infos lead nothing."""
    faults = [
        found("a", "warning", 1),
        found("b", "critical", 500),
        found("c", "critical", 100),
        found("d", "critical", 3, leads=False),
        found("e", "info", 2),
    ]
    lead = rule.lead(row("x", findings=faults))
    assert lead is not None
    assert lead.rule == "c"
    assert rule.lead(row("x", findings=faults[-2:])) is None


def test_a_policy_is_judged_by_reward_and_a_loss_by_what_all_runs_have() -> None:
    """The loss of a policy means nothing; an evaluation that one run lacks judges none."""
    some = [row("a"), row("b", measures={"train_loss.end": 1.0})]
    assert rule.key_metrics(some, "sft") == ["train_loss"]
    assert rule.key_metrics(some[:1], "sft") == ["eval_loss", "train_loss"]
    assert rule.key_metrics(some, "grpo") == []


def test_runs_of_which_nothing_is_known_are_compared_with_none() -> None:
    """Equal sources and tasks are not enough."""
    rows = [row("a"), row("b", group=""), row("c", project="other"), row("d", task="dpo")]
    assert [[one.name for one in some] for some in rule.together(rows).values()] == [
        ["a"],
        ["c"],
        ["d"],
    ]


def test_settings_that_a_run_has_alone_are_named() -> None:
    """A value that one sibling shares is not its own; seeds and names never are."""
    mine = row("a", config={"lora_r": 64, "bf16": False, "seed": 9, "run_name": "a"})
    siblings = [row("b", config={"bf16": False, "run_name": "b"}), row("c")]
    assert rule.own_settings(mine, siblings) == ["lora_r"]
