"""Evaluation flat: what the drawn cases cannot say."""

import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.evaluation.eval_flat import RULE
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals

LEARNS = "0:5.7 600:1.4"


def said(metric: str, course: str, train_loss: str = LEARNS) -> Outcome:
    """Ask the rule about a run with a score and no evaluation loss."""
    case = drawn("s", noise=0, train_loss=train_loss, eval_dice=course).run()
    curves = {"train_loss": case.curve("train_loss"), metric: case.curve("eval_dice")}
    series = {name: columns(one.step, one.value, one.epoch) for name, one in curves.items()}
    run = Run("s", "s", History(series), task="other")
    return examine(RULE, run, Signals(run))


def test_a_score_of_nothing_is_told_with_the_fall_of_the_training_loss() -> None:
    """The numbers are those of the run, and nothing is said of a loss that was not logged."""
    (finding,) = said("eval_dice", "50:0 600:0").findings
    assert finding.title.startswith("Eval dice was 0 in 12 evaluations, from step 50 on")
    assert "5." in finding.title
    assert "1.4" in finding.title
    assert finding.severity == "warning"
    assert "eval loss" not in finding.title + finding.seen


@pytest.mark.parametrize(
    ("name", "course"),
    [
        ("eval_dice", "50:0.001 600:0.009"),  # rises
        ("eval_dice", "50:0.0101 600:0.0101"),  # above nothing
        ("eval_exact_match", "50:0 600:0"),  # strict
        ("eval_best_dice", "50:0 600:0"),  # a record, no measurement
        ("eval_wer", "50:0 600:0"),  # less is better
        ("eval_dice", "500:0 600:0"),  # the end alone
        ("eval_matthews_correlation", "50:-0.01 600:0.005"),  # about 0, as guesses are
    ],
)
def test_scores_that_say_nothing(name: str, course: str) -> None:
    """Each of them is usual in good runs."""
    assert not said(name, course).findings


def test_a_score_of_nothing_beside_a_loss_that_stays_is_not_of_the_evaluation() -> None:
    """Nothing was learned that could arrive there; from a fall of 15 % on something was."""
    assert not said("eval_dice", "50:0 600:0", "0:2 600:1.75").findings
    assert said("eval_dice", "50:0.0099 600:0.0099", "0:2 600:1.6").findings
