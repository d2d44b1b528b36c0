"""A learning rate that leaps says whether it came back, and how often it leapt again."""

import numpy as np
import pytest

from runlens.history import Curve
from runlens.rules.schedule.mismatch import back


@pytest.mark.parametrize(
    ("rates", "more", "said"),
    [
        ([1e-5, 3e-4, *[1e-5] * 30], 0, " and returned to its old value at step 2"),
        (
            [1e-5, 3e-4, *[1e-5] * 30],
            1,
            " and returned to its old value at step 2. It jumped once more",
        ),
        ([1e-5, 3e-4, *np.linspace(3e-4, 1e-5, 20)], 7, ". It jumped 7 more times"),
        ([1e-5, 3e-4, *[3e-4] * 20], 0, ""),
    ],
)
def test_what_a_leap_was_followed_by(rates: list[float], more: int, said: str) -> None:
    """The tooth of a schedule that comes back slowly is counted as well."""
    steps = np.arange(len(rates))
    curve = Curve(steps, np.array(rates), steps.astype(np.float64), steps.astype(np.float64))
    assert back(curve, 0, more) == said
