"""Movements to and fro, looked for before lines are laid: blocks and long lines would hide them.

Turning points of what a wide running mean leaves over, each with its own time and height: a period
that drifts does no harm, and nothing is folded. Noise turns as often; its turns are irregular, and
how regular they must be depends on how many there are.
"""

import math

import numpy as np

from runlens.arrays import mean, median, medians, mirrored_ends, quantile
from runlens.history import BoolArray, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.signals.noise import longest_true, running_mean, sigma_diff
from runlens.signals.shape.axis import block_medians, clipped
from runlens.signals.shape.data import Swing

MOST_POINTS = 600  # of the scan for turning points, as medians of blocks
COARSER = (1, 4)  # points taken together, so that noise does not turn within a cycle
FEWEST_TURNS = 8  # four cycles
WIDE = 4  # the running mean covers a fourth of the curve
BACK = (0.6, 0.4)  # share of the middle 90 % of the residual that a turn must go back
GOES_ON = 1.35  # factor within which one of two more half cycles lies where a swing goes on
ALIKE = 2.2  # a half cycle over the median, in time or height, beyond which it is none of them
# irregularity (coefficients of variation of period and of neighbouring heights together) that 0.1 %
# of the turns of AR(1) noise are below, by number of cycles; benchmarks/shapes.py --swings
CYCLES = (4, 5, 7, 10, 15, 30)
REGULAR = (0.16, 0.18, 0.23, 0.25, 0.30, 0.38)
# height over the noise of a step and the root of the period: a random walk makes 1.4, of 17,000
# swings of AR(1) noise one is above 3; a taller swing may be as irregular as it likes
TALL, PER_TALLER = 2.2, 0.6
# mean square of steps over that of values (von Neumann's ratio): white noise has 2, a sine of six
# points 1 and with noise of a third of its height 1.4; what is rougher needs no scan
ROUGH = 1.75
RARE = 0.001
LOOKS = 5  # stretches of a long curve
SAME = 1.5  # factor within which two periods are one


class Cycles(NamedTuple):
    """The turning points of a swing, as indices into the curve, and each half cycle's height."""

    turns: IntArray  # shape (k + 1,)
    height: FloatArray  # peak to trough, shape (k,), in units of the scale
    size: int  # points of the blocks in which they were found
    first: int  # indices between which the curve swings
    last: int
    chance: float  # how often noise turns as regularly

    @property
    def period(self) -> float:
        """Points of a cycle, the median."""
        return float(median(self.turns[2:] - self.turns[:-2]))


def cycles(y: FloatArray) -> Cycles | None:
    """Return the swing of a curve, shape (n,), on its scale; None where it does not swing.

    Of several, the one that covers most of the curve. Of long curves stretches of 600 points are
    looked at as well: blocks would hide short cycles.
    """
    size = -(-len(y) // MOST_POINTS)
    found = [some for more in COARSER for some in _scan(y, size * more)]
    if not found and size > 1:
        return _quick(y)
    return max(found, key=lambda some: some.last - some.first, default=None)


def _quick(y: FloatArray) -> Cycles | None:
    """Return a swing of short cycles: the same one in two of five stretches at least."""
    starts = np.linspace(0, len(y) - MOST_POINTS, LOOKS).astype(np.int64).tolist()
    seen = [
        (at, max(some, key=lambda one: len(one.turns)))
        for at in starts
        if (some := _scan(y[at : at + MOST_POINTS], 1))
    ]
    if len(seen) < 2:  # noqa: PLR2004 - two that agree
        return None
    usual = float(median([some.period for _, some in seen]))
    alike = [(at, some) for at, some in seen if usual / SAME < some.period < usual * SAME]
    if len(alike) < 2:  # noqa: PLR2004 - two that agree
        return None
    first, last = alike[0], alike[-1]
    reach = (len(y) - MOST_POINTS) // (LOOKS - 1) // 2  # half way to the next stretch
    begin = 0 if first[0] == starts[0] else first[0] - reach
    end = len(y) if last[0] == starts[-1] else last[0] + MOST_POINTS + reach
    at, most = max(alike, key=lambda some: len(some[1].turns))
    return most._replace(turns=most.turns + at, first=begin, last=end - 1)


def _scan(y: FloatArray, size: int) -> list[Cycles]:
    """Return the swings in the medians of blocks of `size` points."""
    if len(y) // size < 3 * FEWEST_TURNS:
        return []
    short = clipped(block_medians(y, size))
    residual = detrended(short)
    if mean(np.diff(residual) ** 2) > ROUGH * mean(residual * residual):
        return []
    low, high = quantile(residual, 0.05), quantile(residual, 0.95)
    noise = sigma_diff(short) + 1e-12
    found = []
    for back in BACK if high > low else ():
        turns = turning(residual, back * (high - low))
        if len(turns) <= FEWEST_TURNS:
            continue
        height = np.abs(np.diff(residual[turns]))
        first, end = _alike(turns, height)
        alike = height[first:end]
        if end - first >= FEWEST_TURNS and _regular(turns[first : end + 1], alike, noise):
            places = turns * size + size // 2
            ends = _extent(places, height, (first, end), len(y))
            found.append(Cycles(places[first : end + 1], alike, size, *ends, RARE))
    return found


def _extent(
    turns: IntArray, height: FloatArray, alike: tuple[int, int], count: int
) -> tuple[int, int]:
    """Return the first and last point: an eighth of a period beyond the first and last turn.

    A sine begins a fourth before its first turn, a sawtooth at it. Beyond the cycles that are
    alike it goes on as long as one of two half cycles is as tall.
    """
    first, end = alike
    pair = _pairs(turns)
    fits = _near(height, float(median(height[first:end])), GOES_ON)
    fits &= _near(pair, float(median(pair[first:end])), GOES_ON)
    while first > 0 and fits[max(first - 2, 0) : first].any():
        first -= 1
    while end < len(height) and fits[end : end + 2].any():
        end += 1
    beyond = round(float(median(turns[2:] - turns[:-2])) / 8)
    return max(int(turns[first]) - beyond, 0), min(int(turns[end]) + beyond, count - 1)


def _regular(turns: IntArray, height: FloatArray, noise: float) -> bool:
    """Whether noise with memory hardly ever turns like this."""
    period = (turns[2:] - turns[:-2]).astype(np.float64)
    tall = float(median(height)) / noise / math.sqrt(float(median(period)))
    room = float(np.interp(len(height) / 2, CYCLES, REGULAR)) + PER_TALLER * max(tall - TALL, 0.0)
    return _irregular(period, height) <= room


def _irregular(period: FloatArray, height: FloatArray) -> float:
    """Return the variation of period and of neighboring heights together."""
    uneven = float(np.std(np.diff(np.log(height)))) / math.sqrt(2.0)
    return math.hypot(_variation(period), uneven)


def irregularity(y: FloatArray) -> list[tuple[float, float]]:
    """Return (cycles, irregularity) of what turns in a curve, swing or not; for simulations."""
    residual = detrended(clipped(block_medians(y, -(-len(y) // MOST_POINTS))))
    low, high = quantile(residual, 0.05), quantile(residual, 0.95)
    found = []
    for back in BACK:
        turns = turning(residual, back * (high - low))
        height = np.abs(np.diff(residual[turns]))
        first, end = _alike(turns, height) if len(turns) > FEWEST_TURNS else (0, 0)
        if end - first >= FEWEST_TURNS:
            period = (turns[first + 2 : end + 1] - turns[first : end - 1]).astype(np.float64)
            found.append(((end - first) / 2, _irregular(period, height[first:end])))
    return found


def detrended(y: FloatArray) -> FloatArray:
    """Return what a running mean over a fourth of the curve leaves over; the ends are mirrored."""
    width = len(y) // WIDE
    mirrored = mirrored_ends(y, width)
    left: FloatArray = y - running_mean(mirrored, width)[width : width + len(y)]
    return left


def turning(y: FloatArray, back: float) -> IntArray:
    """Return the indices of the peaks and troughs from which y goes back by more than `back`."""
    turns: list[int] = []
    high = low = float(y[0])
    at_high = at_low = up = 0
    for at, value in enumerate(y.tolist()):  # at most 600 points
        if value > high:
            high, at_high = value, at
        if value < low:
            low, at_low = value, at
        if up >= 0 and high - value > back:
            turns.append(at_high)
            up, low, at_low = -1, value, at
        elif up <= 0 and value - low > back:
            turns.append(at_low)
            up, high, at_high = 1, value, at
    return np.array(turns, dtype=np.int64)


def _alike(turns: IntArray, height: FloatArray) -> tuple[int, int]:
    """Return (first, end) of the longest stretch of half cycles alike in time and height."""
    pair = _pairs(turns)
    fits = _near(height, float(median(height)), ALIKE)
    fits &= _near(pair, float(median(pair)), ALIKE)
    first, length = longest_true(fits)
    return first, first + length


def _pairs(turns: IntArray) -> FloatArray:
    """Return the time of each half cycle with the one before: a sawtooth is quick one way."""
    time = np.diff(turns).astype(np.float64)
    pair = time + np.roll(time, 1)
    pair[0] = pair[1]
    return pair


def _near(some: FloatArray, usual: float, factor: float) -> BoolArray:
    near: BoolArray = (some < factor * usual) & (some > usual / factor)
    return near


def calmed(y: FloatArray, found: Cycles) -> FloatArray:
    """Return the curve, shape (n,), with each point of the swing replaced by its cycle's mean.

    Some of a period on either side belongs to it.
    """
    width = max(1, round(found.period))
    first, last = max(found.first - width // 4, 0), min(found.last + width // 4, len(y))
    calm = y.copy()
    inside = mirrored_ends(y[first:last], width)
    calm[first:last] = running_mean(inside, width)[width : width + last - first]
    return calm


def takes_time(found: Cycles, step: IntArray) -> bool:
    """Whether steps pass in a cycle: what is logged many times at one step has no period."""
    times = step[found.turns]
    return float(median(times[2:] - times[:-2])) > 0


def described(found: Cycles, step: IntArray, value: FloatArray) -> Swing:
    """Return the swing in steps and in the unit of the curve; step and value of shape (n,)."""
    times = step[found.turns].astype(np.float64)
    periods = times[2:] - times[:-2]
    reach = np.arange(found.size) - found.size // 2
    near = np.clip(found.turns[:, None] + reach[None, :], 0, len(value) - 1)
    heights = np.abs(np.diff(medians(value[near])))
    return Swing(
        period=_usual(periods),
        period_spread=_variation(periods),
        amplitude=float(median(heights)),
        cycles=len(heights) // 2,
    )


def _usual(periods: FloatArray) -> float:
    """Return the mean of what lies within a third of the median: blocks round each period.

    The median itself, between the two in the middle, may have none so near.
    """
    usual = float(median(periods))
    near = periods[_near(periods, usual, GOES_ON)]
    return float(near.mean()) if len(near) else usual


def _variation(some: FloatArray) -> float:
    return float(np.std(some) / np.mean(some))
