"""An evaluation of a handful of rows is known by the steps of its scores."""

from typing import Any

import numpy as np
import pytest

from runlens.causes import few_rows
from runlens.engine import diagnose
from tests.causes.test_traces import made

RIGHT = np.r_[6, 9, np.full(21, 8)]  # of 14
LOSS = np.r_[np.linspace(5.76, 5.55, 15), np.linspace(5.56, 5.7, 8)]


@pytest.mark.parametrize(
    ("share", "rows"),
    [
        (RIGHT / 14, 14),
        (np.round(RIGHT / 14, 4), 14),
        (np.round(RIGHT / 14, 2), None),  # too few digits to tell
        (np.array([0.1, 0.15, 0.2]), None),  # short by themselves
        (np.array([0.0625, 0.0625]), None),  # one step: by chance as well
        (np.array([0.5712, 0.6421, 0.5533]), None),
        (np.array([40, 41, 39]) / 70, None),  # an evaluation that tells something
        (np.array([0.0, 1.0]), None),
    ],
)
def test_the_steps_of_a_score_tell_the_rows(share: Any, rows: int | None) -> None:
    """Where they are more than chance, and as few as say next to nothing."""
    assert few_rows.steps_of(share) == rows


@pytest.mark.parametrize(
    ("evals", "train", "named"),
    [
        (RIGHT / 14, 1.0, True),
        (RIGHT / 14, 0.7, False),  # its rows are not known by heart
        (8 / 14 + np.sin(np.arange(23)) / 99, 1.0, False),  # of any number of rows
        (None, 1.0, False),
    ],
)
def test_rows_known_by_heart_beside_an_evaluation_of_few(
    evals: Any, train: float, *, named: bool
) -> None:
    """A score that a handful of rows makes shows no other data than in training."""
    more = {} if evals is None else {"eval_accuracy": evals}
    run = made(
        train_loss=np.r_[np.geomspace(6.13, 4.9, 8), np.full(15, 4.72)],
        eval_loss=LOSS, train_accuracy=np.linspace(0.55, train, 23), **more,
    )  # fmt: skip
    causes = [one for i in diagnose(run).incidents for one in i.findings[0].causes]
    told = [one for one in causes if one.what.startswith("Too few rows")]
    assert bool(told) is named
    assert not named or "steps of 1/14" in told[0].evidence_for
