"""Importance ratio: what is proposed, and ratios that stray in health."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.importance_ratio_divergence import RULE
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_weights_are_brought_to_the_sampler_more_often() -> None:
    """A recorded interval of 8 becomes 4."""
    config = {"vllm_sync_interval": 8}
    case = drawn("stale", task="grpo", config=config, logp_diff="0:0.02 300:0.1 400:2 900:3")
    fixes = outcome_of(case).findings[0].fixes
    assert [fix.new for fix in fixes if fix.setting == "vllm_sync_interval"] == [4]


def test_ratios_of_a_run_that_learns_are_no_alarm() -> None:
    """Means of long products stray from 1 while the reward still rises."""
    case = drawn(
        "long sequences",
        task="grpo",
        is_ratio_min="0:0.001 900:0.001",
        is_ratio_mean="0:0.4 900:0.4",
        reward="0:0.2 900:0.8",
    )
    assert [finding.severity for finding in outcome_of(case).findings] == ["info"]
