"""Losses that come again digit for digit: how many, and whether chance shows as many."""

import numpy as np
import pytest

from runlens.signals.shape import RARE, recurrence

EPOCH = (0.9741, 1.3742, 1.2390, 0.9672, 1.0391, 1.1681)


def test_an_epoch_that_repeats_is_no_chance() -> None:
    """Four decimals, six losses seen twice."""
    seen = recurrence(np.array(EPOCH * 2))
    assert seen.repeats == 6
    assert seen.chance < 1e-9


@pytest.mark.parametrize(("value", "rare"), [(16771.4415, True), (4.605, True), (4.6, False)])
def test_one_value_counts_by_its_digits(value: float, *, rare: bool) -> None:
    """Six times 4.6 may be 4.55 to 4.65; six times 4.605 is no moving loss."""
    assert (recurrence(np.full(6, value)).chance < RARE) is rare


def test_a_value_that_is_only_shown_again_does_not_count() -> None:
    """A progress bar repeats its last loss until the next one is logged."""
    assert recurrence(np.repeat(EPOCH, 3)).repeats == 0


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_rounding_alone_repeats_seldom_beyond_chance(digits: int) -> None:
    """Of 400 noisy losses of every length at most two are taken for weights that stand still."""
    rng = np.random.default_rng(23)
    drawn = (np.round(rng.normal(2.0, 0.2, 4 + at % 200), digits) for at in range(400))
    assert sum(recurrence(value).chance < RARE for value in drawn) <= 2


def test_zeros_alone_tell_of_no_rounding() -> None:
    """They have no last digit, and no spread."""
    assert recurrence(np.zeros(19)).chance == 1
