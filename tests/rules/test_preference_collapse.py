"""Preferences: reversed pairs, an early look, and losses of another kind."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.preference_collapse import RULE
from runlens.rules.rule import Case, drawn
from runlens.run import State
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


COIN = {
    "train_loss": "0:0.693 600:0.694",
    "dpo_acc": "0:0.5 600:0.5",
    "dpo_margin": "0:0.001 600:0.001",
}


def test_reversed_pairs_are_to_be_swapped() -> None:
    """Fewer than half right is worse than a coin: the first cause is the order of the pairs."""
    case = drawn("reversed", task="dpo", train_loss="0:0.7 600:1.2", dpo_acc="0:0.4 600:0.3")
    finding = outcome_of(case).findings[0]
    assert finding.causes[0].what == "Chosen and rejected are swapped"
    assert any("Swap chosen and rejected" in fix.what for fix in finding.fixes)


def test_a_rate_far_beyond_use_breaks_a_model_whatever_the_pairs_are() -> None:
    """Swapped pairs would be learned as they are labelled: at 5e-3 the rate comes first."""
    case = drawn(
        "broken",
        task="dpo",
        train_loss="0:0.7 600:1.2",
        dpo_acc="0:0.4 600:0.3",
        config={"learning_rate": 5e-3},
    )
    finding = outcome_of(case).findings[0]
    assert finding.causes[0].what.startswith("Learning rate too high")
    assert (finding.fixes[0].setting, finding.fixes[0].new) == ("learning_rate", 5e-6)


def test_chance_early_in_the_plan_is_no_alarm() -> None:
    """A tenth of the plan is too early to call it."""
    state = State(done_steps=600, planned_steps=6000)
    outcome = outcome_of(Case("early", COIN, task="dpo", state=state))
    assert [finding.severity for finding in outcome.findings] == ["info"]


def test_a_rate_that_moves_nothing_is_raised() -> None:
    """At 1e-7 the rate is the first suspect."""
    case = Case("low", COIN, task="dpo", config={"learning_rate": 1e-7})
    finding = outcome_of(case).findings[0]
    assert [fix.new for fix in finding.fixes if fix.setting == "learning_rate"] == [5e-6]


def test_a_mild_fall_of_the_chosen_is_info() -> None:
    """DPO usually lowers both answers a little."""
    case = drawn(
        "mild",
        task="dpo",
        train_loss="0:0.69 600:0.2",
        dpo_acc="0:0.5 600:0.9",
        logp_chosen="0:-50 600:-70",
        dpo_chosen="0:0 600:-2",
    )
    assert [finding.severity for finding in outcome_of(case).findings] == ["info"]


def test_a_model_that_did_not_move_is_not_reversed() -> None:
    """Equal rewards give accuracy 0: the pairs are not learned, they are not swapped."""
    still = {"train_loss": "0:0.6931 600:0.6931", "dpo_acc": "0:0 600:0", "dpo_margin": "0:0 600:0"}
    finding = outcome_of(Case("still", still, task="dpo")).findings[0]
    assert finding.title.startswith("Preferences were not learned")
