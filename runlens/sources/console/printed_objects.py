"""Rows that were printed as objects: ``Namespace(epoch=3, loss=0.5)``, ``OrderedDict([...])``.

A ``Namespace`` mostly holds what a program was called with. One whose counter rises from line to
line beside a number that trainings are judged by is a row.
"""

from collections.abc import Sequence
from itertools import pairwise

from runlens.patterns import lazy_re
from runlens.sources.console.mining.counter_names import counter
from runlens.sources.console.telling import tells

FEWEST = 3  # rows
_ORDERED = "OrderedDict(["
_ITEM = lazy_re(r"\((['\"][\w/ .@-]{1,80}['\"]), ([^()]{1,80}(?:\([^()]{0,80}\))?)\)")
_OBJECT = lazy_re(r"\b[Nn]amespace\(([^()]{1,2000})\)")
_FIELD = lazy_re(r"\b([A-Za-z]\w{0,40})=([-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|nan|inf))(?=,|$)")
_Line = tuple[int, str]


def with_objects_opened(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with dicts for the ordered ones, and with names alone for rows in a namespace.

    >>> with_objects_opened([(0, "OrderedDict([('epoch', 3), ('loss', 0.5)])")])
    [(0, "{'epoch': 3, 'loss': 0.5}")]
    >>> with_objects_opened([(n, f"Namespace(epoch={n}, loss=0.5)") for n in range(3)])[-1]
    (2, 'epoch=2, loss=0.5')
    """
    if any(_ORDERED in line for _, line in others):
        others = [(at, _as_dict(line)) for at, line in others]
    found = {at: said[1] for at, line in others if (said := _OBJECT.search(line))}
    if not _are_rows(list(found.values())):
        return others
    return [(at, _OBJECT.sub(r"\1", line) if at in found else line) for at, line in others]


def _as_dict(line: str) -> str:
    before, opened, items = line.partition(_ORDERED)
    if not opened:
        return line
    inside, closed, behind = items.partition(")])")
    inner = _ITEM.sub(r"\1: \2", f"{inside})")
    return f"{before}{{{inner}}}{behind}" if closed else line


def _are_rows(objects: Sequence[str]) -> bool:
    """Whether one field of all counts on, and another one is what trainings are judged by."""
    rows = [dict(_FIELD.findall(one)) for one in objects]
    if len(rows) < FEWEST or not any(map(tells, rows[0])):
        return False
    counts = [[row.get(name, "") for row in rows] for name in rows[0] if counter(name)]
    whole = ([int(cell) for cell in some] for some in counts if all(map(str.isdigit, some)))
    return any(all(a < b for a, b in pairwise(some)) for some in whole)
