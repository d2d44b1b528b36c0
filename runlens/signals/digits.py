"""Losses that are written with so few digits that their rounding is what is seen."""

import numpy as np

from runlens.history import FloatArray
from runlens.wording import loss

FINEST = 1e-3  # losses of that size and above are of whole units by nature, such as counts
MOST, SAME = 9, 1e-12  # digits, from which a value counts as exact; rounding of a double
DIGITS, WHOLE = 10.0, 1e-6  # of a unit: a number below has one digit; float rounding of a multiple


def one_digit(loss_: FloatArray) -> str:
    """Say that a loss is written with so few digits that half of it is rounding; else empty.

    ``0.000001``, ``0.000003``: all are whole multiples of one unit, and most are single ones. The
    rounding of one alone is up to half a unit, which is no noise that others would average out.
    """
    value = np.abs(loss_)
    unit = float(value[value > 0].min(initial=np.inf))
    if not len(value) or not unit < FINEST or value.max() >= DIGITS * unit:
        return ""
    whole = np.abs(value / unit - np.round(value / unit)) < WHOLE
    power = abs(np.log10(unit) - round(np.log10(unit))) < WHOLE
    if not power or not whole.all():
        return ""
    return f"the loss is written to the unit of {loss(unit)}, of which it is only a few"


def behind_the_point(value: FloatArray) -> int:
    """Return with how many digits behind the point all values, shape (n,), are written."""
    return next((d for d in range(MOST) if (abs(np.round(value, d) - value) < SAME).all()), MOST)
