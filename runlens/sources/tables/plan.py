"""What trainings were to take: ``epochs`` of a table of results, rounds and episodes in settings.

In a table of results they are those that each training was given: the same in each row.
"""

from collections.abc import Mapping

from runlens.arrays import unique
from runlens.config_keys import canonical_key
from runlens.metrics import plain
from runlens.patterns import lazy_re
from runlens.run import Setting
from runlens.sources.tables.held import Table
from runlens.sources.tables.names import SETTINGS, SPLIT_NAMES

BATCH = "per_device_train_batch_size"
GIVEN, PLANNED = "epochs", "num_epochs"
# settings that are known by no other name, as they are of no epochs or steps: "num_rounds"
_MANY = lazy_re(
    r"(?:(?:n|num|number_of|total|max|global|comm(?:unication)?|train(?:ing)?)_)*"
    r"(round|generation|episode)s"
)
_COUNTS = lazy_re(r"(?:.*_)?(round|generation|episode)s?")


def names_settings(table: Table) -> bool:
    """Whether columns are settings that no training logs while it goes on: its rate may be."""
    named = (*table.columns, *table.words)
    return any(plain(n) in SETTINGS or canonical_key(n) == BATCH for n in named)


def planned_in(config: Mapping[str, Setting], counter: str, last: int) -> int | None:
    """Return how many of what the rows count settings name; none if fewer than came `last`.

    ``{"config": {"num_rounds": 50}}`` above rows that count rounds.
    """
    unit = _COUNTS.fullmatch(plain(counter))
    said = ((_MANY.fullmatch(plain(key.rpartition(".")[2])), n) for key, n in config.items())
    named = {n for found, n in said if unit and found and found[1] == unit[1]}
    (plan,) = named if len(named) == 1 else (0,)
    return plan if type(plan) is int and plan >= last > 0 else None


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
