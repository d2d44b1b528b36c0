"""Loss at zero: what the drawn cases cannot say."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.loss.zero_loss import RULE
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals

TO_ZERO = "0:3 200:0.3 300:0.01 900:0.003"


def said(case: Case) -> Outcome:
    """Ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_test_on_one_batch_is_info() -> None:
    """Overfitting a batch on purpose is the usual first test of a training loop."""
    finding = said(drawn("s", train_loss=TO_ZERO, steps_per_epoch=1)).findings[0]
    assert finding.severity == "info"


def test_first_tenth_of_an_epoch_is_a_leak() -> None:
    """Nobody has memorised what was not seen yet."""
    finding = said(drawn("l", train_loss=TO_ZERO, steps_per_epoch=9000)).findings[0]
    assert finding.severity == "critical"
    assert "input" in finding.causes[0].what


def test_memorising_offers_fewer_epochs() -> None:
    """The fix has the old and the new value of this run."""
    case = drawn("e", config={"num_train_epochs": 10}, train_loss=TO_ZERO, steps_per_epoch=90)
    fix = said(case).findings[0].fixes[0]
    assert (fix.setting, fix.old, fix.new) == ("num_train_epochs", 10, 2)


def test_cliff_without_any_other_signal_is_left_to_hidden_nan() -> None:
    """Zeros from one point to the next, and nothing logged that tells masked from NaN."""
    outcome = said(drawn("c", train_loss="0:2.2 400:1.2 410:0 900:0"))
    assert outcome.status == "passed"
    assert "hidden-nan" in outcome.reason


def test_preference_loss_is_not_judged() -> None:
    """It goes to zero by construction."""
    assert said(drawn("d", task="dpo", train_loss=TO_ZERO)).status == "unmet"


def test_perfect_classifier_within_one_epoch_is_a_warning() -> None:
    """A task that is solved at once has its label in the input."""
    case = drawn(
        "p",
        noise=0.0,
        task="classification",
        train_loss="0:0.7 100:0.01 600:0.002",
        eval_accuracy="50:0.9 100:1 600:1",
        steps_per_epoch=600,
    )
    assert said(case).findings[0].severity == "warning"
