"""Trends against scipy, and what is too short or too noisy for one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from runlens.history import FloatArray, IntArray
from runlens.signals.trend import kendall, mann_kendall, theil_sen, trend

CURVES = arrays(np.float64, st.integers(0, 50), elements=st.integers(-1_000, 1_000))
DISTINCT = arrays(
    np.float64, st.integers(5, 50), elements=st.floats(-1e3, 1e3, allow_subnormal=False)
)


def steps(value: FloatArray, seed: int = 0) -> IntArray:
    """Return increasing steps with uneven gaps."""
    gaps: IntArray = np.random.default_rng(seed).integers(1, 20, len(value))
    return np.cumsum(gaps)


@given(DISTINCT, st.integers(0, 100))
def test_slope_is_theil_sen_of_scipy(value: FloatArray, seed: int) -> None:
    """On uneven steps."""
    at = steps(value, seed)
    assert theil_sen(at, value) == pytest.approx(stats.theilslopes(value, at)[0], abs=1e-12)


@given(st.lists(st.integers(), min_size=5, max_size=50, unique=True))
def test_tau_is_kendalls_of_scipy(drawn: list[int]) -> None:
    """Where no two values tie, all variants of tau are one."""
    value = np.argsort(np.argsort(drawn)).astype(float)
    tau, p = mann_kendall(value)
    assert tau == pytest.approx(stats.kendalltau(np.arange(len(value)), value)[0])
    assert kendall(value) == tau
    assert 0 <= p <= 1


@pytest.mark.parametrize(("value", "tau"), [([], 0.0), ([1.0], 0.0), ([3, 2, 1], -1.0)])
def test_tau_of_few_values(value: list[float], tau: float) -> None:
    """Three evaluations have a direction, one has none."""
    assert kendall(np.array(value, dtype=float)) == tau


def test_p_of_white_noise_is_that_of_scipy() -> None:
    """Without autocorrelation nothing is inflated."""
    value = np.random.default_rng(2).normal(size=200) + np.linspace(0, 0.3, 200)
    _, p = mann_kendall(value)
    wanted = stats.kendalltau(np.arange(200), value)[1]
    assert p == pytest.approx(wanted, rel=0.3)


def test_wandering_is_no_trend() -> None:
    """AR(1) noise: of 200 curves without a trend at most 12 % look significant at 5 %."""
    rng = np.random.default_rng(0)
    alarms, naive = 0, 0
    for _ in range(200):
        value = rng.normal(size=150)
        for at in range(1, 150):
            value[at] += 0.7 * value[at - 1]
        alarms += mann_kendall(value)[1] < 0.05
        naive += stats.kendalltau(np.arange(150), value)[1] < 0.05
    assert alarms <= 24 < naive


@given(CURVES, st.sampled_from([0.25, 2.0, 1_024.0]), st.integers(-500, 500))
def test_trend_follows_the_unit_and_ignores_the_level(
    value: FloatArray, factor: float, shift: int
) -> None:
    """A slope scales; tau and p stay what they are."""
    at = steps(value)
    one, other = trend(at, value), trend(at, factor * (value + shift))
    assert other.slope == pytest.approx(factor * one.slope, abs=1e-9)
    assert other.tau == one.tau
    assert other.p == pytest.approx(one.p, abs=1e-6)


@given(CURVES)
def test_a_mirrored_curve_has_the_mirrored_trend(value: FloatArray) -> None:
    """What rises as much as it fell is as sure."""
    at = steps(value)
    one, other = trend(at, value), trend(at, -value)
    assert (other.slope, other.tau) == (-one.slope, -one.tau)
    assert other.p == pytest.approx(one.p)


@given(arrays(np.float64, st.integers(0, 50), elements=st.floats(-1e150, 1e150)))
def test_no_curve_is_too_short_or_too_odd(value: FloatArray) -> None:
    """0 to 50 points of any size."""
    with np.errstate(all="ignore"):
        found = trend(steps(value), value)
    assert -1 <= found.tau <= 1
    assert (found.p == 1) if len(value) < 4 else (0 <= found.p <= 1)


def test_long_curves_are_judged_by_blocks() -> None:
    """The slope of 20,000 points is that of the line under them."""
    at = np.arange(20_000)
    value = 1e-4 * at + np.random.default_rng(0).normal(size=20_000)
    found = trend(at, value)
    assert found.slope == pytest.approx(1e-4, rel=0.03)
    assert found.p < 1e-6


def test_kendall_counts_pairs_and_tells_nothing_of_a_gap() -> None:
    """Ties count for nothing; a value that is not there leaves no order."""
    assert kendall(np.array([1.0, 3.0, 2.0, 2.0])) == pytest.approx((3 - 2) / 6)
    assert np.isnan(kendall(np.array([1.0, np.nan, 2.0])))
