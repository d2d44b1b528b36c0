"""What repeats reached, and their deviation."""

import pytest

from runlens.comparing.belief import Spread
from runlens.comparing.direction import better
from runlens.comparing.seeds import between, reached
from tests.comparing.drawn_runs import falling, run

NOTHING = Spread(0.0, 1.0)


def test_repeats_give_the_deviation_of_each_level() -> None:
    """The sample deviation of 1.0, 1.1 and 1.2 is 0.1."""
    noise = between([run({"eval_loss": [2.0, level]}) for level in (1.0, 1.1, 1.2)])
    found = noise.spread("eval_loss", "last", NOTHING)
    assert noise.siblings == 3
    assert found.measured == pytest.approx(0.1)
    assert found.freedom == 2
    assert noise.spread("train_loss", "last", NOTHING) == NOTHING
    assert noise.problems == ()


def test_one_repeat_gives_none_and_says_so() -> None:
    """Two are needed for a deviation."""
    noise = between([run({"eval_loss": [2.0, 1.0]})])
    assert noise.spread("eval_loss", "last", NOTHING) == NOTHING
    assert "needs 2" in noise.problems[0].text


def test_a_repeat_that_ended_in_nan_has_no_last_level() -> None:
    """It does not count as one."""
    repeats = [run({"eval_loss": [2.0, level]}) for level in (1.0, 1.1, float("nan"))]
    noise = between(repeats)
    assert noise.spread("eval_loss", "last", NOTHING).freedom == 1
    assert noise.spread("eval_loss", "best", NOTHING).freedom == 2


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
        ("val/hits@10", "higher"),
        ("eval_w_err", "lower"),
        ("loss_ema", "lower"),
        ("eval_recon", "lower"),
        ("eval_rel_l2", "lower"),
        ("l2", ""),
        ("eval_l2_norm", ""),
        ("rollout/success_rate", "higher"),
        ("codebook_usage", ""),
        ("reward:format", "higher"),
        ("grad_norm", ""),
    ],
)
def test_the_better_direction_is_known_of_usual_scores(metric: str, wanted: str) -> None:
    """And of nothing else."""
    assert better(metric) == wanted
