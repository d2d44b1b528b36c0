"""Optimal division of a curve into straight pieces, by dynamic programming.

A piece is straight in the step or in its logarithm, whichever fits: a power law, which gains with
each doubling, is one piece and not a fall with a plateau behind. The number of pieces is the one
whose likelihood, under noise with memory (AR(1)), gains most beyond what noise alone gains.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import numpy as np

from runlens.arrays import median
from runlens.history import FloatArray
from runlens.records import NamedTuple
from runlens.signals.shape.axis import ROUNDED, axes
from runlens.signals.shape.corners import corners
from runlens.signals.shape.limits import corner_limit, critical

MOST_PIECES = 12
PATIENCE = 3  # more pieces that are tried after the best number so far, if all gain too little
ONE_PLACE = 1e-14  # spread of steps, of 1, below which they are one
TAILS = 4.0  # degrees of freedom of the noise
MEMORY = 20.0  # a memory longer than this part of the curve is shape, not noise

Cuts = tuple[tuple[int, int], ...]


class Pieces(NamedTuple):
    """The pieces found; `cuts` are (first, last + 1) block indices."""

    cuts: Cuts
    fitted: FloatArray  # shape (m,)
    sigma: float  # of the residual
    memory: float  # lag-1 autocorrelation of the residual, bounded


class Lines(NamedTuple):
    """The best line through blocks i..j - 1 at [i, j]; arrays of shape (m, m + 1)."""

    axis: FloatArray  # the axis in which it is straight, shape (2, m): step, logarithm
    value: FloatArray  # shape (m,)
    squares: tuple[FloatArray, FloatArray]  # residual, by axis

    def best(self) -> FloatArray:
        """Return the squared residual on the better axis."""
        least: FloatArray = np.minimum(*self.squares)
        return least

    def through(self, first: int, end: int) -> FloatArray:
        """Return the line through blocks first..end - 1."""
        which = int(self.squares[1][first, end] < self.squares[0][first, end])
        x, y = self.axis[which, first:end], self.value[first:end]
        middle, level = x.sum() / len(x), y.sum() / len(y)
        away = x - middle
        spread = float(away @ away)
        slope = float(away @ y) / spread if spread > ONE_PLACE else 0.0
        line: FloatArray = level + slope * away
        return line


def longest_memory(count: int) -> float:
    """Return the largest lag-1 autocorrelation that noise of `count` values can be told to have."""
    return math.exp(-MEMORY / count) if count else 0.0


def divide(step: FloatArray, y: FloatArray) -> Pieces:
    """Return the pieces of y, shape (m,) with m of 4 to some hundred."""
    count = len(y)
    best: tuple[Cuts, FloatArray] = ((0, count),), np.full(count, float(median(y)))
    most, nearest, since = 0.0, -math.inf, 0
    for cuts, fitted, gain in _cut(step, y):
        beyond, since = gain - critical(count, len(cuts)), since + 1
        if beyond > most:
            best, most, since = (cuts, fitted), beyond, 0
        elif beyond > nearest and len(cuts) > 1:
            since = 0
        elif since > PATIENCE:
            break
        nearest = max(nearest, beyond)
    for knot, fitted, slopes, gain in _bent(step, y):
        beyond = gain - corner_limit(count, slopes)
        if beyond > most:
            best, most = (((0, knot + 1), (knot + 1, count)), fitted), beyond
    return Pieces(*best, *_scatter(y - best[1], len(best[0]), _floor(y)))


def gains(step: FloatArray, y: FloatArray) -> list[tuple[int, float]]:
    """Return (pieces, gain of likelihood over a constant) of each best division."""
    return [(len(cuts), gain) for cuts, _, gain in _cut(step, y)]


def corner_gains(step: FloatArray, y: FloatArray) -> list[tuple[int, float]]:
    """Return (slopes, gain of likelihood over a constant) of each best corner."""
    return [(slopes, gain) for _, _, slopes, gain in _bent(step, y)]


def _cut(step: FloatArray, y: FloatArray) -> Iterator[tuple[Cuts, FloatArray, float]]:
    """Yield the best division into 1, 2, ... pieces: cuts, fitted, gain of likelihood."""
    floor, lines = _floor(y), _lines(step, y)
    base = _misfit(y - float(median(y)), floor)
    known: dict[tuple[int, int], FloatArray] = {}
    for cuts in _paths(lines.best(), _most(len(y)), _shortest(len(y))):
        for cut in cuts:
            if cut not in known:
                known[cut] = lines.through(*cut)
        fitted = np.concatenate([known[cut] for cut in cuts])
        yield cuts, fitted, base - _misfit(y - fitted, floor)


def _bent(step: FloatArray, y: FloatArray) -> Iterator[tuple[int, FloatArray, int, float]]:
    """Yield the best corner of each form: knot, fitted, slopes, gain of likelihood."""
    floor = _floor(y)
    base = _misfit(y - float(median(y)), floor)
    for knot, fitted, slopes in corners(step, y):
        yield knot, fitted, slopes, base - _misfit(y - fitted, floor)


def refitted(step: FloatArray, y: FloatArray, cuts: Cuts) -> Pieces:
    """Return the pieces between other cuts."""
    lines = _lines(step, y)
    fitted = np.concatenate([lines.through(*cut) for cut in cuts])
    return Pieces(cuts, fitted, *_scatter(y - fitted, len(cuts), _floor(y)))


def _floor(y: FloatArray) -> float:
    """Return the variance below which a difference is rounding."""
    return (ROUNDED * max(float(np.ptp(y)), 1e-100)) ** 2


def _shortest(count: int) -> int:
    return 2 if count < 20 else 3  # noqa: PLR2004 - a piece of two points fits anything


def _most(count: int) -> int:
    return max(1, min(MOST_PIECES, count // 3))


def _lines(step: FloatArray, value: FloatArray) -> Lines:
    both = axes(step)
    y = value - value.sum() / len(value)
    n = _lengths(len(y))
    sy, own = _sums(y), _sums(y * y)
    own -= sy * sy / n  # about the mean of each piece
    squares = [_squares(x, y, n, sy, own) for x in both]
    return Lines(np.stack(both), value, (squares[0], squares[1]))


@lru_cache(4)
def _lengths(count: int) -> FloatArray:
    """Return how many blocks are i..j - 1 of `count`, at least 1, shape (m, m + 1)."""
    n: FloatArray = np.maximum(np.arange(count + 1.0)[None, :] - np.arange(count)[:, None], 1.0)
    return n


def _sums(some: FloatArray) -> FloatArray:
    """Return the sums over blocks i..j - 1, shape (m, m + 1)."""
    totals = np.concatenate([[0.0], np.cumsum(some)])
    between: FloatArray = totals[None, :] - totals[:-1, None]
    return between


def _squares(
    x: FloatArray, y: FloatArray, n: FloatArray, sy: FloatArray, own: FloatArray
) -> FloatArray:
    """Return the squared residual of the line through blocks i..j - 1, shape (m, m + 1).

    `n`, `sy`, `own`, of that shape: how many they are, their sum, their squares about the mean.
    """
    sx, spread, shared = _sums(x), _sums(x * x), _sums(x * y)
    spread -= sx * sx / n
    sx *= sy
    sx /= n
    shared -= sx
    spread[spread <= ONE_PLACE] = np.inf
    shared *= shared
    shared /= spread
    left: FloatArray = np.subtract(own, shared, out=shared)
    return np.maximum(left, 0.0, out=left)


def _paths(squares: FloatArray, most: int, shortest: int) -> list[Cuts]:
    """Return the best division into 1, 2, ... pieces."""
    count = len(squares)
    long = _lengths(count) >= shortest
    costs = np.where(long, squares, np.inf).T.copy()  # costs[end, first]
    best = costs[:, 0]  # best[e]: cost of blocks 0..e-1 in the pieces so far
    back = [np.zeros(count + 1, dtype=np.int64)]
    every = np.arange(count + 1)
    for _ in range(1, most):
        through = costs + best[None, :-1]
        back.append(np.argmin(through, axis=1))
        best = through[every, back[-1]]
    paths = []
    for pieces in range(most):
        edges = [count]
        for level in range(pieces, -1, -1):
            edges.append(int(back[level][edges[-1]]))
        cuts = tuple(pairwise(reversed(edges)))
        if edges[-1] == 0 and all(last > first for first, last in cuts):
            paths.append(cuts)
    return paths


def _misfit(residual: FloatArray, floor: float) -> float:
    """Return -2 log-likelihood of AR(1) noise whose innovations are Student's t.

    t with 4 degrees of freedom (Lange, Little & Taylor 1989, JASA 84): a few wild points neither
    make a piece nor hide one. The scale is the likeliest, by four steps of EM.
    """
    rho = bounded_memory(residual)
    new = residual.copy()
    new[1:] -= rho * residual[:-1]
    new[0] *= math.sqrt(1 - rho * rho)
    square = new * new
    count = len(square)
    scale = float(square.sum()) / count + floor
    for _ in range(4):
        scale = (TAILS + 1) * float((square / (TAILS + square / scale)).sum()) / count + floor
    wild = float(np.log1p(square / (TAILS * scale)).sum())
    return count * math.log(scale) + (TAILS + 1) * wild


def bounded_memory(residual: FloatArray) -> float:
    """Return the lag-1 autocorrelation, 0 to what can be told apart from shape."""
    power = float(residual @ residual)
    if power <= 0:
        return 0.0
    rho = float(residual[1:] @ residual[:-1]) / power
    return min(max(rho, 0.0), longest_memory(len(residual)))


def _scatter(residual: FloatArray, pieces: int, floor: float) -> tuple[float, float]:
    """Return (standard deviation, memory) of what the pieces leave over."""
    free = max(len(residual) - 2 * pieces, 1)
    sigma = math.sqrt(max(float(residual @ residual) / free, floor))
    return sigma, bounded_memory(residual)
