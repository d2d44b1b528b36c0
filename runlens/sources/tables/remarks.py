"""Evaluations that a program writes as remarks between the rows of a table of its training.

``#eval,0,2.11,acc=0.26`` below the rows of epoch 0 under ``step,epoch,loss``: the word of the data
stands where the rows have their step, and what has no name is what the column above it is.
"""

from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.reading import as_number
from runlens.sources.tables.names import SPLITS, is_step

LARGEST = 32 * 2**20  # characters of a table that is looked at
FEWEST = 2  # remarks of one kind: one may be told of the end
_REMARK = lazy_re(r"#\s{0,3}([A-Za-z]{2,12}):?(?=[\t,;])")
_NAMED = lazy_re(r"\s*([A-Za-z][\w./@ -]{0,40}?)\s*[=:]\s*(\S+)\s*")
_Cells = dict[str, str]


def with_evaluations(text: str) -> str:
    """Return a table with its evaluations in columns of their own; others as they are."""
    if "\n#" not in text or len(text) > LARGEST:
        return text
    lines = text.splitlines()
    head = next((n for n, line in enumerate(lines) if line.strip() and line[0] != "#"), 0)
    mark = max("\t,;", key=lines[head].count)
    names = [name.strip() for name in lines[head].split(mark)]
    if len(names) == 1 or any(as_number(name) is not None for name in names):
        return text
    above: Sequence[str] = ()  # the cells of the last row
    told: dict[int, tuple[_Cells, Sequence[str]]] = {}
    for n, line in enumerate(lines[head + 1 :], head + 1):
        if not line.startswith("#"):
            above = line.split(mark) if line.strip() else above
        elif (found := _REMARK.match(line)) and SPLITS.get(found[1].lower()) and above:
            cells = _measured(line.split(mark), names, above, SPLITS[found[1].lower()])
            if not cells:
                return text
            told[n] = cells, above
    kinds = {tuple(cells) for cells, _ in told.values()}
    if len(told) < FEWEST or len(kinds) > 1:
        return text
    ((*more,),) = kinds
    for n, (cells, row) in told.items():
        place = [one if is_step(name) else "" for name, one in zip(names, row, strict=False)]
        lines[n] = mark.join([*place, *[""] * (len(names) - len(place)), *cells.values()])
    blank = mark * len(more)
    shown = [
        line if n in told or n < head or line[:1] in {"", "#"} else f"{line}{blank}"
        for n, line in enumerate(lines)
    ]
    shown[head] = mark.join([lines[head], *more])
    return "\n".join([*shown, ""] if text.endswith("\n") else shown)


def _measured(cells: Sequence[str], names: Sequence[str], row: Sequence[str], of: str) -> _Cells:
    """Return the numbers of a remark by their names; nothing of others.

    What it counts is what the row above it counts.
    """
    found: _Cells = {}
    for place, cell in enumerate(cells[1:], 1):
        named = _NAMED.fullmatch(cell)
        name, value = (named[1], named[2]) if named else ("".join(names[place : place + 1]), cell)
        if not name or as_number(value) is None:
            return {}
        if not is_step(name):
            found[of + name] = value
        elif not named and as_number(value) != as_number("".join(row[place : place + 1])):
            return {}
    return found
