"""Epochs that are counted anew in each iteration of a loop around them: ``[iter: 3/40] mAP 0.5``.

A row of the loop stands behind the epochs that it is of. Its count is that of the training, as that
of epochs is elsewhere; they are parts of it, as batches are.
"""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from runlens.records import NamedTuple
from runlens.sources.console.counters import Counted
from runlens.sources.console.rows import Row
from runlens.sources.trainings import goes_on

FEWEST = 3  # iterations that rows name: fewer may be a checkpoint's


class _Mark(NamedTuple):
    """A row of the loop: how many times epochs had begun by then, which iteration it is."""

    begun: int
    number: int

    @property
    def before(self) -> int:
        """Return how many times epochs had begun before the loop did."""
        return self.begun - self.number


def nested(rows: list[Row]) -> list[Row]:
    """Return rows whose epochs are parts of the iterations that rows behind them count.

    Where values begin anew with each iteration it is a fold, and no loop of one training: what it
    is counted by is no part of an epoch then.
    """
    ordered = sorted(rows, key=lambda row: row.at)
    outer = [row for row in ordered if _is_outer(row.counted)]
    totals = {_total(row.counted) for row in outer}
    if len(totals) != 1 or len({row.counted.epoch for row in outer}) > 1 or ordered[0] is outer[0]:
        return rows
    epochs = [-1 if _is_outer(row.counted) else row.counted.epoch for row in ordered]
    begun = _times_begun(epochs)
    marks = [
        _Mark(n, max(row.counted.batch, row.counted.step))
        for n, row in zip(begun, ordered, strict=True)
        if _is_outer(row.counted)
    ]
    before = [mark.before for mark in marks]
    counted = len({*marks}) >= FEWEST * len({*before}) and before == sorted(before)
    if not counted:
        return rows
    if not _go_on(ordered, begun):
        return [row._replace(counted=_alone(row.counted)) for row in ordered]
    (total,), most = totals, max(epochs)
    return [
        row._replace(counted=_within(row.counted, _number(n, marks), total, most))
        for n, row in zip(begun, ordered, strict=True)
    ]


def _is_outer(counted: Counted) -> bool:
    """Whether a row counts to a total of its own, and names no epoch or that of the row above."""
    return _total(counted) > 0 and (counted.batch >= 0 or counted.step >= 0)


def _total(counted: Counted) -> int:
    return max(counted.batches, counted.steps)


def _times_begun(epochs: Sequence[int]) -> list[int]:
    """Return how many times epochs had begun anew, by each row; -1 is no epoch."""
    found, times, last = [], 1, -1
    for epoch in epochs:
        times += 0 <= epoch < last
        last = epoch if epoch >= 0 else last
        found.append(times)
    return found


def _go_on(ordered: Sequence[Row], begun: Sequence[int]) -> bool:
    """Whether the first number of the rows of epochs goes on where these begin anew."""
    names = ordered[0].names
    mine = [n for n, row in enumerate(ordered) if row.names == names]
    value = np.array([ordered[n].values[0] for n in mine])
    return goes_on(np.array([begun[n] for n in mine]), value)


def _number(begun: int, marks: Sequence[_Mark]) -> int:
    """Return the iteration that a row is of: the next that names one says it, else the last."""
    place = bisect_left(marks, begun, key=lambda mark: mark.begun)
    near = [*marks[place : place + 1], *marks[:place][-1:]]
    return next((begun - mark.before for mark in near if begun > mark.before), 0)


def _alone(counted: Counted) -> Counted:
    epoch, epochs = counted.epoch, counted.epochs
    return Counted(epoch=epoch, epochs=epochs) if _is_outer(counted) else counted


def _within(counted: Counted, number: int, total: int, most: int) -> Counted:
    """Return the count of a row in the loop: of epochs the part of the iteration that they are."""
    inner = counted.epoch >= 0 and not _is_outer(counted)
    batch, batches = (counted.epoch, most) if inner else (-1, -1)
    return Counted(epoch=number, epochs=total, batch=batch, batches=batches)
