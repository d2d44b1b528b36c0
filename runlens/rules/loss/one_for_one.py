"""A loss that falls by one nat while the share of right answers rises by one: two softmax layers.

Sums of loss and accuracy come down to ln(e + K - 1) from above, as answers are right before they
are sure. Neither the number of classes K nor a loss at its floor need be known: a cross-entropy of
logits falls twice as far and more, and smoothed labels let the sum rise, not stand.
"""

from math import e, exp, log

import numpy as np

from runlens.history import FloatArray

FEWEST_CLASSES = 5  # of fewer a cross-entropy of logits falls hardly faster than accuracy rises
MOST_CLASSES = 1000  # whose ln K still differs in the fourth digit from that of K + 1
FEWEST = 4  # evaluations; a line through two of them says nothing
GAINED = 0.3  # of accuracy: a loss of logits is lower by twice as much, ten times what is open
OPEN = 0.03  # nats: how far sure answers may be more or less often right than they are sure
UNSURE = 0.2  # nats: how far answers are more often right than sure while accuracy rises
STEEP = 1.5  # nats per accuracy: the middle of one, of two softmax layers, and two, of logits
ENTROPY = 1.5  # times the most that so many right answers leave open, if they are as sure as right


def classes(
    losses: FloatArray, shares: FloatArray, apart: float = OPEN, first: float | None = None
) -> int | None:
    """Return about how many classes two softmax layers have; None where nothing shows them.

    The second half has to stand at one sum, wherever it lies, within `apart`. What such a sum would
    be by chance for logits, a loss that stands still far above what its right answers leave, is
    rare by itself. No loss begins above that of a guess: the `first` one names the fewest classes.
    """
    if len(losses) < 2 * FEWEST or shares[-1] - shares[0] < GAINED:
        return None
    both = losses + shares
    late, level = both[len(both) // 2 :], float(both[-FEWEST:].mean())
    if level > log(MOST_CLASSES) or np.ptp(late) > apart:
        return None
    if both.min() < level - OPEN or both.max() > level + UNSURE:
        return None
    begun = float(losses[0]) if first is None else first
    steep = (losses[0] - losses[-1]) / (shares[-1] - shares[0])
    number = max(round(exp(level - OPEN) - e + 1), int(np.ceil(exp(begun) - OPEN)))
    most = log(e + number - 1)
    if number < FEWEST_CLASSES or steep > STEEP or losses.min() < most - 1:
        return None
    high = losses[-1] >= ENTROPY * left_open(float(shares[-1]), number)
    return number if high and level >= most - OPEN else None


def of_two_sets(losses: FloatArray, shares: FloatArray) -> int | None:
    """Return the same of a training loss beside what is right of other data after each epoch.

    The loss is a mean over the epoch, in whose midst about as many are right as before and after it
    on average. Other data may be right more or less often by what is open once more.
    """
    midst = (shares[1:] + shares[:-1]) / 2
    return classes(losses[1:], midst, 2 * OPEN, float(losses[0]))


def left_open(right: float, number: int) -> float:
    """Return the cross-entropy of answers that are as sure as they are right, a share below 1."""
    wrong = max(1 - right, 1e-9)
    return -right * log(right) - wrong * log(wrong / (number - 1))
