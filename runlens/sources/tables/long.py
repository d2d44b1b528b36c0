"""Long tables: a row holds one number, of the metric that a word in the row names.

The CSV of MLflow's page is one (``metric,step,timestamp,value``), and what ``pandas.melt`` makes.
"""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from runlens.history import IntArray
from runlens.metrics import plain
from runlens.sources.tables.groups import coded, labels
from runlens.sources.tables.held import Column, Table
from runlens.sources.tables.names import (
    LABELS,
    ROW_NUMBERS,
    TIMES,
    TRAININGS,
    VALUES,
    counter,
    has_metric,
    is_step,
)

OF_R = {"x"}  # how R calls a vector in a table


def lone_value(names: Collection[str]) -> str:
    """Return the column of the numbers in a table of one metric that has no name; else ""."""
    values = [name for name in names if plain(name) in VALUES | OF_R]
    others = [name for name in names if name and name not in values]
    known = all(plain(name) in TIMES | TRAININGS or counts_rows(name) for name in others)
    counted = any(counts_rows(name) or plain(name) in TIMES for name in others)
    return values[0] if len(values) == 1 and known and (counted or not others) else ""


def counts_rows(name: str) -> bool:
    """Whether a name is that of a step, or of the number of a row."""
    return is_step(name) or plain(name) in ROW_NUMBERS


def names_metrics(name: str, said: Iterable[str]) -> bool:
    """Whether the words of a column are names, one of them that of a metric."""
    return plain(name) in LABELS and has_metric(set(said))


def is_long(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a column names the metric of each row, beside a value and a step or a training."""
    said = zip(header, zip(*rows, strict=False), strict=False)
    named = any(names_metrics(name, cells) for name, cells in said)
    counted = any(is_step(name) or plain(name) in TRAININGS for name in header)
    return named and bool(VALUES & set(map(plain, header))) and counted


def widened(table: Table) -> Table:
    """Return a long table with a column for each metric, a row for each step; others as found."""
    steps = sorted((key, name) for name in table.columns if (key := counter(name)))
    value = next((name for name in table.columns if plain(name) in VALUES), "")
    label = next((n for n, said in table.words.items() if names_metrics(n, said.values())), "")
    step = table.columns[steps[0][1]] if steps else None
    if not (value and label and (step or labels(table))) or label in table.columns:
        return table
    said, numbers = table.words[label], table.columns[value]
    row = _rows(table, step, label)
    columns = {
        name: Column(row[column.row], column.value)
        for name, column in table.columns.items()
        if name != value
    }
    called = [said.get(n, "") for n in numbers.row.tolist()]
    for name in dict.fromkeys(filter(None, called)):
        mine = np.array([one == name for one in called], dtype=np.bool_)
        columns[name] = Column(row[numbers.row[mine]], numbers.value[mine])
    words = {
        name: {int(row[n]): text for n, text in texts.items()}
        for name, texts in table.words.items()
        if name != label
    }
    ordered = {name: _ascending(column) for name, column in columns.items()}
    return Table(int(row.max()) + 1, ordered, words)


def _rows(table: Table, step: Column | None, label: str) -> IntArray:
    """Return the row for each number, shape (rows,): one for each step of each training.

    Where a metric says a step twice, as after a resume, the rows stay as they stand. Results of
    trainings have no step.
    """
    as_found = np.arange(table.rows)
    if step and len(step.row) < table.rows:
        return as_found
    at = step.value if step else np.zeros(table.rows)
    keys = np.column_stack([coded(labels(table), table.rows), at])
    metric = coded([table.words[label].get(n, "") for n in as_found.tolist()], table.rows)
    if len(np.unique(np.column_stack([keys, metric]), axis=0)) < table.rows:
        return as_found
    row: IntArray = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    return row


def _ascending(column: Column) -> Column:
    """Return the first number of each row, row after row."""
    row, first = np.unique(column.row, return_index=True)
    return Column(row, column.value[first])
