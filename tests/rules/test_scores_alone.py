"""Runs that log scores and no evaluation loss, or no loss at all."""

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.evaluation import hockey_stick
from runlens.rules.loss import not_learning
from runlens.run import Run, Task
from runlens.signals import Signals

EPOCHS = np.arange(60)


def run_of(task: Task = "classification", noise: float = 0.006, **curves: list[float]) -> Run:
    """Draw curves of one value per epoch from their corners, evenly spread, with noise."""
    rng = np.random.default_rng(7)
    drawn = {}
    for name, corners in curves.items():
        at = np.linspace(0, EPOCHS[-1], len(corners))
        value = np.interp(EPOCHS, at, corners) + rng.normal(0, noise, len(EPOCHS))
        drawn[name] = columns(EPOCHS.astype(np.int64), value)
    return Run("scores", "scores", History(drawn), task=task)


def overfits(run: Run) -> Outcome:
    """Ask the rule of overfitting."""
    return examine(hockey_stick.RULE, run, Signals(run))


TRAINED = [0.3, 0.8, 0.9, 0.97, 0.99]
LOST = [0.3, 0.82, 0.80, 0.76, 0.72]


def test_an_accuracy_that_comes_down_for_good_is_overfitting() -> None:
    """From its best on, while that of training goes on to rise; in shares and in percent."""
    (found,) = overfits(run_of(train_accuracy=TRAINED, eval_accuracy=LOST)).findings
    assert found.severity == "warning"
    assert abs((found.onset.step or 0) - 15) <= 3
    assert "while train accuracy ended at" in found.title
    hundred = run_of(noise=0.6, eval_miou=[100 * one for one in LOST])
    (found,) = overfits(hundred).findings
    assert found.heading == "Worsening evaluation"  # nothing of training is logged


def test_an_error_without_bounds_is_judged_by_its_own_level() -> None:
    """5 % of it; `mpjpe` is known to be an error by its name."""
    for end, status in ((60.0, "found"), (49.5, "unmet")):
        run = run_of(train_loss=[1, 0.5, 0.3, 0.2, 0.1], MPJPE=[80, 48, 48.5, 49, end])
        assert overfits(run).status == status


def test_a_score_of_the_first_so_many_is_known() -> None:
    """`ndcg@20` is an ndcg, whatever stands behind it."""
    ranks = {"train_loss": [1, 0.5, 0.3, 0.2, 0.1], "ndcg@20": [0.01, 0.48, 0.46, 0.43, 0.4]}
    assert overfits(run_of(**ranks)).status == "found"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "curves",
    [
        {"eval_accuracy": [0.3, 0.82, 0.82, 0.81, 0.815]},  # stays, but for a point of a hundred
        {"eval_accuracy": [0.3, 0.8, 0.82, 0.83, 0.835, 0.84, 0.8]},  # only the last few
        {"eval_accuracy": LOST, "train_accuracy": LOST},  # training is lost as well
        {"eval_accuracy": LOST, "train_loss": [2, 0.5, 0.8, 1.0, 1.5]},
        {"eval_reward": LOST, "train_loss": [2, 0.5, 0.4, 0.3, 0.2]},  # others judge a policy
        {"train_map": LOST, "train_loss": [2, 0.5, 0.4, 0.3, 0.2]},
    ],
)
def test_look_alikes_of_a_score_that_comes_down(curves: dict[str, list[float]]) -> None:
    """None of them is overfitting."""
    assert not overfits(run_of(**curves)).findings  # type: ignore[arg-type]


def test_a_noisy_score_that_comes_down_within_its_noise_is_none() -> None:
    """Three points of a hundred in a scatter of five."""
    assert not overfits(run_of(noise=0.05, eval_accuracy=[0.4, 0.8, 0.79, 0.78, 0.77])).findings


SLIPS = [0.7, 0.82, 0.816, 0.811, 0.807, 0.803]


@pytest.mark.parametrize(
    ("curves", "severity"),
    [
        ({"train_loss": [1.3, 0.7, 0.4, 0.2, 0.1, 0.05]}, "info"),
        ({"train_loss": [1.3, 0.7, 0.65, 0.6, 0.57, 0.55]}, ""),  # it learns no row by heart
        ({}, ""),
    ],
)
def test_a_score_that_slips_while_training_loss_halves_is_a_note(
    curves: dict[str, list[float]], severity: str
) -> None:
    """By a point of a hundred, in an order that chance does not show."""
    found = overfits(run_of(noise=0.003, eval_accuracy=SLIPS, **curves)).findings  # type: ignore[arg-type]
    assert "".join(one.severity for one in found) == severity


@pytest.mark.parametrize(
    ("train", "evaluation", "status"),
    [
        ([0.1, 0.1], [0.1, 0.1], "found"),
        ([10, 10], [10, 10], "found"),
        ([0.5, 0.5], [0.5, 0.5], "found"),  # a coin
        ([0.1, 0.16], [0.1, 0.1], "unmet"),  # training rises
        ([0.1, 0.1], [0.1, 0.18], "unmet"),
        ([25, 25], [25, 25], "found"),  # four classes
        ([0.33, 0.33], [0.34, 0.34], "found"),
        ([0.25, 0.25], [0.28, 0.28], "unmet"),
        ([0.3, 0.3], [0.3, 0.3], "unmet"),  # of no number of classes, or of a hundred
        ([0.56, 0.56], [0.5, 0.5], "unmet"),
    ],
)
def test_accuracies_that_never_leave_a_guess(
    train: list[float], evaluation: list[float], status: str
) -> None:
    """Without any loss the accuracies alone tell that nothing is learned."""
    noise = 0.6 if max(train) > 1 else 0.006
    run = run_of(noise=noise, train_accuracy=train, eval_accuracy=evaluation)
    assert examine(not_learning.RULE, run, Signals(run)).status == status


def test_a_few_accuracies_tell_nothing() -> None:
    """Eight are needed; beside a loss the loss is judged."""
    seven = columns(np.arange(7), np.full(7, 0.1))
    run = Run("few", "few", History({"eval_accuracy": seven}), task="classification")
    assert examine(not_learning.RULE, run, Signals(run)).status == "unmet"
    beside = run_of(eval_accuracy=[0.1, 0.1], eval_loss=[2.3, 1.9])
    assert examine(not_learning.RULE, beside, Signals(beside)).status == "unmet"


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ((33.3, 34.2, 32.7, 28.9, 23.1), True),
        ((33.3, 34.2, 32.7, 28.9, 29.1), False),  # the last one rose
        ((33.3, 34.2, 32.7, 28.9), False),  # two in a row, behind one
        ((30.0, 34.2, 32.7, 28.9, 23.1), False),  # it had risen by as much
        ((34.2, 33.3, 32.7, 28.9, 23.1), False),  # from the first on: nothing was learned
        ((33.9, 34.2, 34.1, 33.9, 33.0), False),  # 4 %
    ],
)
def test_a_score_of_few_evaluations_that_falls_far_in_a_row_is_lost(
    values: tuple[float, ...], found: bool
) -> None:
    """While the loss falls: a picture that is fitted to its noise."""
    step = 200 * np.arange(1, len(values) + 1)
    loss = columns(step, 2e4 - 5 * step)
    history = History({"PSNR": columns(step, np.array(values)), "train_loss": loss}, ("drawn",))
    told = overfits(Run("few", "few", history, task="other")).findings
    assert [one.onset.step for one in told] == [400] * found


def test_few_shares_are_judged_as_shares() -> None:
    """In percent, and where none was ever right."""
    for values, found in (((88.0, 90.0, 88.5, 84.0, 80.0), 1), ((0.0, 0.0, 0.0, 0.0, 0.0), 0)):
        rows = columns(np.arange(1, 6), np.array(values))
        run = Run("few", "few", History({"eval_accuracy": rows}, ("drawn",)))
        assert len(overfits(run).findings) == found


@pytest.mark.parametrize(("own", "told"), [([2.0, 4.0], False), ([2.0, 1.0], True)])
def test_an_error_that_training_has_too_was_not_learned_by_heart(
    own: list[float], *, told: bool
) -> None:
    """Whatever the loss does: it is of something else."""
    run = run_of("regression", train_loss=[9, 2], train_mae=own, eval_mae=[2.2, 2, 3, 4])
    assert bool(overfits(run).findings) is told
