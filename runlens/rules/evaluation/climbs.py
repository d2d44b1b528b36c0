"""Whether evaluations climb from their best to the end, and whether wandering alone does so."""

import numpy as np

from runlens.arrays import median, quantile
from runlens.history import Curve, FloatArray
from runlens.rules.evaluation.score import Score
from runlens.rules.evaluation.sets import Bottom, Train
from runlens.signals import Signals
from runlens.signals.changes import last_false
from runlens.signals.noise import inflation
from runlens.signals.shape import EXACT, kendall
from runlens.signals.trend import mann_kendall

MEMORISED = 0.5  # of training loss at the best: below it no new stage of the data explains a hump
FAR = 0.5  # of the best: a rise of which the later half tells, as it need not come at once
BACK = 0.1  # of a hump that far: with less of it left it has come back
DOUBLED = 1.0  # of the best: evaluations that wander do not double
A_FEW, APART_BY = 0.1, 0.2  # of the evaluations behind the best; of it, what is far from it
BY_HEART = 0.1  # of its start: a training loss below it comes from repetition, as in eval-flat
STOOD = 0.03  # of its end: as little of a training loss is no learning (not-learning)
FEW = 6  # evaluations that stand
SINCE = 0.1  # rise since the score stood, as where only two evaluations follow the best
BY_ORDER = 0.05  # one-sided, for the order of evaluations behind the best, beside another sign
WITNESS = 0.1  # chance of the order of one of two curves that agree
APART = 2.0  # times: evaluation loss over training loss, as where training loss halved
# scales of slow wandering. Of 960 drawn evaluations with a memory of 0.9 and more 26 % were found
# from 60 points on, 10 % beyond this; of 46 labelled ones three lie below, as noisy as those
CLEAR = 6.0


def proved(
    signals: Signals, metric: str, value: FloatArray, at: int, share: float, order: float
) -> bool:
    """Whether chance seldom shows such a rise: the order of few, the phases and ranks of many."""
    if len(value) <= EXACT:  # the noise of few is not known
        tau, chance = kendall(value[at:])
        return tau > 0 and chance / 2 < order
    shape = signals.shape(metric)
    lowest, end = float(shape.trend.min()), shape.final_level().value
    by_shape = end - lowest >= share * abs(lowest) and shape.rose_after_best().chance < order
    return by_shape or _by_rank(value[at + 1 :], share * abs(float(value[at])), order)


def _by_rank(later: FloatArray, least: float, order: float) -> bool:
    """Whether evaluations behind the best climb by rank alone, the last third above the first.

    Noise as wide as their rise leaves no phases: the ranks of many tell it all the same. Of 4,000
    drawn flat ones, as noisy, 0.6 % do.
    """
    tau, chance = mann_kendall(later) if len(later) > EXACT else (0.0, 1.0)
    if tau <= 0 or chance / 2 >= order:
        return False
    first, _, last = np.array_split(later, 3)
    return float(median(last) - median(first)) >= least


def steep(evals: Curve, bottom: Bottom, least: float) -> bool:
    """Whether two evaluations rise one after the other, as logged, by the share `least` or more."""
    one, other = evals.value[-2:].tolist()
    return bool(bottom.lowest < one <= other and other - bottom.lowest >= least * bottom.lowest)


def agreed(value: FloatArray, score: Score | None) -> bool:
    """Whether a loss and a score of one set both get worse in their order from the best on.

    `value` is the loss, with the score of the same stretch. Two witnesses need less proof each.
    """
    if score is None or len(value) > EXACT:
        return False
    (up, chance), (down, by_score) = kendall(value), kendall(score.better)
    return up > 0 > down and max(chance, by_score) / 2 < WITNESS


def foreseen(evals: Curve, bottom: Bottom, train: Train | None) -> bool:
    """Whether few evaluations that rise in order do what memorized training data foretell.

    Training loss is the second witness, so the order needs less proof: since the best evaluation
    the two moved apart by a factor of two, as where the one halved and the other stayed.
    """
    if len(evals) > EXACT or bottom.share < SINCE or train is None or train.then <= 0:
        return False
    rose = bottom.end / bottom.lowest if bottom.lowest > 0 else 1.0
    if train.end >= min(train.then * rose / APART, train.then - train.error):
        return False
    tau, chance = kendall(evals.value[bottom.at :])
    return tau > 0 and chance / 2 < BY_ORDER


def halved(train: Train | None) -> bool:
    """Whether training loss went to less than half of what it was at the best evaluation."""
    return train is not None and train.then > 0 and train.end < MEMORISED * train.then


def gained_nothing(evals: Curve, bottom: Bottom, train: Train | None, score: Score) -> bool:
    """Whether the loss rose on while the score stood: its best lies in the first half since.

    That is what is left of a gain early after the best, once the training set is memorized.
    """
    if train is None or train.end >= BY_HEART * train.start:
        return False
    best, last = float(evals.step[bottom.at]), float(evals.step[-1])
    then = float(evals.value[int(np.searchsorted(evals.step, score.stood, side="right")) - 1])
    return last - score.best >= (last - best) / 2 and bottom.end > (1 + SINCE) * then


def climbs(evals: Curve, bottom: Bottom, train: Train | None, tau: float, left: float) -> bool:
    """Whether they climb by rank, or stay up: above the best by the share `left` of the rise.

    All of them do, or the later half where the rise is far. What falls back from a hump by
    as much is a new stage, a far rise by all but a tenth, unless training loss went to less than
    half of what it was at the best: then the training set is memorized. Of a rise that doubles the
    best beside that, one in ten may come nearer to it: a long one goes up and down on its way.
    """
    after = evals.value[bottom.at :]
    if len(after) == 3:  # noqa: PLR2004 - two behind the best: too few for a rank correlation
        return bool(after[-1] >= 0.98 * after[1])
    above, rise = after[1:] - bottom.best, bottom.end - bottom.best
    far = rise > FAR * abs(bottom.best)
    later = above[len(above) // 2 :] if far else above
    kept = rise >= (BACK if far else left) * above.max() or halved(train)
    stays = rise > 0 and later.min() >= left * rise and kept
    doubled = rise > DOUBLED * abs(bottom.best) and halved(train)
    gone = doubled and quantile(above, A_FEW) >= APART_BY * abs(bottom.best)
    return bool(stays or gone) or mann_kendall(after)[0] >= tau


def wanders(value: FloatArray, bottom: Bottom) -> bool:
    """Whether what is left of a fall and a rise wanders so far that it may be all of the rise.

    The course that only falls to the best and only rises from it lies in the middle between the
    highest before and the lowest behind; what departs from it, with its memory, is the scale.
    """
    rise = bottom.end - bottom.lowest
    if len(value) <= EXACT or rise > DOUBLED * abs(bottom.lowest):
        return False
    down, up = _rising(value[bottom.at :: -1])[::-1], _rising(value[bottom.at :])
    rest = value - np.append(down, up[1:])
    scale = float(rest.std()) * inflation(rest)
    steps = np.diff(value[bottom.at :])
    return bool(rise < CLEAR * scale) and not _straight(steps, rise)


def _straight(steps: FloatArray, rise: float) -> bool:
    """Whether steps add up to more than a walk of such steps gets: four of its deviations."""
    return bool(rise > 4 * steps.std() * np.sqrt(len(steps)))


def _rising(value: FloatArray) -> FloatArray:
    """Return the middle between the highest so far and the lowest to come, which only rises."""
    middle: FloatArray = (
        np.maximum.accumulate(value) + np.minimum.accumulate(value[::-1])[::-1]
    ) / 2
    return middle


def stands(evals: FloatArray, train: FloatArray) -> bool:
    """Whether evaluation stood for most of the run, and training memorized all the while.

    It stands where no evaluation is farther from its end than STOOD of it; since then the training
    loss came down to a tenth: what was learned in all that time is of the training rows alone.
    """
    end = float(median(evals[-3:]))
    at = last_false(np.abs(evals - end) <= STOOD * abs(end)) + 1
    rest = train[at:]
    return len(rest) >= max(FEW, len(evals) / 2) and 0 < rest[-1] <= BY_HEART * rest[0]
