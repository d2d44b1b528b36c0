"""Overfitting on several evaluation sets, and what is no overfitting."""

from runlens.rules.evaluation.hockey_stick import RULE
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals

TRAIN = "0:2 600:0.3"
FALLS = "50:1.8 600:1.0"
BENDS = "50:1.8 250:1.2 600:1.5"
BENDS_MORE = "50:1.8 250:1.2 600:2.2"


def test_the_worst_evaluation_set_is_named() -> None:
    """One finding for all sets; its metric and text name the set that rose most."""
    sets = {"eval_loss:web": BENDS, "eval_loss:math": BENDS_MORE, "eval_loss:code": FALLS}
    run = Case("sets", {"train_loss": TRAIN, **sets}, noise=0.005).run()
    outcome = RULE.check(run, Signals(run), RULE.limits)
    assert [one.metric for one in outcome.findings] == ["eval_loss:math"]
    assert "(math)" in outcome.findings[0].title
    assert "2 of 3 evaluation sets" in outcome.findings[0].seen


def test_a_set_of_training_rows_is_not_judged() -> None:
    """An evaluation on training data cannot overfit."""
    sets = {"eval_loss:train": BENDS_MORE, "eval_loss:test": FALLS}
    run = Case("on training rows", {"train_loss": TRAIN, **sets}, noise=0.005).run()
    assert RULE.check(run, Signals(run), RULE.limits).status == "passed"


def test_nothing_learnt_is_no_overfitting() -> None:
    """Wild training loss that never fell: evaluation loss rises, yet nothing is known by heart."""
    case = drawn(
        "wild",
        train_loss="0:1.5 600:1.5",
        eval_loss="50:0.7 600:5",
        noise={"train_loss": 0.2, "eval_loss": 0.05},
    )
    outcome = RULE.check(case.run(), Signals(case.run()), RULE.limits)
    assert (outcome.status, "did not fall" in outcome.reason) == ("passed", True)


def test_onset_of_many_evaluations_is_the_lowest_one() -> None:
    """Smoothing finds the bottom, the onset is the lowest evaluation there."""
    run = drawn("many", noise=0.002, train_loss="0:2 2000:0.1", eval_loss="50:2 700:1 2000:2").run()
    outcome = RULE.check(run, Signals(run), RULE.limits)
    assert outcome.findings[0].onset.step == 700
