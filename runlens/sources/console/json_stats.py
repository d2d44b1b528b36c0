"""Rows that pycls, SlowFast and what was made of them print: ``json_stats: {"_type": ...}``.

``"_type": "train_iter", "epoch": "8/30", "iter": "10/344", "loss": 1.63``: counters are texts. Of
an evaluation the row of the epoch counts, those of its iterations are its way there.
"""

from collections.abc import Iterator, Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted, whole
from runlens.sources.console.dicts import STATS
from runlens.sources.console.rows import Row
from runlens.sources.files import Unreadable, parse_json
from runlens.sources.reading import as_number

TYPES = {"train_iter": "", "train_epoch": "", "val_epoch": "val/", "test_epoch": "test/"}
_ITERATION = lazy_re(r'"_type": "(?:val|test)_iter"')
COUNTS = ("epoch", "iter")


def json_stats(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the rows of a training and of its evaluations."""
    rows = [row for at, line in others if STATS.search(line) for row in _rows(at, line)]
    if all(row.counted.batch < 0 for row in rows):
        return rows
    return [row if row.counted.batch >= 0 or row.counted.part else _of_epoch(row) for row in rows]


def on_its_way(line: str) -> bool:
    """Whether a line is an iteration of an evaluation, of which the end alone counts."""
    return '"_type"' in line and _ITERATION.search(line) is not None


def _of_epoch(row: Row) -> Row:
    """Return a row of means beside those of iterations under names of their own."""
    return row._replace(names=tuple(f"epoch {name}" for name in row.names))


def _rows(at: int, line: str) -> Iterator[Row]:
    try:
        stats = parse_json(line[line.find("{") :])
    except Unreadable:
        return
    part = TYPES.get(str(stats.get("_type"))) if isinstance(stats, dict) else None
    if part is None:
        return
    counted = (number for name in COUNTS for number in _of(stats.get(name)))
    epoch, epochs, batch, batches = counted
    values = {
        f"{part}{name}": number
        for name, value in stats.items()
        if name not in COUNTS and (number := as_number(value)) is not None
    }
    if values and epoch >= 0:
        place = Counted(-1, -1, epoch, epochs, batch, batches, part=part)
        yield Row(at, place, tuple(values), tuple(values.values()))


def _of(count: object) -> tuple[int, int]:
    """Return a counter and its end, ``"10/344"``; -1 for what is not there."""
    now, _, end = str(count).partition("/")
    return (whole(now), whole(end)) if now.isdecimal() and end.isdecimal() else (-1, -1)
