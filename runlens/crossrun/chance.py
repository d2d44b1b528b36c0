"""How likely it is by chance that faulty runs share something, and that none is faulty any more."""

from collections.abc import Hashable, Iterable
from functools import lru_cache

import numpy as np

from runlens.history import BoolArray, FloatArray, IntArray
from runlens.records import NamedTuple

STOPPED = frozenset({"killed", "stopped-early"})  # by hand or from outside: no fault of a setting
# Below this chance, that many clean runs in a row are no accident: the usual 5 %
BY_CHANCE = 0.05


class Stratum(NamedTuple):
    """Runs that are alike but for one thing: with it (`bad` of `all`), and those and the others."""

    bad: int
    all: int
    any_bad: int
    any: int


def chance(strata: Iterable[Stratum]) -> float:
    """Return the one-sided p of the exact test: so many bad ones with it or more, by chance.

    Within each stratum the bad runs are dealt out at random (hypergeometric); of several, the sums
    are (the exact conditional test of Mantel and Haenszel; Fisher's test where there is one). A
    stratum in which all runs or none are bad, or all or none have it, says nothing.
    """
    spread, seen = np.ones(1), 0
    for one in strata:
        if 0 < one.any_bad < one.any and 0 < one.all < one.any:
            low = max(0, one.any_bad - (one.any - one.all))
            spread = np.convolve(spread, _dealt(one.all, one.any_bad, one.any))
            seen += one.bad - low
    return min(1.0, float(spread[seen:].sum()))


def shared(has: BoolArray, bad: BoolArray, strata: IntArray) -> float:
    """Return the chance that so many of the runs that have something are bad, within strata.

    Args:
        has: by run, shape (n,).
        bad: the same.
        strata: numbers from 0 on; runs of one number are alike but for it.

    """
    size = int(strata.max()) + 1
    everything = np.ones_like(has)
    some = (np.bincount(strata[of], minlength=size) for of in (has & bad, has, bad, everything))
    counts = zip(*(one.tolist() for one in some), strict=True)
    return chance(Stratum(*one) for one in counts if one[1])


def alike(keys: Iterable[Hashable]) -> IntArray:
    """Return strata by key; runs that have no like are compared with each other."""
    codes = numbers(keys)
    made: IntArray = np.where(np.bincount(codes)[codes] == 1, codes.max() + 1, codes)
    return made


def numbers(keys: Iterable[Hashable]) -> IntArray:
    """Return a number for each key, from 0 on, the same for equal ones."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)


@lru_cache(maxsize=10_000)
def _dealt(drawn: int, bad: int, total: int) -> FloatArray:
    """Return the chances of the least up to the most bad runs among `drawn` of `total`."""
    some = np.arange(max(0, bad - (total - drawn)), min(drawn, bad) + 1)
    logs = _log_factorials(1 << total.bit_length())

    def choose(amount: int, part: IntArray) -> FloatArray:
        chosen: FloatArray = logs[amount] - logs[part] - logs[amount - part]
        return chosen

    whole = choose(total, np.array([bad]))
    made: FloatArray = np.exp(choose(drawn, some) + choose(total - drawn, bad - some) - whole)
    return made


@lru_cache(maxsize=32)
def _log_factorials(most: int) -> FloatArray:
    made: FloatArray = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    return made


def discovered(p: FloatArray, q: float) -> float:
    """Return the largest p that counts at a false discovery rate of `q`; 0.0 if none does.

    Benjamini and Hochberg: the largest of the sorted p, of rank i, with p <= q * i / n.
    """
    ordered = np.sort(p)
    kept = ordered <= q * np.arange(1, len(p) + 1) / len(p)
    return float(ordered[kept][-1]) if kept.any() else 0.0


def none_since(faulty: int, runs: int, clean: int) -> float:
    """Return how likely so many clean runs in a row are, if nothing has changed.

    The rate is what `faulty` of `runs` tell of it: a beta distribution, begun with Jeffreys' prior
    (one half each); the chance is that of the beta-binomial for no fault in `clean` runs.
    """
    at = np.arange(clean)
    return float(np.prod((runs - faulty + 0.5 + at) / (runs + 1 + at)))
