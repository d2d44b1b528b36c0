"""Length growth: which loss is blamed."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.length_growth import RULE
from runlens.rules.rule import Case, drawn
from runlens.run import Setting
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_a_loss_without_bias_is_not_blamed() -> None:
    """dr_grpo does not pay for length: no other loss is proposed."""
    curves = {"len_mean": "0:110 200:120 600:480 900:505", "reward": "0:0.5 900:0.5"}
    for name, proposed in (("grpo", ["dr_grpo"]), ("dr_grpo", [])):
        config: dict[str, Setting] = {"max_completion_length": 512, "loss_type": name}
        finding = outcome_of(Case("loss", curves, task="grpo", config=config)).findings[0]
        assert [fix.new for fix in finding.fixes if fix.setting == "loss_type"] == proposed


def test_without_reward_nobody_knows_whether_it_pays() -> None:
    """Growth to the limit is said, but not as an alarm."""
    case = drawn(
        "no reward",
        task="ppo",
        config={"max_completion_length": 512},
        len_mean="0:110 200:120 600:480 900:505",
    )
    assert [finding.severity for finding in outcome_of(case).findings] == ["info"]
