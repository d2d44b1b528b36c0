"""Curves in one line of text."""

import math
from collections.abc import Sequence

from runlens.metrics import base, is_loss
from runlens.report.values import starts_at_zero

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-=+*#@"
FEW_CELLS = 2  # of so few the medians are all there is to see
GONE = "×"  # NaN or infinity in this cell
LOG_FROM = 30.0  # largest over smallest, from which the scale is logarithmic


def spark(metric: str, values: Sequence[float], cells: int, *, ascii_only: bool = False) -> str:
    """Draw `values` in `cells` characters: the median of each cell, a cross where one is NaN.

    The first and the last are drawn as logged, since they stand beside it as numbers, at most as
    high as the highest median and at least as low as the lowest. A learning rate has no noise: of
    it the highest of each cell is drawn, from 0, as on the page. Only losses and gradient norms
    are drawn by their logarithm, and where they span much.
    """
    if not values:
        return ""
    marks = ASCII if ascii_only else BLOCKS
    cells = min(cells, len(values))
    parts = [
        values[len(values) * i // cells : len(values) * (i + 1) // cells] for i in range(cells)
    ]
    share = 1.0 if starts_at_zero(metric) else 0.5
    heights = [_height(part, share) for part in parts]
    known = [height for height in heights if height is not None]
    if not known:
        return ("x" if ascii_only else GONE) * cells
    low, high = min(known), max(known)
    low = min(low, 0.0) if starts_at_zero(metric) else low
    if cells > FEW_CELLS:
        for end in (0, -1):  # within the scale of the medians: one high first row flattens nothing
            if heights[end] is not None and low < high:
                heights[end] = min(max(values[end], low), high)
    by_size = is_loss(metric) or base(metric) == "grad_norm"
    if by_size and low > 0 and high / low > LOG_FROM:
        heights = [None if height is None else math.log(height) for height in heights]
        low, high = math.log(low), math.log(high)
    span = high / 2 - low / 2  # halves: the whole may be beyond the largest number
    return "".join(
        ("x" if ascii_only else GONE)
        if height is None
        else marks[0 if span <= 0 else min(7, int(8 * ((height / 2 - low / 2) / span)))]
        for height in heights
    )


def _height(part: Sequence[float], share: float) -> float | None:
    """Return the value below which `share` of a cell lies; None where one is not finite."""
    finite = sorted(value for value in part if math.isfinite(value))
    at = min(int(share * len(finite)), len(finite) - 1)
    return finite[at] if len(finite) == len(part) else None
