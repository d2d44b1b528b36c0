"""A loss that climbs steadily from its first point on, as where each update goes uphill."""

from collections.abc import Sequence

import numpy as np

from runlens.causes.hypothesis import HINT, SPEAKS, Sign
from runlens.causes.scene import Scene
from runlens.history import FloatArray
from runlens.run import RL_TASKS
from runlens.signals import held_out
from runlens.signals.trend import mann_kendall
from runlens.wording import count, loss, percent

FEWEST = 7  # points: one order in 5,040 rises throughout
IN_ORDER = 0.9  # Kendall's tau: nearly every pair of points rises
LEAP = 2.0  # times the point before: steps that are too large throw a loss, and it swings
EARLY = 0.1  # of the points, within which the lowest lies: nothing was learned first
SCORES = ("accuracy", "train_accuracy", "eval_accuracy")
FEWEST_SCORES = 3  # different ones: one answer to all has the same score each time


def _below_guess(value: FloatArray, scores: Sequence[FloatArray]) -> float | None:
    """Return the best of scores that are all below that of a guess; None where one is not.

    A model that guesses has a loss of ln k for k classes, and each update uphill adds to it: so the
    first loss is ln k or more, and a guess scores 1 / k or more than `exp` of its negative. What
    steps that are too large have thrown guesses, or gives one answer to all; to be wrong more often
    than that, ever more surely, takes updates that go the wrong way.
    """
    known = [one for one in scores if len(one) >= FEWEST]
    if not known or not (np.diff(value, 2) > 0).mean() >= IN_ORDER:
        return None
    best = max(float(held_out.as_share(one).max()) for one in known)
    if best >= float(np.exp(-value[0])) or any(len(set(one)) < FEWEST_SCORES for one in known):
        return None
    return best


def wrong_sign(scene: Scene) -> Sign | None:
    """Say that train loss rose in order from its start, with no leap, and nothing got better.

    A rate that is too high may do so as well: a tenth of it tells the two apart. Of policies and
    of two networks that play against each other a loss may rise while all is well.
    """
    value = scene.curve("train_loss").value
    if not scene.has("divergence") or scene.run.task in RL_TASKS or len(value) < FEWEST:
        return None
    if np.argmin(value) > EARLY * len(value) or (value <= 0).any():
        return None
    if mann_kendall(value)[0] < IN_ORDER or (value[1:] >= LEAP * value[:-1]).any():
        return None
    scores = [scene.curve(name).value for name in SCORES]
    evals = scene.curve("eval_loss").value
    if any(len(one) and one[-1] > one[0] for one in scores):
        return None
    if len(evals) and evals[-1] <= evals[0]:
        return None
    said = f"train loss rose steadily from the first of {count(len(value), 'point')} on, from "
    said += f"{loss(float(value[0]))} to {loss(float(value[-1]))}, with no leap"
    below = _below_guess(value, scores)
    if below is not None:
        said += f", and accuracy was never above {percent(below)}, less than a guess scores"
    elif any(map(len, scores)):
        said += ", and accuracy did not rise"
    return Sign(
        said,
        HINT if below is None else SPEAKS,
        "A loss with the wrong sign",
        "Compute the loss of one batch before and after one update at a tenth of the rate. If it "
        "is higher after it, the sign of the loss or of the update is wrong",
        falsifier="one small update lowers the loss of its own batch",
    )
