"""Evaluations on several sets, a row each, in one table: ``step,eval_split,eval_loss``.

The rows of one step become one, with a column for each set: ``eval_loss easy``; that of all sets
keeps its name.
"""

from itertools import pairwise

import numpy as np

from runlens.metrics import plain
from runlens.sources.tables.held import Column, Table
from runlens.sources.tables.names import SET_NAMES, TIMES, TOTALS, is_step

MOST = 12  # sets
OF_ALL = TOTALS | {"mean", "average", "avg"}


def with_sets_apart(table: Table) -> Table:
    """Return a table with the rows of its sets side by side; others as they are."""
    name = next((one for one in table.words if plain(one) in SET_NAMES), "")
    texts = table.words.get(name, {})
    sets = list(dict.fromkeys(texts.values()))
    if len(texts) != table.rows or not 1 < len(sets) <= MOST:
        return table
    group = _groups(table, name)
    pairs = {(number, texts[row]) for row, number in enumerate(group.tolist())}
    if len(pairs) < table.rows or group[-1] + 1 == table.rows:
        return table
    code = np.array([sets.index(texts[row]) for row in range(table.rows)])
    columns: dict[str, Column] = {}
    for called, column in table.columns.items():
        if is_step(called):
            first = np.unique(group[column.row], return_index=True)[1]
            columns[called] = Column(group[column.row[first]], column.value[first])
            continue
        for number, said in enumerate(sets):
            mine = code[column.row] == number
            if mine.any():
                own = called if said.lower() in OF_ALL else f"{called} {said}"
                columns[own] = Column(group[column.row[mine]], column.value[mine])
    words = {
        other: {int(group[row]): text for row, text in reversed(some.items())}
        for other, some in table.words.items()
        if other != name
    }
    return Table(int(group[-1]) + 1, columns, words, frozenset(), table.blank)


def _groups(table: Table, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the number of the row that each becomes: one behind the other of the same step."""
    said = [
        texts for other, texts in table.words.items() if other != name and plain(other) not in TIMES
    ]
    steps = [
        dict(zip(column.row.tolist(), column.value.tolist(), strict=True))
        for called, column in table.columns.items()
        if is_step(called)
    ]
    keys = [tuple(one.get(row) for one in (*said, *steps)) for row in range(table.rows)]
    return np.cumsum([0, *(a != b for a, b in pairwise(keys))])
