"""The forms in which a loss leaves its level and comes back: points, blocks, powers of ten."""

from itertools import pairwise

import numpy as np
from msgspec import Struct

from runlens.arrays import among, median, medians, stretches_of
from runlens.history import BoolArray, Curve, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.signals.changes import RECOVERED, Spikes, spikes
from runlens.signals.held_out import takes_back
from runlens.signals.noise import (
    GAUSSIAN,
    MEDIAN_LOSS,
    mad,
    odd,
    running_median,
    sigma_diff,
)
from runlens.signals.shape import Shape
from runlens.signals.tails import beyond, unusual
from runlens.signals.trend import ranked

FLOOR = 0.05  # of the start: a spike of a loss near zero is judged against this level
BLOCKS = 100  # of the long form, and three, ten, thirty and a hundred times as many
FINER = (3, 10, 30, 100)
FEWEST_BLOCK = 10  # points of such a block: fewer are a tall spike
SETTLED = 0.1  # of the first fall, in orders of magnitude, that is left when it is over
SHORT = 20  # points below which a spike of several cannot be told from a stage of the task
BACK = 0.5  # of its height that a spike has left when it is over
DECADE = 1.0  # in orders of magnitude: the least that such a form rises
IN_ORDER = -0.8  # Kendall's tau: nearly each of its points is lower than the one before
CLEAR = 2.0  # noise scales above the base: one point in 40
TENTH = 10
BEFORE = 5  # points whose median is the level before a jump
FEWEST_THROWN = 3  # points of the form over orders of magnitude: fewer are a tall spike, or none


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 4
    unaided: int = 6
    far: float = 100.0
    ratio: float = 2.0
    z: float = 8.0
    tail: float = 4.0
    sharp_ratio: float = 1.4
    sharp_z: float = 20.0
    sharp_tail: float = 8.0
    long_ratio: float = 1.75
    long_next: float = 1.4
    early: float = 0.02
    quiet_ratio: float = 1.5
    alone: float = 3.0
    many: int = 3
    wide: float = 0.01
    other_ratio: float = 5.0
    log_z: float = 4.0
    thrown: float = 2 / 3
    young: float = 0.1
    nothing: float = 0.02


RIPPLE = 0.01  # of what was learned: what a spike throws back there is not seen in the curve


class Seen(NamedTuple):
    """The spikes of a run, of all forms, in order; arrays of shape (k,)."""

    first: FloatArray  # index of the first point
    ratio: FloatArray  # peak over the level under it
    peak: FloatArray
    base: FloatArray
    width: FloatArray  # points

    def kept(self, mask: BoolArray) -> "Seen":
        """Return some of the spikes."""
        return Seen._make(column[mask] for column in self)


def ripples(value: FloatArray, seen: Seen) -> bool:
    """Whether all spikes are within a hundredth of the fall from the start to the level."""
    learned = float(median(value[: max(1, min(3, len(value) // 10))]) - median(value))
    return bool((seen.peak - seen.base).max() < RIPPLE * learned)


def summits(value: FloatArray, seen: Seen) -> IntArray:
    """Return the index of the highest point of each spike, shape (k,)."""
    spans = zip(seen.first.astype(int).tolist(), seen.width.astype(int).tolist(), strict=True)
    tops = [at + int(np.argmax(value[at : at + max(size, 1)])) for at, size in spans]
    return np.array(tops, dtype=np.int64)  # spikes are few


def end(train: Curve, seen: Seen) -> float:
    """Return the step at which the last spike is over."""
    return float(train.step[min(int(seen.first[-1] + seen.width[-1]), len(train) - 1)])


NONE = Seen(*[np.zeros(0)] * 5)


def joined(*parts: Seen) -> Seen:
    """Return all spikes of several forms, form after form."""
    return Seen._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def floored(value: FloatArray, base: FloatArray) -> FloatArray:
    """Return the level against which a spike is judged, never near zero."""
    start = abs(float(median(value[: max(3, len(value) // 20)])))
    level: FloatArray = np.maximum(np.maximum(base, FLOOR * start), 1e-12)
    return level


def _seen(value: FloatArray, one: Spikes) -> Seen:
    over = floored(value, one.base)
    first = one.first.astype(float)
    return Seen(first, one.peak / over, one.peak, one.base, one.width.astype(float))


def tall(value: FloatArray, ratio: float, limits: Limits, *, sharp: bool) -> Seen:
    """Return the recovered spikes of single points."""
    plain = spikes(value, limits.z, limits.tail)
    wide = _seen(value, plain.at(plain.recovered))
    wide = wide.kept(wide.ratio > ratio)
    if not sharp:
        return _off_the_tail(value, _beyond_scatter(value, wide, limits))
    steep = spikes(value, limits.sharp_z, limits.sharp_tail)
    high = _seen(value, steep.at(steep.recovered))
    new = (high.ratio >= limits.sharp_ratio) & ~among(high.first, wide.first)
    return _off_the_tail(value, _beyond_scatter(value, joined(wide, high.kept(new)), limits))


def fading(value: FloatArray, limits: Limits) -> Seen:
    """Return tall spikes of several points whose height is lost bit by bit."""
    seen = tall(value, limits.ratio, limits, sharp=False)
    high = seen.base + CLEAR * sigma_diff(value)
    tops = zip(summits(value, seen).tolist(), seen.width.astype(int).tolist(), high, strict=True)
    fades = [_fades(value[top:], size, least) for top, size, least in tops]  # spikes are few
    return seen.kept(np.array(fades, dtype=bool))


def repeated(value: FloatArray, limits: Limits) -> Seen:
    """Return jumps of one step whose height is lost bit by bit, where they come again and again.

    That order is what noise has not, however heavy its tail: the tail, of which such points are a
    part where they are many, is not asked, nor a median about them, which they raise. A new stage
    of the task is learned as slowly as the first was. What a single one was nothing says.
    """
    scale = sigma_diff(value)
    jumps = np.flatnonzero(np.diff(value) > limits.z * scale) + 1
    rows: list[tuple[float, ...]] = []
    free = 0
    for at in jumps[jumps > BEFORE].tolist():  # eight noise scales: few
        base, peak = float(median(value[at - BEFORE : at])), float(value[at])
        back = np.flatnonzero(value[at:] < base + RECOVERED * (peak - base))
        level = max(base, FLOOR * abs(float(median(value[: max(3, len(value) // 20)]))), 1e-12)
        if at < free or not len(back) or peak <= limits.ratio * level:
            continue
        if _fades(value[at:], int(back[0]), base + CLEAR * scale) and _faster(value, at, base):
            free = at + int(back[0])
            rows.append((at, peak / level, peak, base, float(back[0])))
    many = len(rows) >= limits.many
    return _beyond_scatter(value, Seen(*np.array(rows).T), limits) if many else NONE


def _faster(value: FloatArray, at: int, base: float) -> bool:
    """Whether half of a jump is over in less than half the time that the first descent took.

    Where the run did not begin as far above the level there is nothing to compare it with.
    """
    start, height = float(value[: max(at // TENTH, 1)].max()), float(value[at]) - base
    if start - base < BACK * height:
        return True
    first = int(np.argmax(value <= base + BACK * (start - base)))
    again = int(np.argmax(value[at:] <= base + BACK * height))
    return again < BACK * first


def _fades(value: FloatArray, size: int, least: float) -> bool:
    """Whether values fall from a summit on: three one by one, all clear of the noise, or more."""
    first = value[:FEWEST_THROWN]
    at_once = len(first) == FEWEST_THROWN and bool((np.diff(first) < 0).all() and first[-1] > least)
    return at_once or (size >= FEWEST_THROWN and ranked(value[:size])[0] <= IN_ORDER)


def far_out(value: FloatArray, limits: Limits) -> Seen:
    """Return points of a few that lie far above the others, in orders of magnitude too."""
    if len(value) >= SHORT or value.min() <= 0:
        return NONE
    logs, base = np.log(value), float(median(value))
    least = max(np.log(limits.other_ratio), limits.log_z * mad(logs))
    at = np.flatnonzero(logs - np.log(base) > least)
    ones = np.ones(len(at))
    return Seen(at.astype(float), value[at] / base, value[at], base * ones, ones)


def long(value: FloatArray, ratio: float, limits: Limits) -> tuple[Seen, ...]:
    """Return excursions of several hundredths of the run that came back, and of fewer points."""
    finer = [len(value) // (BLOCKS * times) for times in FINER]
    sizes = [max(3, len(value) // BLOCKS), *(size for size in finer if size >= FEWEST_BLOCK)]
    return tuple(_long(value, size, ratio, limits) for size in sizes)


def _long(value: FloatArray, size: int, ratio: float, limits: Limits) -> Seen:
    """Return the excursions that show in medians of blocks of this size."""
    used = len(value) // size
    blocks = medians(value[: used * size].reshape(used, size))
    if used < BLOCKS // 5:
        return NONE
    at = np.arange(4, used - 3)
    before = medians(np.lib.stride_tricks.sliding_window_view(blocks, 4)[at - 4])
    level = floored(value, before)
    hit = (blocks[at] > ratio * level) & (blocks[at + 1] > limits.long_next * level)
    scale = max(sigma_diff(value) * MEDIAN_LOSS / size**0.5, mad(np.diff(blocks)) / 2**0.5, 1e-12)
    hit &= blocks[at] - before > limits.log_z * scale
    logs = np.log(np.maximum(blocks, 1e-12))  # while a loss falls its noise goes with its level
    hit &= logs[at] - np.log(np.maximum(before, 1e-12)) > limits.log_z * _scatter(logs)[at]
    rows: list[tuple[float, ...]] = []
    free = 0
    for place in np.flatnonzero(hit).tolist():  # blocks, at most 10,000
        first, base = int(at[place]), float(before[place])
        back = np.flatnonzero(blocks[first + 1 :] < base + 0.5 * (blocks[first] - base))
        if first < free or not len(back):
            continue
        free = first + 1 + int(back[0])
        peak = float(value[first * size : free * size].max())
        width = float((free - first) * size)
        rows.append((first * size, peak / float(level[place]), peak, base, width))
    return Seen(*np.array(rows).T) if rows else NONE


def off_and_on(shape: Shape, limits: Limits, *, loud: bool) -> Seen:
    """Return stretches that begin with a jump and end with one back to where they began, or below.

    What falls back slowly is a new stage of the task, not an excursion. Of an unknown task (not
    `loud`) a stretch counts that is as high as a lone spike, and a tenth of it may be left.
    """
    jumps = shape.events_of("jump")
    ratio, left = (limits.sharp_ratio, 0.0) if loud else (limits.alone, 1 / TENTH)
    rows = [
        (up, back)
        for up, back in pairwise(jumps)
        if up.level_after >= ratio * up.level_before
        and up.noise >= limits.z
        and back.before.index - up.before.index >= FEWEST_THROWN
        and back.after.value <= up.before.value + left * (up.after.value - up.before.value)
        and len(shape.value) - back.after.index >= FEWEST_THROWN
    ]
    columns = [
        (
            up.after.index,
            up.level_after / up.level_before,
            up.peak.value,
            up.level_before,
            back.before.index - up.before.index,
        )
        for up, back in rows
    ]
    return Seen(*np.array(columns, dtype=float).T) if columns else NONE


def alone(value: FloatArray, seen: Seen) -> BoolArray:
    """Tell which spikes the later loss is hardly ever half as high as, shape (k,).

    A loss that is 0 at half of its points, a hinge, has no level to be a multiple of but its start.
    """
    start = float(value[: max(3, len(value) // 20)].max())
    high: BoolArray = seen.peak > (0.0 if median(value) else start)
    half = seen.base + BACK * (seen.peak - seen.base)
    return high & unusual(value, seen.first, seen.width, half)


def over_at_once(value: FloatArray, seen: Seen) -> BoolArray:
    """Tell which spikes are half over at the next point, shape (k,): a new stage falls slowly."""
    after = value[np.minimum(seen.first.astype(np.int64) + 1, len(value) - 1)]
    over: BoolArray = after - seen.base < BACK * (seen.peak - seen.base)
    return over


def setback(shape: Shape) -> Seen:
    """Return the largest rise that takes half of the gain, out of the scatter, and comes back.

    Of few points any that stands out; of many a jump of the shape, or one from phase to phase. What
    it was, an update or other data, the curve alone does not say.
    """
    value = shape.value
    ups = np.diff(value)
    first = int(np.argmax(ups)) if len(ups) else 0
    if len(value) >= SHORT:
        jumps = [one.before.index for one in shape.events_of("jump")]
        ends = [one.last.index for one in shape.phases[:-1]]
        jumps = [at for at in jumps + ends if at < len(ups)]
        if not jumps:
            return NONE
        first = max(jumps, key=lambda at: float(ups[at]))
    last = first + 1
    while len(value) < SHORT and first > 0 and ups[first - 1] > 0:
        first -= 1
    while last < len(ups) and ups[last] > 0:
        last += 1
    first += int(np.argmin(value[first:last]))  # a border may lie a little before the jump
    rise = float(value[last] - value[first])
    back = np.flatnonzero(value[last:] < value[last] - BACK * rise)
    if first == 0 or not len(back) or not takes_back(value, first, last, of_loss=True):
        return NONE
    base, over = float(value[first]), last + int(back[0])
    peak = float(value[last:over].max())
    row = (first + 1, peak / max(base, 1e-12), peak, base, over - first - 1)
    return Seen(*np.array([row], dtype=float).T)


def lasting(seen: Seen, value: FloatArray) -> Seen:
    """Keep what stands as high in medians of a few points, so that it is no point that scatters.

    Two of few, up to five of many. Of so few that a stage looks alike none is kept.
    """
    if len(value) < SHORT:
        return NONE
    first, few = seen.first.astype(np.int64), np.arange(max(2, min(5, len(value) // 50)))
    after = medians(value[np.minimum(first[:, None] + few, len(value) - 1)])
    before = medians(value[np.maximum(first[:, None] - 1 - few, 0)])
    return seen.kept(after - before >= BACK * (seen.peak - seen.base))


def _beyond_scatter(value: FloatArray, seen: Seen, limits: Limits) -> Seen:
    """Return the spikes that the scatter of their phase, in orders of magnitude, does not explain.

    While a loss falls over decades its noise goes with its level: early scatter is large beside
    the noise of the whole run, and no spike.
    """
    if value.min() < 0 or not len(seen.first):
        return seen
    least = float(value[value > 0].min())  # what is 0 now and then scatters down to this at least
    scatter = _scatter(np.log(np.maximum(value, least)))[seen.first.astype(np.int64)]
    times = np.maximum(seen.peak / np.maximum(seen.base, least), 1.0)
    return seen.kept(np.log(times) > limits.log_z * scatter)


def _off_the_tail(value: FloatArray, seen: Seen) -> Seen:
    """Return the spikes that the tail of the noise does not reach; only points of one batch may."""
    return seen.kept(
        beyond(value, seen.first, seen.width, seen.peak / np.maximum(seen.base, 1e-12))
    )


def _scatter(logs: FloatArray) -> FloatArray:
    """Return the standard deviation of a curve around each point, shape (n,)."""
    width = odd(min(max(11, len(logs) // 20), 51))
    off = running_median(np.abs(logs - running_median(logs, width)), 2 * width + 1)
    jumps = running_median(np.abs(np.diff(logs, prepend=logs[0])), 2 * width + 1) / 2**0.5
    return GAUSSIAN * np.maximum(off, jumps)  # at the ends `off` leans on repeated values


def thrown_back(value: FloatArray, limits: Limits) -> Seen:
    """Return stretches in which a loss lost most of its fall, in orders of magnitude.

    The first nine tenths of the fall to the median of the run are left out: they set no scale.
    """
    if not len(value) or value.min() <= 0:
        return NONE
    logs = np.log10(value)
    start, usual = float(median(logs[:3])), float(median(logs))
    settled = int(np.argmax(logs <= usual + max(SETTLED * (start - usual), 0.0)))
    rest = logs[settled:]
    width = odd(min(max(11, len(rest) // 3), 101))
    if len(rest) <= width or np.ptp(rest) <= DECADE / 2:  # too low over any base
        return NONE
    base = running_median(rest, width)
    scatter = max(mad(rest - base), sigma_diff(rest))
    lost = limits.thrown * np.maximum(start - base, 0.0)
    needed = np.maximum(lost, max(DECADE, limits.z * scatter))
    high = rest - base > needed / 2
    starts, ends = stretches_of(high).T
    whole = (ends - starts >= FEWEST_THROWN) & (ends + FEWEST_THROWN <= len(rest))
    rows = [
        _thrown(value[settled:], 10 ** float(base[first]), first, end, settled)
        for first, end in zip(starts[whole].tolist(), ends[whole].tolist(), strict=True)
        if (rest - base > needed)[first:end].any()
    ]  # a stretch is at least three points out of the noise: few
    return Seen(*np.array(rows).T) if rows else NONE


def _thrown(value: FloatArray, base: float, first: int, end: int, settled: int) -> list[float]:
    peak = float(value[first:end].max())
    return [settled + first, peak / base, peak, base, end - first]
