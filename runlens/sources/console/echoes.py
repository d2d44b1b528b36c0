"""Lines that a program wrote twice: it printed them, and its logger did so once more.

``Epoch 3 loss 0.5`` and ``2026-01-22 14:18:30 - INFO - Epoch 3 loss 0.5`` in one file are one row.
"""

from collections.abc import Sequence
from itertools import pairwise

from runlens.patterns import lazy_re
from runlens.sources.console.counters import begin

FEWEST = 3  # lines: two that say the same may be chance
SAMPLE = 30  # lines at the start, and in the middle, one pair of which shows that there are any
MOSTLY = 0.5  # share of all lines that such pairs make up
_DIGITS = lazy_re(r"\d+")
# a level, or a clock: what else stands before a row may say of which data it is
_LOGGED = lazy_re(r"\b(?:INFO|DEBUG|WARNING|NOTICE)\b|\d\d:\d\d")
_Line = tuple[int, str]


def without_echoes(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return each line once that stands twice in a row, with and without what a logger puts before.

    It stands where the logger wrote it, whose stamp tells its time. Rows that merely say the same
    again have the same before them, whatever its digits.

    >>> said = [line for n in range(4) for line in (f"loss {n}", f"INFO loss {n}")]
    >>> without_echoes(list(enumerate(said)))[:2]
    [(1, 'loss 0'), (3, 'loss 1')]
    """
    middle = len(others) // 2
    looked_at = [others[:SAMPLE], others[middle : middle + SAMPLE]]
    if not any(_echo(a, b) for some in looked_at for (_, a), (_, b) in pairwise(some)):
        return others  # before each line is looked at twice
    kept: list[_Line] = []
    echoes = place = 0
    while place < len(others):
        at, line = others[place]
        after = others[place + 1] if place + 1 < len(others) else (at, "")
        if again := _echo(line, after[1]):
            at, line = (after[0] if begin(after[1]) else at), again
            echoes += 1
        kept.append((at, line))
        place += 2 if again else 1
    return kept if echoes >= FEWEST and 2 * echoes >= MOSTLY * len(others) else others


def _echo(one: str, other: str) -> str:
    """Return what two lines say behind different beginnings; "" where they are not the same."""
    if one == other or not one or not other:
        return ""
    first, second = begin(one), begin(other)
    said = one[first:].strip()
    if not said or said != other[second:].strip():
        return ""
    before = one[:first].strip(), other[:second].strip()
    logged = any(before) and all(not some or _LOGGED.search(some) for some in before)
    apart = _DIGITS.sub("0", before[0]) != _DIGITS.sub("0", before[1])
    return (one if first <= second else other)[min(first, second) :] if logged and apart else ""
