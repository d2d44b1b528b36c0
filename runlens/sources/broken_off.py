"""The number with which a file breaks off: ``0.1`` may be the half of ``0.125``.

Programs that join their lines write none behind the last one either. There all numbers of a column
have as many decimals, the last one too, or as many as there are at most; or the last one
stood there before.
"""

import csv
from collections import Counter, deque
from collections.abc import Iterator, Sequence

from runlens.patterns import lazy_re

COMPARED = 50  # rows before the last
FEWEST_ALIKE = 5  # of them, from which numbers of as many decimals all are no chance
SHORT = 0.1  # share of numbers that are as short, from which one that comes again is no torn one
_DIGIT = lazy_re(r"\d")


def is_whole(last: str, before: Sequence[str]) -> bool:
    """Whether a number has as many decimals, and an exponent, as all those before it.

    Zeros at their ends are not always written: it has as many as most have then, and none has more.
    """
    forms = Counter(_DIGIT.sub("0", one.partition(".")[2]) for one in before)
    own = _DIGIT.sub("0", last.partition(".")[2])
    plain = len(forms) == 1 or not "".join(forms).strip("0")
    most = own == max(forms, key=len, default="") and 2 * forms[own] > len(before)
    return len(before) >= FEWEST_ALIKE and plain and most and own != ""


def _is_kind(last: str, before: Sequence[str]) -> bool:
    """Whether a cell is one of a few that come again and again, all of one length: 0, 1 and 2.

    What counts says each number once.
    """
    said = [one for one in before if one]
    alike = len(said) >= FEWEST_ALIKE and len({*map(len, said)}) == 1
    return alike and last in said and 2 * len({*said}) <= len(said)


def _came_before(last: str, before: Sequence[str]) -> bool:
    """Whether a number stood there more than once among others that are as short.

    ``0.97`` below ``0.97`` and ``0.989795918``.
    """
    said = [one for one in before if one]
    short = sum(len(one) <= len(last) for one in said)
    return len(said) >= FEWEST_ALIKE and short >= SHORT * len(said) and said.count(last) > 1


def without_torn_cell(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Leave out the cell at which a file breaks off, unless it looks as those above it."""
    latest: deque[list[str]] = deque(maxlen=COMPARED + 1)
    try:
        for row in rows:
            if latest:
                yield latest[-1]
            latest.append(row)
    except csv.Error:  # it breaks off behind the row that waits
        yield from list(latest)[-1:]
        raise
    if latest:
        *before, last = latest
        above = [row[-1] for row in before if len(row) == len(last)]
        forms = (is_whole, _is_kind, _came_before)
        whole = last and any(looks(last[-1], above) for looks in forms)
        yield last if whole else last[:-1]
