"""Rows that name nothing but the data of each number: ``Training: 0.52, Validation: 0.61``.

A level may stand before them, and beside them the epoch: ``INFO|3|train|0.52``. Of several numbers
behind one name the others say nothing: ``Eval: 0.61 0.83``.
"""

from collections import Counter
from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted, whole
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
_APART = r"[\s|,;:-]{1,5}"
_OF_ONE = lazy_re(
    rf"(?:(?:INFO|DEBUG){_APART})?(?:(?:epoch\W{{0,3}})?(?P<epoch>\d{{1,7}}){_APART})?"
    rf"(?P<data>[A-Za-z]{{2,12}}){_APART}"
    rf"(?:(?:ep(?:och)?\W{{0,3}})?(?P<count>\d{{1,7}}){_APART})?"
    rf"(?P<numbers>[-+]?\d{{1,9}}\.\d{{1,30}}(?:e[-+]?\d{{1,3}})?"
    rf"(?:[\s|,;]{{1,5}}[-+]?\d{{1,9}}\.\d{{1,30}}(?:e[-+]?\d{{1,3}})?){{0,5}})\s*",
    2,  # re.IGNORECASE
)
_NUMBER = lazy_re(r"[-+]?\d+\.\d+(?:e[-+]?\d+)?", 2)
_BETWEEN = lazy_re(r"[\s,;|/-]*")

_Found = tuple[int, Counted, list[tuple[str, float]]]


def rows_of_data(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the rows of lines that name data of both kinds, and nothing else.

    They stand in one line, or by turns.
    """
    short = [(at, line) for at, line in others if len(line) <= LONGEST]
    found = [(at, Counted(), _named(line)) for at, line in short]
    found = found if any(named for *_, named in found) else _of_one_each(short)
    rows = [row for row in found if row[-1]]
    many = Counter(split_of(name) for *_, named in rows for name, _ in named[:OF_BOTH])
    measured = any(not value.is_integer() for *_, named in rows for _, value in named)
    both = len(many) >= OF_BOTH and len(set(many.values())) == 1 and min(many.values()) >= FEWEST
    if not both or not measured or len(rows) < MOSTLY * len(others):
        return []
    return [
        Row(at, counted, tuple(name for name, _ in named), tuple(value for _, value in named))
        for at, counted, named in rows
    ]


def _of_one_each(lines: Sequence[tuple[int, str]]) -> list[_Found]:
    """Return the data, its numbers and the epoch of lines of one data each."""
    found: list[_Found] = []
    for at, line in lines:
        said = _OF_ONE.fullmatch(line)
        if said and SPLIT.fullmatch(said["data"]):
            epoch = whole(said["epoch"] or said["count"])
            numbers = [float(number) for number in _NUMBER.findall(said["numbers"])]
            names = [said["data"], *(f"{said['data']} {n}" for n in range(2, len(numbers) + 1))]
            found.append((at, Counted(epoch=epoch), list(zip(names, numbers, strict=True))))
    return found


def _named(line: str) -> list[tuple[str, float]]:
    """Return the data and numbers of a line; nothing of one with anything else."""
    found = _NAMED.findall(line)
    if not found or not _BETWEEN.fullmatch(_NAMED.sub("", line)):
        return []
    numbers = [(name, as_number(number)) for name, number in found]
    named = [(name, n) for name, n in numbers if n is not None and SPLIT.fullmatch(name)]
    return named if len(named) == len(found) else []
