"""Histories that are printed among other lines: ``History: {'loss': [1.5, 0.2], ...}``."""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.histories import columns_of, counts_of, rows_of
from runlens.sources.console.rows import Row
from runlens.sources.loose_json import loosely
from runlens.sources.tables.names import has_metric

_KEYED = lazy_re(r"\{\s*['\"][^'\"{}\[\]]{1,80}['\"]:\s*\[")
_INNER = lazy_re(rf"(?<![\[({{]){_KEYED.pattern}[^{{}}]*\}}")  # within a line, or over some
# Flower's losses of rounds: "app_fit: losses_distributed [(1, 2.3), (2, 1.9)]"
_PAIRS = r"\[\(\d{1,7}, *[-+]?\d[^()\[\]]{0,40}\)(?:, *\(\d{1,7}, *[-+]?\d[^()\[\]]{0,40}\))+\]"
_NAMED_PAIRS = lazy_re(rf"\b([A-Za-z]\w{{1,40}})\s?[:=]?\s?({_PAIRS})")
_LEVEL = lazy_re(r"^(?:INFO|DEBUG|WARNING) ?:\s+")  # before each line of one message
_LISTS = lazy_re(rf"{_KEYED.pattern}|[\s:=]\[\(\d{{1,7}}, ")
Line = tuple[int, str]


def without_histories(others: Sequence[Line]) -> tuple[Sequence[Line], list[Row]]:
    """Return the lines of a log without the histories printed among them, and the rows of these.

    ``History: {'loss': [1.5, 0.2], ...}``, which may go on over lines. Where a training has printed
    its rows before, they say nothing more.
    """
    if not any("[" in line and _LISTS.search(line) for _, line in others):
        return others, []
    said = [_LEVEL.sub("", line) for _, line in others]
    text, ends = "\n".join(said), list(accumulate(1 + len(line) for line in said))
    inside: set[int] = set()
    rows: list[Row] = []
    for found in (*_INNER.finditer(text), *_NAMED_PAIRS.finditer(text)):
        read = loosely(found[0 if found.re.groups == 0 else 2].encode())
        whole = read.value if read else {}
        whole = {found[1]: whole} if isinstance(whole, list) else whole
        if not has_metric(columns := columns_of(whole)):
            continue
        first, last = (bisect(ends, place) for place in (found.start(), found.end() - 1))
        inside.update(range(first, last + 1))
        at, mine = others[first][0], rows_of(columns)
        rows += [
            Row(at, Counted(step=n), tuple(row), tuple(row.values()))
            for n, row in zip(counts_of(whole, len(mine)), mine, strict=True)
        ]
    return [line for n, line in enumerate(others) if n not in inside], rows
