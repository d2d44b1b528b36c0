"""Lines of two kinds at the same step, of which both name one metric: they are no one curve.

``step 1000, policy=3.1 mse=0.005 total=3.5`` and right behind it ``step 1000, policy=7.7 training
accuracy=1.1%``, which was measured on other data. What is printed more often goes on.
"""

from collections import Counter
from collections.abc import Sequence

from runlens.metrics import naming
from runlens.sources.console.rows import Row

MOSTLY = 0.8  # share of the rows of a kind that stand beside one of the other
_Names = tuple[str, ...]


def without_other_kinds(rows: list[Row]) -> list[Row]:
    """Return rows of which those beside the usual one of their step name nothing that it has.

    A kind of row that has nothing of its own is kept as it is: nothing tells which of both goes on.
    """
    often = Counter(row.names for row in rows)
    usual = max(often, key=often.__getitem__, default=())
    counters = {_place(row) for row in rows if row.names == usual}
    if len(often) < 2 or len(counters) < often[usual]:  # noqa: PLR2004 - both kinds
        return rows
    known = {naming(name).metric for name in usual}
    beside = Counter(row.names for row in _beside(rows, usual))
    kept = {
        names: tuple(n for n, name in enumerate(names) if naming(name).metric not in known)
        for names, many in beside.items()
        if many >= MOSTLY * often[names]
    }
    return [_taken(row, kept[row.names]) if kept.get(row.names) else row for row in rows]


def _beside(rows: Sequence[Row], usual: _Names) -> list[Row]:
    """Return the rows right before or behind a usual one with the same counter."""
    ordered = sorted(rows, key=lambda row: row.at)
    near = ([*ordered[max(n - 1, 0) : n], *ordered[n + 1 : n + 2]] for n in range(len(ordered)))
    return [
        row
        for row, others in zip(ordered, near, strict=True)
        if row.names != usual and max(_place(row)) >= 0
        if any(other.names == usual and _place(other) == _place(row) for other in others)
    ]


def _place(row: Row) -> tuple[int, int, int]:
    return row.counted.step, row.counted.epoch, row.counted.batch


def _taken(row: Row, some: Sequence[int]) -> Row:
    names, values = tuple(row.names[n] for n in some), tuple(row.values[n] for n in some)
    return row._replace(names=names, values=values)
