"""Whether two runs of which nothing is recorded are one configuration, by how they came down.

Two seeds of one configuration come down alike, also where they end in two optima: they learn as
fast, and their training curves part late and little. Another setting parts them at once, and bends
their curves otherwise. So three things are asked, all of them before the end that is judged:

J, by what factor the jitters of both curves over the first two thirds differ: that of a curve
which glides is its bend, so how fast it fell; that of one which does not is its noise. Another
rate, batch or amount of data changes it, another optimum does not.

t, where both logged a training loss: the root mean square of the means of eight blocks of B - A,
from a third of the curves on, in the error that a block has by chance within the runs. A training
curve that decides itself is not asked: it wanders with its batches, and its noise does not tell how
far.

r, where they did not: the root mean square of B - A over the first two thirds, in the jitter of
both, which is told at eight places (ends.py). Beside t it knows nothing more: seeds that memorize
few data in several ways part in what is held out as far as settings do.

In 34,144 pairs without settings of 388 kinds of trainings (83 mechanisms) the odds that they are
one go as 6.2 / ((t + 1)^1.62 (|ln J| + 1)^1.36), else as 3.8 / ((r + 1)^0.66 (|ln J| + 1)^0.84).
Mechanisms left out in turn, 73 % of true differences are told where 6 % of such pairs of seeds are
called different, with r and t alone 67 %. Of no use beside them: how fast the training loss fell,
its noise, its first third, where the curves start, how steadily one lies above the other, how much
of the distance came in one jump, how often they turn.
"""

import math

import numpy as np

from runlens.comparing.ends import early_jitter, long_run
from runlens.history import FloatArray

FEWEST = 5  # values that both have: three before the end, three bends
BEFORE_END = 2 / 3  # of the curve, in which runs of other settings part
BY_CHANCE = 1.0  # jitter of both that every distance has
# the likeliest odds of those pairs, and the powers that they go by: of the distance, of the jitters
TRAINED, FALL_OF_TRAINED, JITTER_OF_TRAINED = 6.2, 1.62, 1.36
AS_LIKELY, FALL, FALL_OF_JITTER = 3.8, 0.66, 0.84  # where no training curves are asked
FROM = 1 / 3  # of training curves: what lies before is the start, where chance is not told
BLOCKS = 8
FEWEST_TRAINED = 16  # points of training curves that both have
TINY = 1e-9  # of the level: noise that float64 makes
# as low as it was over twelfths of those pairs; no higher than lets a gap beyond all noise decide
LEAST, MOST = 0.05, 0.7
# probability that two seeds of one configuration end as far apart as two configurations do, of
# which no curve tells: of 36 published fine-tunings of BERT (knowledge/seed_deviations.py) five
# have a deviation of over 5 times the median one. With more than a tenth no gap would decide where
# the curves came down alike
ELSEWHERE = 0.1


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
    count = max(int(BEFORE_END * len(a)), FEWEST)
    otherwise = 1 + _other_jitter(a[:count], b[:count])
    odds = before / (1 - before)
    far = None if trained is None else _trained_apart(*trained)
    if far is None:
        apart = _rms((b - a)[: int(BEFORE_END * len(a))]) / jitter
        odds *= AS_LIKELY / ((apart + BY_CHANCE) ** FALL * otherwise**FALL_OF_JITTER)
    else:
        odds *= TRAINED / ((far + BY_CHANCE) ** FALL_OF_TRAINED * otherwise**JITTER_OF_TRAINED)
    return float(min(max(odds / (1 + odds), LEAST), MOST))


def _other_jitter(a: FloatArray, b: FloatArray) -> float:
    """Return by which factor the jitters differ, as a logarithm; 0.0 where a curve has none."""
    one, two = _rms(np.diff(a, 2)), _rms(np.diff(b, 2))
    return abs(math.log(one / two)) if one > 0 and two > 0 else 0.0


def _trained_apart(a: FloatArray, b: FloatArray) -> float | None:
    """Return how far training curves lie apart in errors of a block; None where it is not known."""
    part = (b - a)[int(FROM * len(a)) :]
    noise = math.hypot(long_run(a), long_run(b)) if len(a) >= FEWEST_TRAINED else 0.0
    if noise <= TINY * float(np.abs(a).max(initial=0.0)):
        return None
    length = len(part) // BLOCKS
    means = part[: BLOCKS * length].reshape(BLOCKS, length).mean(axis=1)
    return float(_rms(means) / noise * length**0.5)


def _rms(value: FloatArray) -> float:
    return float(np.sqrt(np.mean(value**2)))
