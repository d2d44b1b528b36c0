"""What a few rows of a table show: held-out data tell the model from the data it is fed."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.loss.divergence import RULE as DIVERGENCE
from runlens.rules.loss.loss_spike import RULE as SPIKE
from runlens.rules.rl.reward_collapse import RULE as COLLAPSE
from runlens.rules.rule import Rule
from runlens.rules.schedule.lr_zero import RULE as LR_ZERO
from runlens.run import Run
from runlens.signals import Signals, held_out

FALLS = (2.0, 1.5, 1.2, 1.0, 0.9, 0.8)


def table(**metrics: tuple[float, ...]) -> Run:
    """Return a classifier's run of a row an epoch."""
    found = {
        name: columns(np.arange(1, len(row) + 1), np.array(row)) for name, row in metrics.items()
    }
    return Run("few", "few", History(found, ("drawn",)), task="classification")


def ask(rule: Rule[Any], run: Run) -> Outcome:
    """Examine one run."""
    return examine(rule, run, Signals(run))


def test_a_setback_of_loss_and_evaluation_is_the_models() -> None:
    """Six rows: weights were lost and learned anew. Without the evaluation it may be the data."""
    loss = (2.0, 1.5, 1.2, 2.1, 1.5, 1.2)
    outcome = ask(SPIKE, table(train_loss=loss, eval_loss=loss))
    assert outcome.findings[0].severity == "warning"
    assert outcome.findings[0].onset.step == 4
    assert "from 1.200 before" in outcome.findings[0].title
    assert ask(SPIKE, table(train_loss=loss, eval_loss=FALLS)).status == "passed"
    assert ask(SPIKE, table(train_loss=loss)).status == "passed"


@pytest.mark.parametrize(
    ("loss", "status"),
    [
        ((2.0, 1.5, 2.3, 1.4), "found"),
        ((2.0, 1.5, 1.2, 2.1), "unmet"),  # not over: what it becomes is not known
        ((1.2, 2.1, 1.2, 1.0), "unmet"),  # the first step of a run
        ((2.0, 1.5, 1.7, 1.4), "unmet"),  # less than half of the gain
    ],
)
def test_setbacks_of_four_rows(loss: tuple[float, ...], status: str) -> None:
    """Below six rows the curve alone says nothing."""
    assert ask(SPIKE, table(train_loss=loss, eval_loss=loss)).status == status


def test_the_evaluation_may_show_it_a_row_before() -> None:
    """A row averages the losses of its steps; its evaluation is taken at their end."""
    loss = (1.9, 1.1, 0.7, 0.5, 0.9, 1.7, 1.2, 0.9, 0.7)
    evals = (1.6, 0.9, 0.7, 0.5, 2.1, 1.5, 1.1, 0.9, 0.7)
    assert ask(SPIKE, table(train_loss=loss, eval_loss=evals)).status == "found"
    late = (1.6, 0.9, 0.7, 0.6, 0.5, 0.5, 0.5, 0.5, 1.4)
    assert ask(SPIKE, table(train_loss=loss, eval_loss=late)).status == "passed"


@pytest.mark.parametrize(
    ("evals", "hurt"),
    [
        ((2.0, 1.5, 1.0, 1.6, 1.2), True),
        ((2.0, 1.5, 1.0, 1.38, 1.2), False),  # less than half of what was gained
        ((1.0, 0.99, 0.98, 1.09, 1.0), True),
        ((1.0, 0.99, 0.98, 1.07, 1.0), False),  # less than a tenth of it
        ((2.0, 1.0, 1.3, 2.05, 1.2), True),
        ((2.0, 1.0, 1.4, 2.05, 1.2), False),  # no more than elsewhere
        ((2.0, 1.5, 2.6), False),  # too few to tell
    ],
)
def test_what_throws_an_evaluation_back(evals: tuple[float, ...], hurt: bool) -> None:
    """Out of gain, level and scatter."""
    run = table(train_loss=FALLS, eval_loss=evals)
    assert bool(held_out.hurt(run, Signals(run), 4)) == hurt


def test_a_score_that_falls_is_a_witness_too() -> None:
    """Where no held-out loss is logged."""
    loss = (2.0, 1.5, 1.2, 2.1, 1.5, 1.2)
    score = (0.3, 0.5, 0.6, 0.2, 0.4, 0.6)
    told = ask(SPIKE, table(train_loss=loss, eval_accuracy=score)).findings[0].ruled_out[-1]
    assert "went from 0.6 to 0.2" in told.why
    assert ask(SPIKE, table(train_loss=loss, eval_accuracy=(0.3, 0.5, 0.6, 0.6))).status == "passed"


def test_harder_batches_are_no_divergence() -> None:
    """Training loss trebles and stays; evaluation goes on as before."""
    loss = (0.9, 0.4, 0.2, 0.15, 0.1, 0.5, 0.6, 0.6, 0.6)
    better = (1.0, 0.5, 0.3, 0.2, 0.15, 0.14, 0.16, 0.13, 0.12)
    assert "eval loss" in ask(DIVERGENCE, table(train_loss=loss, eval_loss=better)).reason
    worse = (1.0, 0.5, 0.3, 0.2, 0.15, 0.5, 0.6, 0.6, 0.6)
    assert ask(DIVERGENCE, table(train_loss=loss, eval_loss=worse)).status == "found"
    above = (1.0, 0.5, 0.3, 0.2, 0.15, 0.15, 0.16, 0.16, 0.16)  # 6 % worse than before
    assert ask(DIVERGENCE, table(train_loss=loss, eval_loss=above)).status == "found"


@pytest.mark.parametrize(
    ("loss", "status"),
    [
        ((2.42, 2.31, 14.8, 53.6), "found"),
        ((2.42, 2.31, 4.8, 9.6), "passed"),  # one step before says little of the noise
        ((2.42, 2.31, 2.25, 4.8, 9.6), "found"),
    ],
)
def test_a_ramp_of_few_points_is_no_noise(loss: tuple[float, ...], status: str) -> None:
    """What went before says how far a point may lie off by chance, and knows no ramp."""
    assert ask(DIVERGENCE, table(train_loss=loss)).status == status


def test_a_rate_of_zero_that_the_log_might_round() -> None:
    """Evaluations that agree to the last digit say that it is one."""
    rate, loss = (0.0,) * 5, (0.307, 0.199, 0.205, 0.192, 0.194)
    same = table(learning_rate=rate, train_loss=loss, eval_loss=(0.2063,) * 5)
    assert ask(LR_ZERO, same).status == "found"
    moves = table(learning_rate=rate, train_loss=loss, eval_loss=(0.21, 0.2, 0.19, 0.18, 0.17))
    assert ask(LR_ZERO, moves).status == "passed"


@pytest.mark.parametrize(
    ("reward", "status"),
    [
        ((0.57, 0.86, 0.87, 0.9, 0.44, 0.15, 0.14, 0.13), "found"),
        ((0.57, 0.86, 0.6, 0.9, 0.44, 0.15, 0.14, 0.13), "passed"),  # its steps are as large
        ((0.62, 0.84, 0.22, 0.06), "passed"),  # one step leaves everything open
    ],
)
def test_few_rewards_that_collapse(reward: tuple[float, ...], status: str) -> None:
    """Judged against what the steps up to the peak leave open."""
    assert ask(COLLAPSE, replace(table(reward=reward), task="rl")).status == status


def test_one_spike_that_leaves_evaluation_alone_is_a_note() -> None:
    """Twice its level for a point; all evaluations since are better than the one before."""
    loss = (2.0, 1.8, 1.7, 1.6, 1.5, 1.45, 5.0, 1.4, 1.35, 1.3, 1.28, 1.25)
    better = tuple(0.1 + one for one in (*loss[:6], 1.43, *loss[7:]))
    worse = tuple(0.1 + one for one in (*loss[:6], 1.9, 1.9, 1.9, 1.9, 1.9, 1.9))
    found = ask(SPIKE, table(train_loss=loss, eval_loss=better)).findings[0]
    assert (found.severity, found.ruled_out[-1].what) == ("info", "Harm")
    assert ask(SPIKE, table(train_loss=loss, eval_loss=worse)).findings[0].severity == "warning"


def test_gains_of_six_evaluations_are_told() -> None:
    """Six in order are no chance; five may be."""
    for count in (6, 5):
        run = table(train_loss=FALLS, eval_loss=(2.0, 1.9, 1.8, 1.7, 1.6, 1.5)[:count])
        assert bool(held_out.improving(run, Signals(run), 0)) == (count > 5)


@pytest.mark.parametrize(("peak", "status"), [(3e15, "found"), (6.5, "found"), (5.5, "unmet")])
def test_a_spike_of_orders_of_magnitude_needs_no_witness(peak: float, status: str) -> None:
    """Five rows of a detector: one a hundred times the others and more."""
    loss = (0.09, 0.06, peak, 0.05, 0.06)
    assert ask(SPIKE, table(train_loss=loss)).status == status


@pytest.mark.parametrize(
    ("loss", "onset"),
    [
        ((2e4, 3e5), 2),
        ((2e4, 1.8e5), None),  # nine times
        ((1.0, 12.0, 100.0), 2),
        ((1.5, 1.4, 2e4), 3),
        ((1.5, 2e4, 1.4), None),
    ],
)
def test_a_last_row_of_ten_times_all_others(loss: tuple[float, ...], onset: int | None) -> None:
    """Whether it comes back is not known: a note."""
    found = ask(SPIKE, table(train_loss=loss)).findings
    assert [one.onset.step for one in found] == ([onset] if onset else [])
    assert all(one.severity == "info" for one in found)


def test_one_evaluation_since_is_no_witness_for_the_batches() -> None:
    """Two that are as good as before are; one may have been lucky."""
    loss = (0.9, 0.4, 0.2, 0.15, 0.1, 0.5, 0.6, 0.6, 0.6)
    two = table(train_loss=loss, eval_loss=(1.0, 0.5, 0.3, 0.2, 0.15, 0.14, 0.13))
    one = table(train_loss=loss, eval_loss=(1.0, 0.5, 0.3, 0.2, 0.15, 0.14))
    assert held_out.unmoved(Signals(two), 6)
    assert not held_out.unmoved(Signals(one), 6)


@pytest.mark.parametrize(
    ("loss", "onset"),
    [
        ((15.5, 13.0, 3.8, 2.39, 1.43, 5.82, 7.05, 10.03), 6),
        ((15.5, 13.0, 3.8, 1.43, 5.82, 7.05, 10.03), None),  # of seven points 1 in 79 turn so
        ((15.5, 13.0, 9.0, 3.8, 2.39, 1.43, 5.82, 7.05), None),  # rises twice
        ((15.5, 3.8, 13.0, 2.39, 1.43, 5.82, 7.05, 10.03), None),  # noise on its way down
        ((0.144, 25237.9, 75835.3, 28575.2, 134869.9, 437442.4, 212268.5, 1216893.1), 2),
    ],
)
def test_few_points_that_leave_their_best_for_good(
    loss: tuple[float, ...], onset: int | None
) -> None:
    """The order alone says that it is no chance; the rise begins at the very next row."""
    found = ask(DIVERGENCE, table(train_loss=loss)).findings
    assert [one.onset.step for one in found if one.onset] == ([onset] if onset else [])
