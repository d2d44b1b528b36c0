"""Whether two runs of which nothing is recorded are one configuration, by how they came down.

Two seeds of one configuration come down alike: over the first two thirds B - A is a few times the
jitter of both at most. Another learning rate parts them there already; the last third is what is
judged. In 4,640 pairs without settings of 232 kinds of trainings the odds that they are one go with
that ratio r as 5.5 / (r + 1)^1.33: 3 in 4 for the closest twelfth of the pairs, 1 in 15 for the
furthest.

The distance is the root of the mean square, so that curves that cross on their way down lie apart.
The jitter of a curve that glides is told at eight places (ends.py), as its end is: that of sixty is
a fiftieth of it, and seeds passed for other configurations because they were evaluated often.
Asked of evaluations alone: a training curve wanders with its batches, and its jitter does not tell
how far.
"""

import math

import numpy as np

from runlens.comparing.ends import early_jitter
from runlens.history import FloatArray

FEWEST = 5  # values that both have: three before the end, three bends
BEFORE_END = 2 / 3  # of the curve, in which runs of other settings part
BY_CHANCE = 1.0  # jitter of both that every distance has
AS_LIKELY, FALL = 5.5, 1.33  # the likeliest odds of those pairs, and the power that they go by
LEAST, MOST = 0.05, 0.75  # as low and as high as it was over twelfths of those pairs


def one_configuration(a: FloatArray, b: FloatArray, before: float) -> float:
    """Return the probability that two curves, shape (n,) at common places, have one configuration.

    `before`: the same before they were seen; where nothing can be told it stays.
    """
    if len(a) < FEWEST or not 0 < before < 1:
        return before
    jitter = math.hypot(early_jitter(a), early_jitter(b))
    if jitter <= 0:
        return before
    early = (b - a)[: int(BEFORE_END * len(a))]
    apart = float(np.sqrt(np.mean(early**2))) / jitter
    odds = float(before / (1 - before) * AS_LIKELY / (apart + BY_CHANCE) ** FALL)
    return min(max(odds / (1 + odds), LEAST), MOST)
