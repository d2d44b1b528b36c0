"""Trainings side by side in one table: a column such as ``seed`` or ``model`` names each row's."""

import re
from collections.abc import Sequence

import numpy as np

from runlens.arrays import unique
from runlens.history import BoolArray, IntArray
from runlens.metrics import plain
from runlens.patterns import lazy_re
from runlens.sources.tables.held import Column, Table
from runlens.sources.tables.names import (
    CLASSES,
    METHODS,
    OF_PARTS,
    TIMES,
    has_metric,
    has_twins,
    is_step,
    names_training,
)
from runlens.sources.tables.no_course import OF_DATA, are_things

MOST = 1_000  # trainings of one table
COURSE = 10  # rows of a training
_SAVED = lazy_re(r"epoch|step|iter|checkpoint|ckpt", re.IGNORECASE)


def trainings(table: Table) -> list[tuple[str, Table]]:
    """Return the rows of each training with its name; nothing where a table is of one.

    Some columns name trainings if a step goes on within each, and comes again in another. Of a
    table that counts no steps a time goes on from one training to the next.
    """
    keys = _keys(table)
    if not keys:
        return []
    named = labels(table)
    order = list(dict.fromkeys(named))
    group = coded(named, table.rows)
    if len(order) > MOST or np.bincount(group).min() < 2:  # noqa: PLR2004 - a row is no course
        return []
    if not _restarts(table, group) and not _in_turn(table, group):
        return []
    return [(label, _rows(table, group == n, keys)) for n, label in enumerate(order)]


def labels(table: Table) -> list[str]:
    """Return what the columns that name trainings say in each row; nothing where they do not."""
    keys = _keys(table)
    said = [
        [text if plain(name) == "name" else f"{name} {text}" for text in texts]
        for name, texts in keys.items()
    ]
    return [", ".join(parts) for parts in zip(*said, strict=True)]


def named_apart(table: Table) -> list[str]:
    """Return the name of each row where it is a training of its own; nothing of other tables.

    Saved models of one training are no such rows: ``model_epoch_10``.
    """
    said = labels(table)
    apart = len(set(said)) == table.rows > 1 and not any(map(_SAVED.search, said))
    return said if apart else []


def of_trials(table: Table) -> bool:
    """Whether each row is a training of its own: by its name, or as a cell of a grid of settings.

    Two columns that differ name those of a grid, of which a third tells some apart; a course that
    counts nothing has more rows than so few.
    """
    grid = len(_keys(table)) > 1 and table.rows < COURSE * len(set(labels(table)))
    return grid or bool(named_apart(table))


def coded(named: Sequence[str], rows: int) -> IntArray:
    """Return a number for each name, shape (rows,), in their order; 0 where there are none."""
    order = {name: n for n, name in enumerate(dict.fromkeys(named))}
    return np.array([order[name] for name in named] or [0] * rows, dtype=np.int64)


def _keys(table: Table) -> dict[str, list[str]]:
    """Return the columns that name trainings and differ from row to row, with their texts."""
    named = [name for name in table.words if plain(name) in METHODS]
    named += [name for name in (*table.words, *table.columns) if names_training(name)]
    named = named or _naming_fits(table)
    said = {name: _texts(table, name) for name in named}
    return {name: texts for name, texts in said.items() if len(set(texts)) > 1}


def _naming_fits(table: Table) -> list[str]:
    """Return the column that names what each row was fitted to, or by; none of other things.

    Only what was fitted has a score on the data of its training beside one on others, whatever the
    rows are called: ``item,train_rmse,val_rmse``. A `name` alone says of other scores whose they
    are; classes have names as well, and scores of their own.
    """
    scores = {name for name in table.columns if has_metric([name])}
    of_classes = all(plain(name) in OF_PARTS for name in scores)
    twins = has_twins(scores)
    named = (
        name
        for name, said in table.words.items()
        if (twins and plain(name) not in CLASSES) or (plain(name) == "name" and not of_classes)
        if len({*said.values()}) == table.rows == len(said) and are_things([*said.values()])
        if not any(map(OF_DATA.search, said.values()))
    )
    return [name for name in named if name][:1]


def _texts(table: Table, name: str) -> list[str]:
    """Return what a column says in each row; nothing where it leaves one out."""
    found = dict(table.words.get(name, {}))
    if column := table.columns.get(name):
        found |= {row: f"{n:g}" for row, n in zip(column.row.tolist(), column.value, strict=True)}
    return [found[row] for row in range(table.rows)] if len(found) == table.rows else []


def _restarts(table: Table, group: IntArray) -> bool:
    """Whether a step rises from row to row of each group, and comes again in another."""
    for name, column in table.columns.items():
        if not is_step(name) or len(column.row) < table.rows:
            continue
        order = np.argsort(group, kind="stable")
        same = np.diff(group[order]) == 0
        rises = bool((np.diff(column.value[order])[same] > 0).all())
        if rises and len(unique(column.value)) < table.rows:
            return True
    return False


def _in_turn(table: Table, group: IntArray) -> bool:
    """Whether rows that nothing counts were written one after the other, and so were the groups.

    Each has a course of its own.
    """
    times = [column for name, column in table.columns.items() if plain(name) in TIMES]
    if len(times) != 1 or len(times[0].row) < table.rows or any(map(is_step, table.columns)):
        return False
    goes_on = bool((np.diff(times[0].value) >= 0).all() and (np.diff(group) >= 0).all())
    return goes_on and np.bincount(group).min() >= COURSE


def _rows(table: Table, kept: BoolArray, keys: dict[str, list[str]]) -> Table:
    """Return some rows without the columns that name them."""
    number = np.cumsum(kept) - 1
    columns = {}
    for name, column in table.columns.items():
        mine = kept[column.row]
        if name not in keys and mine.any():
            columns[name] = Column(number[column.row[mine]], column.value[mine])
    words = {
        name: {int(number[row]): text for row, text in texts.items() if kept[row]}
        for name, texts in table.words.items()
        if name not in keys
    }
    return Table(int(kept.sum()), columns, words, table.held & columns.keys(), table.blank)
