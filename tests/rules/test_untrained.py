"""Three losses, evaluations alone, an epoch alone, and rounds without data."""

from typing import Any

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.evaluation import hockey_stick
from runlens.rules.loss import not_learning, stuck_at_chance, zero_loss
from runlens.rules.numerics import nan_loss
from runlens.rules.rule import Rule
from runlens.rules.schedule import lr_zero
from runlens.run import Run, State, Task
from runlens.signals import Signals

Rows = tuple[float, ...]


def ask(
    rule: Rule,  # type: ignore[type-arg]
    task: Task,
    every: int = 10,
    epoch: float | None = None,
    plan: int | None = None,
    **metrics: Rows,
) -> Outcome:
    """Examine a run of a few rows, all of one epoch where one is given."""
    made = {}
    for name, row in metrics.items():
        step = every * np.arange(1, len(row) + 1)
        of = np.full(len(row), epoch) if epoch is not None else None
        made[name] = columns(step, np.array(row), of)
    state = State("finished", done_steps=30 if plan else 0, planned_steps=plan)
    run = Run("few", "few", History(made), state=state, task=task)
    return examine(rule, run, Signals(run))


@pytest.mark.parametrize(
    ("losses", "plan", "task", "status"),
    [
        ((9.15, 9.0, 9.12), 30, "sft", "found"),
        ((9.15, 8.9, 8.6), 30, "sft", "unmet"),  # falls
        ((2.15, 2.1, 2.14), 30, "sft", "unmet"),  # a trained model lies there
        ((9.15, 9.0, 9.12), 300, "sft", "unmet"),  # cut
        ((9.15, 9.0, 9.12), 30, "other", "unmet"),  # in a unit of its own
    ],
)
def test_three_losses_of_an_untrained_model(
    losses: Rows, plan: int, task: Task, status: str
) -> None:
    """The plan is done, and none is lower by what counts as learning."""
    state = ask(not_learning.RULE, task, plan=plan, train_loss=losses)
    assert state.status == status


LN3 = (1.128, 1.113, 1.103, 1.097, 1.093)


@pytest.mark.parametrize(
    ("right", "losses", "status"),
    [
        ((0.143, 0.286, 0.286, 0.286, 0.286), LN3, "found"),
        ((0.143, 0.286, 0.43, 0.43, 0.43), LN3, "unmet"),  # more than a third
        ((0.1, 0.14, 0.18, 0.22, 0.3), LN3, "unmet"),  # rises
        ((0.143, 0.286, 0.286, 0.286, 0.286), (1.128, 1.08, 1.0, 0.9, 0.8), "unmet"),
    ],
)
def test_evaluations_alone_tell_of_a_guess(right: Rows, losses: Rows, status: str) -> None:
    """Loss and accuracy agree on the number of classes."""
    asked = ask(stuck_at_chance.RULE, "classification", eval_loss=losses, eval_accuracy=right)
    assert asked.status == status


@pytest.mark.parametrize(
    ("mcc", "status"), [((0.0, 0.0), "found"), ((0.0,), "unmet"), ((0.0, 0.04), "unmet")]
)
def test_a_correlation_of_exactly_zero_is_one_answer(mcc: Rows, status: str) -> None:
    """Twice: the first may be taken before any training."""
    losses = (0.6186, 0.6162)[: len(mcc)]
    asked = ask(stuck_at_chance.RULE, "classification", eval_loss=losses, eval_mcc=mcc)
    assert asked.status == status


@pytest.mark.parametrize(("epoch", "status"), [(210.0, "passed"), (1.0, "found"), (2.0, "passed")])
def test_a_late_epoch_alone_is_no_run(epoch: float, status: str) -> None:
    """Its batches are counted from one, and its rate is written with five digits."""
    rows = (2.1e-4, 2.0e-4, 2.2e-4, 1.9e-4, 2.1e-4, 2.0e-4, 2.1e-4, 2.2e-4, 2.0e-4, 2.1e-4)
    asked: dict[str, Any] = {"train_loss": rows, "learning_rate": (0.0,) * 10}
    assert ask(lr_zero.RULE, "other", 1, epoch, **asked).status == status
    learned = ask(not_learning.RULE, "other", 1, epoch, **asked)
    assert learned.status == ("found" if status == "found" else "unmet")


@pytest.mark.parametrize(("steps", "status"), [(2400, "unmet"), (5, "found")])
def test_fits_that_are_counted_from_one_are_no_course(steps: int, status: str) -> None:
    """Five equal likelihoods of five fits, beside thousands of steps of another."""
    made = {
        "train_loss": columns(np.arange(1, 6), np.full(5, 2007.0)),
        "omega": columns(np.array([1, steps]), np.array([2.0, 2.1])),
    }
    run = Run("fit", "fit", History(made), task="other")
    assert examine(not_learning.RULE, run, Signals(run)).status == status


@pytest.mark.parametrize(("last", "severity"), [(0.0, "critical"), (None, "info")])
def test_a_filler_behind_nan_is_no_recovery(last: float | None, severity: str) -> None:
    """Rewards that are missing to the end but for a last 0; or for a tenth and more."""
    nan = float("nan")
    behind = (0.0,) if last == 0 else (1.0,) * 9
    rewards = (-30.0, -28.0) * 20 + (nan,) * 20 + behind
    (found,) = ask(nan_loss.RULE, "rl", reward=rewards).findings
    assert found.severity == severity


@pytest.mark.parametrize(
    ("other", "status"),
    [
        ((0.94, 0.97, 0.98, 0.99), "unmet"),
        ((0.94, 0.97, 0.92, 0.9), "found"),
        ((0.99, 0.99, 0.99, 0.99), "found"),  # what only holds has gained nothing
    ],
)
def test_what_one_class_loses_another_gains(other: Rows, status: str) -> None:
    """Of two classes of a segmentation; where both fall the score is lost."""
    at = np.linspace(0, 1, 20)
    spread = np.interp(at, np.linspace(0, 1, 4), other)
    asked = ask(
        hockey_stick.RULE, "other", train_loss=tuple(2.4 - 2 * at),
        eval_acc_tumor=tuple(np.interp(at, (0, 0.2, 1), (0.91, 0.92, 0.72))),
        eval_acc_background=tuple(spread),
    )  # fmt: skip
    assert asked.status == status


@pytest.mark.parametrize(("first", "status"), [(0.075, "unmet"), (0.03, "found")])
def test_a_part_of_the_loss_named_after_its_score(first: float, status: str) -> None:
    """It falls with the loss from its first value on; a score was learned before it is lost."""
    at = np.linspace(0, 1, 20)
    part = np.interp(at, (0, 0.2, 1), (first, 0.0745, 0.03))
    asked = ask(hockey_stick.RULE, "other", train_loss=tuple(0.3 - 0.2 * at), ms_ssim=tuple(part))
    assert asked.status == status


def test_an_empty_evaluation_says_that_it_is_one() -> None:
    """Each loss is exactly 0; with all answers right, or a small training loss, it may be."""
    train, none = (6.2, 5.0, 4.1, 3.3), (0.0, 0.0, 0.0, 0.0)
    assert (
        "exactly 0"
        in ask(zero_loss.RULE, "other", train_loss=train, eval_loss=none).findings[0].title
    )
    full = ask(zero_loss.RULE, "other", train_loss=train, eval_loss=none, eval_accuracy=(1.0,) * 4)
    assert not full.findings
    small = ask(zero_loss.RULE, "other", train_loss=(0.4, 0.1, 0.03, 0.02), eval_loss=none)
    assert not small.findings
