"""Onsets on drawn curves whose beginning is known, and what each number of the module holds."""

import numpy as np
import pytest

from runlens.history import Curve, FloatArray
from runlens.signals import onsets
from runlens.signals.shape.data import Swing


def mask(drawn: str) -> FloatArray:
    """Write a mask as a row of 1 and 0."""
    return np.array([float(one) for one in drawn])


@pytest.mark.parametrize(
    ("drawn", "begins"),
    [
        ("0000011111", 5),
        ("1000011111", 5),  # one that holds by chance is as old as the run
        ("0100111111", 4),
        ("1011111111", 0),  # one exception is none
        ("0001011111", 3),  # a tie: the earlier
        ("0001001111", 6),
    ],
)
def test_what_is_kept_begins_where_most_of_the_rest_lies_behind(drawn: str, begins: int) -> None:
    """Single points long before all others cost more than they bring."""
    assert onsets.held_from(mask(drawn), 0.6, 0.5) == begins


def test_what_is_not_kept_to_the_end_does_not_begin() -> None:
    """The average from the onset on must be kept, and the onset itself be one of those points."""
    assert onsets.held_from(mask("1111100000"), 0.6, 0.5) is None
    assert onsets.held_from(mask("0000000011"), 0.6, 0.5) == 8


def test_a_mask_holds_where_more_of_it_does_than_does_not() -> None:
    """A tie of what holds and what does not is counted to it."""
    assert onsets.stays_from(mask("0001011111") > 0, 0.6) == 3
    assert onsets.stays_from(mask("0001001111") > 0, 0.6) == 6


def test_what_is_just_kept_is_kept() -> None:
    """At the average itself, and by the average itself."""
    assert onsets.held_from(mask("0010"), 0.5, 0.5) == 2
    assert onsets.held_from(np.array([0.1, 0.5, 0.9]), 0.5, 0.3) == 1


def test_an_average_that_is_kept_begins_at_its_first_high_point() -> None:
    """Of shares that are high on average, not at the first of them that is high by chance."""
    share = np.array([0.8, 0.9, 0.6, 0.6, 0.7, 0.9, 1.0, 0.7, 1.0, 1.0, 0.9, 1.0])
    assert onsets.held_from(share, 0.8, 0.8) == 5


def ramp(noise: float, seed: int = 0, height: float = 2.0) -> FloatArray:
    """Draw a loss of 200 points that is best at the 100th and rises along a line to the end."""
    rng = np.random.default_rng(seed)
    fall, rise = np.linspace(3, 1, 100), np.linspace(1, 1 + height, 100)
    return np.concatenate([fall, rise]) * (1 + noise * rng.normal(size=200))


def test_a_rise_begins_where_it_leaves_its_noise() -> None:
    """A line through little noise is dated near its corner, not after a share of its height."""
    assert onsets.left_noise(ramp(0.002), 100, 130, 0.2) == pytest.approx(101, abs=3)


def test_a_rise_in_much_noise_begins_where_it_is_beyond_it() -> None:
    """Two standard errors of its smooth course: with 1.5 of them at 120, with 2.5 at 129."""
    begins = [onsets.left_noise(ramp(0.1, seed, 0.5), 100, 150, 9.9) for seed in range(25)]
    assert 122 <= np.median(begins) <= 128
    assert max(begins) <= 150


@pytest.mark.parametrize(("lowest", "seen", "begins"), [(0, 60, 50), (30, 60, 50), (30, 45, 45)])
def test_the_first_point_beyond_is_the_onset(lowest: int, seen: int, begins: int) -> None:
    """Without noise, on a course that leaves its level at the 50th point; or what was seen."""
    value = np.maximum(np.arange(100.0) - 50, 0.0)
    assert onsets.left_noise(value, lowest, seen, 9.9) == begins


def test_room_keeps_a_rise_from_being_late() -> None:
    """Where the noise is larger than a tenth of the rise, the tenth counts."""
    value = ramp(0.0)
    value[::2] += 0.5
    assert onsets.left_noise(value, 99, 130, 0.05) < onsets.left_noise(value, 99, 130, 9.9)


def curve(value: FloatArray) -> Curve:
    """Make a curve of values, a point every 5 steps."""
    unknown = np.full(len(value), np.nan)
    return Curve(np.arange(len(value)) * 5, value, unknown, unknown)


def teeth(first: int, *, period: int = 40, height: float = 1.0, small: float = 0.0) -> Curve:
    """Draw a falling loss of 400 points whose teeth begin at point `first`, each a quick rise.

    `small`: height of one more tooth, a period before.
    """
    at = np.arange(400)
    value = 1 + 2 * np.exp(-at / 40.0)
    for begin in range(first, 400, period):
        value += np.where(at > begin, height * np.exp(-(at - begin) / 10.0), 0.0)
    value += np.where(at > first - period, small * np.exp(-(at - first + period) / 10.0), 0.0)
    return curve(value)


def swing(period: float = 200.0, amplitude: float = 1.0) -> Swing:
    """Return what is known of the teeth, in steps."""
    return Swing(period, 0.02, amplitude, 6)


@pytest.mark.parametrize("since", [500.0, 700.0, 1100.0])
def test_the_first_tooth_is_the_foot_of_the_first_rise(since: float) -> None:
    """However late the swing was seen: the teeth before it follow each other in its period."""
    assert onsets.first_tooth(teeth(100), swing(), since) == pytest.approx(500, abs=15)


def test_no_tooth_begins_before_the_first_rise() -> None:
    """A swing that is said to begin in the first fall begins with its first tooth."""
    assert onsets.first_tooth(teeth(100), swing(), 0.0) == pytest.approx(500, abs=15)


@pytest.mark.parametrize(("small", "begins"), [(0.7, 500), (1.0, 300)])
def test_what_is_much_smaller_is_no_tooth(small: float, begins: float) -> None:
    """A rise of six tenths of the usual height, as the median of a few points shows it, is one."""
    found = onsets.first_tooth(teeth(100, small=small), swing(), 500.0)
    assert found == pytest.approx(begins, abs=15)


@pytest.mark.parametrize(("apart", "begins"), [(15, 800), (24, 680), (76, 420), (84, 800)])
def test_a_rise_far_before_or_just_before_is_another(apart: int, begins: float) -> None:
    """Teeth follow each other in half a period to two of them."""
    at = np.arange(400)
    before = np.where(at > 160 - apart, 1.8 * np.exp(-(at - 160 + apart) / 5.0), 0.0)
    drawn = curve(teeth(160).value + before)
    assert onsets.first_tooth(drawn, swing(), 1000.0) == pytest.approx(begins, abs=15)


@pytest.mark.parametrize(("width", "begins"), [(2, 500), (3, 300)])
def test_single_points_are_no_teeth(width: int, begins: float) -> None:
    """A median of an eighth of a period takes them out, and leaves teeth as they are."""
    drawn = teeth(100)
    drawn.value[60 : 60 + width] += 1.5
    assert onsets.first_tooth(drawn, swing(), 500.0) == pytest.approx(begins, abs=15)


@pytest.mark.parametrize("since", [590.0, 610.0])
def test_half_a_period_back_is_looked_for_the_first(since: float) -> None:
    """The foot of the tooth that was seen lies before the turn at which it was."""
    assert onsets.first_tooth(teeth(100), swing(amplitude=0.9), since) == 495.0


@pytest.mark.parametrize(("period", "begins"), [(100.0, 300), (99.0, 500)])
def test_a_tooth_two_periods_before_belongs_to_them(period: float, begins: float) -> None:
    """No tooth that is farther away."""
    found = onsets.first_tooth(teeth(100, small=1.5), swing(period=period), 500.0)
    assert found == pytest.approx(begins, abs=6)


def test_what_does_not_rise_begins_where_it_was_seen() -> None:
    """A curve without a tooth of that height."""
    assert onsets.first_tooth(teeth(100), swing(amplitude=9.0), 700.0) == 700.0


def test_a_rise_whose_noise_is_no_number_begins_where_it_is_seen() -> None:
    """Losses near the end of what a number can be have no sum."""
    assert onsets.left_noise(ramp(0.002), 100, 130, float("nan")) == 130
