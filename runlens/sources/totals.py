"""Sums: the loss of a detector, which logs its parts; a column that adds another one up."""

from collections.abc import Mapping

import numpy as np

from runlens.patterns import lazy_re
from runlens.sources.reading import Series

# YOLO of any release: YOLOv10 has each part twice, of one match an object and of many
_PART = lazy_re(r"(train|val)/((?:box|giou|cls|obj|dfl|seg|pose|kobj|rle|angle|l1)_(?:loss|om|oo))")
ROWS = 10  # whose differences are another column: fewer may be so by chance, as of whole numbers
ROUNDED = 1e-6  # of the largest sum, which is what printed digits leave of its differences
_BOXES = ("box_", "giou_")  # of a detector alone


def with_totals(series: Mapping[str, Series]) -> dict[str, Series]:
    """Return series with the sum of a detector's losses, where they are of the same steps."""
    found = dict(series)
    for split in ("train", "val"):
        total = f"{split}/loss"
        parts = [name for name in series if (part := _PART.fullmatch(name)) and part[1] == split]
        boxes = any(name.partition("/")[2].startswith(_BOXES) for name in parts)
        if len(parts) < 2 or not boxes or total in series:  # noqa: PLR2004 - a sum is of two
            continue
        first = series[parts[0]]
        if all(np.array_equal(series[name].step, first.step) for name in parts):
            value = np.sum([series[name].value for name in parts], axis=0)
            found[total] = first._replace(value=value)
    return found


def adds_up(one: Series, other: Series) -> bool:
    """Whether a series is the running sum of another: from row to row it grows by what that says.

    ``TotalRewardMean`` beside ``EpRewMean``. It falls for good where rewards are negative.
    """
    if len(one.step) < ROWS or not np.array_equal(one.step, other.step):
        return False
    grown, by = np.diff(one.value), other.value[1:]
    near = ROUNDED * float(np.nanmax(np.abs(one.value), initial=0.0))
    return bool((np.abs(grown - by) <= near).all() and by.any())
