"""What held-out data and data terms say beside a training loss that rises."""

from typing import Any

import numpy as np
import pytest

from runlens.history import History, columns
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals, held_out

RISES = "0:1 300:40 900:90"


def improving(after: float = 0, *, second: str = "", **curves: str) -> str:
    """Ask for held-out data that got better; `second` is the loss of a set of its own."""
    made: dict[str, Any] = {"train_loss": RISES, **curves}
    if second:
        made["eval_loss:b"] = second
    run = drawn("run", noise=0.003, **made).run()
    return held_out.improving(run, Signals(run), after)


def test_loss_and_scores_that_get_better_are_told() -> None:
    """Each kind has its own direction."""
    assert "eval loss improved" in improving(eval_loss="50:2 900:1.5")
    assert "accuracy improved" in improving(eval_accuracy="50:0.5 900:0.7")
    assert "accuracy improved" in improving(eval_accuracy="50:50 900:70")
    assert "wer improved" in improving(eval_wer="50:0.5 900:0.3")


def test_what_is_flat_small_short_or_mixed_is_not_told() -> None:
    """A trend needs points, a size, and no set that got worse."""
    assert not improving(eval_loss="50:2 900:2")
    assert not improving(eval_loss="50:10.825 900:10.824")
    assert not improving(eval_loss="50:2 /300 900:1")
    assert not improving(eval_accuracy="50:0.5 900:0.504")
    assert not improving(eval_loss="50:2 900:1", second="50:2 900:5")
    assert not improving()


def test_a_smooth_rise_that_slows_down_is_a_trend() -> None:
    """Its distance from a straight line has a memory, which is no reason to doubt it."""
    slowing = " ".join(f"{60 * n}:{0.97 - 0.1 * 0.74**n:.5f}" for n in range(1, 15))
    run = drawn("run", noise=0.0, train_loss=RISES, eval_accuracy=f"{slowing} /60").run()
    assert len(run.curve("eval_accuracy")) == 14
    assert "accuracy improved" in held_out.improving(run, Signals(run), 0)


def test_only_the_stretch_after_the_step_counts() -> None:
    """What was gained before is no excuse for what came later."""
    assert improving(450, eval_loss="50:4 450:3 900:1")
    assert not improving(450, eval_loss="50:4 450:1 900:1.1")


def test_what_only_comes_back_is_not_told() -> None:
    """An evaluation that the rise had lifted is not better for coming down half of the way."""
    assert not improving(250, eval_loss="50:2 100:2.5 250:4.4 900:3.4")
    assert improving(250, eval_loss="50:4 100:4.2 250:4.4 900:3.4")


def test_data_term_beside_a_growing_penalty() -> None:
    """A likelihood or reconstruction that stays is told; one that rises, or is too short, not."""
    run = drawn("run", train_loss=RISES, train_recon_loss="0:2 900:1").run()
    assert "train_recon_loss" in held_out.steady_data_term(run, Signals(run), 0)
    for term in ("0:2 900:3", "0:2 /300 900:1"):
        run = drawn("run", train_loss=RISES, train_recon_loss=term).run()
        assert not held_out.steady_data_term(run, Signals(run), 0)


def test_a_hump_of_the_evaluation_is_told_beside_that_of_the_training() -> None:
    """Two evaluations a tenth above the one before, and beyond what it worsens elsewhere."""

    def said(evals: str) -> str:
        run = drawn("run", noise=0.0, train_loss=RISES, eval_loss=evals).run()
        return held_out.rose_with(Signals(run), 390, 600)

    falls, after = "50:4 200:3 350:2", "650:1.9 900:1.8"
    assert said(f"{falls} 400:2.3 500:2.4 {after} /50") == ("eval loss rose as well, from 2 to 2.4")
    assert not said(f"{falls} 400:2 450:2.1 500:2.1 {after}")  # less than a tenth
    assert not said(f"{falls} 440:2 450:2.5 460:2 {after}")  # one evaluation
    assert not said("50:4 100:3 150:3.6 200:2 250:2.7 350:2 450:2.6 500:2.7 650:1.9 900:1.8")
    assert not said("450:4 900:2")  # nothing before it


@pytest.mark.parametrize(
    ("evals", "moved"),
    [
        ([1.2320, 1.2320, 1.2320, 1.2320, 1.2320, 1.2320], False),
        ([1.23205, 1.23200, 1.23202, 1.23201, 1.23203, 1.23204], False),  # rounding
        ([1.23205, 1.23204, 1.23203, 1.23202, 1.23201, 1.23200], True),  # one order of 360
        ([1.23205, 1.23204, 1.23203, 1.23202, 1.23201], False),  # too few for that
        ([1.2320, 1.2320, 1.2320, 1.2320, 1.2320, 1.2318], True),
    ],
)
def test_losses_that_fall_by_little_in_order_are_of_weights_that_move(
    evals: list[float], moved: bool
) -> None:
    """Equal losses are of equal weights; what differs by rounding has no order."""
    at = np.arange(1, len(evals) + 1)
    run = Run("s", "s", History({"eval_loss": columns(at, np.array(evals))}))
    assert held_out.same(Signals(run)) is not moved


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ("50:0.946 100:0.961 150:0.967 200:0.98 250:0.988 1500:0.9915", True),
        ("50:0.946 100:0.947 150:0.948 200:0.96 250:0.962 1500:0.963", False),  # a third of them
    ],
)
def test_half_of_the_wrong_answers_gone_at_once_is_learning(scores: str, told: bool) -> None:
    """What rises at once and then stands has little order, and has learned all the same."""
    run = drawn("runs", noise=7e-4, train_loss="0:1 1500:1", eval_accuracy=f"{scores} /50").run()
    assert bool(held_out.improving(run, Signals(run), 0)) is told
