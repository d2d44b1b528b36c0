"""Where one piece ends and the next begins, on the points: jumps are not smeared over a block."""

from itertools import pairwise

import numpy as np

from runlens.history import FloatArray, IntArray
from runlens.signals.shape.axis import Coarse
from runlens.signals.shape.segments import Pieces, refitted

BRIDGE = 3  # blocks of a steep piece that may be nothing but a jump within a block
STEEP = 4.0  # noises of the step between two pieces that make a jump
OF_RANGE = 0.15  # and share of the range of the smooth curve
MOSTLY = 0.6  # share of the step that one pair of points makes
NEAR = 0.8  # share of the largest step between means within which the sharpest pair is looked for


def sharpened(grid: Coarse, pieces: Pieces, scaled: FloatArray) -> Pieces:
    """Return the pieces without those that only bridge a jump; scaled has shape (n,)."""
    old = [first for first, _ in pieces.cuts] + [len(grid.value)]
    edges, at = [0], 1
    while at < len(old) - 1:
        inner = at + 1 < len(old) - 1
        cut = _bridged(grid, pieces, scaled, old[at], old[at + 1]) if inner else None
        edges.append(old[at] if cut is None else cut)
        at += 1 if cut is None else 2
    cuts = tuple(pairwise([*edges, len(grid.value)]))
    return pieces if cuts == pieces.cuts else refitted(grid.step, grid.value, cuts)


def _bridged(grid: Coarse, pieces: Pieces, scaled: FloatArray, first: int, end: int) -> int | None:
    """Return the block before which a short piece jumps; None where it does more than that."""
    height = float(pieces.fitted[end] - pieces.fitted[first - 1])
    if end - first > BRIDGE or abs(height) <= STEEP * pieces.sigma:
        return None
    low, sign = int(grid.start[first - 1]), 1.0 if height > 0 else -1.0
    steps = sign * np.diff(scaled[low : int(grid.start[end]) + grid.size])
    at = int(np.argmax(steps))
    if steps[at] < MOSTLY * abs(height):
        return None
    return int(np.clip(np.searchsorted(grid.start, low + at + 1), first, end))


def jump_at(grid: Coarse, pieces: Pieces, scaled: FloatArray, cut: int) -> int | None:
    """Return the index of the first point past the jump at a cut; None where there is no jump."""
    place = [first for first, _ in pieces.cuts].index(cut)
    (first, end), (_, last) = pieces.cuts[place - 1], pieces.cuts[place]
    fitted = pieces.fitted
    height = float(fitted[end] - fitted[end - 1])
    sides = ((first, end - 1), (end, last - 1))
    slopes = [abs(float(fitted[b] - fitted[a])) / max(b - a, 1) for a, b in sides]
    if abs(height) - max(slopes) < max(STEEP * pieces.sigma, OF_RANGE * float(np.ptp(fitted))):
        return None
    return _sharpest(scaled, grid, end)


def _sharpest(scaled: FloatArray, grid: Coarse, cut: int) -> int:
    """Return the index past the sharpest step among the blocks beside a cut."""
    width = max(3, grid.size)
    low = max(int(grid.start[max(cut - 2, 0)]), 1)
    high = int(grid.start[cut + 2]) if cut + 2 < len(grid.start) else len(scaled)
    places = np.arange(low, high)
    total = np.concatenate([[0.0], np.cumsum(scaled[max(0, low - width) : high + width])])
    shift = max(0, low - width)
    left, right = np.maximum(places - width, 0), np.minimum(places + width, len(scaled))
    before = (total[places - shift] - total[left - shift]) / (places - left)
    after = (total[right - shift] - total[places - shift]) / (right - places)
    gap = np.abs(after - before)
    own = np.abs(scaled[places] - scaled[places - 1])
    return int(places[np.argmax(np.where(gap >= NEAR * gap.max(), own, -1.0))])


def borders(grid: Coarse, pieces: Pieces, scaled: FloatArray) -> dict[int, tuple[int, bool]]:
    """Return for each cut, in blocks, the index of its first point and whether it is a jump."""
    found: dict[int, tuple[int, bool]] = {}
    before = 0
    for _, (cut, end) in pairwise(pieces.cuts):
        at = jump_at(grid, pieces, scaled, cut)
        after = int(grid.start[end]) if end < len(grid.start) else len(scaled)
        inside = at is not None and before < at < after
        found[cut] = (at, True) if at is not None and inside else (int(grid.start[cut]), False)
        before = found[cut][0]
    return found


def begins(grid: Coarse, found: dict[int, tuple[int, bool]]) -> IntArray:
    """Return the first point of each block, shape (m + 1,), moved to the jumps; ascending."""
    starts = np.append(grid.start, grid.total)
    for cut, (at, _) in found.items():
        starts[cut:] = np.maximum(starts[cut:], at)
        starts[:cut] = np.minimum(starts[:cut], at)
        starts[cut] = at
    return starts
