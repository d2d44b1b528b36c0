"""Falls at whole epochs on curves whose answer is known."""

import numpy as np
import pytest

from runlens.signals.epoch_steps import epoch_steps, places_that_fall


def test_epoch_steps_give_fall_and_place() -> None:
    """Stairs of 0.5 fall by 0.5 at the boundary and by nothing in mid-epoch."""
    epoch = np.arange(1, 121) / 40
    value = 3 - 0.5 * np.floor(epoch - 1e-9)
    steps = epoch_steps(value, epoch)
    assert steps is not None
    assert steps.first.tolist() == [40, 80]
    assert steps.fall.tolist() == [0.5, 0.5]
    assert steps.middle.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("per_epoch", [3, 500])
def test_epochs_too_short_or_single_have_no_steps(per_epoch: int) -> None:
    """Six points an epoch and one boundary are needed."""
    epoch = np.arange(1, 121) / per_epoch
    assert epoch_steps(np.ones(120), epoch) is None


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ((1.50, 1.43, 1.67, 1.47, 1.40, 1.64, 1.44, 1.38, 1.62), 3),
        ((1.50, 1.43, 1.67, 1.47, 1.44, 1.64, 1.44, 1.38, 1.62), 0),  # one place rose once
        ((1.50, 1.43, 1.67, 1.47, 1.40, 1.64), 0),  # two epochs: one of eight orders
        ((1.50, 1.47, 1.44, 1.42), 0),  # no order of four points in one place alone
    ],
)
def test_a_curve_falls_at_each_place_of_an_epoch(value: tuple[float, ...], places: int) -> None:
    """Batches that differ come in the same order each time."""
    epoch = 14 + np.arange(len(value)) / (3 if len(value) > 4 else 1)
    assert places_that_fall(np.array(value), epoch) == places
    assert not places_that_fall(np.array(value), np.full(len(value), np.nan))
