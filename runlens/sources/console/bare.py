"""Files of bare numbers, one row a line, whose only name is that of the file: ``loss.txt``."""

from collections.abc import Sequence
from itertools import pairwise

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.rows import Row
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number

FEWEST = 5  # lines
MOSTLY = 0.9  # share of the lines that are numbers alone
WIDEST = 12  # numbers of a line: more are data
LONGEST = 400  # characters of a line
TOLD = "holds bare numbers: each line was taken for a row"
_WORD = lazy_re(r"[^\W\d][\w/.-]*")
_APART = lazy_re(r"[,;\s]+")


def bare(others: Sequence[tuple[int, str]], stem: str) -> list[Row]:
    """Return a row for each line of numbers; none where other lines are among them.

    A single column is what the `stem` of the file's name says, or the words above it; others are
    numbered. Whole numbers alone are labels or counts, and no measure.
    """
    found = [(at, values) for at, line in others if (values := _numbers(line))]
    width = len(found[0][1]) if found else 0
    same = [(at, values) for at, values in found if len(values) == width]
    if len(same) < max(FEWEST, MOSTLY * len(others)):
        return []
    if all(value.is_integer() for _, values in same for value in values):
        return []
    names = tuple(f"column {n}" for n in range(1, width + 1))
    if width == 1:
        above = " ".join(line for at, line in others if at < same[0][0])
        names = next(((name,) for name in (stem, *_named(above)) if tells(name)), names)
    return [Row(at, Counted(), names, values) for at, values in same]


def _named(words: str) -> list[str]:
    """Return what words may name, two of them before each alone: ``here are the train losses:``."""
    said = _WORD.findall(words[-LONGEST:])
    return [*map(" ".join, pairwise(said)), *said]


def _numbers(line: str) -> tuple[float, ...]:
    """Return the numbers of a line that has nothing else; nothing for others."""
    if len(line) > LONGEST:
        return ()
    cells = _APART.split(line.strip(" \t[](),;"))
    numbers = [number for cell in cells[: WIDEST + 1] if (number := as_number(cell)) is not None]
    return tuple(numbers) if len(numbers) == len(cells) <= WIDEST else ()
