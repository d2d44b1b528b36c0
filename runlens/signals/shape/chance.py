"""How likely noise alone shows as much: exact for few points, and one confidence for findings."""

import math
from functools import lru_cache

import numpy as np

from runlens.history import FloatArray

# Student's t at 1 in 200 to one side, by degrees of freedom
T_995 = (63.7, 9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36, 3.25, 3.17)
MOST_SIGNS = 100  # steps up to which ways are counted
EXACT = 12  # points up to which ranks are counted, not approximated
# the log-odds that a finding is right: at its threshold with a chance of 1, gained by each doubling
# of the effect, and by each tenth of the chance
BASE, PER_DOUBLING, PER_TENFOLD = 0.4, 0.9, 0.5
# log-odds of a finding to be right by those that its rule gives: fitted to half of the labelled and
# of drawn runs by benchmarks/calibration.py; docs/accuracy.md has the table of the other half
OFFSET, SLOPE = 2.09, 0.37
CERTAIN = 0.99  # no rule is surer
RAREST = 1e-6  # below it a chance says more about the model of the noise than about the run


def confidence(effect: float, chance: float) -> float:
    """Return the probability, 0 to 1, that a finding with this evidence is right.

    `effect` is a multiple of the threshold of the rule: 1 lies on it. What findings say at last is
    `calibrated` by the engine, whatever their rules take it from.
    """
    if effect <= 0:
        return 0.0
    odds = (
        BASE
        + PER_DOUBLING * math.log2(min(effect, 1e6))
        - PER_TENFOLD * math.log10(min(max(chance, RAREST), 1.0))
    )
    return 1.0 / (1.0 + math.exp(-odds))


def calibrated(told: float) -> float:
    """Return how often findings are right to which their rules give this confidence, 0 to 1."""
    if not told > 0:
        return 0.0
    bounded = min(max(told, 1.0 - CERTAIN), CERTAIN)
    odds = OFFSET + SLOPE * math.log(bounded / (1.0 - bounded))
    return 1.0 / (1.0 + math.exp(-odds))


def normal_tail(z: float) -> float:
    """Return the two-sided tail of the normal distribution; 1 where z is not a number."""
    return 1.0 if math.isnan(z) else math.erfc(abs(z) / math.sqrt(2.0))


def t_tail(t: float, free: float) -> float:
    """Return the two-sided tail of Student's t, by Wallace's normal deviate (1959), to 0.01 z."""
    if free < 1 or not math.isfinite(t):
        return 0.0 if math.isinf(t) and free >= 1 else 1.0
    if free < 3:  # noqa: PLR2004 - closed forms; the deviate is too short there
        return _one_or_two(abs(t), free)
    size = (8 * free + 1) / (8 * free + 3) * math.sqrt(free * math.log1p(t * t / free))
    return normal_tail(size)


def _one_or_two(t: float, free: float) -> float:
    if free < 2:  # noqa: PLR2004 - Cauchy
        return 1.0 - 2.0 / math.pi * math.atan(t)
    return 1.0 - t / math.sqrt(2.0 + t * t)


def kendall(value: FloatArray) -> tuple[float, float]:
    """Return (tau, two-sided p) of a monotone trend: exact to 12 points, then normal.

    Ties count as half: the exact p is then a little too large, never too small.
    """
    count = len(value)
    if count < 2:  # noqa: PLR2004 - no pair
        return 0.0, 1.0
    total = float(np.triu(np.sign(value[None, :] - value[:, None]), 1).sum())
    pairs = count * (count - 1) // 2
    if count <= EXACT:
        discordant = int((pairs - abs(total)) / 2)
        return total / pairs, min(1.0, 2.0 * _inversions(count)[discordant])
    score = (abs(total) - 1) / math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return total / pairs, normal_tail(max(score, 0.0))


def signs(value: FloatArray) -> float:
    """Return the two-sided chance that so many of the steps between values go one way.

    It holds whatever the memory of the noise is, a random walk's too (sign test, ties left out).
    """
    steps = np.diff(value)
    ups, downs = int(np.count_nonzero(steps > 0)), int(np.count_nonzero(steps < 0))
    count = ups + downs
    if count > MOST_SIGNS:
        return normal_tail((abs(ups - downs) - 1) / math.sqrt(count))
    ways = sum(math.comb(count, fewer) for fewer in range(min(ups, downs) + 1))
    return min(1.0, ways / 2.0 ** (count - 1))


def student(steps: FloatArray) -> float:
    """Return how far one more point may lie off by chance, 1 in 200, by the steps of a few points.

    Student's t. Of three steps and more their mean is a drift, what they do about it is noise:
    a fall that slows down counts as noise, which errs to the large side. inf for no step.
    """
    count = len(steps)
    if not count:
        return math.inf
    raw = T_995[min(count, len(T_995)) - 1] * math.sqrt(float(np.mean(steps**2)) / 2)
    if count < 3:  # noqa: PLR2004 - two steps have no scatter beside their mean
        return raw
    free = min(count - 1, len(T_995))
    scatter = math.sqrt(float(np.sum((steps - steps.mean()) ** 2)) / (count - 1) / 2)
    return min(raw, T_995[free - 1] * scatter)


@lru_cache(maxsize=EXACT)
def _inversions(count: int) -> tuple[float, ...]:
    """Return the share of orders of `count` values with at most k inversions, for each k."""
    ways = np.ones(1)
    for size in range(2, count + 1):
        ways = np.convolve(ways, np.ones(size))
    return tuple(float(share) for share in np.cumsum(ways) / ways.sum())


def either(*chances: float) -> float:
    """Return the chance of the best of several tests of one thing (Bonferroni)."""
    return min(1.0, len(chances) * min(chances))


def above(first: FloatArray, second: FloatArray) -> float:
    """Return the one-sided chance that `second` lies as far above `first`: a rank-sum test.

    Exact (all divisions counted) up to 12 values together, normal with ties beyond.
    """
    both = np.concatenate([first, second])
    count, taken = len(both), len(second)
    if not len(first) or not taken:
        return 1.0
    ranks = _ranks(both)
    observed = float(ranks[len(first) :].sum())
    if count <= EXACT:
        from itertools import combinations

        sums = np.array([sum(some) for some in combinations(ranks.tolist(), taken)])
        return float(np.mean(sums >= observed - 1e-9))
    mean = taken * (count + 1) / 2
    spread = math.sqrt(taken * (count - taken) * float(np.var(ranks)) / (count - 1)) or 1.0
    return 0.5 * math.erfc((observed - mean) / spread / math.sqrt(2.0))


def _ranks(value: FloatArray) -> FloatArray:
    """Return the ranks 1..n, ties with their mean."""
    _, inverse, counts = np.unique(value, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts).astype(np.float64)
    ranks: FloatArray = (ends - (counts - 1) / 2)[inverse]
    return ranks
