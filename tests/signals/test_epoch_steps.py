"""Falls at whole epochs on curves whose answer is known."""

import numpy as np
import pytest

from runlens.signals.epoch_steps import epoch_steps, means_so_far, places_that_fall


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


@pytest.mark.parametrize("epochs", [1, 2, 3])
def test_means_of_the_epoch_so_far_are_told_from_losses_of_batches(epochs: int) -> None:
    """A mean moves less with each row of its epoch; a batch moves as much as the one before."""
    rng = np.random.default_rng(3)
    batches = np.repeat([1.0, 0.6, 0.4][:epochs], 100) + 0.2 * rng.standard_normal(100 * epochs)
    epoch = np.arange(1, 100 * epochs + 1) / 100
    means = np.concatenate(
        [np.cumsum(part) / np.arange(1, 101) for part in np.split(batches, epochs)]
    )
    ends = means_so_far(means, epoch)
    assert (None if ends is None else ends.tolist()) == [None, [99, 199], [99, 199, 299]][
        epochs - 1
    ]
    assert means_so_far(batches, epoch) is None
    assert means_so_far(means, np.full(len(means), np.nan)) is None
    assert means_so_far(means[::10], epoch[::10]) is None  # ten of an epoch are too few
