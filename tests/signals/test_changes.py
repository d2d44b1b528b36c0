"""Where something began: spikes, jumps, hinges, splits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from runlens.history import FloatArray
from runlens.signals.changes import Climb, climb, hinge, last_false, spikes

CURVES = arrays(np.float64, st.integers(0, 50), elements=st.integers(-1_000, 1_000))


def falling(count: int = 400, seed: int = 0) -> FloatArray:
    """Return a loss that falls from 3 to 1, with a noise of 0.05."""
    rng = np.random.default_rng(seed)
    return 1 + 2 * np.exp(-np.linspace(0, 5, count)) + 0.05 * rng.normal(size=count)


@pytest.mark.parametrize("at", [40, 200, 390])
def test_a_spike_is_found_with_its_height_and_its_end(at: int) -> None:
    """Three points wide, back at its base afterwards."""
    value = falling()
    base = float(np.median(value[at - 10 : at]))
    value[at : at + 3] += 4
    found = spikes(value)
    assert found.first.tolist() == [at]
    assert found.peak[0] == pytest.approx(base + 4, abs=0.3)
    assert found.base[0] == pytest.approx(base, abs=0.2)
    assert found.width[0] == 3
    assert found.recovered[0] or at == 390


def test_a_rise_that_stays_has_not_recovered() -> None:
    """A step upwards is no spike that went away."""
    value = falling()
    value[200:] += 4
    assert not spikes(value).recovered.any()


def test_noise_has_no_spikes() -> None:
    """Neither Gaussian noise, nor a fall, nor heavy tails: at most one false alarm in 60 curves."""
    rng = np.random.default_rng(0)
    curves = [falling(seed=seed) for seed in range(20)]
    curves += [rng.normal(size=400) for _ in range(20)]
    curves += [np.exp(0.5 * rng.normal(size=400)) for _ in range(20)]
    assert sum(len(spikes(value).first) > 0 for value in curves) <= 1


def test_cliffs_of_a_very_long_curve_are_no_spikes() -> None:
    """Down and up again, at any distance from where medians are ranked; a spike is found."""
    value = falling(150_000)
    for first in range(20_000, 120_000, 9_001):
        value[first : first + 4_000] += 4
    found = spikes(value)
    assert not found.recovered.any()
    value[140_001] += 4
    found = spikes(value)
    assert found.first[found.recovered].tolist() == [140_001]


def test_several_spikes_are_told_apart_and_neighbours_joined() -> None:
    """Two points of one spike are one spike."""
    value = falling()
    value[[100, 101, 200, 300]] += 5
    found = spikes(value)
    assert found.first.tolist() == [100, 200, 300]
    assert found.at(found.first > 150).first.tolist() == [200, 300]


@given(CURVES, st.sampled_from([0.5, 4.0, 64.0]))
def test_spikes_follow_the_unit(value: FloatArray, factor: float) -> None:
    """The same points in any unit, however short the curve."""
    one, other = spikes(value), spikes(factor * value)
    assert other.first.tolist() == one.first.tolist()
    np.testing.assert_allclose(other.peak, factor * one.peak)
    assert (one.first < max(len(value), 1)).all()


@given(arrays(np.float64, st.integers(0, 50), elements=st.floats(-1e150, 1e150)))
def test_no_curve_is_too_short_or_too_odd(value: FloatArray) -> None:
    """0 to 50 points of any size."""
    with np.errstate(all="ignore"):
        spikes(value)
        assert 0 <= hinge(value) <= len(value)


@pytest.mark.parametrize("at", [20, 100, 160])
def test_hinge_finds_the_corner(at: int) -> None:
    """Good to 2.5 % of the curve."""
    value = np.maximum(np.arange(200.0) - at, 0) * 0.05
    assert abs(hinge(value) - at) <= 0.03 * 200


@pytest.mark.parametrize(
    ("mask", "found"), [([], -1), ([1, 1], -1), ([0, 1], 0), ([1, 0, 1, 0], 3)]
)
def test_last_false(mask: list[int], found: int) -> None:
    """After it the mask holds."""
    assert last_false(np.array(mask, dtype=bool)) == found


def test_the_largest_rise_is_told_with_what_is_left_of_it() -> None:
    """A hump leaves a part of it, a rise to the end all, a fall has none."""
    assert climb(np.array([9.0, 3, 2, 4, 6, 5, 3, 4])) == Climb(2, 4, 4.0, 0.25)
    assert climb(np.array([9.0, 3, 5, 2, 8])) == Climb(3, 4, 6.0, 1.0)
    assert climb(np.array([9.0, 3, 2])) == Climb(0, 0, 0.0, 0.0)


@pytest.mark.parametrize("share", [0.02, 0.04, 0.08])
def test_many_spikes_do_not_pass_for_the_noise_between_them(share: float) -> None:
    """Heavy tails have no gap: what lies beyond one is no part of them."""
    rng = np.random.default_rng(5)
    value = 2 + 0.05 * rng.standard_t(3, 400)
    at = np.sort(rng.choice(np.arange(20, 380, 9), int(share * 400), replace=False))
    value[at] += rng.uniform(4, 9, len(at))
    assert set(at.tolist()) <= set(spikes(value).first.tolist())
