"""Rows of the TDL2048 framework, and of games taught with it (2048, Threes).

``1000   avg = 651, max = 7050, ops = 1869333 (1271571|3819429)``: the games that were played, the
mean of the scores since the row before, and their best. Below stand the shares of games that came
to each tile. Its first line says how many games are to be played: ``--total=100000``.
"""

from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.pairs import NUMBER
from runlens.sources.console.rows import Row

TDL2048 = "tdl2048"
_NAMES = ("avg score", "max score")
_ROW = lazy_re(rf"\s*(\d{{1,12}})\t+(?:avg|mean) = ({NUMBER}),?\s+max = ({NUMBER})(?:,|\s|$)")
_TOTAL = lazy_re(r"(?:^|\s)--total=(\d{1,12})(?:\s|$)")


def tdl2048(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the rows of a log, with the games that its command names above them."""
    rows: list[Row] = []
    total = -1
    for at, line in others:
        if found := _ROW.match(line):
            counted = Counted(step=int(found[1]), steps=total)
            rows.append(Row(at, counted, _NAMES, (float(found[2]), float(found[3]))))
        elif said := _TOTAL.search(line):
            total = int(said[1])
    return rows
