"""How far the last third of a reward lies above the first, and what would be chance."""

import numpy as np

from runlens.arrays import median
from runlens.history import FloatArray
from runlens.records import NamedTuple
from runlens.rules.rule import drawn
from runlens.signals.noise import inflation, longest_true

SURE = 2.0  # standard errors: chance passes them one time in forty


class Rise(NamedTuple):
    """The rise of the last over the first third."""

    first: float  # mean of the first third
    last: float
    visible: float  # what would not be chance
    lower: bool = True  # whether the end lies below the start, by tenths
    in_order: bool = False  # whether the points fall in an order that is no chance

    @property
    def seen(self) -> float:
        """How far the last third lies above the first."""
        return self.last - self.first

    @property
    def fell(self) -> bool:
        """Whether it is a fall that is no chance, and the end is a part of it.

        A stretch of bad episodes from which a policy comes back lowers the mean of a third as well.
        """
        return self.lower and (self.beyond_noise or self.in_order)

    @property
    def beyond_noise(self) -> bool:
        """Whether the last third lies below the first by more than its noise."""
        return self.seen < -self.visible


def by_thirds(value: FloatArray) -> tuple[float, float, float]:
    """Return the means of the first and the last third, and the standard error of their gap."""
    third = max(3, len(value) // 3)
    first, last = value[:third], value[-third:]
    spread = float(np.sqrt((first.var() + last.var()) / 2))
    within = np.concatenate([first - first.mean(), last - last.mean()])
    error = spread * float(np.sqrt(2 / third)) * inflation(within)
    return float(first.mean()), float(last.mean()), error


def borne_out(value: FloatArray, head: int, tail: int) -> bool:
    """Whether the means of the first and the last points may have moved as their medians did.

    A policy is trained for the mean of its returns. Where single high ones grow rare the median
    rises without it. A few very low ones leave the means unsure, and deny nothing.
    """
    first, last = value[:head], value[-tail:]
    if min(head, tail) < 2:  # noqa: PLR2004 - a single point has no scatter
        return True
    error = float(np.sqrt(first.var(ddof=1) / head + last.var(ddof=1) / tail))
    within = np.concatenate([first - first.mean(), last - last.mean()])
    seen = float(last.mean() - first.mean())
    return seen + SURE * error * inflation(within) >= float(median(last) - median(first))


def without_success(value: FloatArray, p: float) -> int:
    """Return how many first points of a share are 0, where chance seldom has so many; else 0.

    In any order of the points so many would be 0 that often; none of the later stretches is as
    long. What follows was learned, however low it is.
    """
    zero = value == 0
    if value.min() < 0 or value.max() > 1 or zero.all() or not zero[0]:
        return 0
    first = int(np.argmin(zero))
    chance = float(zero.mean()) ** first
    return first if chance < p and longest_true(zero[first:])[1] < first else 0


SOME = (0.3, 0.2, 0.4, 0.3, 0.1, 0.5, 0.3, 0.2)  # of ten episodes each
GOOD = (
    drawn(
        "ten points in an order that chance shows one time in fourteen",
        noise=0.0,
        task="ppo",
        reward="0:1.4 10:1.1 20:1.2 30:1.5 40:1.7 50:1.3 60:1.0 70:1.6 80:1.8 90:1.9",
    ),
    drawn(
        "no success at each of the first twelve points, and some at all that follow",
        noise=0.0,
        task="rl",
        reward="0:0 110:0 "
        + " ".join(f"{120 + 10 * at}:{SOME[at % len(SOME)]}" for at in range(64)),
    ),
)
