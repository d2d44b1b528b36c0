"""A warning about numbers ahead of a loss that is none."""

from dataclasses import replace

import numpy as np
import pytest

from runlens.engine import diagnose
from tests.causes.test_traces import made

WARNING = "prep.py:41: RuntimeWarning: invalid value encountered in log1p"
OPERATION = "Data that log1p has no number for"
CALM = 0.8 + 0.02 * np.sin(np.arange(12))


def rows(losses: np.ndarray) -> list[str]:
    """Return the lines that print losses."""
    return [f"batch {n * 10}: loss {value:.4f}" for n, value in enumerate(losses)]


@pytest.mark.parametrize(
    ("warning", "before", "place", "named"),
    [
        (WARNING, CALM, 0, True),
        (WARNING.replace("log1p", "scalar divide"), CALM, 0, False),  # a mean of nothing
        (WARNING.replace("invalid value", "overflow"), CALM, 0, False),  # it grew first
        (WARNING, CALM, 5, False),  # updates came before it
        (WARNING, np.geomspace(0.8, 800, 12), 0, False),  # the loss was rising
        ("nothing to see", CALM, 0, False),
    ],
)
def test_an_operation_without_a_result_before_training(
    warning: str, before: np.ndarray, place: int, *, named: bool
) -> None:
    """By the words of numpy."""
    losses = np.concatenate([before, np.full(8, np.nan)])
    lines = rows(losses)
    lines.insert(place, warning)
    run = replace(made(train_loss=losses), log_tail=("loading", *lines))
    causes = diagnose(run).incidents[0].findings[0].causes
    assert (causes[0].what == OPERATION) is named


def test_a_loss_that_is_no_number_at_its_first_point() -> None:
    """The warning came before it."""
    losses = np.full(8, np.nan)
    run = replace(made(train_loss=losses), log_tail=(WARNING, *rows(losses)))
    assert OPERATION in {one.what for one in diagnose(run).incidents[0].findings[0].causes}
