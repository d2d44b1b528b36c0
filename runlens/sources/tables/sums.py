"""A loss that is added up from the first batch of each epoch on: what it says stands at its end."""

from collections.abc import Mapping

import numpy as np

from runlens.history import NOT_KNOWN, FloatArray
from runlens.metrics import naming
from runlens.sources.tables.held import Column

FEWEST = 10  # rows of an epoch: so many do not rise one by one by chance
EPOCHS = 2
WHOLE = 0.9  # of the rows of an epoch: of fewer the sum is not there yet
FROM_ZERO = 5.0  # times the mean gap from row to row at which a sum begins at most


def summed(metrics: Mapping[str, Column], epoch: FloatArray) -> dict[str, Column]:
    """Return the training losses that climb from 0 in each epoch, the last row of each kept.

    `epoch` is that of each row, shape (rows,). No loss that is an average goes up at each row of
    all epochs and falls back with the next: the sum of those before does.
    """
    found = {}
    for name, column in metrics.items():
        if naming(name).metric != "train_loss":
            continue
        mine = epoch[column.row]
        begins = np.flatnonzero(np.diff(mine, prepend=NOT_KNOWN) != 0)
        parts = np.split(np.arange(len(mine)), begins[1:])
        length = max(map(len, parts), default=0)
        if (
            len(parts) >= EPOCHS
            and length >= FEWEST
            and all(_climbs(column.value[p]) for p in parts)
        ):
            last = [part[-1] for part in parts if len(part) >= WHOLE * length]
            found[name] = Column(column.row[last], column.value[last])
    return found


def _climbs(value: FloatArray) -> bool:
    """Whether numbers rise from one to the next, the first of them from about 0."""
    gaps = np.diff(value)
    near = value[0] <= FROM_ZERO * value[-1] / len(value)
    return bool(np.isfinite(value).all() and (gaps >= 0).all() and near and value[0] >= 0)
