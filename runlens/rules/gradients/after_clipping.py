"""Norms that pile up at one value: they are logged after clipping, unless rounding piles them."""

from runlens.arrays import median
from runlens.history import Curve
from runlens.rules.rule import drawn
from runlens.signals.digits import behind_the_point

# units of the last digit: norms of which half fall into one scatter by 0.7 of it, and nearly all of
# them lie within two more (a millionth is for floats). That they agree is no limit
ROUNDED = 2.0 + 1e-6


def limit_of(curve: Curve, fewest: int, piled: float, pile: float) -> float | None:
    """Return the value at which a share `piled` of the norms lies, within `pile` of the highest."""
    top = float(curve.value.max())
    near = curve.value >= (1 - pile) * top
    if top <= 0 or len(curve) < fewest or near.mean() < piled:
        return None
    others = curve.value[~near]
    unit = 10.0 ** -behind_the_point(curve.value)
    rounded = len(others) > 0 and top - float(median(others)) <= ROUNDED * unit
    return None if rounded else top


LOSS = "0:2.2 300:1.3 900:0.9"
BAD = (
    drawn(
        "logged after clipping, with two digits",
        (0, 100),
        0.0,
        severity="info",
        train_loss=LOSS,
        grad_norm="/10 0:1 10:1 20:0.91 30:1 40:1 50:0.97 60:1 70:1 80:1 90:0.95 100:1 110:1 "
        "120:1 130:0.9 140:1 150:1",
    ),
)
GOOD = (
    drawn(
        "even norms, written with two digits",
        noise=0.0,
        train_loss=LOSS,
        grad_norm="/10 0:0.35 10:0.33 20:0.33 30:0.32 40:0.33 50:0.33 60:0.32 70:0.33 80:0.33 "
        "90:0.33 100:0.32 110:0.33 120:0.33 130:0.32 140:0.33 150:0.33",
    ),
)
