"""Noise and level of a curve: robust, vectorized, on plain arrays.

All functions take finite values in step order, shape (n,), and never raise for short input.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from runlens.arrays import median, medians, ranking_median, repeated_ends, stretches_of
from runlens.history import BoolArray, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.signals.latest import latest

GAUSSIAN = 1.4826  # median absolute deviation -> standard deviation, for a normal distribution
MEDIAN_LOSS = 1.25  # the standard error of a median is that of a mean times this
KEPT = 8  # running medians: a run's rules ask for about four different ones, of two metrics
FEW = 2  # smooth curves: one rule after the other asks for that of the loss
COMPARED = 2**15  # values that are compared at once, for the same reason as
BLOCK = 4_096  # windows that are ranked at once: they stay in the cache
LONG = 100_000  # values from which most medians of wide windows are taken from their neighbours:
ANCHORS = 4  # windows in each width that are ranked all the same, as are those between two of them
USUAL = 6.0  # that lie so many times farther apart than half of all: of normal noise 1 in 20,000
FEW_JUMPS = 0.05  # share of all from which it is cheaper to rank every window
NONE = np.zeros(0)
WIDE = 35  # from this width on, what neighbouring windows share is worth sorting out
NO_NOISE = 1e-12
HOPS = 0.1  # share of the points that differ from the one before: fewer are events, no noise
FLOAT_ERROR = 1e-12  # relative: smaller steps are float64's own rounding, not the log's


def mad(value: FloatArray) -> float:
    """Return the median absolute deviation, scaled to a standard deviation; 0.0 for no values."""
    if not len(value):
        return 0.0
    off = value - median(value)
    return float(GAUSSIAN * ranking_median(np.abs(off, out=off)))


def odd(width: float) -> int:
    """Return the next odd integer that is no smaller."""
    whole = int(width)
    return whole if whole % 2 else whole + 1


def window(count: int, share: float = 0.05, least: int = 5, most: int = 101) -> int:
    """Return an odd window of about `share` of `count` points, within bounds and a third of all."""
    wanted = odd(min(max(least, round(share * count)), most))
    return max(1, min(wanted, odd(max(3, count // 3))))


def running_median(value: FloatArray, width: int) -> FloatArray:
    """Return the centered running median; the ends repeat the first and last value.

    Several rules ask for that of one curve: the last few are kept. Read-only.
    """
    width = min(width, odd(max(1, 2 * len(value) - 1)))
    if width <= 1 or not len(value):
        return value
    return _medians(np.asarray(value, dtype=np.float64), width)


@latest(KEPT)
def _medians(value: FloatArray, width: int) -> FloatArray:
    """Return the running median of values, shape (n,), for an odd width from 3."""
    middle = width // 2
    padded = repeated_ends(value, middle, middle)
    if width <= 5:  # noqa: PLR2004 - the widest that is compared value by value
        ends = range(COMPARED, len(padded) + COMPARED, COMPARED)
        parts = [padded[max(0, end - COMPARED - width + 1) : end] for end in ends]
        found = np.concatenate([_compared(part, width) for part in parts])
    elif width < WIDE:
        found = _middles(sliding_window_view(padded, width))
    elif len(value) > LONG:
        found = _between(padded, width)
    else:
        found = _shared(padded, width)
    found.flags.writeable = False
    return found


def _middles(windows: FloatArray) -> FloatArray:
    """Return the median of each window, shape (n, width), of an odd width."""
    middle = windows.shape[1] // 2
    blocks = (windows[first : first + BLOCK] for first in range(0, len(windows), BLOCK))
    return np.concatenate(
        [np.partition(block, middle, axis=1)[:, middle] for block in blocks] or [NONE]
    )


def _between(padded: FloatArray, width: int) -> FloatArray:
    """Return the medians of all windows, shape (n - width + 1,), of many: most by a line.

    Four windows in each width are ranked. Those between share most of their values with both
    neighbors, so they lie near the line through these; where neighbors differ by much more than
    is usual, at a jump, all are ranked. In drawn noise of any course the line is off by a third of
    the standard error of such a median, at most by 0.7 of the noise of a point.
    """
    windows = sliding_window_view(padded, width)
    every = width // ANCHORS
    known = _middles(windows[::every])
    rise = np.diff(known)
    far = np.flatnonzero(np.abs(rise) > USUAL * median(np.abs(rise)))
    if len(far) > FEW_JUMPS * len(rise):
        return _shared(padded, width)
    found = np.empty((len(known), every))
    found[:-1] = known[:-1, None] + rise[:, None] * (np.arange(every) / every)
    found[far] = _middles(windows[(far[:, None] * every + np.arange(every)).ravel()]).reshape(
        -1, every
    )
    last = (len(known) - 1) * every
    found[-1, : len(windows) - last] = _middles(windows[last:])
    return found.ravel()[: len(windows)]


def _compared(padded: FloatArray, width: int) -> FloatArray:
    """Return the medians of all windows of 3 or 5 values, shape (n - width + 1,).

    Comparing whole vectors takes a tenth of what sorting windows does.
    """
    count = len(padded) - width + 1
    a, b, *others = (padded[first : first + count] for first in range(width))
    low, high = np.minimum(a, b), np.maximum(a, b)
    if len(others) == 1:
        return _middle(low, high, others[0])
    c, d, e = others
    # neither the least of the four nor the largest can be in the middle of five
    first = np.maximum(low, np.minimum(c, d))
    second = np.minimum(high, np.maximum(c, d))
    return _middle(np.minimum(first, second), np.maximum(first, second), e)


def _middle(low: FloatArray, high: FloatArray, other: FloatArray) -> FloatArray:
    """Return the middle one of each three values, of which `low` is no larger than `high`."""
    middle: FloatArray = np.maximum(low, np.minimum(high, other))
    return middle


def _shared(padded: FloatArray, width: int) -> FloatArray:
    """Return the medians of all windows, shape (n - width + 1,), of an odd width.

    Windows next to each other share all but a few values. Of what a group of them shares only as
    many ranks about its middle can be the median of one as there are windows in the group: they
    are found once for the group, then for its halves, down to single windows.
    """
    count, group = len(padded) - width + 1, 2 ** round(np.log2(width / 8))
    own = group - 1  # values of a window that not all of the group hold
    first = width // 2 - own
    seen = np.concatenate([padded, np.repeat(padded[-1:], -count % group)])
    seen = sliding_window_view(seen, width + own)[::group]  # (groups, width + own)
    rows = max(1, BLOCK // group)
    found = []
    for some in (seen[at : at + rows] for at in range(0, len(seen), rows)):
        ranked = np.sort(some[:, own:width], axis=1)[:, first : first + group]
        found.append(_halved(ranked, some[:, :own], some[:, width:]))
    return np.concatenate(found)[:count]


def _halved(ranked: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
    """Return the medians, shape (m * g,), of m groups of g windows, a power of two.

    `ranked`, shape (m, g), are those of the shared values of which one may be the median;
    `before` and `after`, shape (m, g - 1), what the first and the last windows hold besides.
    """
    many, group = ranked.shape
    if group == 1:
        return ranked.ravel()
    half = group // 2
    both = np.empty((many, 2, group + half))  # what each half of a group shares
    both[:, :, :group] = ranked[:, None]
    both[:, 0, group:] = before[:, half - 1 :]
    both[:, 1, group:] = after[:, :half]
    both = both.reshape(2 * many, group + half)
    if half == 1:
        return _middle(both[:, 0], both[:, 1], both[:, 2])
    both.sort(axis=1)
    rest = [
        np.stack([some[:, : half - 1], some[:, half:]], axis=1).reshape(2 * many, half - 1)
        for some in (before, after)
    ]
    return _halved(both[:, half:group], *rest)


def running_mean(value: FloatArray, width: int) -> FloatArray:
    """Return the centered running mean; the ends repeat the first and last value."""
    if width <= 1 or not len(value):
        return value
    left = width // 2
    padded = repeated_ends(value, left, width - 1 - left)
    total = np.cumsum(np.concatenate([[0.0], padded]))
    mean: FloatArray = (total[width:] - total[:-width]) / width
    return mean


def smooth(value: FloatArray, width: int | None = None) -> FloatArray:
    """Return a running median followed by a running mean of half its width, shape (n,).

    The first and last half window lean on repeated values: take no onset from there.
    """
    width = window(len(value)) if width is None else min(width, odd(max(3, len(value) // 3)))
    return _smoothed(np.asarray(value, dtype=np.float64), width)


@latest(FEW)
def _smoothed(value: FloatArray, width: int) -> FloatArray:
    found = running_mean(running_median(value, width), max(3, width // 2))
    if found is not value:
        found.flags.writeable = False
    return found


def sigma_diff(value: FloatArray) -> float:
    """Return the noise by first differences: blind to trends and spikes, fooled by smoothing."""
    return mad(np.diff(value)) / float(np.sqrt(2.0))


def sigma_hops(value: FloatArray) -> float:
    """Return the noise of a curve that hops between few levels; 0.0 where it seldom does.

    Medians see none of it: more than half of the neighbors are the same.
    """
    steps = np.abs(np.diff(value))
    hops = steps[steps > FLOAT_ERROR * np.abs(value).max(initial=0.0)]
    share = len(hops) / max(1, len(steps))
    if not HOPS <= share < 0.5:  # noqa: PLR2004 - a median sees what most do
        return 0.0
    return float(median(hops)) * float(np.sqrt(share / 2.0))


def sigma_bend(value: FloatArray) -> float:
    """Return the noise by second differences: blind to trends, also of few values; 0.0 below 6."""
    second = np.diff(value, n=2)
    return mad(second) / float(np.sqrt(6.0)) if len(second) >= 4 else 0.0  # noqa: PLR2004 - see above


def sigma(value: FloatArray) -> float:
    """Return the standard deviation of the noise, in the curve's own unit.

    The larger of the noise by differences and the noise about the running median; at least half
    the rounding unit of the log. Below 3 points: NO_NOISE. As of medians, the last few are kept.
    """
    if len(value) < 3:  # noqa: PLR2004 - two points have no noise that could be told
        return NO_NOISE
    return _sigma(np.asarray(value, dtype=np.float64))


@latest(KEPT)
def _sigma(value: FloatArray) -> float:
    residual = mad(value - running_median(value, window(len(value))))
    steps = np.abs(np.diff(value))
    steps = steps[steps > FLOAT_ERROR * np.abs(value).max()]
    rounding = float(steps.min()) / 2 if len(steps) else 0.0
    scale = max(sigma_diff(value), residual) or sigma_hops(value)
    return max(scale, min(rounding, 0.1 * float(np.ptp(value))), NO_NOISE)


def sigma_long(value: FloatArray) -> float:
    """Return the noise against which a level may be judged: slow wandering counts as noise."""
    if len(value) < 3:  # noqa: PLR2004 - see sigma
        return NO_NOISE
    _, blocks = block_medians(np.arange(len(value), dtype=float), value, 1_000)
    residual = mad(blocks - running_median(blocks, odd(max(9, len(blocks) // 4))))
    return max(sigma(value), residual)


def lag1(residual: FloatArray) -> float:
    """Return the lag-1 autocorrelation, -1 to 1; 0.0 for constant or short input."""
    if len(residual) < 3:  # noqa: PLR2004 - no pair of pairs
        return 0.0
    centred = residual - residual.mean()
    power = float((centred * centred).sum())
    return float((centred[1:] * centred[:-1]).sum()) / power if power > 0 else 0.0


def inflation(residual: FloatArray) -> float:
    """Return the factor by which autocorrelation widens a standard error, 1 to about 6."""
    rho = min(max(lag1(residual), 0.0), 0.95)
    return float(np.sqrt((1 + rho) / (1 - rho)))


def block_medians(step: FloatArray, value: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Return (mean step, median value) of equal blocks, at most `most` of them.

    Shorter curves come back as they are. A last, unfilled block is left out.
    """
    if len(value) <= most:
        return step, value
    size = -(-len(value) // most)
    used = len(value) // size * size
    return (
        step[:used].reshape(-1, size).mean(axis=1),
        medians(value[:used].reshape(-1, size)),
    )


class Levels(NamedTuple):
    """Where a curve starts, ends and was best (lowest), all robust."""

    start: float  # median of the first 5 %, or of the first 3 points if higher
    end: float  # median of the last 10 %, at least 3 points
    best: float  # lowest of the smooth curve, its first half window left out
    best_index: int
    fall: float  # start - best, at least 0

    @property
    def fell(self) -> bool:
        """Whether it ended below its start."""
        return self.end < self.start


def levels(value: FloatArray) -> Levels:
    """Return start, end and best of a curve; all NaN for no values."""
    count = len(value)
    if not count:
        return Levels(float("nan"), float("nan"), float("nan"), 0, 0.0)
    head = max(3, round(0.05 * count))
    tail = max(3, round(0.10 * count))
    start = max(float(median(value[:head])), float(median(value[:3])))
    smoothed = smooth(value)
    edge = min(window(count) // 2, count // 10)  # a minimum at the edge is an artefact
    best_index = edge + int(np.argmin(smoothed[edge:]))
    best = float(smoothed[best_index])
    return Levels(start, float(median(value[-tail:])), best, best_index, max(start - best, 0.0))


def frozen_run(value: FloatArray) -> tuple[int, int]:
    """Return (first index, length) of the longest run of bit-equal values; (0, 0) for none."""
    if not len(value):
        return 0, 0
    change = np.flatnonzero(value[1:] != value[:-1]) + 1
    edges = np.concatenate([[0], change, [len(value)]])
    lengths = np.diff(edges)
    longest = int(np.argmax(lengths))
    return int(edges[longest]), int(lengths[longest])


def longest_true(mask: BoolArray) -> tuple[int, int]:
    """Return (first index, length) of the longest run of True; (0, 0) for none."""
    starts, ends = stretches_of(mask).T
    if not len(starts):
        return 0, 0
    longest = int(np.argmax(ends - starts))
    return int(starts[longest]), int(ends[longest] - starts[longest])


def counts(mask: BoolArray, width: int) -> IntArray:
    """Return how many of each `width` points in a row are True, shape (n - width + 1,).

    Empty where there are fewer points than that. Linear in n whatever the width.
    """
    total = np.cumsum(np.concatenate([[False], mask]), dtype=np.int64)
    held: IntArray = total[width:] - total[:-width]
    return held
