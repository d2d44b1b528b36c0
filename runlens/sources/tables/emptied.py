"""A loss that a table leaves empty, from some row on or in all: what a writer makes of NaN.

JSON has no NaN: ``JSON.stringify``, orjson and pandas' ``to_json`` write ``null``; pandas'
``to_csv`` writes an empty cell.
"""

from collections.abc import Mapping

import numpy as np

from runlens.history import FloatArray, IntArray
from runlens.metrics import naming
from runlens.naming import classify
from runlens.sources.tables.held import Column, Table
from runlens.sources.tables.names import HERE

LOSSES = frozenset({"train_loss", "d_loss", "g_loss"})
FEWEST = 3  # rows with a number before, and without one after: fewer may be a closing row


def emptied(table: Table, metrics: Mapping[str, Column]) -> dict[str, Column]:
    """Return the training losses that had a number in each row and then in none, NaN added.

    Not where another metric begins there: those are rows of another kind (a test at the end). Of a
    loss that never had a number, an accuracy on the same data stands in each row.
    """
    found = {
        name: Column(*never) for name in table.blank if (never := _never(table, name, metrics))
    }
    for name, column in metrics.items():
        filled = len(column.row)
        if name not in table.held or naming(name).metric not in LOSSES:
            continue
        if filled < FEWEST or table.rows - filled < FEWEST or column.row[-1] != filled - 1:
            continue
        if any(len(other.row) and other.row[0] >= filled for other in metrics.values()):
            continue
        value = np.concatenate([column.value, np.full(table.rows - filled, np.nan)])
        found[name] = Column(np.arange(table.rows), value)
    return found


def _never(
    table: Table, name: str, metrics: Mapping[str, Column]
) -> tuple[IntArray, FloatArray] | None:
    """Return the NaN of a loss without a number beside what was measured with it in each row."""
    if naming(name).metric != "train_loss" or table.rows < FEWEST:
        return None
    said = ((classify(other), column) for other, column in metrics.items())
    beside = any(
        one.quantity == "accuracy" and one.split in HERE and len(column.row) == table.rows
        for one, column in said
    )
    return (np.arange(table.rows), np.full(table.rows, np.nan)) if beside else None
