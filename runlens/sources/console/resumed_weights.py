"""Launches that a log says were resumed, and that count from their own beginning all the same.

So they do where the weights alone were loaded: the counters of the optimizer and of the schedule
begin anew, and the training goes on.
"""

from collections.abc import Sequence

import numpy as np

from runlens.history import NOT_KNOWN, FloatArray
from runlens.metrics import naming
from runlens.sources.console.dicts import Rows
from runlens.sources.console.events import relaunched, resumed
from runlens.sources.console.records import Placed
from runlens.sources.trainings import goes_on

SAYS = "resum"  # weights that are loaded may be those of an earlier stage as well


def after_resumes(placed: Placed, rows: Rows, others: Sequence[tuple[int, str]]) -> Placed:
    """Return the places of rows with the steps of such launches counted on.

    A training that closed, with its summary, is not resumed: what begins behind it is another. Nor
    is one whose loss begins anew too: nothing was loaded.
    """
    borders = np.flatnonzero(np.diff(placed.launch)) + 1
    if not len(borders):
        return placed
    at, closed, loss = rows.records.at, rows.are("summary"), _losses(rows)
    ahead = np.zeros_like(placed.step)
    for border in borders.tolist():
        if placed.step[border] > placed.step[0] or closed[border - 1]:
            continue
        lines = (line for n, line in others if at[border - 1] < n < at[border])
        mine = placed.launch <= placed.launch[border]
        behind = (placed.launch == placed.launch[border]).astype(np.int64)
        if any(map(_says_resumed, lines)) and goes_on(behind[mine], loss[mine]):
            ahead[border:] += placed.step[border - 1]
    if not ahead.any():
        return placed
    return placed._replace(step=placed.step + ahead, inferred=True)


def _losses(rows: Rows) -> FloatArray:
    """Return the training loss of each row, shape (n,), NaN where it has none."""
    value = np.full(len(rows.records.at), NOT_KNOWN)
    for names, number, values in rows.records.layouts:
        for name, column in zip(names, values.T, strict=True):
            if naming(name).metric == "train_loss":
                value[number] = column
    return value


def _says_resumed(line: str) -> bool:
    return SAYS in line.lower() and (resumed(line) is not None or relaunched(line))
