"""Swings of curves whose answer is known."""

import numpy as np
import pytest

from runlens.history import FloatArray
from runlens.signals.shape import Swing, shape_of
from runlens.signals.shape.swings import Cycles, described


def teeth(period: int, count: int, noise: float, seed: int = 1) -> FloatArray:
    """Draw teeth of height 1 that fall over a period."""
    rng = np.random.default_rng(seed)
    at = np.arange(period * count)
    return 2 - (at % period) / period + rng.normal(0, noise, len(at))


def swing_of(value: FloatArray) -> Swing | None:
    """Return the swing of a curve, a point a step."""
    phases = shape_of(np.arange(len(value)), value).phases
    return next((phase.swing for phase in phases if phase.swing), None)


@pytest.mark.parametrize("period", [12, 40, 90])
def test_teeth_have_their_period_and_height(period: int) -> None:
    """The period is found to one point, the amplitude to a quarter."""
    found = swing_of(teeth(period, 12, 0.05))
    assert found is not None
    assert abs(found.period - period) <= 1
    assert 0.75 < found.amplitude < 1.25


def test_long_curves_are_read_in_blocks() -> None:
    """The period is still given in points of the curve."""
    found = swing_of(teeth(1_000, 20, 0.05))
    assert found is not None
    assert abs(found.period - 1_000) <= 40


def test_irregular_teeth_are_found_by_their_turns() -> None:
    """Teeth of 34 to 47 points have a period near 40."""
    rng = np.random.default_rng(3)
    lengths = rng.integers(34, 47, 14)
    value = np.concatenate([np.linspace(2, 1, length) for length in lengths])
    found = swing_of(value + rng.normal(0, 0.03, len(value)))
    assert found is not None
    assert 30 <= found.period <= 50


def test_one_giant_tooth_does_not_hide_the_others() -> None:
    """A tooth fifty times as high leaves the period of the rest."""
    value = teeth(40, 12, 0.05)
    value[80:84] += 50
    found = swing_of(value)
    assert found is not None
    assert abs(found.period - 40) <= 1


@pytest.mark.parametrize("seed", range(20))
def test_noise_does_not_swing(seed: int) -> None:
    """Neither white nor autocorrelated noise swings."""
    rng = np.random.default_rng(seed)
    white = rng.normal(0, 0.1, 600)
    slow = np.convolve(rng.normal(0, 0.1, 640), 0.8 ** np.arange(20), "valid")[:600]
    assert swing_of(2 + white) is None
    assert swing_of(2 + slow) is None


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 60, [1.0, 2.0] * 30])
def test_poor_curves_do_not_swing(values: list[float]) -> None:
    """Short, constant and alternating curves swing not, and raise nothing."""
    assert swing_of(np.array(values)) is None


def test_what_is_logged_many_times_at_one_step_does_not_swing() -> None:
    """No step passes in a cycle, so there is no period, and the curve can still be told."""
    value = teeth(40, 12, 0.02)
    shape = shape_of(np.full(len(value), 7), value)
    assert all(phase.swing is None for phase in shape.phases)
    assert "nan" not in shape.describe().lower()


def test_a_period_between_two_lengths_is_the_median() -> None:
    """Of cycles of 1 and 4 steps none is near the middle of both."""
    step = np.array([0, 0, 1, 1, 2, 5, 6, 9])
    turns = np.arange(8)
    found = Cycles(turns, np.ones(7), 1, 0, 7, 0.001)
    assert described(found, step, np.array([0.0, 1.0] * 4)).period == 2.5
