"""Tables of results whose ``epochs`` are those that each training was given: the same in each."""

from runlens.arrays import unique
from runlens.metrics import plain
from runlens.sources.tables.held import Table
from runlens.sources.tables.names import SPLIT_NAMES

GIVEN, PLANNED = "epochs", "num_epochs"


def with_plan(table: Table) -> Table:
    """Return a table whose ``epochs`` are called a plan where they stand still in all its rows.

    A training and its evaluation may say the same epoch, each in a row of its own.
    """
    given = {n: c for n, c in table.columns.items() if plain(n) == GIVEN}
    split = any(plain(name) in SPLIT_NAMES for name in (*table.columns, *table.words))
    whole = {len(c.row) for n, c in table.columns.items()} == {table.rows}
    if len(given) != 1 or split or not whole or table.rows < 2:  # noqa: PLR2004 - one row is a result
        return table
    (name,) = given
    if len(unique(given[name].value)) > 1:
        return table
    named = {PLANNED if n == name else n: column for n, column in table.columns.items()}
    return Table(table.rows, named, table.words, frozenset(named), table.blank)
