"""How far the tail of the noise reaches."""

import numpy as np
import pytest

from runlens.history import FloatArray
from runlens.signals.tails import beyond


def noisy(degrees: float) -> FloatArray:
    """Draw a loss about 1 with a noise of Student's t, of a quarter in orders of magnitude."""
    rng = np.random.default_rng(4)
    return np.exp(0.1 * np.clip(rng.standard_t(degrees, 1000), -9, 9))


@pytest.mark.parametrize(
    ("degrees", "height", "width", "off"),
    [
        (3, 2.5, 1, False),  # nine scales of a heavy tail: it has such points
        (3, 2.5, 5, True),  # not five in a row
        (60, 2.5, 1, True),  # normal noise has none
        (3, 400.0, 1, True),  # nor has any tail one so high
    ],
)
def test_single_points_of_a_heavy_tail_are_no_spikes(
    degrees: float, height: float, width: int, off: bool
) -> None:
    """The same height is an event or not by the points below it."""
    value = noisy(degrees)
    value[500 : 500 + width] = height
    where = np.array([500.0]), np.array([float(width)]), np.array([height])
    assert beyond(value, *where).tolist() == [off]


def test_few_points_have_no_tail() -> None:
    """Nor has a loss that goes below 0 orders of magnitude."""
    where = np.array([5.0]), np.array([1.0]), np.array([9.0])
    assert beyond(np.ones(20), *where).all()
    assert beyond(np.linspace(1, -1, 400), *where).all()
