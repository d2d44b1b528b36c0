"""A cross-entropy at its cap: from how many points, digits and accuracies on that is no luck."""

from dataclasses import replace

import numpy as np
import pytest

from runlens.engine import diagnose
from runlens.history import History, columns
from runlens.rules.loss import capped
from runlens.run import Run
from runlens.signals import Signals

KERAS = -np.log(1e-7)


def run(**metrics: tuple[float, ...]) -> Run:
    """Return a classifier's run of a row an epoch."""
    rows = {
        name: columns(np.arange(1, len(row) + 1), np.array(row)) for name, row in metrics.items()
    }
    return Run("few", "few", History(rows, ("drawn",)), task="classification")


def cap_of(one: Run) -> capped.Capped | None:
    """Return the cap that its training loss ends at."""
    return capped.of(one.curve("train_loss"), Signals(one))


@pytest.mark.parametrize(
    ("loss", "first"),
    [
        ((21.4, 87.3365), 1),
        ((2.3, 2.1, 1.9, 87.3365), 3),
        ((87.3365, 87.3365), 0),
        ((2.3, 36.0437), 1),
        ((2.3, 15.9424), 1),
        ((2.3, 15.4249), 1),
        ((2.3, 46.0517), 1),
        ((87.3365, 21.4), None),  # it left
        ((21.4, 87.34), None),  # too few digits
        ((21.4, 16.12), None),
        ((2.3, 100.0, 100.0), None),  # a round number
        ((2.3, 100.0, 100.0, 100.0, 100.0), 1),
        ((3.0, 0.0), None),
        ((), None),
    ],
)
def test_the_largest_value_that_a_loss_can_take(loss: tuple[float, ...], first: int | None) -> None:
    """One point at the end with five digits suffices."""
    cap = cap_of(run(train_loss=loss))
    assert (cap and cap.first) == first


def test_a_regression_has_no_cap() -> None:
    """Its loss is no logarithm of a probability."""
    assert cap_of(replace(run(train_loss=(3.0, 87.3365)), task="regression")) is None


@pytest.mark.parametrize(
    ("right", "unit", "digits", "seen"),
    [
        ((21, 17, 21), 1, 4, True),
        ((21, 17, 21), 100, 2, True),  # in percent
        ((21, 17, 21), 1, 2, False),  # the accuracy has too few digits to tell
        ((21, 21, 21), 1, 4, False),  # one accuracy is one sign
        ((21, 17, 45), 1, 4, False),  # ends without a fault
    ],
)
def test_the_share_of_wrong_answers_times_the_cap(
    right: tuple[int, ...], unit: int, digits: int, seen: bool
) -> None:
    """Two accuracies over 45 samples that differ, as closely as they are written."""
    loss = tuple(round(KERAS * (1 - one / 45), 4) for one in right)
    accuracy = tuple(round(unit * one / 45, digits) for one in right)
    assert (cap_of(run(train_loss=loss, train_accuracy=accuracy)) is not None) is seen


def test_the_evaluation_is_a_second_witness() -> None:
    """Training never changes its accuracy; the evaluation has another, at the same cap."""
    loss, other = round(KERAS * 24 / 45, 4), round(KERAS * 28 / 45, 4)
    one = run(
        train_loss=(loss,) * 3,
        train_accuracy=(0.4667,) * 3,
        eval_loss=(other,) * 3,
        eval_accuracy=(0.3778,) * 3,
    )
    cap = cap_of(one)
    assert cap is not None
    assert not cap.varies
    diagnosis = diagnose(one)
    assert "stuck at its cap" in diagnosis.verdict.sentence
    assert "a softmax over a single output" in diagnosis.causes[0].evidence_for
    off = run(train_loss=(loss,) * 3, train_accuracy=(0.4667,) * 3, eval_loss=(other + 0.1,) * 3)
    assert cap_of(off) is None


def test_what_is_said_of_it() -> None:
    """The report names the product, and what such losses usually come of."""
    right = (0.2, 0.4667, 0.3778, 0.4222)
    loss = (5.0, *(round(KERAS * (1 - one), 4) for one in right[1:]))
    diagnosis = diagnose(run(train_loss=loss, train_accuracy=right))
    assert "3 points in a row are (1 − accuracy) × −ln 1e-7" in diagnosis.verdict.sentence
    assert "inputs that are not scaled" in diagnosis.causes[0].evidence_for
