"""Clip ratio: what is proposed."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.clip_ratio_high import RULE
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_fewer_updates_a_batch_are_proposed() -> None:
    """Eight become two; the learning rate is halved."""
    config = {"num_iterations": 8, "learning_rate": 4e-5}
    case = drawn("eight", task="grpo", config=config, clip_ratio="0:0.4 600:0.4")
    finding = outcome_of(case).findings[0]
    assert finding.causes[0].what == "Too many updates per batch"
    new = {fix.setting: fix.new for fix in finding.fixes}
    assert new == {"num_iterations": 2, "learning_rate": 2e-5}


def test_a_median_of_the_high_points_is_told_as_one() -> None:
    """Half of the points lie low: the share told is not that of all ratios."""
    corners = " ".join(f"{k}:0.4 {k + 10}:0.02" for k in range(0, 600, 20))
    found = outcome_of(drawn("half", task="grpo", noise=0, clip_ratio=corners)).findings[0]
    assert "exceeded 30\u202f% at 30 of 60 points" in found.title
    assert "median at these points was 40\u202f%" in found.seen
