"""Hidden NaN: what the drawn cases cannot say."""

import math

import numpy as np

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.numerics.hidden_nan import RULE
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals
from tests.rules.said import explained

CLIFF = "0:2.2 400:1.2 410:0 900:0"


def said(run: Run) -> Outcome:
    """Ask the rule."""
    return examine(RULE, run, Signals(run))


def test_other_frameworks_filter_no_nan() -> None:
    """Only the Trainer writes 0.0 for NaN; elsewhere a second sign is needed."""
    assert said(drawn("k", train_loss=CLIFF, framework="keras").run()).status == "passed"


def test_nan_evaluation_is_sign_enough_in_any_framework() -> None:
    """Weights that are NaN show in the evaluation."""
    case = drawn("k", train_loss=CLIFF, eval_loss="50:2 400:1.3 450:nan 900:nan", framework="keras")
    assert said(case.run()).findings[0].severity == "critical"


def test_finite_evaluations_make_masked_labels_the_first_cause() -> None:
    """The weights are alive, so the zeros are more likely labels that are all masked."""
    case = drawn(
        "m",
        train_loss=CLIFF,
        grad_norm="0:1 400:1 410:0 900:0",
        eval_loss="50:2 400:1.3 900:1.3",
    )
    finding = explained("hidden-nan", case.run())
    assert finding.severity == "info"
    assert finding.causes[0].kind == "labels-masked"


def test_two_zeros_and_nothing_else_are_said_quietly() -> None:
    """A look-alike that cannot be tested makes no alarm."""
    case = drawn("t", train_loss="0:2.2 880:0.9 890:0 900:0")
    assert said(case.run()).findings[0].severity == "info"


def test_first_fix_shows_the_nan() -> None:
    """The filter is switched off first."""
    fix = said(drawn("f", train_loss=CLIFF).run()).findings[0].fixes[0]
    assert (fix.setting, fix.new) == ("logging_nan_inf_filter", False)


def test_policy_loss_of_zero_needs_a_nan_norm() -> None:
    """In GRPO a loss of zero is usual; with a norm that turned NaN it is not."""
    case = drawn(
        "g",
        task="grpo",
        train_loss="0:0.001 400:0.001 410:0 900:0",
        grad_norm="0:0.2 400:0.2 410:nan 900:nan",
    )
    assert said(case.run()).findings[0].severity == "critical"


def test_discarded_launch_is_looked_at() -> None:
    """Zeros that a resume discarded were still a NaN, but the weights went on from before."""
    step = np.concatenate([np.arange(0, 500, 10), np.arange(300, 900, 10)])
    loss = np.full(len(step), 1.5)
    norm = np.linspace(1.0, 1.5, len(step))
    loss[40:50], norm[40:50] = 0.0, math.nan
    segment = np.repeat([0, 1], [50, 60])
    history = History(
        {
            "train_loss": columns(step, loss, segment=segment),
            "grad_norm": columns(step, norm, segment=segment),
        }
    )
    finding = said(Run("r", "r", history, framework="transformers")).findings[0]
    assert finding.onset.step == 400
    assert finding.severity == "warning"


SCATTERED = "0:9 400:8 410:0 420:9 430:0 440:5 450:0 460:15 470:0 480:8 490:0 500:9"


def test_scattered_zeros_are_judged_where_the_trainer_filters() -> None:
    """A hinge loss is zero often, and another framework filters nothing."""
    still = "0:2e-4 400:1e-4 500:1e-4"
    assert said(drawn("s", train_loss=SCATTERED, learning_rate=still).run()).status == "found"
    triplet = drawn("s", train_loss=SCATTERED, learning_rate=still, task="contrastive")
    keras = drawn("s", train_loss=SCATTERED, learning_rate=still, framework="keras")
    off = drawn("s", train_loss=SCATTERED, config={"logging_nan_inf_filter": False})
    assert {said(case.run()).status for case in (triplet, keras, off)} == {"passed"}


def test_batch_without_labels_is_the_first_cause_where_the_norm_is_a_number() -> None:
    """The schedule goes on and the norm is finite: the zeros may be empty batches."""
    case = drawn(
        "m",
        train_loss=SCATTERED,
        grad_norm="0:1 500:1",
        learning_rate="0:2e-4 500:1e-5",
    )
    finding = explained("hidden-nan", case.run())
    assert finding.severity == "info"
    assert finding.causes[0].kind == "labels-masked"


def test_nan_norm_beside_scattered_zeros_is_critical() -> None:
    """Only a NaN does that."""
    case = drawn("n", train_loss=SCATTERED, grad_norm="0:1 410:nan 420:1 430:nan 440:1 500:1")
    assert said(case.run()).findings[0].severity == "critical"


def test_scattered_zeros_and_erratic_losses_are_a_warning() -> None:
    """Nothing else is logged; the losses between scatter more than before."""
    finding = said(drawn("e", noise=0.01, train_loss=SCATTERED).run()).findings[0]
    assert finding.severity == "warning"


def test_all_norms_that_are_not_finite_are_counted() -> None:
    """The norm is NaN a step before the loss is hidden: 51 points, not 50."""
    case = drawn("n", train_loss=CLIFF, grad_norm="0:1 390:1 400:nan 900:nan")
    assert "not finite at 51 points" in said(case.run()).findings[0].title


def test_a_sum_of_one_batch_divided_by_a_hundred_is_no_nan() -> None:
    """The first row of each epoch, one step behind the last of the epoch before."""
    ends = [np.arange(1, 2002, 100) + 2001 * epoch for epoch in range(5)]
    step = np.concatenate(ends)
    value = 0.6 + 0.1 * np.cos(np.arange(len(step)))
    first = np.flatnonzero(np.diff(step, prepend=0) == 1)[1:]
    for zeros, found in ((first, False), (first + 7, True)):
        loss = value.copy()
        loss[zeros] = 0.0
        run = Run("r", "r", History({"train_loss": columns(step, loss)}), task="classification")
        assert bool(said(run).findings) is found
