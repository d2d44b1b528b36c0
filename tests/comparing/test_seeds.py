"""The noise between seeds: from three repeats on, honest about how few they are."""

import numpy as np
import pytest

from runlens.comparing.seeds import LIMITS, better, between, reached
from tests.comparing.drawn_runs import falling, run


def test_three_repeats_give_the_deviation_of_each_level() -> None:
    """The sample deviation of 1.0, 1.1 and 1.2 is 0.1."""
    repeats = [run({"eval_loss": [2.0, level]}) for level in (1.0, 1.1, 1.2)]
    noise = between(repeats)
    assert noise.siblings == 3
    assert noise.of("eval_loss", "last") == pytest.approx(0.1)
    assert noise.of("train_loss", "last") is None
    assert noise.problems == ()


def test_two_repeats_give_none_and_say_so() -> None:
    """Their deviation would be a guess."""
    noise = between([run({"eval_loss": [2.0, level]}) for level in (1.0, 1.1)])
    assert noise.of("eval_loss", "last") is None
    assert "needs 3" in noise.problems[0].text
    assert between([]).of("eval_loss", "last") is None


def test_few_repeats_need_a_larger_difference() -> None:
    """Student's t instead of two deviations: 4.53 for three repeats, near 2 for many."""
    many = [run({"eval_loss": [2.0, 1.0 + 0.01 * seed]}) for seed in range(20)]
    assert between(many[:3]).limit == 4.53
    assert between(many[:12]).limit == LIMITS[10]
    assert between(many).limit == pytest.approx(2.14)


def test_limits_keep_equal_runs_apart_as_rarely_as_two_deviations_do() -> None:
    """Of 20,000 pairs with three repeats about 4.6 % are beyond it; 18 % were beyond two."""
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(20_000, 5))
    noise = 2**0.5 * draws[:, :3].std(axis=1, ddof=1)
    times = np.abs(draws[:, 3] - draws[:, 4]) / noise
    assert (times > LIMITS[3]).mean() == pytest.approx(0.0455, abs=0.006)


def test_a_repeat_that_ended_in_nan_has_no_last_level() -> None:
    """It does not count as one."""
    repeats = [run({"eval_loss": [2.0, level]}) for level in (1.0, 1.1, float("nan"))]
    noise = between(repeats)
    assert noise.of("eval_loss", "last") is None
    assert noise.of("eval_loss", "best") is not None


def test_repeats_with_other_settings_are_named() -> None:
    """They are no mere repeats."""
    repeats = [
        run({"eval_loss": [2.0, 1.0]}, config={"learning_rate": rate})
        for rate in (1e-3, 1e-3, 2e-3)
    ]
    assert "learning_rate (0.001 and 0.002)" in between(repeats).problems[0].text


def test_levels_are_those_of_their_kind() -> None:
    """Evaluations: the very values; training: robust ones; best by the metric's direction."""
    assert reached(run({"eval_loss": [3.0, 1.0, 2.0]}), "eval_loss") == (2.0, 1.0)
    assert reached(run({"eval_accuracy": [0.3, 0.9, 0.5]}), "eval_accuracy") == (0.5, 0.9)
    loss = falling(200, 1)
    loss[-1] = 50
    assert reached(run({"train_loss": loss}), "train_loss").last == pytest.approx(1.0, abs=0.05)
    assert reached(run({}), "train_loss") == (None, None)


@pytest.mark.parametrize(
    ("metric", "wanted"),
    [
        ("eval_loss:wiki", "lower"),
        ("eval_wer", "lower"),
        ("eval_f1_macro", "higher"),
        ("eval_rougeL", "higher"),
        ("eval_something", ""),
        ("reward:format", "higher"),
        ("grad_norm", ""),
    ],
)
def test_the_better_direction_is_known_of_usual_scores(metric: str, wanted: str) -> None:
    """And of nothing else."""
    assert better(metric) == wanted
