"""The forms in which a loss leaves its level and comes back: points, blocks, powers of ten."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from runlens.arrays import among, median, medians
from runlens.history import BoolArray, FloatArray, IntArray
from runlens.signals.changes import Spikes, spikes
from runlens.signals.noise import GAUSSIAN, MEDIAN_LOSS, mad, odd, running_median, sigma_diff
from runlens.signals.shape import Shape

FLOOR = 0.05  # of the start: a spike of a loss near zero is judged against this level
BLOCKS = 100  # of the long form
SETTLED = 0.1  # of the first fall, in orders of magnitude, that is left when it is over
FEWEST_THROWN = 3  # points of the form over orders of magnitude: fewer are a tall spike, or none


class Bounds(NamedTuple):
    """The limits of the rule that its forms need; explained on its page."""

    z: float
    tail: float
    sharp_ratio: float
    sharp_z: float
    sharp_tail: float
    long_next: float
    long_z: float
    log_z: float
    thrown: float


class Seen(NamedTuple):
    """The spikes of a run, of all forms, in order; arrays of shape (k,)."""

    first: FloatArray  # index of the first point
    ratio: FloatArray  # peak over the level under it
    peak: FloatArray
    base: FloatArray
    width: FloatArray  # points
    left: FloatArray  # share of the height left over after it

    def kept(self, mask: BoolArray) -> "Seen":
        """Return some of the spikes."""
        return Seen._make(column[mask] for column in self)


NONE = Seen(*[np.zeros(0)] * 6)


def joined(*parts: Seen) -> Seen:
    """Return all spikes of several forms, form after form."""
    return Seen._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def _level(value: FloatArray, base: FloatArray) -> FloatArray:
    """Return the level against which a spike is judged, never near zero."""
    start = abs(float(median(value[: max(3, len(value) // 20)])))
    level: FloatArray = np.maximum(np.maximum(base, FLOOR * start), 1e-12)
    return level


def _seen(value: FloatArray, one: Spikes) -> Seen:
    level = _level(value, one.base)
    after = np.minimum(one.first + one.width, len(value) - 1)
    span = np.minimum(after[:, None] + np.arange(5)[None, :], len(value) - 1)
    rest = medians(value[span]) - one.base if len(after) else one.base
    left = rest / np.maximum(one.peak - one.base, 1e-12)
    first = one.first.astype(float)
    return Seen(first, one.peak / level, one.peak, one.base, one.width.astype(float), left)


def tall(value: FloatArray, ratio: float, limits: Bounds, *, sharp: bool) -> Seen:
    """Return the recovered spikes of single points."""
    plain = spikes(value, limits.z, limits.tail)
    wide = _seen(value, plain.at(plain.recovered))
    wide = wide.kept(wide.ratio > ratio)
    if not sharp:
        return _beyond_scatter(value, wide, limits)
    steep = spikes(value, limits.sharp_z, limits.sharp_tail)
    high = _seen(value, steep.at(steep.recovered))
    new = (high.ratio >= limits.sharp_ratio) & ~among(high.first, wide.first)
    return _beyond_scatter(value, joined(wide, high.kept(new)), limits)


def long(value: FloatArray, ratio: float, limits: Bounds) -> Seen:
    """Return excursions of several hundredths of the run that came back."""
    size = max(3, len(value) // BLOCKS)
    used = len(value) // size
    blocks = medians(value[: used * size].reshape(used, size))
    if used < BLOCKS // 5:
        return NONE
    scale = max(sigma_diff(value) * MEDIAN_LOSS / size**0.5, mad(np.diff(blocks)) / 2**0.5, 1e-12)
    at = np.arange(4, used - 3)
    before = medians(np.lib.stride_tricks.sliding_window_view(blocks, 4)[at - 4])
    level = _level(value, before)
    hit = (blocks[at] > ratio * level) & (blocks[at + 1] > limits.long_next * level)
    hit &= blocks[at] - before > limits.long_z * scale
    rows: list[tuple[float, ...]] = []
    free = 0
    for place in np.flatnonzero(hit).tolist():  # blocks, at most 100
        first, base = int(at[place]), float(before[place])
        back = np.flatnonzero(blocks[first + 1 :] < base + 0.5 * (blocks[first] - base))
        if first < free or not len(back):
            continue
        free = first + 1 + int(back[0])
        peak = float(value[first * size : free * size].max())
        over = float(blocks[first] - base)
        left = float(median(blocks[free : free + 4]) - base) / over
        width = float((free - first) * size)
        rows.append((first * size, peak / float(level[place]), peak, base, width, left))
    return Seen(*np.array(rows).T) if rows else NONE


def off_and_on(shape: Shape, limits: Bounds) -> Seen:
    """Return stretches that begin with a jump and end with one back to where they began, or below.

    What falls back slowly is a new stage of the task, not an excursion.
    """
    jumps = shape.events_of("jump")
    rows = [
        (up, back)
        for up, back in pairwise(jumps)
        if up.share >= limits.sharp_ratio - 1
        and up.noise >= limits.z
        and back.before.index - up.before.index >= FEWEST_THROWN
        and back.after.value <= up.before.value
        and len(shape.value) - back.after.index >= FEWEST_THROWN
    ]
    columns = [
        (
            up.after.index,
            up.level_after / up.level_before,
            up.peak.value,
            up.level_before,
            back.before.index - up.before.index,
            (back.after.value - up.level_before) / (up.level_after - up.level_before),
        )
        for up, back in rows
    ]
    return Seen(*np.array(columns, dtype=float).T) if columns else NONE


def _beyond_scatter(value: FloatArray, seen: Seen, limits: Bounds) -> Seen:
    """Return the spikes that the scatter of their phase, in orders of magnitude, does not explain.

    While a loss falls over decades its noise goes with its level: early scatter is large beside
    the noise of the whole run, and no spike.
    """
    if value.min() <= 0 or not len(seen.first):
        return seen
    logs = np.log(value)
    width = odd(min(max(11, len(value) // 20), 51))
    off = running_median(np.abs(logs - running_median(logs, width)), 2 * width + 1)
    leaps = running_median(np.abs(np.diff(logs, prepend=logs[0])), 2 * width + 1) / 2**0.5
    at: IntArray = seen.first.astype(np.int64)
    scatter = GAUSSIAN * np.maximum(off, leaps)[at]  # at the ends `off` leans on repeated values
    return seen.kept(np.log(np.maximum(seen.peak / seen.base, 1.0)) > limits.log_z * scatter)


def thrown_back(value: FloatArray, limits: Bounds) -> Seen:
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
    if len(rest) <= width:
        return NONE
    base = running_median(rest, width)
    scatter = max(mad(rest - base), sigma_diff(rest))
    lost = limits.thrown * np.maximum(start - base, 0.0)
    needed = np.maximum(lost, max(1.0, limits.z * scatter))
    high = rest - base > needed / 2
    edges = np.diff(np.concatenate([[0], high.astype(np.int8), [0]]))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    whole = (ends - starts >= FEWEST_THROWN) & (ends + FEWEST_THROWN <= len(rest))
    rows = [
        _thrown(value[settled:], 10 ** float(base[first]), first, end, settled)
        for first, end in zip(starts[whole].tolist(), ends[whole].tolist(), strict=True)
        if (rest - base > needed)[first:end].any()
    ]  # a stretch is at least three points out of the noise: few
    return Seen(*np.array(rows).T) if rows else NONE


def _thrown(value: FloatArray, base: float, first: int, end: int, settled: int) -> list[float]:
    peak, after = float(value[first:end].max()), float(median(value[end : end + 5]))
    left = (after - base) / (peak - base)
    return [settled + first, peak / base, peak, base, end - first, left]
