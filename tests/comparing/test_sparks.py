"""Curves of a leaderboard: one scale for all, an explosion cut off, a short run short."""

import numpy as np

from runlens.comparing.sparks import POINTS, heights
from tests.comparing.drawn_runs import falling, run


def test_all_runs_share_one_scale_and_an_explosion_flattens_none() -> None:
    """The best lies lowest; what lies beyond the worst value of the median run is cut off."""
    good, worse = run({"eval_loss": falling(40)}), run({"eval_loss": falling(40) + 1})
    wild = run({"eval_loss": np.exp(np.linspace(0, 20, 40))})
    drawn = heights([good, worse, wild] + [good] * 3, "eval_loss", lower=True)
    assert [len(one) for one in drawn] == [POINTS] * 6
    assert drawn[0][-1] < drawn[1][-1] < drawn[2][-1] == 20
    assert drawn[0][1] > drawn[0][-1] + 5


def test_a_short_run_ends_early_and_an_empty_one_has_none() -> None:
    """A place before the first value has none; of a score more is better."""
    late = run({"eval_accuracy": [0.5, 0.9]}, every=300)
    short, none = run({"eval_accuracy": falling(300)[::-1] / 4}), run({"train_loss": [1.0]})
    drawn = heights([late, short, none], "eval_accuracy", lower=False)
    assert (len(drawn[0]), len(drawn[1]), drawn[2]) == (POINTS, POINTS // 2 + 1, ())
    assert drawn[0][0] == -1
    assert drawn[0][-1] == 20
