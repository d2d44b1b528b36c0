"""What a curve reached at its end, and how far chance within the run could have moved that.

Of an evaluation the end is its last value. Of a training curve it is the mean of the longest last
stretch over which nothing moves (Lepski's choice of a window: it grows while each longer mean
agrees with the shorter ones within their errors), so that a plateau counts in full and an
explosion of the last points is no more hidden by what lay before. The error of that mean comes
from the run's own residuals about a slow curve, as block means of several lengths: what is
autocorrelated or wanders keeps its error however many points there are. The difference of two
runs has no part in it.
"""

import numpy as np

from runlens.arrays import median, quantile
from runlens.history import FloatArray
from runlens.records import NamedTuple
from runlens.signals.noise import mad, running_median

FEWEST = 12  # points of a training curve from which more than the last one is the end
FEWEST_JITTER = 4  # points, from which second differences tell the jitter of one value
TURNS = 0.5  # share of turning points from which the end is chance; white noise has 2/3
JITTER_OF = 8  # last points whose second differences tell it, or the last half if it is longer
FEWEST_EARLY = 6  # first points whose second differences tell it, or the first half if longer
MOST_ALIKE = 0.99  # neighbours: beyond it a curve is all wander
DEGREE = 2  # of the slow curve: in the logarithm of the place, over the last two thirds
SHARES = (1 / 40, 1 / 20, 1 / 10)  # lengths of blocks, of all points
FEWEST_BLOCKS = 5
CHI2 = 0.455  # median of chi-squared with one degree of freedom
GROWTH = 1.4  # of the window, a trial
AGREE = 2.6  # errors within which a longer mean agrees with a shorter one
LONGEST = 0.5  # of all points: a window is never longer
OF_HALF = 0.75  # of a difference that turns by chance: weight of the last halves' means
SPIKE = 5  # points of the running median; three points in a row are no spike
HIGH = 0.9  # decile of the absolute values that is their scale
WINSOR = 4.0  # deviations to which single points are drawn in


class End(NamedTuple):
    """The level at the end of one curve, in its own unit."""

    value: float
    error: float  # standard error of `value` by chance within the run
    jitter: float  # standard deviation of one value about its neighbours
    turning: float  # share of the last half at which the curve turns: 2/3 of white noise, 0 of none
    span: float  # how far the curve has come: first value to the end
    scale: float  # ninth decile of the absolute values of the last half
    points: int
    window: int  # points that make up the end
    half: float  # mean of the last half


def end(value: FloatArray, *, held_out: bool) -> End | None:
    """Return the end of the finite values of a curve, shape (n,); None where there are none."""
    count = len(value)
    if not count:
        return None
    first = float(median(value[: max(1, min(3, count // 10))]))
    scale = quantile(np.abs(value[count // 2 :]), HIGH)
    if held_out or count < FEWEST:
        last = float(value[-1])
        tail = value[-max(JITTER_OF, count // 2) :]
        turning = _turning(tail)
        jitter = _at_any_spacing(value, _jitter(tail), turning)
        half = float(value[-max(1, count // 2) :].mean())
        return End(last, 0.0, jitter, turning, abs(first - last), scale, count, 1, half)
    value = _without_spikes(value)
    noise, long_run = _noise(value)
    level, window = _level(value, long_run)
    error = float(long_run / window**0.5)
    turning = _turning(value[-max(JITTER_OF, count // 2) :])
    return End(level, error, noise, turning, abs(first - level), scale, count, window, level)


def difference(a: End, b: End) -> float:
    """Return the difference B - A that the ends are evidence of.

    A last evaluation that turns by chance is one draw of many: the halves before it say more of the
    configurations. The more both turn the more the means of the last halves count, three quarters
    where they turn as white noise does; a curve that glides counts by its last value alone.
    """
    by_chance = min((a.turning + b.turning) / 2 / TURNS, 1.0)
    weight = OF_HALF * by_chance
    return (1 - weight) * (b.value - a.value) + weight * (b.half - a.half)


def early_jitter(value: FloatArray) -> float:
    """Return the jitter of the first half of a curve, shape (n,), as it is told at any spacing."""
    early = value[: max(FEWEST_EARLY, len(value) // 2)]
    return _at_any_spacing(value, _jitter(early), _turning(value))


def long_run(value: FloatArray) -> float:
    """Return the long-run deviation of a training curve: that of a mean times the root of n."""
    return _noise(_without_spikes(value))[1]


def bend(difference: FloatArray) -> float:
    """Return the jitter of B - A, shape (n,), at the spacing at which bends are told."""
    tail = difference[-max(JITTER_OF, len(difference) // 2) :]
    return _at_any_spacing(difference, _jitter(tail), 0.0)


def _jitter(tail: FloatArray) -> float:
    """Return the deviation of one value about a line through its neighbors; 0 if not known."""
    if len(tail) < FEWEST_JITTER:
        return 0.0
    return float(np.sqrt(np.mean(np.diff(tail, 2) ** 2) / 6))


def _at_any_spacing(value: FloatArray, jitter: float, turning: float) -> float:
    """Return the jitter of a curve that glides as if it had been evaluated eight times.

    There a jitter is a bend, which falls with the square of the spacing, while the distance between
    seeds does not. The more a curve turns by chance the less of it counts: chance has no spacing.
    """
    stride = len(value) // JITTER_OF
    if stride <= 1 or not jitter:
        return jitter
    wide = max(_jitter(value[::-1][::stride][:JITTER_OF]), jitter)
    by_chance = min(turning / TURNS, 1.0)
    return float(jitter**by_chance * wide ** (1 - by_chance))


def _turning(tail: FloatArray) -> float:
    """Return the share of points between two others at which a curve turns; equal ones aside."""
    ways = np.diff(tail)
    ways = ways[ways != 0]
    return float(np.mean(ways[1:] * ways[:-1] < 0)) if len(ways) > 1 else 0.0


def _without_spikes(value: FloatArray) -> FloatArray:
    """Draw single points in that stick out of a running median; steps and phases stay."""
    middle = running_median(value, SPIKE).copy()
    middle[-(SPIKE // 2) :] = median(value[-SPIKE:])  # a running median repeats the last value
    width = WINSOR * mad(value - middle)
    return np.clip(value, middle - width, middle + width) if width else value


def _noise(value: FloatArray) -> tuple[float, float]:
    """Return (deviation of one point, long-run deviation: that of a mean times the root of n).

    Of the part before the end, so that what happens at the end is no noise.
    """
    count = len(value)
    start, stop = count // 3, max(count - count // 10, count // 3 + FEWEST // 2)
    residual = _residual(value[start:stop], start)
    long_run = float(residual.std() * _inflation(residual))
    for share in SHARES:
        length = max(2, round(share * count))
        many = len(residual) // length
        if many < FEWEST_BLOCKS:
            continue
        means = residual[-many * length :].reshape(many, length).mean(axis=1)
        lost = many / max(many - DEGREE - 1, 1)  # degrees of freedom that the slow curve took
        long_run = max(long_run, float(np.sqrt(length * np.mean(means**2) * lost)))
    bends = np.diff(value[-max(FEWEST, count // 4) :], 2)
    return float(np.sqrt(median(bends**2) / 6 / CHI2)), long_run


def _residual(part: FloatArray, start: int) -> FloatArray:
    """Return a part of a curve less a slow curve through it: a parabola in the log of the place."""
    at = np.log(np.arange(start, start + len(part)) + 1.0)
    at = (at - at.mean()) / at.std()
    fit = np.polynomial.polynomial.polyfit(at, part, DEGREE)
    return np.asarray(part - np.polynomial.polynomial.polyval(at, fit), dtype=np.float64)


def _inflation(residual: FloatArray) -> float:
    """Return how much autocorrelation widens the error of a mean, by AR(1).

    The root of (1 + r) / (1 - r). What a fitted curve takes from r is given back: (1 + 4 r) / n of
    the mean (Kendall 1954), and as much for each degree of the curve.
    """
    count = len(residual)
    power = float(residual @ residual)
    if not power:
        return 1.0
    found = float(residual[1:] @ residual[:-1]) / power
    if found <= 2 / count**0.5:  # no more than chance
        return 1.0
    found = min(found + (1 + 4 * found) * (1 + DEGREE / 2) / count, MOST_ALIKE)
    return float(np.sqrt((1 + found) / (1 - found)))


def _level(value: FloatArray, long_run: float) -> tuple[float, int]:
    """Return (mean of the last stretch over which nothing moves, its length)."""
    count = len(value)
    window = max(3, count // 50)
    low, high = -np.inf, np.inf
    level, chosen = float(value[-window:].mean()), window
    while window <= LONGEST * count:
        mean = float(value[-window:].mean())
        if not low <= mean <= high:
            break
        level, chosen = mean, window
        error = AGREE * long_run / window**0.5
        low, high = max(low, mean - error), min(high, mean + error)
        window = int(np.ceil(window * GROWTH))
    return level, chosen
