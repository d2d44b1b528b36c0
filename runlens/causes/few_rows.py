"""How many rows an evaluation has, told by the steps in which its scores go."""

from collections.abc import Iterator

import numpy as np

from runlens.causes.hypothesis import SPEAKS, Sign
from runlens.causes.scene import Scene
from runlens.history import FloatArray
from runlens.metrics import spoken
from runlens.signals import held_out
from runlens.wording import number

MOST_ROWS = 30  # the standard error of a share of them is 9 points and more
PRINTED = 5e-5  # half of the last of four digits
SHORT = 3  # digits
BY_CHANCE = 1e-3  # that numbers of any kind lie on such steps
BY_HEART = 0.95  # of the training rows, whatever a penalty adds to their loss


def steps_of(share: FloatArray) -> int | None:
    """Return the fewest rows of which all shares are shares; None above 30, or by chance.

    A number between 0 and 1 lies within `PRINTED` of one of n steps in 2 n `PRINTED` of all cases.
    """
    told = np.unique(share[(share > 0) & (share < 1)])
    if not (np.abs(told - np.round(told, SHORT)) > PRINTED).any():
        return None  # numbers of so few digits lie on steps of 1/10, 1/20 or 1/25 by themselves
    for rows in range(2, MOST_ROWS + 1):
        off = np.abs(told - np.round(told * rows) / rows)
        if len(told) and off.max() <= PRINTED:
            return rows if rows * (2 * rows * PRINTED) ** len(told) <= BY_CHANCE else None
    return None


def memorised(scene: Scene) -> Iterator[Sign]:
    """Say that a model knows its training rows, and that hardly a row was there to evaluate on.

    An evaluation of so few comes with as few to train on. Other data or code than in training are
    not shown by a score that a handful of rows makes.
    """
    train, evals = scene.curve("train_accuracy").value, scene.curve("eval_accuracy").value
    if not scene.has("eval-flat") or not len(train) or not len(evals):
        return
    rows = steps_of(held_out.as_share(evals))
    known = float(held_out.as_share(train)[-1])
    if rows is None or known < BY_HEART:
        return
    said = f"eval accuracy goes in steps of 1/{rows}, as of {rows} rows, while "
    yield Sign(
        f"{said}{spoken('train_accuracy')} came to {number(known, 3)}",
        SPEAKS,
        "Too few rows, of which those of training are memorized",
        "Count the rows of training and evaluation. Then evaluate in five folds, so that each row "
        "is held out once",
        falsifier="the scores of five folds are as low with ten times the rows",
    )
