"""How far the tail of the noise reaches: single points that heavy-tailed noise has in any run."""

import numpy as np

from runlens.history import BoolArray, FloatArray
from runlens.signals.changes import GAP
from runlens.signals.noise import odd, running_median

FEWEST, MOST = 10, 50  # highest points that tell how a tail goes on
SHARE = 20  # of all, these are the highest
EXPECTED = 0.05  # points as high as a spike that a tail has in a run: more are of the noise
COMMON = 0.1  # of the later points: as many as high are no event
SINGLE = 2.0  # points of what one batch explains


def beyond(value: FloatArray, first: FloatArray, width: FloatArray, times: FloatArray) -> BoolArray:
    """Tell which spikes lie off the tail of the noise, shape (k,); values of shape (n,).

    `first` and `width` are their places in points, `times` their heights over the level there.
    The tail is drawn on as a power law by Hill's estimator (1975, Ann. Stat. 3:1163), of the
    highest points in orders of magnitude, those of the spikes left out, and what lies above a gap.
    Where batches are small, noise with Student's t of four degrees has a point of ten scales in
    each thousand: it is one of many, not an event. What lasts is none of it.
    """
    free = np.ones(len(first), dtype=bool)
    if not len(first) or value.min() <= 0 or len(value) < SHARE * FEWEST:
        return free
    above = np.log(value / running_median(value, odd(min(max(11, len(value) // 20), 51))))
    left = np.ones(len(value), dtype=bool)
    for at, size in zip(first.astype(int).tolist(), width.astype(int).tolist(), strict=True):
        left[at : at + max(size, 1)] = False
    ranks = np.sort(above[left & (above > 0)])
    apart = np.flatnonzero(ranks[1:] > GAP * ranks[:-1])
    apart = apart[apart > len(ranks) // 2]
    ranks = ranks[: int(apart[0]) + 1] if len(apart) else ranks
    top = ranks[-max(min(MOST, len(value) // SHARE), FEWEST) - 1 :]
    if len(top) <= FEWEST or top[-1] <= top[0]:
        return free
    index = 1 / float(np.log(top[1:] / top[0]).mean())
    height = np.log(np.maximum(times, 1.0))
    expected = len(top) * (float(top[0]) / np.maximum(height, float(top[0]))) ** index
    found: BoolArray = (width > SINGLE) | (expected < EXPECTED)
    return found


def unusual(value: FloatArray, first: FloatArray, width: FloatArray, half: FloatArray) -> BoolArray:
    """Tell behind which spikes a loss is hardly ever at their `half` again, shape (k,).

    One that wanders as high at one in ten of the later points does so at other times too: that
    way up is no event. Other spikes are left out, and a last stretch that stays high: it is lost.
    """
    free = np.ones(len(value), dtype=bool)
    spans = list(zip(first.astype(int).tolist(), width.astype(int).tolist(), strict=True))
    for at, size in spans:
        free[at : at + max(size, 1)] = False
    found = np.ones(len(first), dtype=bool)
    for number, (at, _) in enumerate(spans):  # spikes are few
        high = value[at:][free[at:]] >= half[number]
        until = len(high) - int(np.argmin(high[::-1])) if len(high) else 0
        found[number] = until < FEWEST or float(high[:until].mean()) < COMMON
    return found
