"""What a difference lets one believe: intervals that cover, answers that hold."""

import numpy as np
import pytest
from scipy import stats

from runlens.comparing.belief import Belief, Rare, Spread, believe
from runlens.comparing.measures import SAME
from runlens.signals.sample_counts import samples_on_grid
from runlens.signals.student import student_limit

KNOWN = Spread(1.0, 0.01)


def of(difference: float, spread: Spread = KNOWN, **how: float) -> Belief:
    """Return the belief of a spread that is known."""
    found = believe(difference, spread, **how)
    assert found is not None
    return found


def test_a_known_deviation_gives_the_normal_interval() -> None:
    """1.96 deviations of a difference, which is the root of two as large as that of a run."""
    found = of(0.0)
    assert found.noise == pytest.approx(2**0.5)
    assert found.limit == pytest.approx(1.96, abs=0.01)
    assert found.p_higher == pytest.approx(0.5)


@pytest.mark.parametrize("freedom", [4, 8, 20])
def test_repeats_alone_give_students_interval(freedom: int) -> None:
    """From five repeats on the prior has no say."""
    found = of(0.0, Spread(100.0, 0.5, measured=1.0, freedom=freedom))
    assert found.limit == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.01)


def test_few_repeats_are_helped_by_the_prior() -> None:
    """Two repeats alone would need 12.7 deviations."""
    alone = of(0.0, Spread(0.0, 1.0, measured=1.0, freedom=1))
    helped = of(0.0, Spread(1.0, 0.55, measured=1.0, freedom=1))
    assert helped.limit * helped.noise < alone.limit * alone.noise / 2


def test_intervals_cover_what_they_say_where_the_prior_holds() -> None:
    """Of 4,000 pairs of equal configurations 95 % lie within, half is above one half."""
    rng = np.random.default_rng(0)
    deviation = np.exp(0.55 * rng.normal(size=4_000))
    difference = 2**0.5 * deviation * rng.normal(size=4_000)
    width = (found := of(0.0, Spread(1.0, 0.55))).limit * found.noise
    assert (abs(difference) <= width).mean() == pytest.approx(0.95, abs=0.012)


def test_the_smallest_difference_is_seen_in_four_cases_of_five() -> None:
    """A known deviation, so that chance alone decides."""
    rng = np.random.default_rng(0)
    found = of(0.0)
    seen = found.smallest + 2**0.5 * rng.normal(size=20_000) > found.limit * found.noise
    assert seen.mean() == pytest.approx(0.8, abs=0.01)


def test_equality_needs_a_reason_or_a_sharp_ruler() -> None:
    """One run against one hardly shows it where a setting was changed; ten against ten do."""
    assert of(1.0).p_equal < SAME
    assert of(0.0, equal=0.5).p_equal > SAME
    assert of(0.0, share=0.2**0.5).p_equal > SAME
    assert of(0.0, delta=20.0).p_equal > SAME


def test_nothing_known_is_nothing_believed() -> None:
    """No prior, no repeats."""
    assert believe(1.0, Spread(0.0, 1.0)) is None


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 10, 31, 200])
def test_student_is_that_of_scipy(freedom: int) -> None:
    """To nine digits, for odd and even degrees of freedom."""
    expected = stats.t.ppf(0.975, freedom)
    assert student_limit(freedom) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("digits", [4, 5, 16])
def test_the_samples_of_an_accuracy_are_read_from_its_grid(digits: int) -> None:
    """Shares of 600 lie on multiples of 1/600, however they are rounded."""
    shares = np.array([512, 533, 541, 557, 563, 569, 571, 577, 583, 587, 589, 591]) / 600
    assert samples_on_grid(np.round(shares, digits)) == 600
    assert samples_on_grid(shares.astype(np.float32).astype(np.float64)) == 600


def test_scores_that_are_no_counts_have_no_grid() -> None:
    """Neither means of ranks, nor few values, nor two digits, which fit many grids."""
    rng = np.random.default_rng(0)
    assert samples_on_grid(np.round(rng.uniform(0.3, 0.9, 20), 5)) is None
    assert samples_on_grid(np.array([0.5, 0.75, 0.5, 0.75])) is None
    assert samples_on_grid(np.array([0.51, 0.53, 0.58, 0.61, 0.66, 0.71])) in {None, 100}


def test_chance_without_repeats_is_that_of_the_likeliest_noise() -> None:
    """Two standard errors are 1 in 22; with repeats Student's tail makes it more."""
    alone = believe(2 * 2**0.5, Spread(1.0, 0.7))
    assert alone is not None
    assert alone.chance == pytest.approx(0.0455, abs=1e-4)
    repeated = believe(2 * 2**0.5, Spread(1.0, 0.7, 1.0, 4))
    assert repeated is not None
    assert repeated.chance > 0.06


def test_what_is_rare_widens_and_is_drawn_in_by_what_was_published() -> None:
    """One kind in seven whose seeds lie far apart costs width; a deviation known of it takes it."""
    usual = Spread(1.0, 0.5, source="prior")
    tailed = usual._replace(rare=Rare(0.15, 7.4, 1.2))
    assert of(0.0, tailed).limit > 1.5 * of(0.0, usual).limit
    assert of(5.0, tailed).p_sign < of(5.0, usual).p_sign
    assert of(0.0, tailed._replace(measured=7.4, freedom=3)).limit > of(0.0, tailed).limit
    assert tailed.times(2.0).rare.deviation == pytest.approx(14.8)
    assert tailed.beside(3.0).deviation == pytest.approx(10**0.5)


def test_seeds_that_may_end_in_two_optima_cap_what_one_pair_tells() -> None:
    """However far apart: as likely by chance as they are one configuration, times that share."""
    assert of(60.0, equal=0.5, delta=0.0).p_sign == pytest.approx(1.0, abs=0.01)
    capped = of(60.0, elsewhere=0.25, equal=0.5, delta=0.0)
    assert capped.p_sign == pytest.approx(0.8, abs=0.01)
    assert capped.p_equal == pytest.approx(0.2, abs=0.01)
    assert capped.p_higher == pytest.approx(0.9, abs=0.01)
    assert of(60.0, elsewhere=0.25) == of(60.0)  # a setting was changed
    assert of(0.5, elsewhere=1.0, equal=1.0).p_sign == 0.0
