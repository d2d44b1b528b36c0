"""Swings of the evaluations, alone and together with those of the training loss."""

from dataclasses import replace

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.loss.oscillation import RULE
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals


def ask(run: Run) -> Outcome:
    """Examine one run."""
    return examine(RULE, run, Signals(run))


def with_evals(run: Run, values: list[float], **scores: list[float]) -> Run:
    """Add evaluation losses 50 steps apart to the training loss of a run, and scores."""
    train = run.curve("train_loss")
    metrics = {
        "train_loss": columns(train.step, train.value),
        "eval_loss": columns(50 * np.arange(1, len(values) + 1), values),
    }
    metrics |= {name: columns(50 * np.arange(1, len(one) + 1), one) for name, one in scores.items()}
    return replace(run, history=History(metrics))


def test_alternating_evaluations_are_noted() -> None:
    """Evaluations that go up and down by half their level are info beside a calm loss."""
    run = with_evals(drawn("calm", train_loss="0:2 600:1").run(), [1.0, 1.6] * 6)
    outcome = ask(run)
    assert [finding.severity for finding in outcome.findings] == ["info"]
    assert outcome.findings[0].metric == "eval_loss"


def test_a_loss_that_swings_while_its_score_stays_harms_nothing() -> None:
    """A few rows that are surely wrong double it; with a score that swings too it is a warning."""
    calm = drawn("calm", train_loss="0:2 600:1").run()
    for low, told in ((0.975, ("info", True)), (0.965, ("warning", False))):
        run = with_evals(calm, [1.0, 2.4] * 6, eval_accuracy=[low, 0.99] * 6)
        (finding,) = ask(run).findings
        assert (finding.severity, finding.harmless) == told


def test_steady_evaluations_pass() -> None:
    """A twentieth of the level is no swing."""
    run = with_evals(drawn("calm", train_loss="0:2 600:1").run(), [1.0, 1.05] * 6)
    assert ask(run).status == "passed"


def test_both_swings_together_are_a_warning() -> None:
    """Evaluations average many batches: their swing rules out batch noise."""
    wild = drawn("noise of its own size", noise=0.6, train_loss="0:5 900:5 ~0.1/333").run()
    assert ask(wild).findings[0].severity == "info"
    assert ask(with_evals(wild, [4.0, 7.0] * 6)).findings[0].severity == "warning"


def test_what_is_gained_in_the_first_epoch_and_kept_is_a_gain() -> None:
    """Evaluations that scatter by a fifth, all of them far below the first."""
    calm = drawn("calm", train_loss="0:2 600:1").run()
    swings = [1.0, 1.35] * 10
    assert ask(with_evals(calm, [1.2, *swings])).status == "found"
    assert ask(with_evals(calm, [4.0, *swings])).status == "passed"


def test_a_score_that_comes_to_nothing_again_and_again_is_loud() -> None:
    """No batch of training data does that: the same images are evaluated each time."""
    run, losses = drawn("calm", train_loss="0:2 600:1").run(), [1.0, 1.5] * 15
    falls = [0.6, 0.4, 0.0, 0.7, 0.3, 0.5] * 5
    for score, wanted in (
        (falls, "warning"),
        ([max(one, 0.02) for one in falls], "info"),
        ([*falls[:15], *([0.5, 0.6, 0.4] * 5)], "info"),  # of the young run
        ([0.0] * 30, "info"),
        (falls[:7], "info"),
    ):
        (finding,) = ask(with_evals(run, losses, eval_iou=score, eval_wer=score)).findings
        assert finding.severity == wanted
        assert ("eval iou is next to 0 at 2 of the last 15" in finding.seen) == (wanted != "info")


def test_swings_that_end_among_the_best_cost_nothing() -> None:
    """The last three of forty are the lowest, as behind a drop of the learning rate."""
    calm, swings = drawn("calm", train_loss="0:2 600:1").run(), [1.0, 2.6, 1.4, 3.0] * 10
    for ends, told in (
        ((0.5, 0.52, 0.51), ("info", True)),
        ((0.5, 2.6, 0.51), ("warning", False)),
    ):
        (finding,) = ask(with_evals(calm, [*swings, *ends])).findings
        assert (finding.severity, finding.harmless) == told
        assert ("cost nothing" in finding.seen) == (told[0] == "info")


def test_scores_that_end_among_the_best_cost_nothing() -> None:
    """More is better of an accuracy."""
    swings = [0.3, 0.6, 0.4, 0.7] * 10
    steps = 50 * np.arange(1, 44)
    calm = drawn("calm", train_loss="0:2 600:1").run()
    train = columns(calm.curve("train_loss").step, calm.curve("train_loss").value)
    for ends in ((0.9, 0.91, 0.92), (0.1, 0.11, 0.12)):
        scores = columns(steps, np.array([*swings, *ends]))
        run = replace(calm, history=History({"train_loss": train, "eval_accuracy": scores}))
        (finding,) = ask(run).findings
        assert ("cost nothing" in finding.seen) == (ends[0] > 0.5)


@pytest.mark.parametrize(("epochs", "status"), [(3, "passed"), (30, "found"), (15, "found")])
def test_evaluations_of_several_trainings_are_no_course(epochs: int, status: str) -> None:
    """Epochs that begin anew every third row are of runs too short for a swing."""
    calm = drawn("calm", train_loss="0:2 600:1").run()
    steps = 50 * np.arange(1, 31)
    evals = columns(steps, np.array([1.0, 2.6] * 15), (steps / 50 - 1) % epochs)
    train = columns(calm.curve("train_loss").step, calm.curve("train_loss").value)
    run = replace(calm, history=History({"train_loss": train, "eval_loss": evals}))
    assert ask(run).status == status
