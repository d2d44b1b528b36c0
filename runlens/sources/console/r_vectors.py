"""Vectors that R printed: ``[1] 0.52 0.48``, each line behind the number of its first value."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from runlens.patterns import lazy_re
from runlens.sources.reading import as_number

FEWEST = 2  # values before a line that goes on
SAMPLE = 200  # lines in which the first one stands
_INDEXED = lazy_re(r"\s*\[(\d{1,9})\]\s+(\S.*)")
_CALLED = lazy_re(r"\s*\$?[`]?([A-Za-z][\w.$ ]{0,60}?)[`]?\s*:?\s*")
_QUOTED = lazy_re(r'"([^"]*)"\s*')
_Line = tuple[int, str]


def as_lists(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with each vector as a list behind its name, and strings without their quotes.

    >>> as_lists([(0, "$loss"), (1, "[1] 0.5 0.4"), (2, "[3] 0.3"), (3, '[1] "epoch 2"')])
    [(1, 'loss = [0.5, 0.4, 0.3]'), (3, 'epoch 2')]
    """
    if not any(_begins(line) for _, line in islice(others, SAMPLE)):
        return others
    return list(_joined(others)) if _are_vectors(others) else others


def _are_vectors(others: Sequence[_Line]) -> bool:
    """Whether each index is that of a first value, or says how many stand before: no epochs do."""
    values = 0
    for _, line in others:
        found = _INDEXED.fullmatch(line)
        cells = _values(found) if found else []
        if found and cells and int(found[1]) != 1 and not int(found[1]) == values + 1 > FEWEST:
            return False
        values = len(cells) if found and found[1] == "1" else values + len(cells)
    return True


def _begins(line: str) -> bool:
    found = _INDEXED.fullmatch(line)
    return found is not None and found[1] == "1" and bool(_values(found) or _string(found))


def _values(found: re.Match[str]) -> list[str]:
    """Return the numbers behind an index; nothing where other text stands there."""
    cells = found[2].split()
    return cells if all(as_number(cell) is not None or cell == "NA" for cell in cells) else []


def _string(found: re.Match[str]) -> str:
    said = _QUOTED.fullmatch(found[2])
    return said[1] if said else ""


def _joined(others: Sequence[_Line]) -> Iterator[_Line]:
    """Yield lines, those of one vector as one. What counts on, a number a line, is none."""
    held: _Line | None = None  # a line that may be the name of what follows
    begun = 0
    values: list[str] = []
    for at, line in (*others, (-1, "")):
        found = _INDEXED.fullmatch(line)
        cells = _values(found) if found else []
        if values and cells and found and int(found[1]) == len(values) + 1 > FEWEST:
            values += cells
            continue
        if values:
            yield from _vector(held, begun, values)
            held, values = None, []
        if cells and found and found[1] == "1":
            begun, values = at, cells
            continue
        if held:
            yield held
        held = (at, (_string(found) or line) if found else line)


def _vector(above: _Line | None, at: int, values: list[str]) -> Iterator[_Line]:
    """Yield the line of a vector, with the name that stands above it."""
    said = above[1] if above else ""
    counts = "$" not in said and any(map(str.isdigit, said))  # "Epoch 3"
    name = None if counts else _CALLED.fullmatch(said)
    if above and not name:
        yield above
    text = values[0] if len(values) == 1 else f"[{', '.join(values)}]"
    yield at, f"{name[1]} = {text}" if name else text
