"""Histories that are printed among other lines: ``History: {'loss': [1.5, 0.2], ...}``."""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.histories import columns_of, rows_of
from runlens.sources.console.rows import Row
from runlens.sources.loose_json import loosely
from runlens.sources.tables.names import has_metric

_KEYED = lazy_re(r"\{\s*['\"][^'\"{}\[\]]{1,80}['\"]:\s*\[")
_INNER = lazy_re(rf"(?<![\[({{]){_KEYED.pattern}[^{{}}]*\}}")  # within a line, or over some
Line = tuple[int, str]


def without_histories(others: Sequence[Line]) -> tuple[Sequence[Line], list[Row]]:
    """Return the lines of a log without the histories printed among them, and the rows of these.

    ``History: {'loss': [1.5, 0.2], ...}``, which may go on over lines. Where a training has printed
    its rows before, they say nothing more.
    """
    if not any("[" in line and _KEYED.search(line) for _, line in others):
        return others, []
    text = "\n".join(line for _, line in others)
    ends = list(accumulate(1 + len(line) for _, line in others))
    inside: set[int] = set()
    rows: list[Row] = []
    for found in _INNER.finditer(text):
        read = loosely(found[0].encode())
        whole = read.value if read and isinstance(read.value, dict) else {}
        if not has_metric(columns := columns_of(whole)):
            continue
        first, last = (bisect(ends, place) for place in (found.start(), found.end() - 1))
        inside.update(range(first, last + 1))
        at = others[first][0]
        rows += [
            Row(at, Counted(step=n), tuple(row), tuple(row.values()))
            for n, row in enumerate(rows_of(columns), 1)
        ]
    return [line for n, line in enumerate(others) if n not in inside], rows
