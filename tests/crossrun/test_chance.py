"""Chances: of what runs share, and of runs in a row without a fault."""

import itertools
import random

import numpy as np
import pytest
from scipy import stats

from runlens.crossrun.chance import BY_CHANCE, Stratum, chance, discovered, none_since


@pytest.mark.parametrize("table", [(7, 9, 0, 20), (3, 3, 3, 30), (1, 5, 4, 6), (50, 90, 9, 400)])
def test_of_one_stratum_it_is_fishers_test_as_scipy_has_it(
    table: tuple[int, int, int, int],
) -> None:
    """One-sided."""
    bad, with_it, others_bad, others = table
    square = [[bad, with_it - bad], [others_bad, others - others_bad]]
    expected = stats.fisher_exact(square, alternative="greater").pvalue
    whole = Stratum(bad, with_it, bad + others_bad, with_it + others)
    assert chance([whole]) == pytest.approx(expected, rel=1e-9)


def test_of_several_strata_it_is_the_share_of_all_ways_to_deal() -> None:
    """Counted out: two strata of five runs, of which two and three have it."""
    strata = [Stratum(2, 2, 3, 5), Stratum(2, 3, 2, 5)]
    first = [len(set(some) & {0, 1}) for some in itertools.combinations(range(5), 3)]
    second = [len(set(some) & {0, 1, 2}) for some in itertools.combinations(range(5), 2)]
    ways = [one + other for one in first for other in second]
    expected = sum(total >= 4 for total in ways) / len(ways)
    assert chance(strata) == pytest.approx(expected)


def test_a_stratum_of_one_kind_says_nothing() -> None:
    """A job that always breaks, or has it in all of its runs."""
    tells = Stratum(3, 4, 3, 20)
    silent = [Stratum(9, 9, 9, 9), Stratum(4, 4, 9, 9), Stratum(3, 9, 3, 9), Stratum(0, 5, 0, 9)]
    assert chance([tells, *silent]) == pytest.approx(chance([tells]))
    assert chance(silent) == 1.0


def test_discoveries_are_those_of_scipy() -> None:
    """Benjamini and Hochberg."""
    rng = np.random.default_rng(3)
    p = np.concatenate([rng.random(50), rng.random(8) * 1e-3])
    adjusted = stats.false_discovery_control(p)
    for q in (0.001, 0.01, 0.05, 0.3):
        assert (p <= discovered(p, q)).tolist() == (adjusted <= q).tolist()


@pytest.mark.parametrize(
    ("faulty", "runs", "clean"), [(1, 1, 5), (2, 2, 3), (3, 3, 2), (3, 11, 14)]
)
def test_so_many_clean_runs_are_no_accident(faulty: int, runs: int, clean: int) -> None:
    """Beta-binomial with Jeffreys' prior, drawn: a rate from the posterior, then clean runs."""
    assert none_since(faulty, runs, clean) <= BY_CHANCE < none_since(faulty, runs, clean - 1)
    drawn = random.Random(7)
    rates = [drawn.betavariate(faulty + 0.5, runs - faulty + 0.5) for _ in range(40_000)]
    mean = sum((1 - rate) ** clean for rate in rates) / len(rates)
    assert none_since(faulty, runs, clean) == pytest.approx(mean, rel=0.08)
