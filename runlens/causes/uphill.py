"""A loss that climbs steadily from its first point on, as where each update goes uphill."""

import numpy as np

from runlens.causes.hypothesis import HINT, Sign
from runlens.causes.scene import Scene
from runlens.run import RL_TASKS
from runlens.signals.trend import mann_kendall
from runlens.wording import count, loss

FEWEST = 7  # points: one order in 5,040 rises throughout
IN_ORDER = 0.9  # Kendall's tau: nearly every pair of points rises
LEAP = 2.0  # times the point before: steps that are too large throw a loss, and it swings
EARLY = 0.1  # of the points, within which the lowest lies: nothing was learned first
SCORES = ("accuracy", "train_accuracy", "eval_accuracy")


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
    held_out = scene.curve("eval_loss").value
    if any(len(one) and one[-1] > one[0] for one in scores):
        return None
    if len(held_out) and held_out[-1] <= held_out[0]:
        return None
    said = f"train loss rose steadily from the first of {count(len(value), 'point')} on, from "
    said += f"{loss(float(value[0]))} to {loss(float(value[-1]))}, with no leap"
    if any(map(len, scores)):
        said += ", and accuracy did not rise"
    return Sign(
        said,
        HINT,
        "A loss with the wrong sign",
        "Compute the loss of one batch before and after one update at a tenth of the rate. If it "
        "is higher after it, the sign of the loss or of the update is wrong",
        falsifier="one small update lowers the loss of its own batch",
    )
