"""Optimal division of a curve into straight pieces, by dynamic programming.

A piece is straight in the step or in its logarithm, whichever fits: a power law, which gains with
each doubling, is one piece and not a fall with a plateau behind. The number of pieces is the one
whose likelihood, under noise with memory (AR(1)), gains most beyond what noise alone gains.
"""

from typing import NamedTuple

import numpy as np

from runlens.history import FloatArray
from runlens.signals.shape.axis import ROUNDED, axes
from runlens.signals.shape.limits import critical

MOST_PIECES = 12
ONE_PLACE = 1e-14  # spread of steps, of 1, below which they are one
TAILS = 4.0  # degrees of freedom of the noise
MEMORY = 20.0  # a memory longer than this part of the curve is shape, not noise


class Pieces(NamedTuple):
    """The pieces found; `cuts` are (first, last + 1) block indices."""

    cuts: tuple[tuple[int, int], ...]
    fitted: FloatArray  # shape (m,)
    sigma: float  # of the residual
    memory: float  # lag-1 autocorrelation of the residual, bounded
    gain: float  # of log-likelihood over the limit; 0 where the curve is one constant, or recut


def longest_memory(count: int) -> float:
    """Return the largest lag-1 autocorrelation that noise of `count` values can be told to have."""
    return float(np.exp(-MEMORY / count)) if count else 0.0


def divide(step: FloatArray, y: FloatArray) -> Pieces:
    """Return the pieces of y, shape (m,) with m of 4 to some hundred."""
    count = len(y)
    floor = (ROUNDED * max(float(np.ptp(y)), 1e-100)) ** 2
    costs = _costs(step, y, _shortest(count))
    paths = _paths(costs, _most(count))
    best, gain = _whole(y), 0.0
    base = _misfit(y - np.median(y), floor)
    for pieces, cuts in enumerate(paths, start=1):
        fitted = _fit(step, y, cuts)
        beyond = base - _misfit(y - fitted, floor) - critical(count, pieces)
        if beyond > gain:
            best, gain = (cuts, fitted), beyond
    residual = y - best[1]
    return Pieces(best[0], best[1], *_scatter(residual, len(best[0]), floor), gain)


def refitted(step: FloatArray, y: FloatArray, cuts: tuple[tuple[int, int], ...]) -> Pieces:
    """Return the pieces between other cuts."""
    fitted = _fit(step, y, cuts)
    floor = (ROUNDED * max(float(np.ptp(y)), 1e-100)) ** 2
    return Pieces(cuts, fitted, *_scatter(y - fitted, len(cuts), floor), 0.0)


def _whole(y: FloatArray) -> tuple[tuple[tuple[int, int], ...], FloatArray]:
    return ((0, len(y)),), np.full(len(y), float(np.median(y)))


def _shortest(count: int) -> int:
    return 2 if count < 20 else 3  # noqa: PLR2004 - a piece of two points fits anything


def _most(count: int) -> int:
    return max(1, min(MOST_PIECES, count // 3))


def _costs(step: FloatArray, y: FloatArray, shortest: int) -> FloatArray:
    """Return the squared residual of a line through blocks i..j, shape (m, m + 1); inf below."""
    centred = y - y.mean()
    rss = np.minimum(*(_squares(axis, centred) for axis in axes(step)))
    count = len(y)
    length = np.arange(count + 1)[None, :] - np.arange(count)[:, None]
    return np.where(length >= shortest, rss, np.inf)


def _squares(x: FloatArray, y: FloatArray) -> FloatArray:
    sums = [
        np.concatenate([[0.0], np.cumsum(a)]) for a in (np.ones_like(x), x, y, x * x, x * y, y * y)
    ]
    n, sx, sy, sxx, sxy, syy = (total[None, :] - total[:-1, None] for total in sums)
    n = np.maximum(n, 1.0)
    spread = sxx - sx * sx / n
    shared = sxy - sx * sy / n
    whole = syy - sy * sy / n
    with np.errstate(divide="ignore", invalid="ignore"):
        line = np.where(spread > ONE_PLACE, shared * shared / spread, 0.0)
    left: FloatArray = np.maximum(whole - line, 0.0)
    return left


def _paths(costs: FloatArray, most: int) -> list[tuple[tuple[int, int], ...]]:
    """Return the best division into 1, 2, ... pieces."""
    count = len(costs)
    best = costs[0].copy()  # best[e]: cost of blocks 0..e-1 in the pieces so far
    back = [np.zeros(count + 1, dtype=np.int64)]
    for _ in range(1, most):
        through = best[:-1, None] + costs
        back.append(np.argmin(through, axis=0))
        best = np.min(through, axis=0)
    paths = []
    for pieces in range(most):
        end, cuts = count, []
        for level in range(pieces, -1, -1):
            start = int(back[level][end])
            cuts.append((start, end))
            end = start
        if end == 0 and all(b > a for a, b in cuts):
            paths.append(tuple(reversed(cuts)))
    return paths


def _fit(step: FloatArray, y: FloatArray, cuts: tuple[tuple[int, int], ...]) -> FloatArray:
    fitted = np.empty_like(y)
    both = axes(step)
    for first, last in cuts:
        lines = [_line(axis[first:last], y[first:last]) for axis in both]
        left = [float(((y[first:last] - line) ** 2).sum()) for line in lines]
        fitted[first:last] = lines[int(np.argmin(left))]
    return fitted


def _line(x: FloatArray, y: FloatArray) -> FloatArray:
    dx = x - x.mean()
    spread = float((dx * dx).sum())
    slope = float((dx * y).sum()) / spread if spread > ONE_PLACE else 0.0
    line: FloatArray = y.mean() + slope * dx
    return line


def _misfit(residual: FloatArray, floor: float) -> float:
    """Return -2 log-likelihood of AR(1) noise whose innovations are Student's t.

    t with 4 degrees of freedom (Lange, Little & Taylor 1989, JASA 84): a few wild points neither
    make a piece nor hide one. The scale is the likeliest, by four steps of EM.
    """
    rho = bounded_memory(residual)
    new = np.append(residual[1:] - rho * residual[:-1], np.sqrt(1 - rho * rho) * residual[0])
    square = new * new
    scale = float(square.mean()) + floor
    for _ in range(4):
        weight = (TAILS + 1) / (TAILS + square / scale)
        scale = float((weight * square).mean()) + floor
    wild = float(np.log1p(square / (TAILS * scale)).sum())
    return len(residual) * float(np.log(scale)) + (TAILS + 1) * wild


def bounded_memory(residual: FloatArray) -> float:
    """Return the lag-1 autocorrelation, 0 to what can be told apart from shape."""
    power = float((residual * residual).sum())
    if power <= 0:
        return 0.0
    rho = float((residual[1:] * residual[:-1]).sum()) / power
    return min(max(rho, 0.0), longest_memory(len(residual)))


def _scatter(residual: FloatArray, pieces: int, floor: float) -> tuple[float, float]:
    free = max(len(residual) - 2 * pieces, 1)
    sigma = float(np.sqrt(max(float((residual * residual).sum()) / free, floor)))
    return sigma, bounded_memory(residual)
