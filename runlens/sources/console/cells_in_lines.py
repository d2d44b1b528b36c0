"""Tables whose cells stand apart otherwise: by a line each, or by any sign between blanks.

``Step``, ``Training Loss``, ``10``, ``2.31`` below one another: so a table of a notebook comes out
where only its text is copied. ``epoch : loss : train 5`` above ``1 : 0.5 : 0.4``.
"""

from collections.abc import Sequence
from itertools import islice

from runlens.patterns import lazy_re
from runlens.sources.console.mining.counter_names import counter
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number

FEWEST = 3  # rows
WIDEST = 40  # columns: TRL's tables of GRPO have 16 and two more for each reward
HEADS = 12  # lines that are looked at as the first of a heading
LONGEST = 400  # characters of a line of names
_NAME = lazy_re(r"\s*([A-Za-z][A-Za-z0-9_ /.%()-]{0,40})\s*")
_COUNT = lazy_re(r"[A-Za-z][A-Za-z_ ]{1,20}")
# a counter, a sign that other tables do not have, and the next name
_HEAD = lazy_re(r"\s*[A-Za-z][A-Za-z_ ]{0,20}?(?P<sign>\s[^\w\s|&,;]\s)\s*[A-Za-z]")
_LAST_NUMBER = lazy_re(r"[ -](?=\d+$)")
FEWEST_CELLS = 3  # of a row that nothing but a sign parts
_EMPTY = {"no log", "nan", "-", "none", "n/a"}  # what stands where nothing was logged
_Line = tuple[int, str]


def with_cells_joined(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with each row of such a table in one; others as they are.

    >>> cells = ["Step", "Loss", *(f"{n}" for row in ((1, 0.5), (2, 0.4), (3, 0.3)) for n in row)]
    >>> [line for _, line in with_cells_joined(list(enumerate(cells)))]
    ['Step | Loss', '1 | 0.5', '2 | 0.4', '3 | 0.3']
    """
    lines = [line.strip() for _, line in others]
    starts = (n for n, line in enumerate(lines) if _COUNT.fullmatch(line) and counter(line))
    for start in islice(starts, HEADS):
        width = _width(lines, start)
        rows = _rows(lines, start + width, width) if width else 0
        if rows >= FEWEST:
            end = start + width * (1 + rows)
            joined = [
                (others[n][0], " | ".join(lines[n : n + width])) for n in range(start, end, width)
            ]
            return [*others[:start], *joined, *others[end:]]
    return others


def _width(lines: Sequence[str], start: int) -> int:
    """Return how many names stand below one another from a counter on, one of what tells; 0: none.

    The first number below them is what the counter counts.
    """
    width = 0
    for line in lines[start : start + WIDEST + 1]:
        if as_number(line) is not None or not _NAME.fullmatch(line):
            break
        width += 1
    told = any(map(tells, lines[start + 1 : start + width]))
    return width if told and width <= WIDEST else 0


def _rows(lines: Sequence[str], start: int, width: int) -> int:
    """Return how many rows of so many cells follow, whose first cell goes on."""
    rows, before = 0, -1.0
    for n in range(start, len(lines) - width + 1, width):
        count, *cells = lines[n : n + width]
        number = float(count) if count.isdecimal() else -1.0
        known = (as_number(cell) is not None or cell.lower() in _EMPTY for cell in cells)
        if number <= before or not all(known):
            break
        rows, before = rows + 1, number
    return rows


def with_signs_as_pipes(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with pipes for the sign that parts names and the numbers below; others as is.

    >>> table = ["e : loss : top 5", "1 : 2.5 : 0.1", "2 : 1.5 : 0.2", "3 : 1.25 : 0.3"]
    >>> [line for _, line in with_signs_as_pipes(list(enumerate(table)))][:2]
    ['e | loss | top_5', '1 | 2.5 | 0.1']
    """
    heads = (
        (n, found["sign"]) for n, (_, line) in enumerate(others) if (found := _HEAD.match(line))
    )
    for head, sign in islice(heads, HEADS):
        names = _cells(others[head][1], sign)
        if not _are_names(names):
            continue
        below = ((n, _cells(others[n][1], sign)) for n in range(head + 1, len(others)))
        rows = {
            n: (others[n][0], " | ".join(cells))
            for n, cells in below
            if len(cells) == len(names) and all(as_number(cell) is not None for cell in cells)
        }
        if len(rows) >= FEWEST:
            named = (_LAST_NUMBER.sub("_", name) for name in names)
            rows[head] = (others[head][0], " | ".join(named))
            return [rows.get(n, item) for n, item in enumerate(others)]
    return others


def _cells(line: str, sign: str) -> list[str]:
    return [cell.strip() for cell in line[:LONGEST].split(sign)]


def _are_names(names: Sequence[str]) -> bool:
    """Whether cells are names, the first that of a counter, another of what tells."""
    named = len(names) >= FEWEST_CELLS and all(map(_NAME.fullmatch, names))
    return named and counter(names[0]) != "" and any(map(tells, names[1:]))
