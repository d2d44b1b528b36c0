"""What a model knew before it stood at a guess, or how far above it began: its steps threw it."""

import numpy as np

from runlens.causes.hypothesis import HINT, SPEAKS, Sign, Signs
from runlens.causes.scene import Scene
from runlens.wording import loss, number

UNLEARNED = ("stuck-at-chance", "not-learning")
FEWEST = 8  # points after the first
APART = 6.0  # times the scatter of the points after it: no row of them comes there by chance
FAR = 10.0  # times its later level: untrained outputs on scaled inputs begin about a guess
ONE_LEVEL = 0.05  # of it: within so much all later losses lie


def forgotten(scene: Scene) -> Signs:
    """Yield what shows that a model which answers as a guess does was thrown there.

    A rate that is logged speaks for itself.
    """
    if scene.has(*UNLEARNED) and not scene.signals.peak_learning_rate:
        yield _knew(scene)
        yield _began_far_above(scene)


def _knew(scene: Scene) -> Sign | None:
    """Say that answers were right at first that never were again, and that the loss rose with it.

    Labels that do not match are never told at all, and steps that are too small lose nothing.
    """
    right, train = scene.curve("train_accuracy").value, scene.curve("train_loss").value
    if len(right) <= FEWEST or len(train) <= FEWEST:
        return None
    later = right[1:]
    if right[0] - later.max() <= 0 or right[0] - later.mean() < APART * later.std():
        return None
    if train[0] >= train[1:].min():
        return None
    per = 1.0 if right.max() > 1 else 100.0
    said = (
        f"train accuracy was {number(per * float(right[0]), 3)} % at the first point and at most "
    )
    said += f"{number(per * float(later.max()), 3)} % after it, while train loss rose from "
    ends = f"{loss(float(train[0]))} to {loss(float(train[-1]))}"
    return Sign(said + ends, SPEAKS)


def _began_far_above(scene: Scene) -> Sign | None:
    """Say that the first loss of a classifier lay far above a level at which all later ones lie.

    Inputs that are not scaled begin there as well: a hint.
    """
    train = scene.curve("train_loss").value
    if scene.run.task != "classification" or len(train) <= FEWEST - 1:
        return None
    level = scene.signals.levels("train_loss").end
    still = bool((np.abs(train[1:] - level) <= ONE_LEVEL * level).all())
    if level <= 0 or train[0] < FAR * level or not still:
        return None
    first = loss(float(train[0]))
    return Sign(f"train loss was {first} at first and {loss(level)} (median) ever since", HINT)
