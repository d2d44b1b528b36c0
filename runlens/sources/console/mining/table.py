"""A layout of lines as a table that says which of its columns count, and what the others are."""

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from runlens.arrays import median
from runlens.history import NOT_KNOWN, FloatArray, IntArray
from runlens.naming import classify
from runlens.naming.classify import says_right
from runlens.sources.console.mining.counting import Counters, counted_by_name, counters
from runlens.sources.console.mining.layouts import Layout
from runlens.sources.console.telling import tells

_OTHERS = {
    "eta", "pid", "gpu", "rank", "seed", "port", "v_num", "line", "row",
    "client", "client_id", "worker", "party",
}  # fmt: skip
FEWEST = 20  # rows from which a share is told by how it rises
WHOLE = 1.01  # more than all, as some programs count
ROUNDED = 0.01  # of a whole: per cent without decimals, cut or rounded
EVEN, MOSTLY = 0.05, 0.9  # of the usual rise: what rounding leaves; share of the rows


class Table(Struct, eq=False):
    """A layout with what counts in it; arrays of shape (n,)."""

    layout: Layout
    line: IntArray
    value: FloatArray  # shape (n, k)
    counts: Counters
    step: FloatArray  # NaN: not known
    steps: FloatArray  # planned
    epoch: FloatArray
    epochs: FloatArray
    batch: FloatArray
    batches: FloatArray
    names: tuple[str, ...]  # of the columns that measure, empty for the others
    record: IntArray  # how many lines that count stand before each row
    lasts: bool = False  # the last row of each evaluation

    @property
    def measures(self) -> bool:
        """Whether a number of it has a name."""
        return any(self.names)

    @property
    def bound(self) -> bool:
        """Whether all its names are set off from their numbers, as no word of a sentence is."""
        return all(c.bound for c, name in zip(self.layout.columns, self.names, strict=True) if name)

    @property
    def telling(self) -> int:
        """How many of its names are those of what trainings are judged by; of a list one."""
        return len({name.partition("[")[0] for name in self.names if name and tells(name)})


def tabled(layout: Layout) -> Table:
    """Find what counts in a layout, and name what measures."""
    value, total, whole = layout.array()
    found = counters(layout, value, total, whole)
    if not found.any and counted_by_name(layout, value, whole):
        first, second, *others = layout.columns
        layout = replace(layout, columns=(first, second._replace(name=first.name), *others))
        found = Counters(step=0)
    blank = np.full(len(value), NOT_KNOWN)

    def column(place: int) -> tuple[FloatArray, FloatArray]:
        if place < 0:
            return blank, blank
        planned = np.where(total[:, place] >= 0, total[:, place], NOT_KNOWN)
        return value[:, place], planned

    (step, steps), (epoch, epochs), (batch, batches) = map(column, found)
    names = tuple(_name(layout, place, value, found) for place in range(len(layout.columns)))
    names = _without_shares(_without_done(names, layout, value, total), value)
    counts = (total >= 0) & [
        says_right(name) or classify(name).quantity == "accuracy" for name in names
    ]
    if counts.any():  # 9813/10000 (98%); of an empty set 0/0
        share = np.where(total > 0, value / np.where(total > 0, total, 1), NOT_KNOWN)
        value = np.where(counts, share, value)
        empty = np.all(counts & np.isnan(value), axis=0).tolist()
        names = tuple("" if none else n for n, none in zip(names, empty, strict=True))
    return Table(
        layout, layout.line, value, found, step, steps, epoch, epochs, batch, batches, names,
        np.zeros(len(value), dtype=np.int64),
    )  # fmt: skip


def _name(layout: Layout, place: int, value: FloatArray, found: Counters) -> str:
    """Return what a column measures; empty for what counts, and for constants without a name."""
    name, kind, _ = layout.columns[place]
    if place in found or kind == "share" or name.lower() in _OTHERS:
        return ""
    mine = value[:, place]
    if kind and (mine == np.floor(mine)).all():
        return ""
    if name or kind:
        return name or kind
    return "" if (mine == mine[0]).all() else f"column {place + 1}"


def _without_done(
    names: tuple[str, ...], layout: Layout, value: FloatArray, total: FloatArray
) -> tuple[str, ...]:
    """Leave out a number without a name that says how much of a total is done: ``5% | 1/20``."""
    counts = np.flatnonzero((total > 0).all(axis=0))
    if len(value) == 1 or not len(counts):
        return names
    done = value[:, counts] / total[:, counts]
    near = [bool((np.abs(done.T - mine) <= ROUNDED).all(axis=1).any()) for mine in value.T]
    return tuple(
        "" if one and not column.name else name
        for name, column, one in zip(names, layout.columns, near, strict=True)
    )


def _without_shares(names: tuple[str, ...], value: FloatArray) -> tuple[str, ...]:
    """Leave out what rises by the same from row to row: the share that is done of a task.

    ``Solver on 1-objective F1 ( 4.33%), 0.05s passed``; and what is named after it.
    """
    done = {n for n, mine in zip(names, value.T, strict=True) if _ticks(mine) and tells(n)}
    return tuple("" if name.partition("[")[0] in done else name for name in names)


def _ticks(value: FloatArray) -> bool:
    """Whether numbers rise evenly from 0 to 1 again and again, as no score does."""
    if len(value) < FEWEST or not (value.min() >= 0 and WHOLE / 2 < value.max() <= WHOLE):
        return False
    apart = np.diff(value)
    usual = median(apart)
    again = np.count_nonzero(apart < -WHOLE / 2)
    return bool(again > 1 and usual > 0 and (np.abs(apart - usual) < EVEN * usual).mean() >= MOSTLY)


def lacks_a_cell(table: Table, other: Table) -> bool:
    """Whether a single row is one of another table without some numbers: ``| No log | 1 | 0.7 |``.

    It counts the same, and has no name of its own.
    """
    mine, theirs = (
        {column.name for column in some.layout.columns if column.name} for some in (table, other)
    )
    counts = {c.name for c in other.layout.columns if c.kind not in {"", "share"}}
    single = len(table.line) == 1 and (table.telling > 0 or not other.telling)
    return single and bool(counts) and counts <= mine < theirs
