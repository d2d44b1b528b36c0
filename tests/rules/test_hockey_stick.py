"""Overfitting on several evaluation sets, and what is no overfitting."""

import pytest

from runlens.diagnosis import Finding
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


def judged(accuracy: str, samples: float = 0.0, noise: float = 0.001) -> Finding:
    """Return what is said of a rise of eval loss beside an accuracy, of a set of that size."""
    more = {"eval_runtime": "50:10 600:10"} if samples else {}
    pace = {"eval_samples_per_second": f"50:{samples / 10:g} 600:{samples / 10:g}"} if more else {}
    metrics = {
        "train_loss": TRAIN,
        "eval_loss": "50:0.9 250:0.6 600:0.9",
        "eval_accuracy": accuracy,
    }
    run = Case("c", metrics | more | pace, task="classification", noise=noise).run()
    (found,) = RULE.check(run, Signals(run), RULE.limits).findings
    return found


def test_accuracy_that_still_improves_is_over_confidence() -> None:
    """Fewer epochs would cost score: an info, and the best step of the score is named."""
    found = judged("50:0.6 250:0.80 600:0.88", samples=1_000)
    assert (found.severity, found.title.split()[0]) == ("info", "Over-confidence")
    assert any("was best at step" in fix.why for fix in found.fixes)
    assert "num_train_epochs" not in {fix.setting for fix in found.fixes}


@pytest.mark.parametrize(
    ("accuracy", "samples", "noise"),
    [
        ("50:0.6 250:0.80 600:0.80", 1_000, 0.001),  # flat
        ("50:0.6 250:0.79 600:0.82", 196, 0.001),  # six samples of 196
        ("50:0.6 250:0.80 600:0.83", 0, 0.05),  # within its own noise
    ],
)
def test_a_gain_of_chance_is_still_overfitting(accuracy: str, samples: int, noise: float) -> None:
    """Two standard errors of the set, twice its noise: below that nothing has improved."""
    found = judged(accuracy, samples, noise)
    assert (found.severity != "info", found.title.split()[0]) == (True, "Overfitting")
    assert any(row.what.startswith("Gain of eval accuracy") for row in found.evidence)
