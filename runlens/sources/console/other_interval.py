"""Where a launch that logs less often begins above the last row of the one before.

``imgs 246``, ``imgs 261``, ``imgs 300``, ``imgs 600``: the counter begins anew, though it never
falls back. The loss says so too: it is NaN up to there, and weights that are NaN stay so.
"""

from collections.abc import Sequence

import numpy as np

from runlens.metrics import naming
from runlens.sources.console.rows import Row
from runlens.sources.reading import as_number

FEWEST = 3  # rows on each side: two make an interval, and the third bears it out


def in_other_interval(rows: Sequence[Row]) -> list[int]:
    """Return the row at which such a launch begins; none of other logs.

    Its rows are multiples of their own interval, from the first one on, and what lies before it is
    a step of neither launch. A program that logs less often later on goes on from the last row.
    """
    one = len({(row.names, row.counted.epoch) for row in rows}) == 1 and len(rows) >= 2 * FEWEST
    place = next((n for n, name in enumerate(rows[0].names) if _is_loss(name)), -1) if one else -1
    if place < 0:
        return []
    count = np.array([max(row.counted.step, row.counted.batch) for row in rows])
    value = np.array([as_number(str(row.values[place])) for row in rows], dtype=np.float64)
    lost = np.flatnonzero(~np.isfinite(value))
    begin = int(lost[-1]) + 1 if len(lost) else 0
    after, before = np.diff(count[begin:]), np.diff(count[max(0, begin - FEWEST) : begin])
    if min(len(after) + 1, len(before) + 1) < FEWEST or before[0] <= 0:
        return []
    even = bool((after == after[0]).all() and (before == before[0]).all())
    gap = count[begin] - count[begin - 1]
    anew = count[begin] == after[0] > 0 and gap not in {before[0], after[0]}
    return [begin] if even and anew and gap > 0 else []


def _is_loss(name: str) -> bool:
    return naming(name).metric == "train_loss"
