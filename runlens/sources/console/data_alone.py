"""Rows that name nothing but the data of each number: ``Training: 0.52, Validation: 0.61``."""

from collections import Counter
from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.mining.phrases import SPLIT, split_of
from runlens.sources.console.rows import Row
from runlens.sources.reading import as_number

FEWEST = 5  # rows
MOSTLY = 0.5  # share of the lines that are such
OF_BOTH = 2  # data, as many numbers of each
LONGEST = 200  # characters of a line
_NAMED = lazy_re(
    r"[\[(]?([A-Za-z]{2,12})[\])]?\s{0,3}[:=]?\s{0,3}([-+]?\d[\d.]{0,30}(?:e[-+]?\d{1,3})?)(?![\w.])"
)
_BETWEEN = lazy_re(r"[\s,;|/-]*")


def rows_of_data(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the rows of lines that name data of both kinds, and nothing else.

    They stand in one line, or by turns.
    """
    found = [(at, _named(line)) for at, line in others if len(line) <= LONGEST]
    rows = [(at, named) for at, named in found if named]
    many = Counter(split_of(name) for _, named in rows for name, _ in named)
    measured = any(not value.is_integer() for _, named in rows for _, value in named)
    both = len(many) >= OF_BOTH and len(set(many.values())) == 1 and min(many.values()) >= FEWEST
    if not both or not measured or len(rows) < MOSTLY * len(others):
        return []
    return [
        Row(at, Counted(), tuple(name for name, _ in named), tuple(value for _, value in named))
        for at, named in rows
    ]


def _named(line: str) -> list[tuple[str, float]]:
    """Return the data and numbers of a line; nothing of one with anything else."""
    found = _NAMED.findall(line)
    if not found or not _BETWEEN.fullmatch(_NAMED.sub("", line)):
        return []
    numbers = [(name, as_number(number)) for name, number in found]
    named = [(name, n) for name, n in numbers if n is not None and SPLIT.fullmatch(name)]
    return named if len(named) == len(found) else []
