"""Losses of one written digit."""

import numpy as np
import pytest

from runlens.signals.digits import one_digit


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([1e-6, 3e-6, 1e-6, 2e-6], True),
        ([1e-4, 1e-4, 0.0, 2e-4], True),
        ([1e-6, 3e-6, 1e-6, 12e-6], False),  # two digits
        ([1.5e-6, 3e-6, 4.5e-6, 1.5e-6], False),  # no unit of a decimal
        ([1.0, 3.0, 2.0, 1.0], False),  # whole by nature
        ([0.0, 0.0], False),
        ([], False),
    ],
)
def test_a_loss_of_few_units_is_told(values: list[float], told: bool) -> None:
    """Whole multiples of one decimal unit, each below ten of it."""
    assert bool(one_digit(np.array(values))) is told
