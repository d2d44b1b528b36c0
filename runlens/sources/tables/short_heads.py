"""Tables whose first line names fewer columns than there are: some, or none behind a time."""

from collections.abc import Sequence

import numpy as np

from runlens.patterns import lazy_re
from runlens.sources.reading import as_number
from runlens.sources.tables.axis import counts
from runlens.sources.tables.launches import appended
from runlens.sources.tables.unnamed import BY_NUMBERS, UNNAMED

STAMP = "timestamp"
FEWEST_NAMES = 2  # of columns: one alone may be a title
FEWEST_ALIKE = 3  # rows below them
# a day and a time of it, in whatever order: "07-15-2023_18-15"
_STAMP = lazy_re(
    r"(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4})[ _T-]+\d\d?[-:.h]\d\d\b.{0,20}"
)


def beyond(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return names for the cells that all rows have behind those that are named; or nothing.

    A program that came to log one number more wrote no name for it: those there are stand above
    the first cells. A line that names less than half of them is no head of theirs.
    """
    head, *below = rows or [[]]
    widths = {len(row) for row in below}
    named = all(cell.strip() and as_number(cell) is None for cell in head)
    if len(head) < FEWEST_NAMES or len(below) < FEWEST_ALIKE or len(widths) > 1 or not named:
        return []
    wide = widths.pop()
    numbers = all(as_number(cell) is not None for row in below for cell in row[len(head) :])
    some = numbers and len(head) < wide <= 2 * len(head)
    return [f"{UNNAMED}{n}" for n in range(len(head) + 1, wide + 1)] if some else []


def stamped(rows: Sequence[Sequence[str]], names: list[str]) -> list[str]:
    """Return names of columns with that of a time at which each row was written, if it is first.

    A column counts on beside it, and may begin anew at each launch.
    """
    if names[0] or not all(_STAMP.fullmatch(row[0]) for row in rows):
        return names
    columns = [[as_number(cell) for cell in column] for column in zip(*rows, strict=False)]
    whole = [np.array(some) for some in columns if None not in some]
    on = (one for one in whole if (one == np.floor(one)).all())
    counted = any(counts(one) or appended(one.astype(np.int64)) for one in on)
    return [STAMP, *names[1:]] if counted else names


def told(header: Sequence[str], *, nothing: bool, ours: bool) -> str:
    """Return what is told of a head that names not all columns, or `nothing`; "" of others.

    Of one that is `ours`, by the numbers below it, what they were taken for.
    """
    if ours and not BY_NUMBERS.isdisjoint(header):
        names = ", ".join(filter(None, header))
        return f"has no header row that names its columns: they were taken for {names}"
    if nothing:
        return "has no header row that names its columns: they were numbered"
    short = any(name.startswith(UNNAMED) for name in header)
    return "has a header row that names the first columns alone: the others were numbered" * short
