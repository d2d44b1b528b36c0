"""KL blow-up: the mismatched reference, and outliers of the estimator."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.kl_blow_up import RULE
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_a_high_first_value_blames_the_reference() -> None:
    """KL above 1 before any learning is no matter of the learning rate."""
    finding = outcome_of(drawn("other model", task="grpo", kl="0:3 600:4")).findings[0]
    assert finding.causes[0].what.startswith("A reference with another template")


def test_outliers_again_and_again_are_no_more_than_a_warning() -> None:
    """Scattered points above the alarm, no three in a row, do not make it critical."""
    spikes = " ".join(f"{at - 10}:0.1 {at}:5 {at + 10}:0.1" for at in range(100, 900, 100))
    outcome = outcome_of(drawn("spikes", noise=0.0, task="grpo", kl=f"0:0.1 {spikes} 900:0.1"))
    assert [finding.severity for finding in outcome.findings] == ["warning"]


def test_the_weak_term_is_strengthened() -> None:
    """A third of the learning rate, and beta times three."""
    case = drawn(
        "weak",
        task="grpo",
        config={"beta": 0.01, "learning_rate": 3e-5},
        kl="0:0.01 300:0.1 450:3 900:5",
    )
    new = {fix.setting: fix.new for fix in outcome_of(case).findings[0].fixes}
    assert new == {"beta": 0.03, "learning_rate": 1e-5}
