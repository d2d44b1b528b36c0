"""The difference of two runs: real ones clear, noise never, none where it is not known."""

import numpy as np
import pytest

from runlens.comparing.align import Common
from runlens.comparing.difference import Blocks, blocks, drawn, is_relative
from runlens.comparing.seeds import between
from runlens.history import FloatArray
from tests.comparing.drawn_runs import falling, run, steps


def made(a: FloatArray, b: FloatArray, metric: str = "train_loss") -> Blocks:
    """Return the blocks of two curves on the same steps."""
    return blocks(Common(steps(len(a)), a, b), metric)


@pytest.mark.parametrize("count", [30, 200, 1_500])
def test_a_loss_higher_by_a_fifth_is_clear_and_has_its_size(count: int) -> None:
    """In logarithms: ln 1.2 is 0.18."""
    found = made(falling(count, 1), 1.2 * falling(count, 2))
    assert found.clear
    assert found.relative
    assert found.end == pytest.approx(np.log(1.2), abs=0.03)


def test_two_draws_of_one_curve_are_hardly_ever_clear() -> None:
    """Of 300 pairs at most 1 %; the noise is in the unit of the metric."""
    pairs = [made(falling(100, seed), falling(100, 1_000 + seed)) for seed in range(300)]
    assert sum(found.clear for found in pairs) <= 3
    usual = float(np.median([found.noise or 0.0 for found in pairs]))
    assert usual == pytest.approx(0.02 * 2**0.5 * 1.25 / 2.5**0.5, rel=0.35)


def test_a_difference_below_one_percent_is_none_however_small_the_noise() -> None:
    """0.5 % without any noise is not clear, 2 % is."""
    assert not made(falling(100), 1.005 * falling(100)).clear
    assert made(falling(100), 1.02 * falling(100)).clear


def test_noise_that_both_share_cancels() -> None:
    """Equal batches: 3 % is clear under a noise of 10 % that both have."""
    shared, own = falling(400, 1, noise=0.10), np.random.default_rng(2).normal(1, 0.005, 400)
    assert made(shared, 1.03 * shared * own).clear
    assert not made(shared, 1.03 * falling(400, 2, noise=0.10)).clear


def test_equal_values_at_first_do_not_hide_the_noise_after_them() -> None:
    """Runs that are one for three quarters, and noise after it, are no different."""
    a, b = falling(400, 1, noise=0.05), falling(400, 2, noise=0.05)
    b[:300] = a[:300]
    found = made(a, b)
    assert found.noise is not None
    assert found.noise > 0.01
    assert not found.clear


def test_identical_curves_have_no_difference() -> None:
    """And no division by their noise of zero."""
    found = made(falling(100, 1), falling(100, 1))
    assert (found.end, found.noise, found.clear) == (0.0, 0.0, False)


@pytest.mark.parametrize("count", [1, 2, 5, 23])
def test_few_points_know_no_noise(count: int) -> None:
    """And are never clear, whatever the difference."""
    found = made(falling(count, 1), 3 * falling(count, 2))
    assert found.noise is None
    assert not found.clear


def test_rewards_are_compared_by_their_plain_difference() -> None:
    """They may be negative, and a ratio of scores means little."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(-1, 0.1, 200), rng.normal(1, 0.1, 200)
    found = made(a, b, "reward")
    assert not found.relative
    assert found.end == pytest.approx(2, abs=0.1)
    assert found.in_unit(found.end) == found.end
    assert not is_relative("eval_accuracy", Common(steps(2), np.ones(2), np.ones(2)))
    assert is_relative("throughput_tokens", Common(steps(2), np.ones(2), np.ones(2)))


def test_losses_that_reach_zero_are_not_divided() -> None:
    """No logarithm of nothing."""
    a = np.maximum(falling(100) - 1.05, 0)
    found = made(a, a + 0.5)
    assert not found.relative
    assert found.end == pytest.approx(0.5)


def test_every_evaluation_is_a_block_of_its_own() -> None:
    """The last evaluation is the end."""
    a = falling(12, 1, noise=0.002)
    found = made(a, 1.1 * a * np.random.default_rng(5).normal(1, 0.002, 12), "eval_loss")
    assert (len(found.value), found.at_end) == (12, 1)
    assert found.clear


def test_five_evaluations_on_one_side_are_enough_four_or_mixed_ones_are_not() -> None:
    """Below eight the sign has to agree in the last five."""
    level = falling(6)
    above = level * np.array([1.10, 1.101, 1.10, 1.102, 1.10, 1.101])
    assert made(level, above, "eval_loss").clear
    assert made(level[:4], above[:4], "eval_loss").noise is None
    mixed = level * np.array([1.1, 0.9, 1.1, 0.9, 1.1, 1.1])
    assert made(level, mixed, "eval_loss").noise is None


def test_a_page_gets_medians_and_the_width_of_the_noise_in_the_unit_of_the_metric() -> None:
    """Blocks of the plain difference, and a band about zero."""
    a, b = run({"train_loss": falling(200, 1)}), run({"train_loss": falling(200, 2) + 0.5})
    shape = drawn(a, b, "train_loss", "step")
    assert shape is not None
    assert len(shape.at) == len(shape.value) == 40
    assert np.median(shape.value) == pytest.approx(0.5, abs=0.05)
    assert shape.low == -shape.high
    assert 0.01 < shape.high < 0.5
    assert drawn(a, b, "reward", "step") is None


def test_a_page_shows_the_noise_between_seeds_where_it_is_known() -> None:
    """Student's limit for two degrees of freedom times the deviation of a difference."""
    a = run({"train_loss": falling(200, 1)})
    seeds = between([run({"train_loss": falling(200) + one}) for one in (0.0, 0.1, 0.2)])
    shape = drawn(a, a, "train_loss", "step", seeds)
    assert shape is not None
    assert shape.high == pytest.approx(4.30 * 2**0.5 * 0.1, rel=0.06)
