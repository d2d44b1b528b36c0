"""Tables of an epoch with a column, or a row, for each data: AllenNLP's ``loss | 0.540 | 0.635``.

The line above names the data, ``Training | Validation``; each line below it is of one measure. Or
it names the measures, ``Epoch = 1 | accuracy | f1``, and each line below is of one data.
"""

from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted, whole
from runlens.sources.console.mining.phrases import SPLIT, split_of
from runlens.sources.console.rows import Row
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number

ALLENNLP = "allennlp"  # nothing else that is known prints them
LONGEST = 300  # characters of a line of such a table
_EPOCH = lazy_re(
    r"\W*(?:(?:start|begin)\w* )?epoch\W{0,3}(\d{1,9})(?:\s*(?:/|of)\s*(\d{1,9}))?\W*",
)
_CELLS = lazy_re(r"\s*[|│]\s*|\s{2,}|\t")
_SETS = {"set", "split", "data", "dataset", "phase", "subset", "mode"}  # and above data
_FIRST = {"", "metric", "metrics", "name", "measure"}  # what may stand above the measures


def compared(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return a row for each such table, at the epoch that a line above it names."""
    rows: list[Row] = []
    data: list[str] = []
    values: dict[str, float] = {}
    epoch, begun = Counted(), 0

    def close() -> None:
        if any(map(tells, values)):
            rows.append(Row(begun, epoch, tuple(values), tuple(values.values())))
        values.clear()

    for at, line in others:
        if len(line) > LONGEST:
            continue
        cells = _CELLS.split(line.strip(" |│\t"))
        if said := _EPOCH.fullmatch(line.lower()):
            close()
            data, epoch = [], Counted(epoch=whole(said[1]), epochs=whole(said[2]))
        elif head := _data(cells):
            close()
            data, begun = head, at
        elif data and len(cells) == 1 + len(data):
            numbers = [as_number(cell) for cell in cells[1:]]
            named = zip(data, numbers, strict=True)
            values |= {f"{one}{cells[0]}": n for one, n in named if n is not None}
        elif data and values:
            close()
            data = []
    close()
    return rows if len(rows) > 1 else []


def by_rows(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return a row for each table whose lines are of one data each, below the names of measures."""
    tables: list[tuple[int, Counted, dict[str, float]]] = []
    names: list[str] = []
    epoch = Counted()
    for at, line in others:
        mark = next((one for one in "|│" if one in line), "")
        cells = _CELLS.split(line.strip(" |│\t")) if mark and len(line) <= LONGEST else []
        said = _EPOCH.fullmatch((cells[0] if cells else line[:LONGEST]).lower())
        epoch = Counted(epoch=whole(said[1]), epochs=whole(said[2])) if said else epoch
        numbers = [as_number(cell) for cell in cells[1:]]
        if (
            len(cells) > 1
            and (said or cells[0].lower() in _FIRST | _SETS)
            and any(map(tells, cells[1:]))
        ):
            names = [] if any(n is not None for n in numbers) else cells[1:]
            tables += [(at, epoch, {})] if names else []
        elif names and SPLIT.fullmatch(cells[0] if cells else "") and len(numbers) == len(names):
            of_data = split_of(cells[0])
            named = zip(names, numbers, strict=True)
            tables[-1][2].update({f"{of_data}{name}": n for name, n in named if n is not None})
    rows = [Row(at, one, tuple(found), tuple(found.values())) for at, one, found in tables if found]
    return rows if len(rows) > 1 else []


def _data(cells: Sequence[str]) -> list[str]:
    """Return which data the cells of a line name, if each is of one and they differ."""
    some = cells[1:] if cells[0].lower() in _FIRST else cells
    found = [split_of(cell) for cell in some if SPLIT.fullmatch(cell)]
    return found if len(found) == len(some) == len(set(found)) > 1 else []
