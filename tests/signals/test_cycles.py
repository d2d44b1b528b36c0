"""Swings, turning points and epoch steps on curves whose answer is known."""

import numpy as np
import pytest

from runlens.history import Curve, FloatArray
from runlens.signals.cycles import (
    autocorrelation,
    cycle,
    epoch_steps,
    evenly,
    turning_points,
)


def teeth(period: int, count: int, noise: float, seed: int = 1) -> FloatArray:
    """Draw teeth of height 1 that fall over a period."""
    rng = np.random.default_rng(seed)
    at = np.arange(period * count)
    return 2 - (at % period) / period + rng.normal(0, noise, len(at))


def curve(step: list[int], value: list[float]) -> Curve:
    """Make a curve without epochs and times."""
    blank = np.full(len(step), np.nan)
    return Curve(np.array(step, dtype=np.int64), np.array(value, dtype=float), blank, blank)


@pytest.mark.parametrize("period", [12, 40, 90])
def test_teeth_have_their_period_and_height(period: int) -> None:
    """The period is found to one point, the amplitude to a quarter."""
    found = cycle(teeth(period, 12, 0.05), 0.0)
    assert found is not None
    assert abs(found.period - period) <= 1
    assert 0.75 < found.amplitude < 1.25


def test_long_curves_are_read_in_blocks() -> None:
    """The period is still given in points of the curve."""
    found = cycle(teeth(1_000, 20, 0.05), 0.0)
    assert found is not None
    assert abs(found.period - 1_000) <= 20


def test_irregular_teeth_are_found_by_their_turns() -> None:
    """Teeth of 30 to 50 points have a period near 40."""
    rng = np.random.default_rng(3)
    lengths = rng.integers(34, 47, 14)
    value = np.concatenate([np.linspace(2, 1, length) for length in lengths])
    found = cycle(value + rng.normal(0, 0.03, len(value)), 0.0)
    assert found is not None
    assert 30 <= found.period <= 50


def test_one_giant_tooth_does_not_hide_the_others() -> None:
    """A tooth fifty times as high leaves the period of the rest."""
    value = teeth(40, 12, 0.05)
    value[80:84] += 50
    found = cycle(value, 0.0)
    assert found is not None
    assert abs(found.period - 40) <= 1


@pytest.mark.parametrize("seed", range(20))
def test_noise_has_no_period(seed: int) -> None:
    """Neither white nor autocorrelated noise swings."""
    rng = np.random.default_rng(seed)
    white = rng.normal(0, 0.1, 600)
    slow = np.convolve(rng.normal(0, 0.1, 640), 0.8 ** np.arange(20), "valid")[:600]
    assert cycle(2 + white, 0.0) is None
    assert cycle(2 + slow, 0.0) is None


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 60, [1.0, 2.0] * 30])
def test_poor_curves_have_no_cycle(values: list[float]) -> None:
    """Short, constant and alternating curves give None, never an error."""
    assert cycle(np.array(values), 0.0) is None


def test_autocorrelation_of_a_wave_comes_back_at_its_period() -> None:
    """It is 1 at lag 0, about -1 at half a period, near 1 at the period."""
    lags = autocorrelation(np.sin(2 * np.pi * np.arange(400) / 20), 20)
    assert lags[0] == 1
    assert lags[10] < -0.9
    assert lags[20] > 0.9


def test_turning_points_ignore_small_reversals() -> None:
    """Only the points from which the curve came back far enough are turns."""
    value = np.array([0, 1, 2, 1.9, 3, 2, 1, 0, 0.1, 0, 2, 4, 3])
    turns = turning_points(value, 0.5)
    assert turns.at.tolist() == [4, 7, 11]
    assert turns.peak.tolist() == [True, False, True]


def test_sparse_points_among_dense_ones_are_put_on_an_even_grid() -> None:
    """Dense points become the median of their bin; a gap closes."""
    step, value = evenly(curve([0, 1, 2, 3, 10, 20, 30, 40, 200], [1, 2, 9, 4, 5, 6, 7, 8, 3]))
    assert (np.diff(step) > 0).all()
    assert len(step) < 9
    assert value[0] == 3
    assert value[-1] == 3


def test_even_curves_come_back_as_they_are() -> None:
    """Nothing is resampled without need."""
    step, value = evenly(curve([0, 10, 20, 40], [4, 3, 2, 1]))
    assert step.tolist() == [0, 10, 20, 40]
    assert value.tolist() == [4, 3, 2, 1]


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
