"""Steps that do not count: the length of an episode.

Cut at the same one nearly each time, ``Loss: 0.5, Total Steps: 200`` in row after row: they are
numbered in order, as rows without a counter are. Or up and down while episodes go on one by one.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from runlens.sources.console.counters import Counted
from runlens.sources.console.rows import Row

MANY, MOSTLY = 20, 0.9  # rows, and their share, at one step
FALLS = 3  # of steps: launches begin anew with their epochs, which go on here


def without_lengths(rows: list[Row]) -> list[Row]:
    """Return rows without a step that stands still, or goes up and down beside what counts."""
    if _of_each(rows):
        return [row._replace(counted=row.counted._replace(step=-1, steps=-1)) for row in rows]
    steps = Counter(row.counted.step for row in rows)
    still, often = max(steps.items(), key=lambda item: item[1], default=(-1, 0))
    if still < 0 or often < max(MANY, MOSTLY * len(rows)) or not _of_a_kind(rows):
        return rows
    return [row._replace(counted=Counted()) for row in rows]


def _of_each(rows: Sequence[Row]) -> bool:
    """Whether steps fall again and again while each row is of the next episode."""
    step = np.array([row.counted.step for row in rows])
    epoch = np.array([row.counted.epoch for row in rows])
    falls = np.count_nonzero(np.diff(step) < 0)
    return bool(falls >= FALLS and step.min() >= 0 and (np.diff(epoch) == 1).all())


def _of_a_kind(rows: Sequence[Row]) -> bool:
    """Whether rows have the same names, count neither epochs nor batches, and differ."""
    names = {row.names for row in rows}
    counting = any(max(row.counted.epoch, row.counted.batch) >= 0 for row in rows)
    return len(names) == 1 and not counting and 2 * len({row.values for row in rows}) > len(rows)
