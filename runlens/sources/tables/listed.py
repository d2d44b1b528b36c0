"""Tables with a training in each row, whose curves stand in cells as lists: ``[0.9, 0.7, 0.6]``.

Experiments append such a row when they end. Each list is set upright, below the name of its column;
what else the row says names its training.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import numpy as np

from runlens.metrics import plain
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.sources.reading import as_number
from runlens.sources.tables.axis import counts
from runlens.sources.tables.names import EPOCHS, has_metric, measures_training
from runlens.sources.tables.unnamed import STEP, TRAINING, minimised

FEWEST = 5  # numbers of a list
FEWEST_OF_ONE = 2  # where the only row is of lists
MOST = 100  # rows whose lists are called by what samples have as well: "scores"
LARGEST = 32 * 2**20  # characters of a table that is looked at
LONGEST = 60  # characters of a cell that may name a training
_WRAPPED = lazy_re(r"(?:np\.|numpy\.)?(?:float\d*|tensor)\(([^(),]*)[^()]*\)")
_BETWEEN = lazy_re(r"[,;\s]+")

_List = list[float]


def upright(text: str, stem: str) -> str:
    """Return a table with a row for each number of its lists; others as they are.

    Lists without a name are a loss where they fall as one and the file says of which data they are.
    """
    if "[" not in text[: text.find("\n", text.find("\n") + 1)] or len(text) > LARGEST:
        return text
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(row for row in csv.reader(io.StringIO(text), skipinitialspace=True) if row)
    fewest = FEWEST_OF_ONE if _is_one_training(rows) else FEWEST
    listed = [[_numbers(cell, fewest) for cell in row] for row in rows]
    headed = bool(rows) and not any(listed[0])
    header, rows, listed = rows[0] if headed else [], rows[headed:], listed[headed:]
    if not rows or not all(map(any, listed)) or len(set(map(len, rows))) > 1:
        return text
    places = [n for n in range(len(rows[0])) if all(some[n] for some in listed)]
    if not places or (headed and len(header) != len(rows[0])):
        return text
    if headed and _are_epochs(header, rows, places):
        return text
    unnamed = _unnamed([some[n] for some in listed for n in places[:1]], stem)
    names = [header[n].strip() if headed else unnamed for n in places]
    if len(rows) > MOST and not measures_training(names):
        return text
    written = io.StringIO()
    out = csv.writer(written, lineterminator="\n")
    out.writerow([TRAINING, STEP, *names])
    for label, some in zip(_labels(rows, places), listed, strict=True):
        for step, cells in enumerate(_side_by_side([some[n] for n in places]), 1):
            out.writerow([label, step, *cells])
    return written.getvalue()


def _are_epochs(
    header: Sequence[str], rows: Sequence[Sequence[str]], places: Sequence[int]
) -> bool:
    """Whether rows are the epochs of one training, which count on, with a mean beside each list."""
    epochs = [n for n, name in enumerate(header) if plain(name) in EPOCHS and n not in places]
    beside = [n for n in range(len(header)) if header[n].strip() and n not in (*epochs, *places)]
    measured = [n for n in beside if all("." in r[n] and as_number(r[n]) is not None for r in rows)]
    said = [np.array([as_number(row[n]) for row in rows], dtype=np.float64) for n in epochs]
    return bool(measured) and any(counts(one) and one[1] - one[0] == 1 >= one[0] for one in said)


def _side_by_side(curves: Sequence[_List]) -> Iterator[Iterable[float | str]]:
    """Yield the rows of curves, as many as the first has.

    One that is shorter has a number after each part, if it divides the rows: it was measured every
    so many of them. Of any other length it is left out.
    """
    rows = len(curves[0])
    every = [rows // len(curve) if rows % len(curve) == 0 else 0 for curve in curves]
    for row in range(1, rows + 1):
        yield (
            curve[row // gap - 1] if gap and row % gap == 0 else ""
            for curve, gap in zip(curves, every, strict=True)
        )


def _is_one_training(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a single row below its names is of lists alone, as many numbers in each."""
    if len(rows) != len(("names", "lists")) or not has_metric(rows[0]):
        return False
    return len({len(_numbers(cell, FEWEST_OF_ONE)) for cell in rows[1]}) == 1


def _numbers(cell: str, fewest: int) -> _List:
    """Return the numbers of a list in a cell; nothing for others, or for too short ones."""
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return []
    parts = _BETWEEN.split(_WRAPPED.sub(r"\1", text[1:-1].strip()))
    found = [number for part in parts if (number := as_number(part)) is not None]
    return found if len(found) == len(parts) >= fewest else []


def _unnamed(curves: Sequence[_List], stem: str) -> str:
    """Return what lists without a name are called."""
    split = classify(stem).split
    return f"{split}_loss" if split and all(map(minimised, curves)) else stem


def _labels(rows: Sequence[Sequence[str]], places: Sequence[int]) -> list[str]:
    """Return what tells each row from the others: its words, else all that differs; numbered."""
    cells = [n for n in range(len(rows[0])) if n not in places]
    varied = [n for n in cells if len({row[n] for row in rows}) > 1]
    said = [n for n in varied if all(as_number(row[n]) is None for row in rows)] or varied
    labels = [", ".join(row[n].strip()[:LONGEST] for n in said) for row in rows]
    often, seen = Counter(labels), Counter[str]()
    for place, label in enumerate(labels):
        seen[label] += 1
        if often[label] > 1:
            labels[place] = f"{label} {seen[label]}".strip()
    return labels
