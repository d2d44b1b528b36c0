"""How far repeats with other seeds lie apart: from repeats, else by a prior from the curve itself.

The prior. In 146 groups of 8 to 24 repeats (31 kinds of small trainings: classification, language
modelling, regression, factorisation, retrieval, policies, clusters, smoothed losses) the deviation
of the last value between seeds goes with what one curve shows as

    SHARE x jitter^(2/3) x size^(1/3)

with the jitter of one value about its neighbours; the size is the geometric mean of the values
themselves and of how far they have come: a floor that nothing can learn makes the one too large, a
wild start the other. Slope and slow wandering tell no more (regressions that each left one kind of
training out). Of half the kinds it is right within a factor of 2. It is too small by ten where
seeds end in different optima, as clusters do: repeats (`--seeds`, groups) take its place.
benchmarks/compare_families.py measures what rests on it.
"""

import math

import numpy as np

from runlens.comparing.belief import Spread
from runlens.comparing.ends import FEWEST_JITTER, End, end
from runlens.history import FloatArray

SHARE = 0.345  # 0.47 is the median of the groups; less shows more and errs more often: ADR 8
DOUBT = 0.65  # deviation of its logarithm over the kinds; their mean distance is 0.75
SHARE_OF_MEAN = 0.12  # the same of a mean, beside its own error
DOUBT_OF_MEAN = 0.5  # over the groups; repeats may wander where one curve does not show it
FEW = 8  # values below which the jitter itself is a guess
DOUBT_FEW = 0.8
OF_SPAN = 0.03  # without a jitter: of how far the curve has come
OF_LEVEL = 0.01  # without either: of the level
DOUBT_BLIND = 1.0
FEWEST_SHARES, MOST_SHARES = 5, 40  # different shares from which their grid is read
MOST_SAMPLES = 20_000  # of an evaluation: more add nothing to its noise
DIGITS = 9  # behind the point, from which a share counts as exact
BY_CHANCE = 1e-3  # that shares of no grid lie on one


def prior(ends: tuple[End, End]) -> Spread:
    """Return the prior of the deviation between repeats, by the ends of both curves.

    One deviation for both: the root mean square of what either shows.
    """
    each = [_of_curve(one) for one in ends]
    if not all(deviation > 0 for deviation, _ in each):
        known = max(each)
        each = [known, known]
    deviation = math.sqrt((each[0][0] ** 2 + each[1][0] ** 2) / 2)
    return Spread(deviation, max(each[0][1], each[1][1]), source="prior" if deviation else "")


def _of_curve(end: End) -> tuple[float, float]:
    """Return (deviation, doubt of its logarithm) by one curve; 0.0 where it shows nothing."""
    if end.jitter > 0 and end.points >= FEWEST_JITTER:
        span = max(end.span, end.jitter)
        if end.error:  # a mean of many points: its own error, and what seeds add to it
            seed = SHARE_OF_MEAN * math.sqrt(end.error * min(span, end.scale))
            return math.hypot(seed, end.error), DOUBT_OF_MEAN
        seed = SHARE * (end.jitter**4 * span * end.scale) ** (1 / 6)
        return seed, DOUBT if end.points >= FEW else DOUBT_FEW
    if end.points > 1 and end.span > 0:
        return OF_SPAN * end.span, DOUBT_BLIND
    return OF_LEVEL * abs(end.value) if end.points <= 1 else 0.0, DOUBT_BLIND


def coupled(difference: FloatArray, *, held_out: bool) -> Spread:
    """Return the spread of the difference of two runs with one seed, by its own curve B - A.

    Runs that began alike and saw the same data in the same order may stay together to the end: what
    parts them is then far less than what parts two seeds. It tells how equal they are, and is never
    what a claim of a difference rests on, since a difference that grows would count as noise.
    """
    known = end(difference, held_out=held_out)
    if known is None or known.points < FEW:
        return Spread(0.0, DOUBT_BLIND)
    deviation, doubt = _of_curve(known)
    return Spread(deviation, doubt, source="prior")


def measured(levels: list[FloatArray], before: Spread) -> Spread:
    """Return a spread with the pooled deviation of groups of repeats, each of shape (n,)."""
    groups = [one for one in levels if len(one) > 1]
    freedom = sum(len(one) - 1 for one in groups)
    if not freedom:
        return before
    squares = sum(float(((one - one.mean()) ** 2).sum()) for one in groups)
    deviation = math.sqrt(squares / freedom)
    return before._replace(measured=deviation, freedom=freedom, source="seeds")


def with_sampling(spread: Spread, share: float, samples: float | None) -> Spread:
    """Return a spread that is no smaller than the sampling of a share over n samples allows.

    A share p over n samples has the standard error sqrt(p (1 - p) / n). Two runs that are evaluated
    on one set share a part of it, so that half of its variance is taken.
    """
    if not samples or not 0 < share < 1:
        return spread
    sampling = math.sqrt(share * (1 - share) / samples / 2)
    return spread._replace(deviation=float(np.hypot(spread.deviation, sampling)))


def samples_on_grid(value: FloatArray) -> float | None:
    """Return over how many samples shares of shape (n,) were counted, by the grid they lie on.

    A share of k of n samples is a multiple of 1/n: 0.985 and 0.9883 of 600. None where no n is
    small enough for chance to be ruled out, as of scores that are no counts.
    """
    known = np.unique(value[(value > 0) & (value < 1)])
    if len(known) < FEWEST_SHARES:
        return None
    known = known[np.linspace(0, len(known) - 1, min(len(known), MOST_SHARES)).astype(int)]
    digits = next(d for d in range(1, DIGITS + 1) if d == DIGITS or _written(known, d))
    rounding = 0.5 * 10.0**-digits
    counts = np.arange(2, MOST_SAMPLES + 1, dtype=np.float64)
    by_chance = np.log(np.minimum(1.0, 2 * rounding * counts)) * len(known) + np.log(counts)
    counts = counts[by_chance < math.log(BY_CHANCE)]
    scaled = known[None, :] * counts[:, None]
    off = np.abs(scaled - np.round(scaled)).max(axis=1)
    fits = counts[off <= rounding * counts * (1 + 1e-6)]
    return float(fits[0]) if len(fits) else None


def _written(value: FloatArray, digits: int) -> bool:
    """Whether all values are written with as many digits behind the point."""
    return bool((np.abs(np.round(value, digits) - value) < 1e-12).all())  # noqa: PLR2004
