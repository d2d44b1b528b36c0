"""What the difference of two levels lets one believe of the configurations behind them.

The deviation between repeats of one configuration is known by a prior (log-normal, with a second
one for what is rare) and by repeats, where there are some; both are brought together on a grid.
From five repeats on they speak alone, and the interval is Student's. The difference of the
configurations is exactly nothing with the probability `equal`, else of any size from a third of a
deviation to thirty. All sums are over normal distributions, so nothing is drawn at random.
"""

import math
from functools import lru_cache

import numpy as np

from runlens.comparison import NoiseFrom
from runlens.history import FloatArray
from runlens.records import NamedTuple

GRID = 81
REACH = 4.0  # deviations of the prior that the grid covers
ALONE = 4  # degrees of freedom from which repeats need no prior
SIZES = (0.3, 1.0, 3.0, 10.0, 30.0)  # deviations between repeats: how large true differences are
COVER = 0.95
TINY = 1e-300  # of a density, whose logarithm is taken
SURE = 0.90  # probability from which an answer is given
DELTA = 2.0  # deviations between repeats that count as equal where the user says nothing
QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)
_ERFC = np.frompyfunc(math.erfc, 1, 1)
POWER = 0.84  # normal quantile of 80 %: of the smallest difference that would be seen


class Rare(NamedTuple):
    """A few kinds of trainings: their seeds lie much further apart than their curves say."""

    weight: float = 0.0  # probability
    deviation: float = 1.0
    doubt: float = 1.0


class Spread(NamedTuple):
    """How far repeats of one configuration lie apart, in the unit of the metric."""

    deviation: float  # of the prior: its median; 0 where there is none
    doubt: float  # standard deviation of its logarithm
    measured: float = 0.0  # from repeats
    freedom: int = 0  # its degrees of freedom
    source: NoiseFrom = ""
    rare: Rare = Rare()

    def beside(self, other: float) -> "Spread":
        """Return a spread to which another source of noise adds, of a known deviation."""
        return self._with(math.hypot(self.deviation, other), math.hypot(self.rare.deviation, other))

    def times(self, factor: float) -> "Spread":
        """Return the prior of a multiple, as of the difference of two runs."""
        return self._with(self.deviation * factor, self.rare.deviation * factor)

    def _with(self, deviation: float, rare: float) -> "Spread":
        return self._replace(deviation=deviation, rare=self.rare._replace(deviation=rare))


class Belief(NamedTuple):
    """What is believed of B - A."""

    noise: float  # standard deviation of the observed difference
    limit: float  # times the noise: half the width of the 95 % interval
    p_higher: float  # that a fresh repeat of B lies above one of A
    p_sign: float  # that the configurations differ to the side that was seen
    p_equal: float  # that the configurations differ by less than delta
    delta: float
    # that configurations that are one differ as much (two-sided); without repeats by the likeliest
    # noise, as claims are, or the prior's doubt would count once more for each of many runs
    chance: float = 1.0
    deltas: tuple[float, ...] = ()  # what delta may be, equally likely: the deviation is not sure

    @property
    def smallest(self) -> float:
        """The smallest difference that four comparisons of five like this one would show."""
        return (self.limit + POWER) * self.noise

    def interval(self, difference: float, *, guessed: bool) -> tuple[float, float]:
        """Return the 95 % interval of B - A: from nothing on where its sign is less sure than that.

        Where the deviation is `guessed` the configurations may be one, as where nothing but the
        seed was changed: then their difference is nothing, however far apart two seeds lie.
        """
        width = self.limit * self.noise
        low, high = difference - width, difference + width
        if guessed and self.p_sign < COVER:
            return min(low, 0.0), max(high, 0.0)
        return low, high


def believe(
    difference: float,
    spread: Spread,
    *,
    share: float = 2**0.5,
    equal: float = 0.0,
    elsewhere: float = 0.0,
    delta: float | None = None,
    evidence: float | None = None,
) -> Belief | None:
    """Return what to believe; None where nothing is known of the spread.

    Args:
        difference: of the two levels, B - A.
        spread: between repeats of one configuration.
        share: the error of the difference in deviations between repeats: the root of 2 for one
            run against one, of 1/n + 1/m for groups, of 1/n for n pairs whose spread is that of
            their differences.
        equal: probability, before the curves are seen, that the configurations are one.
        elsewhere: probability that two seeds of one configuration end in two optima, and so as far
            apart as two configurations do.
        delta: difference that counts as none; two deviations between repeats where None.
        evidence: the difference that what is believed rests on, where that is not `difference`
            itself: a steadier one (ends.py).

    """
    sigma, weight, noise, limit = _ruler(spread, share)
    if not len(sigma):
        return None
    error = share * sigma
    repeats, likeliest = spread.measured > 0, np.full_like(error, noise)
    seen = difference if evidence is None else evidence
    apart = 1 - equal * (1 - elsewhere)  # probability of ends as far apart as of configurations
    mean, variance, posterior = _posterior(seen, sigma, weight, error, 1 - apart)
    differ = (1 - equal) / apart if apart else 0.0
    fresh = _normal(mean / np.sqrt(variance + 2 * sigma[:, None] ** 2))
    sign = math.copysign(1.0, difference)
    solid = variance > 0
    beyond = np.where(solid, _normal(sign * mean / np.sqrt(np.where(solid, variance, 1.0))), 0.0)
    bound = delta if delta is not None else DELTA * sigma[:, None]
    deep = np.sqrt(np.where(solid, variance, 1.0))
    inside = np.where(solid, _normal((bound - mean) / deep) - _normal((-bound - mean) / deep), 1.0)
    return Belief(
        noise=noise,
        limit=limit,
        p_higher=differ * float((posterior * fresh).sum()) + (1 - differ) / 2,
        p_sign=differ * float((posterior * beyond).sum()),
        p_equal=differ * float((posterior * inside).sum()) + 1 - differ,
        delta=delta if delta is not None else DELTA * float(np.interp(0.5, weight.cumsum(), sigma)),
        chance=float(weight @ (2 * _normal(-abs(difference) / (error if repeats else likeliest)))),
        deltas=tuple((DELTA * np.interp(QUANTILES, weight.cumsum(), sigma)).tolist()),
    )


@lru_cache(maxsize=128)  # of a board all rows have one
def _ruler(spread: Spread, share: float) -> tuple[FloatArray, FloatArray, float, float]:
    """Return (deviations, their probabilities, the likeliest noise, the interval's half in it)."""
    sigma, weight = _grid(spread)
    noise = share * (spread.measured if _alone(spread) else spread.deviation)
    limit = _limit(share * sigma, weight, noise) if len(sigma) else 0.0
    return sigma, weight, noise, limit


def _grid(spread: Spread) -> tuple[FloatArray, FloatArray]:
    """Return (deviations, their probabilities), both of shape (k,); empty where none is known."""
    measured = spread.measured > 0 and spread.freedom > 0
    alone = _alone(spread)
    if not measured and spread.deviation <= 0:
        return np.empty(0), np.empty(0)
    if alone:
        reach = REACH * 2.5 / spread.freedom**0.5
        sigma = spread.measured * np.exp(np.linspace(-reach, reach, GRID))
        log_weight = np.zeros(GRID)
    else:
        sigma, log_weight = _before(spread)
    if measured:
        log_weight = log_weight - spread.freedom * np.log(sigma)
        log_weight -= 0.5 * spread.freedom * (spread.measured / sigma) ** 2
    weight = np.exp(log_weight - log_weight.max())
    return sigma, weight / weight.sum()


def _before(spread: Spread) -> tuple[FloatArray, FloatArray]:
    """Return (deviations, logarithms of their densities) of the prior, wide enough for repeats."""
    parts = [(1 - spread.rare.weight, math.log(spread.deviation), spread.doubt)]
    if spread.rare.weight:
        parts.append((spread.rare.weight, math.log(spread.rare.deviation), spread.rare.doubt))
    ends = [centre + side * REACH * doubt for _, centre, doubt in parts for side in (-1, 1)]
    if spread.measured > 0:
        known = math.log(spread.measured)
        ends += [known - spread.doubt, known + spread.doubt]
    at = np.linspace(min(ends), max(ends), GRID)
    density = sum(
        share / doubt * np.exp(-0.5 * ((at - centre) / doubt) ** 2)
        for share, centre, doubt in parts
    )
    return np.exp(at), np.log(np.maximum(density, TINY))


def _alone(spread: Spread) -> bool:
    """Whether the repeats speak without the prior."""
    if spread.measured <= 0 or not spread.freedom:
        return False
    return spread.freedom >= ALONE or spread.deviation <= 0


def _limit(error: FloatArray, weight: FloatArray, noise: float) -> float:
    """Return half the width of the interval, in `noise`, by bisection."""
    low, high = 0.0, 1e4
    for _ in range(60):
        middle = (low + high) / 2
        outside = float(weight @ (2 * _normal(-middle * noise / error)))
        low, high = (middle, high) if outside > 1 - COVER else (low, middle)
    return high


def _posterior(
    difference: float, sigma: FloatArray, weight: FloatArray, error: FloatArray, equal: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, variance and probability of the true difference, each of shape (k, sizes)."""
    width = np.concatenate([[0.0], SIZES])[None, :] * sigma[:, None]
    before = np.array([equal, *[(1 - equal) / len(SIZES)] * len(SIZES)])[None, :]
    total = width**2 + error[:, None] ** 2
    log_seen = -0.5 * np.log(total) - 0.5 * difference**2 / total
    seen = np.exp(log_seen - log_seen.max()) * before * weight[:, None]
    shrink = width**2 / total
    return shrink * difference, shrink * error[:, None] ** 2, seen / seen.sum()


def _normal(value: FloatArray) -> FloatArray:
    """Return the normal distribution function."""
    tail: FloatArray = np.asarray(_ERFC(-value / math.sqrt(2)), dtype=np.float64)
    return tail / 2
