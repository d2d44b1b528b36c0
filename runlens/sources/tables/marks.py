"""Tables with other marks between their cells than commas, semicolons, tabs: set out with tabs.

Bars, ``step|lr|loss`` and ``| 1 | 0.5 |``, or blanks alone: ``step  loss``.
"""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from runlens.patterns import lazy_re
from runlens.sources.files import Unreadable, read_rows
from runlens.sources.reading import as_number
from runlens.sources.tables.names import says_results

SAMPLE = 20  # lines by which such a table is known
FEWEST = 3  # of them: names, a rule, a row
_OTHERS = ",;\t"  # what else parts cells
_RULE = lazy_re(r"[\s|:+-]*-[\s|:+-]*")  # below the names, as Markdown has it


def with_tabs(text: str) -> str:
    """Return a table with tabs between its cells where it has bars or blanks; others as they are.

    Each of its lines has as many cells. A bar within a cell of words stands in some lines alone,
    and of cells between blanks all below the names are numbers.
    """
    begin = text[: text.find("\n")]
    barred = "|" in begin and all(begin.count(mark) < begin.count("|") for mark in _OTHERS)
    if not barred and any(mark in begin for mark in _OTHERS):
        return text
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    some = list(islice(lines, SAMPLE))
    if not (_between_bars(some) if barred else _between_blanks(some)):
        return text
    cells = (
        _cells(line) if barred else line.split() for line in lines if not _RULE.fullmatch(line)
    )
    return "\n".join(map("\t".join, cells)) + "\n" * text.endswith("\n")


def _between_bars(lines: Sequence[str]) -> bool:
    return len({line.count("|") for line in lines}) == 1 and "\t" not in "".join(lines)


def _cells(line: str) -> list[str]:
    framed = line[0] == line[-1] == "|" and len(line) > 1
    return [cell.strip() for cell in (line[1:-1] if framed else line).split("|")]


def _between_blanks(lines: Sequence[str]) -> bool:
    names, *rows = [line.split() for line in lines] or [[]]
    numbers = all(as_number(cell) is not None for row in rows for cell in row)
    words = len(names) > 1 and all(as_number(name) is None for name in names)
    return words and numbers and len(rows) > 1 and {*map(len, rows)} == {len(names)}


def of_results(path: Path) -> bool:
    """Whether a text is called as one of results, or is nothing but one table of numbers.

    Its cells stand between bars. One of several models has their names in its rows.
    """
    if says_results(path.stem):
        return True
    try:
        text = read_rows(path).decode("utf-8", "replace")
    except Unreadable:
        return False
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    rows = (_cells(line) for line in lines[1:] if not _RULE.fullmatch(line))
    numbers = all(as_number(cell) is not None for row in rows for cell in row if cell)
    return len(lines) > FEWEST and "|" in lines[0] and _between_bars(lines) and numbers
