"""Lines of two kinds at the same step, of which both name one metric: they are no one curve.

``step 1000, policy=3.1 mse=0.005 total=3.5`` and right behind it ``step 1000, policy=7.7 training
accuracy=1.1%``, which was measured on other data. What is printed more often goes on.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from runlens.metrics import naming
from runlens.sources.console.rows import Row

FEWEST = 3  # rows of what goes on: two may be results, each of a training with the same settings
MOSTLY = 0.8  # share of the rows of a kind that stand beside one of the other


def without_other_kinds(rows: list[Row]) -> list[Row]:
    """Return rows of which those beside the usual one of their step name nothing that it has.

    A kind of row that has nothing of its own is kept as it is: nothing tells which of both goes on.
    But what says a number of the row above again, ``Saved the best model (Acc: 70%)``, is left out.
    """
    often = Counter(row.names for row in rows)
    usual = max(often, key=often.__getitem__, default=())
    counters = {_place(row) for row in rows if row.names == usual}
    if len(often) == 1 or len(counters) < max(FEWEST, often[usual]):
        return rows
    known = {naming(name).metric for name in usual}
    own = {
        names: tuple(n for n, name in enumerate(names) if naming(name).metric not in known)
        for names in often
    }
    ordered = sorted(rows, key=lambda row: row.at)
    pairs = [(row, other) for row, other in pairwise(ordered) if _place(row) == _place(other)]
    beside = Counter(one.names for two in pairs for one in two if _other(one, two).names == usual)
    again = Counter(row.names for above, row in pairs if set(row.values) <= set(above.values))
    own[usual] = tuple(range(len(usual)))
    drop = {names for names, many in again.items() if not own[names] and many == often[names]}
    kept = {n: own[n] for n, many in beside.items() if own[n] and many >= MOSTLY * often[n]}
    return [
        _taken(row, kept[row.names]) if row.names in kept else row
        for row in rows
        if row.names not in drop
    ]


def _other(one: Row, two: tuple[Row, Row]) -> Row:
    return two[1] if one is two[0] else two[0]


def _place(row: Row) -> tuple[int, int, int]:
    return row.counted.step, row.counted.epoch, row.counted.batch


def _taken(row: Row, some: Sequence[int]) -> Row:
    names, values = tuple(row.names[n] for n in some), tuple(row.values[n] for n in some)
    return row._replace(names=names, values=values)
