"""Which rows of a log are kept: those of a layout that comes again, and single ones beside them."""

from collections import Counter

from runlens.sources.console.counters import Counted
from runlens.sources.console.learned import counted_twice
from runlens.sources.console.rows import Row
from runlens.sources.console.telling import is_evaluation
from runlens.sources.tables.names import has_twins


def known_layouts(rows: list[Row], *, few: bool) -> list[Row]:
    """Keep the rows whose layout occurs more than once; and single ones of the same counter.

    A whole evaluation needs no counter. Of a `few` lines a row of a single one has two counters, or
    what was measured on the data of the training and on held-out ones, which no sentence names.
    """
    layouts = Counter(row.names for row in rows)
    kept = [row for row in rows if layouts[row.names] > 1]
    if not kept:
        return [r for r in rows if few and (counted_twice(r.counted) or has_twins(r.names))]
    first = kept[0]
    return [
        row
        for row in rows
        if layouts[row.names] > 1
        or (_alike(row.counted, first.counted) and not _ahead(row, first))
        or (row.counted == Counted(epoch=row.counted.epoch) and is_evaluation(row.names))
    ]


def _ahead(row: Row, first: Row) -> bool:
    """Whether a line stands before the rows and tells of later: how it ended, pasted first."""
    return row.at < first.at and row.counted.step > first.counted.step >= 0


def _alike(some: Counted, other: Counted) -> bool:
    if some.part or (some.step >= 0 and other.step >= 0):
        return True
    return (some.step >= 0) == (other.step >= 0) and (some.batch >= 0) == (other.batch >= 0)
