"""Rows of evaluations in a log of JSON Lines, whose step is the epoch: mmengine's ``scalars.json``.

Its rows of training have ``epoch``, ``iter`` and ``step``; those of an evaluation have ``step``
alone, by iterations that of the row before, by epochs the number of that row's epoch.
"""

import numpy as np

from runlens.metrics import plain
from runlens.sources.tables.held import Column, Table, spread
from runlens.sources.tables.names import EPOCHS
from runlens.sources.tags import SAYS_SPLIT

STEP, ITERATION = "step", "iter"


def with_evaluations(table: Table) -> Table:
    """Return a table with its rows of evaluations named so, at the step of the row before them."""
    epoch = next((name for name in table.columns if plain(name) in EPOCHS), "")
    if not {STEP, ITERATION} <= table.columns.keys():
        return table
    step, count = (spread(table.rows, table.columns[name]) for name in (STEP, ITERATION))
    bare = np.isnan(count) & ~np.isnan(step)
    if epoch:
        bare &= np.isnan(spread(table.rows, table.columns[epoch]))
    before = np.maximum.accumulate(np.where(np.isnan(count), -1, np.arange(table.rows)))
    if not bare.any() or (before[bare] < 0).any():
        return table
    last = before[bare]
    by_step = np.array_equal(step[bare], step[last])
    by_epoch = bool(epoch) and np.array_equal(
        step[bare], spread(table.rows, table.columns[epoch])[last]
    )
    if not (by_step or by_epoch):
        return table
    step[bare] = step[last]
    known = np.flatnonzero(~np.isnan(step))
    columns = {STEP: Column(known, step[known])}
    for name, column in table.columns.items():
        mine = bare[column.row]
        for called, some in ((name, ~mine), (_held_out(name), mine)):
            if name != STEP and some.any():
                columns[called] = Column(column.row[some], column.value[some])
    return Table(table.rows, columns, table.words, table.held, table.blank)


def _held_out(name: str) -> str:
    return name if SAYS_SPLIT.match(name) else f"val/{name}"
