"""Numbers that only their file names, in a line or with commas: ``2.3 1.9 1.5``, ``2,3``.

And those whose name goes on behind them: ``dice 0.91 mask_1``, ``dice 0.85 mask_2``.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from runlens.patterns import lazy_re
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number

FEWEST = 4  # numbers
MOST = 10_000  # of a line
_APART = (lazy_re(r"\s*,\s*"), lazy_re(r"\s*;\s*"), lazy_re(r"\s+"))
_COMMA = lazy_re(r"\s*([-+]?\d{1,9}),(\d{1,17})\s*")
# a name, its number, and which of the parts of what was measured it is of
_OF_PART = lazy_re(
    r"\s*([A-Za-z][\w ]{0,40}?)\s*[:=\s]\s*([-+]?\d+\.\d+(?:e[-+]?\d{1,3})?)\s+"
    r"(?:for |of |on )?((?:mask|class|label|head|output|task|channel|organ|category)(?:e?s)?"
    r"[_ ]?\d{1,3})\s*",
    re.IGNORECASE,
)
_Line = tuple[int, str]


def with_ends_named(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with the part that a number is of in its name, where there are several.

    >>> with_ends_named(list(enumerate(["dice 0.9 mask_1", "dice 0.8 mask_2"] * 2)))[1]
    (1, 'dice_mask_2: 0.8')
    """
    found = {at: said for at, line in others if (said := _OF_PART.fullmatch(line))}
    of: dict[str, set[str]] = {}
    for said in found.values():
        of.setdefault(said[1], set()).add(said[3])
    several = {name for name, some in of.items() if len(some) > 1 and tells(name)}
    named = {at: f"{s[1]}_{s[3]}: {s[2]}" for at, s in found.items() if s[1] in several}
    return [(at, named.get(at, line)) for at, line in others]


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
