"""What a table holds: rows of named numbers, column by column."""

import numpy as np
from msgspec import Struct, field

from runlens.history import NOT_KNOWN, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.sources.tables.columns import Columns, meanings


class Column(NamedTuple):
    """The numbers of one name; arrays of shape (n,). What is not logged is not in it."""

    row: IntArray
    value: FloatArray


def spread(rows: int, column: Column) -> FloatArray:
    """Return the number of each row, shape (rows,); NaN where it has none."""
    value = np.full(rows, NOT_KNOWN)
    value[column.row] = column.value
    return value


class Table(Struct):
    """A log as rows; `words` holds the text of columns that name a split or a time.

    `held` are the columns that each row has a place for, though it may be empty; `blank` those
    of them that are empty in all rows.
    """

    rows: int
    columns: dict[str, Column]
    words: dict[str, dict[int, str]] = field(default_factory=dict)
    held: frozenset[str] = frozenset()
    blank: frozenset[str] = frozenset()


def renamed(table: Table, columns: Columns) -> Table:
    """Name the columns of a table as the user says."""
    named = meanings(table.columns, columns)
    words = meanings(table.words, columns)
    return Table(
        table.rows,
        {named[name]: column for name, column in table.columns.items() if name in named},
        {words[name]: texts for name, texts in table.words.items() if name in words},
        frozenset(named[name] for name in table.held if name in named),
        table.blank,
    )
