"""Tables with several names in one cell: ``gen | win draw loss (200 games) | elo``.

Below it as many numbers stand in that cell of each row, and each is of the name at its place.
"""

from collections.abc import Sequence
from itertools import islice

from runlens.patterns import lazy_re
from runlens.sources.console.mining.counter_names import counter
from runlens.sources.reading import as_number

FEWEST = 3  # rows
HEADS = 12  # lines that are looked at as the first of a heading
LONGEST = 400  # characters of a line of names
_COUNT = lazy_re(r"\s*(?P<name>[A-Za-z][A-Za-z_ ]{0,20}?)\s*\|")
_ASIDE = lazy_re(r"\([^()]{0,80}\)")
_NAME = lazy_re(r"[A-Za-z][\w./%-]{0,30}")
# what came out of games, of which all three are shares: none is what a training minimises
GAMES, LOST = frozenset(("win", "draw", "loss")), "lost"
_Line = tuple[int, str]


def with_cells_parted(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with a cell for each name of such a table; others as they are.

    >>> rows = ["gen | win draw loss (of 9) | elo", *(f"{n} | 0.{n} 0.1 0.{n} | +9" for n in "123")]
    >>> [line for _, line in with_cells_parted(list(enumerate(rows)))][:2]
    ['gen | win | draw | lost | elo', '1 | 0.1 | 0.1 | 0.1 | +9']
    """
    heads = (
        n
        for n, (_, line) in enumerate(others)
        if (said := _COUNT.match(line)) and counter(said["name"])
    )
    for head in islice(heads, HEADS):
        names = _names(others[head][1])
        widths = [len(some) for some in names]
        if max(widths) == 1 or not all(widths):
            continue
        below = ((n, _cells(others[n][1])) for n in range(head + 1, len(others)))
        rows = {n: cells for n, cells in below if [len(some) for some in cells] == widths}
        numbers = all(
            as_number(one) is not None for cells in rows.values() for some in cells for one in some
        )
        if len(rows) >= FEWEST and numbers:
            parted = {
                n: (others[n][0], _joined(cells)) for n, cells in {**rows, head: names}.items()
            }
            return [parted.get(n, item) for n, item in enumerate(others)]
    return others


def _cells(line: str) -> list[list[str]]:
    return [cell.split() for cell in line[:LONGEST].split("|")]


def _names(line: str) -> list[list[str]]:
    """Return the names in each cell of a heading; none in one that holds anything else."""
    cells = _cells(_ASIDE.sub(" ", line))
    cells = [some if all(map(_NAME.fullmatch, some)) else [] for some in cells]
    return [
        [LOST if name == "loss" and set(some) >= GAMES else name for name in some] for some in cells
    ]


def _joined(cells: Sequence[Sequence[str]]) -> str:
    return " | ".join(one for some in cells for one in some)
