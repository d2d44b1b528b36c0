"""Where in a table a launch of the training begins, told by the steps of its rows alone."""

from collections.abc import Sequence

import numpy as np

from runlens.arrays import median
from runlens.history import IntArray

LAG = 3  # logging intervals by which one process may write behind another; rows of a launch
ECHOED = 0.3  # share of rows that do not go on, where each is written twice or more


def appended(step: IntArray) -> bool:
    """Whether epochs go on one by one and begin anew: of trainings that were appended.

    One may have come to its first row alone.
    """
    gaps = np.diff(step)
    back = (gaps < 0) | ((gaps == 0) & (step[1:] == step.min(initial=step.max(initial=0))))
    return bool(back.any() and (gaps[~back] == 1).all() and LAG * back.sum() < len(step))


def slack_of(step: IntArray) -> int:
    """Return how far steps may go back within a launch: where processes write by turns."""
    distinct, count = np.unique(step, return_counts=True)
    if len(distinct) < LAG or median(count) < 2:  # noqa: PLR2004 - a step said once is no echo
        return 0
    if np.mean(np.diff(step) <= 0) < ECHOED:  # said again from the start: a launch of its own
        return 0
    fallen = step[1:][np.diff(step) < 0]
    if len(fallen) and (fallen == step.min()).all():  # launches that came not far
        return 0
    return LAG * int(median(np.diff(distinct)))


def launches(
    rows: int, step: IntArray, main: IntArray, slack: int, data: Sequence[str] = ()
) -> IntArray:
    """Return the launch of each row, shape (rows,): a step that goes back begins the next.

    `main` are the rows of the metric with the most points, whose steps decide. Where the rows of
    other `data` stand behind all those of the first, these begin no launch.
    """
    mine = step[main]
    begun = main[np.flatnonzero(np.diff(mine) < -slack) + 1]
    borders = [n for n in range(1, len(data)) if data[n] != data[n - 1]]
    if borders and len(set(data)) == 1 + len(borders):
        begun = begun[~np.isin(begun, borders)]
    return np.searchsorted(begun, np.arange(rows), side="right").astype(np.int64)
