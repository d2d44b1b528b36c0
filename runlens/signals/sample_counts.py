"""Over how many samples a share was counted, as the values themselves tell."""

import math

import numpy as np

from runlens.history import FloatArray
from runlens.signals.digits import MOST, behind_the_point

FEWEST_SHARES, MOST_SHARES = 5, 40  # different shares from which their grid is read
MOST_SAMPLES = 20_000  # of an evaluation: more add nothing to its noise
AT_ONCE = 1_000  # numbers of samples that are tried at once: the least that fits is asked for
SINGLE = 2.0**-25  # half of the last place of a float32 between 0.5 and 1
BY_CHANCE = 1e-3  # that shares of no grid lie on one


def samples_on_grid(value: FloatArray) -> float | None:
    """Return over how many samples shares of shape (n,) were counted, by the grid they lie on.

    A share of k of n samples is a multiple of 1/n: 0.985 and 0.9883 of 600. None where no n is
    small enough for chance to be ruled out, as of scores that are no counts.
    """
    known = np.unique(value[(value > 0) & (value < 1)])
    if len(known) < FEWEST_SHARES:
        return None
    known = known[np.linspace(0, len(known) - 1, min(len(known), MOST_SHARES)).astype(int)]
    digits = max(1, behind_the_point(known))
    rounding = 0.5 * 10.0**-digits
    if digits == MOST and (known.astype(np.float32) == known).all():
        rounding = SINGLE
    counts = np.arange(2, MOST_SAMPLES + 1, dtype=np.float64)
    by_chance = np.log(np.minimum(1.0, 2 * rounding * counts)) * len(known) + np.log(counts)
    counts = counts[by_chance < math.log(BY_CHANCE)]
    for some in np.split(counts, range(AT_ONCE, len(counts), AT_ONCE)):
        scaled = known[None, :] * some[:, None]
        off = np.abs(scaled - np.round(scaled)).max(axis=1)
        fits = some[off <= rounding * some * (1 + 1e-6)]
        if len(fits):
            return float(fits[0])
    return None
