"""Weights that were initialized anew in the middle of a history: two trainings, one curve.

A call of ``fit`` on a new model, or a second start that writes to the history of the first, leaves
a loss that jumps in one row to where an untrained model lies and then comes down as one does. A
model that diverged to the same level does not come down at the pace of a new one.

Two signs, of which either says it:
- the loss is back at its own first value, and repeats its first descent point by point;
- the loss and the evaluation of the same moment are ln 2 alike, a guess among two answers, and the
  loss comes down again. One of them alone may be there by chance.
"""

from math import log

import numpy as np

from runlens.arrays import median
from runlens.history import Curve, FloatArray
from runlens.run import Run

FIRST = 0.15  # of the first descent: as near the start two draws of the weights lie
ALIKE = 0.15  # of it too: as near each other both descents lie, as the median of their points
FEWEST = 6  # points of a descent that can be compared
DOWN = 0.5  # of the descent: the first of several points that has come so far is still on its way
SLOW = 2  # points that a descent takes at least to come down by half: fewer are those of a spike
HEIGHT = 0.5  # of the jump that is undone again
GUESS, NEAR = log(2), 0.02  # nats; of it, as near as outputs that are not yet apart keep it


def begun(run: Run, train: Curve, evals: Curve) -> list[int]:
    """Return the steps at which the weights of a run were initialized anew."""
    value = train.value
    if len(value) < 2 * FEWEST:
        return []
    jumps = np.flatnonzero(np.diff(value) > 0) + 1
    level = float(median(value))
    high = jumps[value[jumps] - value[jumps - 1] > HEIGHT * (value.max() - level)]
    return [
        int(train.step[at])
        for at in high[: len(value) // FEWEST].tolist()  # few: each takes a share of the range
        if _repeats(value, at) or (run.task == "classification" and _guesses(train, evals, at))
    ]


def _repeats(value: FloatArray, at: int) -> bool:
    """Whether a loss goes from index `at` on as it went from its first point on."""
    width = min(at, len(value) - at)
    first, again = value[:width], value[at : at + width]
    fall = float(first[0] - first.min())
    if width < FEWEST or fall <= 0 or value[at - 1] > first[0] - DOWN * fall:
        return False
    left = np.flatnonzero(first <= first[0] - DOWN * fall)
    slow = len(left) > 0 and left[0] >= SLOW
    near = abs(float(again[0] - first[0])) <= FIRST * fall
    alike = float(median(np.abs(again - first)[: max(FEWEST, 2 * int(left[0]))]))
    return bool(slow and near and alike <= ALIKE * fall)


def _guesses(train: Curve, evals: Curve, at: int) -> bool:
    """Whether loss and evaluation are both ln 2 at index `at`, and the loss comes down again."""
    value = train.value
    held = evals.after(int(train.step[at])).value[:1]
    if not len(held) or len(value) - at < FEWEST:
        return False
    both = max(abs(float(value[at]) - GUESS), abs(float(held[0]) - GUESS)) <= NEAR * GUESS
    back = value[at + 1 :].min() <= value[at] - HEIGHT * (value[at] - value[at - 1])
    return (
        both and bool(back) and bool(value[at + 1] > value[at] - DOWN * (value[at] - value[at - 1]))
    )
