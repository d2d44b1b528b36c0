"""Whether two runs of which nothing is recorded are one configuration, by how they came down.

Two seeds of one configuration come down alike: over the first two thirds B - A is a few times the
jitter of both at most. Another learning rate parts them there already; the last third is what is
judged. In 4,640 pairs without settings of 232 kinds of trainings the odds that they are one go with
that ratio r as 5.5 / (r + 1)^1.33: 3 in 4 for the closest twelfth of the pairs, 1 in 15 for the
furthest.

The distance is the root of the mean square, so that curves that cross on their way down lie apart.
The jitter of a curve that glides is told at eight places (ends.py), as its end is: that of sixty is
a fiftieth of it, and seeds passed for other configurations because they were evaluated often.

Seeds that end in several optima, or memorise few data in as many ways, part in what is held out
more than in what is trained; another setting parts both. So the training curves are asked as well
where evaluations decide: the means of eight blocks of B - A, from a third of the curves on, in the
error that a block has by chance within the runs. With that ratio t the odds of 4,560 such pairs of
228 kinds go as 10.9 / ((r + 1)^0.94 (t + 1)^1.59). A training curve that decides itself is not
asked: it wanders with its batches, and its noise does not tell how far.
"""

import math

import numpy as np

from runlens.comparing.ends import early_jitter, long_run
from runlens.history import FloatArray

FEWEST = 5  # values that both have: three before the end, three bends
BEFORE_END = 2 / 3  # of the curve, in which runs of other settings part
BY_CHANCE = 1.0  # jitter of both that every distance has
AS_LIKELY, FALL = 5.5, 1.33  # the likeliest odds of those pairs, and the power that they go by
WITH_TRAINED, FALL_WITH, FALL_OF_TRAINED = 10.9, 0.94, 1.59  # where training curves are asked too
FROM = 1 / 3  # of training curves: what lies before is the start, where chance is not told
BLOCKS = 8
FEWEST_TRAINED = 16  # points of training curves that both have
LEAST, MOST = 0.05, 0.75  # as low and as high as it was over twelfths of those pairs


def one_configuration(
    a: FloatArray,
    b: FloatArray,
    before: float,
    trained: tuple[FloatArray, FloatArray] | None = None,
) -> float:
    """Return the probability that two curves, shape (n,) at common places, have one configuration.

    `before`: the same before they were seen; where nothing can be told it stays. `trained`: the
    training curves of both, shape (m,) at common places, where they are logged.
    """
    if len(a) < FEWEST or not 0 < before < 1:
        return before
    jitter = math.hypot(early_jitter(a), early_jitter(b))
    if jitter <= 0:
        return before
    apart = _rms((b - a)[: int(BEFORE_END * len(a))]) / jitter
    odds = before / (1 - before)
    far = None if trained is None else _trained_apart(*trained)
    if far is None:
        odds *= AS_LIKELY / (apart + BY_CHANCE) ** FALL
    else:
        odds *= WITH_TRAINED / (apart + BY_CHANCE) ** FALL_WITH
        odds /= (far + BY_CHANCE) ** FALL_OF_TRAINED
    return float(min(max(odds / (1 + odds), LEAST), MOST))


def _trained_apart(a: FloatArray, b: FloatArray) -> float | None:
    """Return how far training curves lie apart in errors of a block; None where it is not known."""
    part = (b - a)[int(FROM * len(a)) :]
    noise = math.hypot(long_run(a), long_run(b)) if len(a) >= FEWEST_TRAINED else 0.0
    if noise <= 0:
        return None
    length = len(part) // BLOCKS
    means = part[: BLOCKS * length].reshape(BLOCKS, length).mean(axis=1)
    return float(_rms(means) / noise * length**0.5)


def _rms(value: FloatArray) -> float:
    return float(np.sqrt(np.mean(value**2)))
