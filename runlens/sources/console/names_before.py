"""Lines of names and numbers by turns: ``Step, 20, Loss, 0.25`` and ``('loss', 0.5)``.

So Python 2 prints what stands in brackets, and a program joins a list by commas.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from runlens.patterns import lazy_re
from runlens.sources.console.unnamed_lists import as_printed
from runlens.sources.tables.named_cells import alternate

LONGEST = 2_000  # characters of a row of names and numbers
FEWEST = 3  # commas in it
SAMPLE = 100  # lines in which the first one stands
_OPENS = {"(", "["}
_TOTAL = lazy_re(r", *(['\"]) ?(?:/|of) ?\1, *(?=\d)")
_TUPLED = lazy_re(r"(['\"])\s*([A-Za-z][^'\"]{0,60}?)[:= ]*\1, *(?=[-+]?[\d.])")  # ('loss', 0.5)


def with_names_bound(others: Sequence[tuple[int, str]]) -> Sequence[tuple[int, str]]:
    """Return lines with each name set off from its number, where all cells alternate.

    >>> with_names_bound([(0, "Step, 20, Loss, 0.25,")])
    [(0, 'Step: 20, Loss: 0.25')]
    """
    if any(_TUPLED.search(as_printed(line)) for line in _opened(others[:SAMPLE])):
        others = [(at, _plainly(line) if line[:1] in _OPENS else line) for at, line in others]
    if not any(_cells(line) for _, line in islice(others, SAMPLE)):
        return others
    return [
        (at, ", ".join(map(": ".join, zip(cells[::2], cells[1::2], strict=True))) or line)
        for at, line in others
        for cells in [_cells(line)]
    ]


def _plainly(line: str) -> str:
    """Return the line of a tuple as a program would print its parts.

    >>> _plainly("('epoch', 3, '/', 20, ' loss: ', 0.5)")
    '(epoch: 3/20, loss: 0.5)'
    """
    return _TUPLED.sub(r"\2: ", _TOTAL.sub("/", as_printed(line)))


def _opened(others: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Yield the lines that begin as tuples and lists do."""
    return (line for _, line in others if line[:1] in _OPENS)


def _cells(line: str) -> list[str]:
    """Return the cells of a line of names and numbers by turns; nothing for others."""
    if line.count(",") < FEWEST or ":" in line or len(line) > LONGEST:
        return []
    cells = [cell.strip() for cell in line.rstrip(", ").split(",")]
    return cells if len(cells) % 2 == 0 and alternate(cells) else []
