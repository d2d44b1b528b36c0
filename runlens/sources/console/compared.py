"""Tables of an epoch with a column for each data: AllenNLP's ``loss | 0.540 | 0.635``.

The line above names the data, ``Training | Validation``; each line below it is of one measure.
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


def _data(cells: Sequence[str]) -> list[str]:
    """Return which data the cells of a line name, if each is of one and they differ."""
    some = cells[1:] if cells[0].lower() in _FIRST else cells
    found = [split_of(cell) for cell in some if SPLIT.fullmatch(cell)]
    return found if len(found) == len(some) == len(set(found)) > 1 else []
