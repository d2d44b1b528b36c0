"""Two runs without settings: whether they came down as one configuration does."""

import numpy as np
import pytest

from runlens.comparing.alike import one_configuration
from tests.comparing.drawn_runs import falling


def test_seeds_come_down_alike_and_another_rate_does_not() -> None:
    """The odds go with distance and bends before the end, within bounds."""
    a, b = falling(40, 1), falling(40, 2)
    slower = b + 3 * np.exp(-np.arange(40) / 20)
    assert one_configuration(a, b, 0.5) > 0.4
    assert one_configuration(a, a, 0.5) == pytest.approx(0.7)
    assert one_configuration(a, slower, 0.5) < 0.3
    assert one_configuration(a, b + 1e6, 0.5) == 0.05


def test_the_odds_are_those_that_were_counted() -> None:
    """Two jitters apart until the last third, and as far as one likes in it."""
    a = np.tile([0.0, 1.0, 0.0, -1.0], 6)
    b = a + 2 * 2**0.5 * np.sqrt(2 * np.mean(np.diff(a[:12], 2) ** 2) / 12)
    odds = 3.8 / (2.0 + 1.0) ** 0.66
    assert one_configuration(a, b, 0.5) == pytest.approx(odds / (1 + odds), rel=1e-3)
    b[16:] += 1e6
    assert one_configuration(a, b, 0.5) == pytest.approx(odds / (1 + odds), rel=1e-3)
    assert one_configuration(a[:5], a[:5] + 1e6, 0.5) == 0.05


@pytest.mark.parametrize("times", [0.2, 1.0, 3.0])
def test_another_jitter_is_another_configuration(times: float) -> None:
    """By its factor before the end, whichever of the two is larger; the end is not asked."""
    a = np.tile([0.0, 1.0, 0.0, -1.0], 6)
    b = times * a
    both = np.sqrt(2 * np.mean(np.diff(a[:12], 2) ** 2) / 12) * np.hypot(1, times)
    apart = np.sqrt(np.mean((b - a)[:16] ** 2)) / both
    odds = 3.8 / ((apart + 1) ** 0.66 * (1 + abs(np.log(times))) ** 0.84)
    expected = pytest.approx(min(odds / (1 + odds), 0.7), rel=1e-3)
    assert one_configuration(a, b, 0.5) == expected
    b[16:] *= 100
    assert one_configuration(a, b, 0.5) == expected
    trained = _trained(2.0)
    alike = one_configuration(a, a, 0.5, trained)
    odds = alike / (1 - alike) / (1 + abs(np.log(times))) ** 1.36
    assert one_configuration(a, b, 0.5, trained) == pytest.approx(odds / (1 + odds), rel=1e-3)


def test_a_curve_that_stands_still_has_no_jitter_to_compare() -> None:
    """An accuracy that stays 0 until the end."""
    a, flat = np.tile([0.0, 1.0, 0.0, -1.0], 6), np.zeros(24)
    apart = np.sqrt(np.mean(a[:16] ** 2)) / np.sqrt(np.mean(np.diff(a[:12], 2) ** 2) / 6)
    odds = 3.8 / (apart + 1) ** 0.66
    assert one_configuration(a, flat, 0.5) == pytest.approx(odds / (1 + odds), rel=1e-3)
    assert one_configuration(flat, a, 0.5) == pytest.approx(odds / (1 + odds), rel=1e-3)


def test_curves_that_cross_on_their_way_down_lie_apart() -> None:
    """B - A of a mean of nothing is as far as one of its size to one side."""
    a = np.tile([0.0, 1.0, 0.0, -1.0], 6)
    crossing = 5.0 * 3**0.5 * (1 - np.arange(24) / 7.5)
    to_one_side = one_configuration(a, a + 5.0, 0.5)
    assert one_configuration(a, a + crossing, 0.5) == pytest.approx(to_one_side, rel=0.1)
    assert 0.45 < to_one_side < 0.55


@pytest.mark.parametrize("often", [8, 24, 64])
def test_how_often_a_gliding_curve_was_evaluated_says_nothing(often: int) -> None:
    """A bend falls with the square of the spacing, the distance of two seeds does not."""
    at = np.linspace(0.1, 1, often)
    a, b = np.exp(-3 * at), 1.2 * np.exp(-3 * at)
    assert 0.5 < one_configuration(a, b, 0.5) < 0.6


def _trained(apart: float) -> tuple[np.ndarray, np.ndarray]:
    """Return two training curves of one level, the second some errors of a block above it."""
    noise = np.random.default_rng(1).normal(size=(2, 480))
    block = 2**0.5 * noise.std() / 40**0.5  # eight blocks of two thirds of 480 points
    return 3 + noise[0], 3 + noise[0] + apart * block


@pytest.mark.parametrize("apart", [0.0, 2.0, 6.0])
def test_training_curves_are_asked_as_well(apart: float) -> None:
    """Evaluations however far apart: seeds memorise otherwise, settings train otherwise."""
    a = np.tile([0.0, 1.0, 0.0, -1.0], 6)
    b = a + 4 * 2**0.5 * np.sqrt(2 * np.mean(np.diff(a[:12], 2) ** 2) / 12)
    odds = 6.2 / (apart + 1) ** 1.62
    expected = min(odds / (1 + odds), 0.7)
    assert one_configuration(a, b, 0.5, _trained(apart)) == pytest.approx(expected, abs=0.03)


def test_training_curves_that_are_short_or_equal_in_all_are_not_asked() -> None:
    """Sixteen points tell what chance does in them, and a constant has none."""
    a, b = falling(40, 1), falling(40, 2)
    alone = one_configuration(a, b, 0.5)
    short = np.ones(15) + np.arange(15) % 2
    assert one_configuration(a, b, 0.5, (short, short)) == alone
    assert one_configuration(a, b, 0.5, (np.ones(40), np.ones(40))) == alone
    long = np.ones(16) + np.random.default_rng(2).normal(size=16)
    assert one_configuration(a, b, 0.5, (long, long + 100)) < alone


@pytest.mark.parametrize("count", [2, 4])
def test_few_points_tell_nothing(count: int) -> None:
    """Nor do curves without a jitter."""
    few = np.linspace(3, 2, count)
    assert one_configuration(few, few + 1, 0.5) == 0.5
    assert one_configuration(np.ones(20), np.ones(20) + 1, 0.5) == 0.5
    assert one_configuration(falling(40, 1), falling(40, 3), 0.0) == 0.0
