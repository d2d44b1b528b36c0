"""A loss that a table leaves empty, from some row on or in all: what a writer makes of NaN.

JSON has no NaN: ``JSON.stringify``, orjson and pandas' ``to_json`` write ``null``; pandas'
``to_csv`` writes an empty cell.
"""

from collections.abc import Mapping
from functools import reduce

import numpy as np

from runlens.history import FloatArray, IntArray
from runlens.metrics import naming
from runlens.naming import classify
from runlens.sources.tables.held import Column, Table
from runlens.sources.tables.names import HERE

LOSSES = frozenset({"train_loss", "d_loss", "g_loss"})
FEWEST = 3  # rows with a number before, and without one after: fewer may be a closing row
# what transformers writes in one row, with the number that only a NaN empties in a table of pandas:
# that has a column for what some row held, and none for what no row did
OF_ONE_ROW = {"grad_norm": ("loss", "learning_rate"), "eval_loss": ("eval_runtime",)}


def emptied(table: Table, metrics: Mapping[str, Column]) -> dict[str, Column]:
    """Return the training losses that had a number in each row and then in none, NaN added.

    Not where another metric begins there: those are rows of another kind (a test at the end). Of a
    loss that never had a number, an accuracy on the same data stands in each row. A loss
    on held-out data that ends in the same row as that of training was lost with it.
    """
    found = {
        name: Column(*never) for name in table.blank if (never := _never(table, name, metrics))
    } | _of_pandas(table, metrics)
    ends = set[int]()
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
        ends.add(filled)
    for name, column in metrics.items():
        filled = len(column.row)
        if name in table.held and naming(name).metric == "eval_loss" and filled in ends:
            value = np.concatenate([column.value, np.full(table.rows - filled, np.nan)])
            found[name] = Column(np.arange(table.rows), value)
    return found


def _of_pandas(table: Table, metrics: Mapping[str, Column]) -> dict[str, Column]:
    """Return what is blank in each row that has the numbers that transformers writes beside it.

    Its loss is 0 in each row, which is what it logs of a NaN. Beside any other loss the column may
    be one that a writer of its own names and never fills.
    """
    if not (loss := metrics.get("loss")) or loss.value.any() or len(loss.row) < FEWEST:
        return {}
    found = {}
    for name in OF_ONE_ROW.keys() & table.blank:
        beside = [table.columns[one].row for one in OF_ONE_ROW[name] if one in table.columns]
        if len(beside) == len(OF_ONE_ROW[name]):
            row = reduce(np.intersect1d, beside)
            found[name] = Column(row, np.full(len(row), np.nan))
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
