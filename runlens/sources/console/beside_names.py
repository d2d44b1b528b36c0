"""Numbers that only their file names, in a line or with commas: ``2.3 1.9 1.5``, ``2,3``."""

from collections.abc import Sequence
from itertools import pairwise

from runlens.patterns import lazy_re
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number

FEWEST = 4  # numbers
MOST = 10_000  # of a line
_APART = (lazy_re(r"\s*,\s*"), lazy_re(r"\s*;\s*"), lazy_re(r"\s+"))
_COMMA = lazy_re(r"\s*([-+]?\d{1,9}),(\d{1,17})\s*")
_Line = tuple[int, str]


def apart_in(others: Sequence[_Line], stem: str) -> list[_Line]:
    """Return the lines of a file that is called after what it measures, each with one number.

    Two whole numbers with a comma between them are one with decimals, where the first do not
    count the rows. Of a single line each number is its own.
    """
    if not tells(stem):
        return list(others)
    commas = [_COMMA.fullmatch(line) for _, line in others]
    whole = [int(one[1]) for one in commas if one]
    if len(whole) == len(others) >= FEWEST and not all(a < b for a, b in pairwise(whole)):
        return [
            (at, f"{one[1]}.{one[2]}") for (at, _), one in zip(others, commas, strict=True) if one
        ]
    line = others[0][1].strip(" ,;\t") if len(others) == 1 else ""
    for apart in _APART:
        cells = apart.split(line)
        numbers = all(as_number(cell) is not None for cell in cells)
        if numbers and FEWEST <= len(cells) <= MOST and "." in line:
            return [(others[0][0], cell) for cell in cells]
    return list(others)
