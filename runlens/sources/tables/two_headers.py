"""Tables whose names stand in two lines: ``,train,train,val`` above ``epoch,loss,acc,loss``.

As pandas writes columns of two levels, and as people merge cells in Excel: the cell of the data is
empty above all of its columns but the first.
"""

from collections.abc import Sequence

from runlens.metrics import plain
from runlens.naming import words
from runlens.naming.vocabulary import SPLITS
from runlens.sources.reading import as_number
from runlens.sources.tables.names import has_metric, is_step

FEWEST = 2  # columns below a second line
UNNAMED = "unnamed:"  # how pandas calls a cell of the first line that is empty


def joined(first: Sequence[str], second: Sequence[str], below: Sequence[str]) -> list[str]:
    """Return the names of two lines in one; nothing where the second is none of names.

    >>> joined(["", "train", "", "val", ""], ["n", "loss", "acc", "loss", "acc"], list("12345"))
    ['n', 'train loss', 'train acc', 'val loss', 'val acc']
    """
    upper, lower = ([cell.strip() for cell in some] for some in (first, second))
    if len(upper) != len(lower) or not _of_two(upper, lower) or not _numbers(below):
        return []
    over = _spread(upper) if _names_data(upper) else upper
    under = _spread(lower) if _names_data(lower) else lower
    names = [_of(*pair) for pair in zip(over, under, strict=True)]
    return names if len(set(names)) == len(names) and has_metric(names) else []


def _of_two(upper: Sequence[str], lower: Sequence[str]) -> bool:
    """Whether two lines of words have the data of each column in one of them, by turns or not."""
    words_alone = all(as_number(cell) is None for cell in (*upper, *lower))
    named = [cell for cell in lower if cell]
    one = _names_data(upper) != _names_data(lower)
    return words_alone and one and len(named) >= FEWEST and len(set(upper)) > 1


def _numbers(below: Sequence[str]) -> bool:
    known = [as_number(cell.strip()) is not None for cell in below if cell.strip()]
    return bool(known) and 2 * sum(known) > len(known)


def _names_data(cells: Sequence[str]) -> bool:
    """Whether the cells are of data alone, of both kinds, but for the first of a counter."""
    named = [cell for cell in cells if cell and not (is_step(cell) or _is_blank(cell))]
    known = [set(words(cell)) & SPLITS.keys() for cell in named]
    alone = all(some and len(words(cell)) == 1 for cell, some in zip(named, known, strict=True))
    return alone and len(set(map(plain, named))) > 1


def _is_blank(cell: str) -> bool:
    return not cell or cell.lower().startswith(UNNAMED)


def _spread(cells: Sequence[str]) -> list[str]:
    """Return cells in which each empty one behind the name of data is of that data."""
    spread, last = [], ""
    for cell in cells:
        last = cell if not _is_blank(cell) else last
        spread.append(last)
    return spread


def _of(upper: str, lower: str) -> str:
    """Return the name of a column that stands in two cells; a counter is of no data."""
    if is_step(lower) or _is_blank(upper):
        return lower
    if is_step(upper) or _is_blank(lower):
        return upper
    return f"{upper} {lower}"
