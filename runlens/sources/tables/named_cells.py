"""Tables whose cells name their numbers themselves, set out below a line of names.

A name before each number, ``epoch,3,loss,0.5``, or a dict in a cell, ``3,"{'loss': 0.5}"``.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, pairwise

from runlens.metrics import plain
from runlens.patterns import lazy_re
from runlens.sources.files import Unreadable, parse_json
from runlens.sources.loose_json import loosely
from runlens.sources.reading import as_number
from runlens.sources.tables.names import TIMES, has_metric, is_step

LARGEST = 32 * 2**20  # characters of a table that is looked at
WIDEST = 200_000  # characters of its first two lines
SAMPLE = 20  # rows by which it is known
FEWEST = 2  # rows, and pairs in each
MOST_NAMES = 200
_NAME = lazy_re(r"[^\W\d][^{}\[\]:=]{0,60}")
_NUMBER = lazy_re(r"(?:(?:np\.)?(?:tensor|float\d*)\(\s*)?([-+.\w]+)(?:\)|,[^()]*(?:\(\))?>?\))?")

_Cells = dict[str, str]


def set_out(text: str) -> str:
    """Return a table with a line of names above its numbers; others as they are."""
    begin = "\n".join(text[:WIDEST].split("\n", 2)[:2])
    if len(text) > LARGEST or len(begin) == WIDEST or not ("," in begin or ";" in begin):
        return text
    mark = max(",;", key=begin.count)
    sample = list(_rows(text, mark, SAMPLE))
    for way in (_of_pairs, _of_dicts):
        if _written(way(sample)):
            return _written(way(list(_rows(text, mark))))
    return text


def _rows(text: str, mark: str, most: int | None = None) -> Iterator[list[str]]:
    """Yield the cells of each row, up to one that cannot be read."""
    found = csv.reader(io.StringIO(text), delimiter=mark, skipinitialspace=True)
    with suppress(csv.Error):
        yield from ([cell.strip() for cell in row] for row in islice(found, most) if row)


def _written(rows: Sequence[_Cells]) -> str:
    """Return rows below their names; "" where they are none, or measure nothing."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if len(rows) < FEWEST or len(names) > MOST_NAMES or not has_metric(names):
        return ""
    written = io.StringIO()
    out = csv.DictWriter(written, names, lineterminator="\n")
    out.writeheader()
    out.writerows(rows)
    return written.getvalue()


def _of_pairs(rows: Sequence[Sequence[str]]) -> list[_Cells]:
    """Return the cells of rows by the names before them; none of other tables."""
    sample = [_pairs(row) for row in islice(rows, SAMPLE)]
    if not all(sample):
        return []
    return [found for row in rows if (found := _pairs(row))]


def _pairs(row: Sequence[str]) -> _Cells:
    """Return the numbers of a row, each by the cell before it; empty for other rows.

    A word before the first name is that of the data, or the part, that the row is of.
    """
    cells = list(row[:-1] if row[-1:] == [""] else row)
    of = f"{cells.pop(0)}/" if len(cells) % 2 else ""
    names, values = cells[::2], [number_of(cell) for cell in cells[1::2]]
    known = all(map(_NAME.fullmatch, [*names, *([of[:-1]] if of else [])]))
    if len(names) < FEWEST or "" in values or not known:
        return {}
    named = [name if is_step(name) or plain(name) in TIMES else of + name for name in names]
    return dict(zip(named, values, strict=True))


def alternate(cells: Sequence[str]) -> bool:
    """Whether a name stands before each number, and nothing else is there."""
    return len(cells) >= 2 * FEWEST and all(
        _NAME.fullmatch(name) is not None and as_number(name) is None and number_of(cell) != ""
        for name, cell in islice(pairwise(cells), 0, None, 2)
    )


def number_of(cell: str) -> str:
    """Return the text of the number in a cell, a scalar of PyTorch or numpy too; "" for others."""
    found = _NUMBER.fullmatch(cell)
    return found[1] if found and as_number(found[1]) is not None else ""


def _of_dicts(rows: Sequence[Sequence[str]]) -> list[_Cells]:
    """Return the cells of rows and of the dict in one column of them; none of other tables."""
    header, below = (rows[0], rows[1:]) if rows else ([], [])
    first = below[0] if below else []
    place = next((n for n, cell in enumerate(first) if cell[:1] == "{"), -1)
    alike = [len(row) == len(header) and row[place][:1] == "{" for row in below[:SAMPLE]]
    if place < 0 or not alike or not all(alike):
        return []
    return [
        dict(_beside(header, row, place)) | dict(_leaves(_dict(row[place])))
        for row in below
        if len(row) == len(header)
    ]


def _beside(header: Sequence[str], row: Sequence[str], place: int) -> Iterator[tuple[str, str]]:
    cells = zip(header, row, strict=True)
    return ((name, cell) for n, (name, cell) in enumerate(cells) if n != place and name)


def _dict(cell: str) -> object:
    """Return what a cell of JSON, or of Python, holds."""
    try:
        return parse_json(cell.encode())
    except Unreadable:
        read = loosely(cell.encode())
        return read.value if read else None


def _leaves(value: object, prefix: str = "", depth: int = 0) -> Iterable[tuple[str, str]]:
    """Yield the numbers in a dict by their path: ``train/loss``."""
    if not isinstance(value, dict) or depth > FEWEST:
        return
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _leaves(inner, f"{prefix}{key}/", depth + 1)
        elif as_number(inner) is not None:
            yield f"{prefix}{key}", str(inner)
