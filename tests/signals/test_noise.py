"""Noise and level: right on noise that is known, robust, and never raising."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.ndimage import median_filter

from runlens.history import FloatArray
from runlens.signals import noise

FINITE = st.floats(-1e6, 1e6, allow_subnormal=False)
CURVES = arrays(np.float64, st.integers(0, 50), elements=FINITE)
EXTREME = arrays(np.float64, st.integers(0, 50), elements=st.floats(-1e150, 1e150))
SCALES = [noise.sigma, noise.sigma_diff, noise.sigma_long]
NAMED = pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.__name__)
Scale = Callable[[FloatArray], float]


def gaussian(seed: int, count: int = 1_000, rho: float = 0.0) -> FloatArray:
    """Return noise of standard deviation 1, with a lag-1 autocorrelation of `rho`."""
    rng = np.random.default_rng(seed)
    value = rng.normal(size=count)
    for at in range(1, count):
        value[at] = rho * value[at - 1] + np.sqrt(1 - rho**2) * value[at]
    return value


@NAMED
@pytest.mark.parametrize("true", [1e-4, 1.0, 300.0])
def test_scale_of_white_noise_is_its_standard_deviation(scale: Scale, true: float) -> None:
    """Within 15 % on 1,000 points."""
    for seed in range(5):
        assert scale(5.0 + true * gaussian(seed)) == pytest.approx(true, rel=0.15)


@NAMED
def test_a_trend_and_a_few_spikes_are_no_noise(scale: Scale) -> None:
    """The loss may fall and jump: its noise stays the same."""
    value = gaussian(1) * 0.1 + np.linspace(10, 0, 1_000)
    value[::100] += 50
    assert scale(value) == pytest.approx(0.1, rel=0.3)


def test_slow_wandering_counts_for_levels_but_not_for_differences() -> None:
    """AR(1) noise of 0.9: differences see less than half of it, `sigma_long` most of it."""
    value = gaussian(3, 4_000, rho=0.9)
    assert noise.sigma_diff(value) == pytest.approx(np.sqrt(2 * 0.1) / np.sqrt(2), rel=0.1)
    assert 0.8 < noise.sigma_long(value) < 1.2


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_autocorrelation_and_its_inflation_are_found(rho: float) -> None:
    """The standard error of a mean of AR(1) noise is wider by sqrt((1 + r) / (1 - r))."""
    value = gaussian(5, 5_000, rho)
    assert noise.lag1(value) == pytest.approx(rho, abs=0.04)
    assert noise.inflation(value) == pytest.approx(np.sqrt((1 + rho) / (1 - rho)), rel=0.15)


def test_rounding_of_the_log_is_a_noise() -> None:
    """A curve printed in steps of 0.01 is not known better than half a step."""
    value = np.round(np.linspace(2, 1, 200), 2)
    assert noise.sigma(value) == pytest.approx(0.005)


@given(CURVES, st.sampled_from([1, 3, 5, 11, 35, 51, 75, 101, 301]))
def test_running_median_is_that_of_scipy(value: FloatArray, width: int) -> None:
    """With the ends repeated; a window wider than the curve sees all of it."""
    got = noise.running_median(value, width)
    assert len(got) == len(value)
    if len(value) and width <= 2 * len(value) - 1:
        np.testing.assert_array_equal(got, median_filter(value, size=width, mode="nearest"))


@pytest.mark.parametrize("width", [3, 5, 7, 33, 35, 51, 101, 181, 1501])
def test_running_median_of_a_long_curve_is_that_of_scipy(width: int) -> None:
    """Windows are compared, ranked in blocks, or ranked in groups that share most values."""
    value = gaussian(7, 9_001 if width > 5 else 2 * noise.COMPARED + 1)
    got = noise.running_median(value, width)
    np.testing.assert_array_equal(got, median_filter(value, size=width, mode="nearest"))
    rounded = np.round(value, 1)
    alike = median_filter(rounded, size=width, mode="nearest")
    np.testing.assert_array_equal(noise.running_median(rounded, width), alike)


STEPS = np.arange(150_000)
COURSES = {
    "level": np.zeros(len(STEPS)),
    "fall": 20 * np.exp(-STEPS / 30_000),
    "wandering": np.cumsum(0.1 * gaussian(3, len(STEPS))),
    "cliffs": np.where(STEPS // 7_001 % 2, 40.0, 0.0),
}


@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize("width", [51, 103])
def test_running_median_of_a_very_long_curve_is_near_that_of_scipy(course: str, width: int) -> None:
    """Off by a part of its own error in noise of 1, and nowhere by more than the noise."""
    value = COURSES[course] + gaussian(7, len(STEPS))
    off = noise.running_median(value, width) - median_filter(value, size=width, mode="nearest")
    assert np.sqrt(np.mean(off**2)) < 0.7 * noise.MEDIAN_LOSS / width**0.5
    assert np.abs(off).max() < 1.0


def test_running_median_of_a_very_long_curve_has_the_edges_of_its_steps() -> None:
    """Without noise it is exact, whether steps are few or many."""
    for every in (20, 61, 7_001):
        value = np.floor(STEPS / every) % 3
        exact = median_filter(value, size=51, mode="nearest")
        np.testing.assert_array_equal(noise.running_median(value, 51), exact)


@given(CURVES, st.integers(1, 60))
def test_running_mean_is_a_mean_of_neighbours(value: FloatArray, width: int) -> None:
    """As numpy's convolution of the padded curve."""
    got = noise.running_mean(value, width)
    assert len(got) == len(value)
    if len(value):
        padded = np.pad(value, (width // 2, width - 1 - width // 2), mode="edge")
        wanted = np.convolve(padded, np.ones(width) / width, mode="valid")
        np.testing.assert_allclose(got, wanted, atol=1e-6)


@NAMED
@given(value=CURVES, shift=st.floats(-1e3, 1e3), factor=st.floats(0.01, 100))
def test_scale_follows_the_unit_and_ignores_the_level(
    scale: Scale, value: FloatArray, shift: float, factor: float
) -> None:
    """Nats or bits, the noise is the same noise."""
    wanted = factor * scale(value)
    top = max(1.0, float(np.abs(value).max(initial=0)))
    digits = 1e-12 * max(1.0, factor) * top  # that a sum of such values has
    assert scale(factor * value) == pytest.approx(wanted, rel=1e-6, abs=max(1e-9, digits))
    if scale is noise.sigma_diff:
        moved = scale(value + shift)
        assert moved == pytest.approx(scale(value), rel=1e-6, abs=1e-9 * (top + abs(shift)))


@given(EXTREME)
def test_no_curve_is_too_short_or_too_odd(value: FloatArray) -> None:
    """All functions take 0 to 50 points of any size."""
    some: list[Callable[[FloatArray], Any]] = [
        *SCALES, noise.mad, noise.smooth, noise.lag1, noise.inflation, noise.levels,
        noise.frozen_run,
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        for function in some:
            function(value)
        for scale in SCALES[:1] + SCALES[2:]:
            assert scale(value) > 0
        assert noise.longest_true(value > 0)[1] <= len(value)
        assert len(noise.smooth(value)) == len(value)


def test_levels_are_start_end_and_best() -> None:
    """A valley: down, the lowest in the middle, half up again."""
    value = np.concatenate([np.linspace(3, 1, 100), np.linspace(1, 2, 100)]) + 0.01 * gaussian(
        1, 200
    )
    found = noise.levels(value)
    assert found.start == pytest.approx(2.95, abs=0.06)
    assert found.end == pytest.approx(1.9, abs=0.05)
    assert found.best == pytest.approx(1.0, abs=0.05)
    assert 90 <= found.best_index <= 110
    assert found.fall == pytest.approx(found.start - found.best)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([], (0, 0)),
        ([1.0], (0, 1)),
        ([1, 2, 2, 2, 3, 3], (1, 3)),
        ([5, 5, 1, 5, 5], (0, 2)),
        ([1, 2, 3], (0, 1)),
    ],
)
def test_longest_frozen_run(value: list[float], found: tuple[int, int]) -> None:
    """The first of the longest, by exact equality."""
    assert noise.frozen_run(np.array(value, dtype=float)) == found


@pytest.mark.parametrize(
    ("mask", "found"), [([], (0, 0)), ([0, 0], (0, 0)), ([0, 1, 1, 0, 1], (1, 2)), ([1, 1], (0, 2))]
)
def test_longest_run_of_true(mask: list[int], found: tuple[int, int]) -> None:
    """First index and length."""
    assert noise.longest_true(np.array(mask, dtype=bool)) == found


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 50))
def test_counts_are_those_of_each_window(mask: list[bool], width: int) -> None:
    """None where the window is longer than the mask."""
    found = noise.counts(np.array(mask, dtype=bool), width).tolist()
    assert found == [sum(mask[at : at + width]) for at in range(len(mask) - width + 1)]


@given(st.integers(1, 3_000), st.integers(1, 500))
def test_block_medians_bound_the_points(count: int, most: int) -> None:
    """In order, inside the range, never more than asked for."""
    value = np.arange(count, dtype=float)
    step, median = noise.block_medians(value, value, most)
    assert len(step) == len(median) <= most
    np.testing.assert_allclose(step, median)
    assert (np.diff(step) > 0).all()


@given(st.integers(0, 5_000))
def test_windows_are_odd_and_within_a_third(count: int) -> None:
    """At least one point, at most 101."""
    wide = noise.window(count)
    assert wide % 2 == 1
    assert 1 <= wide <= max(3, count // 3 + 1, 1)
    assert wide <= 101


def test_a_curve_that_hops_between_two_levels_has_noise() -> None:
    """Games lost by 20 or 21: medians of differences are 0, and no hop is a fall."""
    rng = np.random.default_rng(3)
    lost = -21 + (rng.random(400) < 0.2).astype(float)
    assert 0.2 < noise.sigma(lost) < 0.6
    once = np.full(400, -21.0)
    once[200] = -20
    assert noise.sigma(once) < 0.2  # an event is none
