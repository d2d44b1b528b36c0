"""Blocks of rows without names, each below a line of whole numbers that says what it is of.

``4 3`` above rows of three numbers, ``1 4`` above the next: what a program was called with, or the
size of what follows. Each block is a training that begins anew.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from runlens.sources.console.counters import Counted
from runlens.sources.console.rows import Row

FEWEST = 5  # rows of a block; the last may have been cut
_Numbers = tuple[float, ...]


def numbered_blocks(
    others: Sequence[tuple[int, str]], numbers: Callable[[str], _Numbers]
) -> list[Row]:
    """Return the rows of such blocks, counted from 1 in each; none where other lines are there."""
    found = [(at, numbers(line)) for at, line in others]
    widths = Counter(len(some) for _, some in found)
    width = max(widths, key=widths.__getitem__, default=0)
    heads = [n for n, (_, some) in enumerate(found) if len(some) != width]
    if not width > 1 or heads[:1] != [0] or len(heads) * FEWEST > len(found):
        return []
    ends = [*heads[1:], len(found)]
    whole = all(found[n][1] and all(map(float.is_integer, found[n][1])) for n in heads)
    short = any(end - begin <= FEWEST for begin, end in zip(heads[:-1], ends[:-1], strict=True))
    measured = any(not one.is_integer() for _, some in found for one in some)
    if not whole or short or not measured:
        return []
    names = tuple(f"column {n}" for n in range(1, width + 1))
    return [
        Row(at, Counted(step=n), names, some)
        for begin, end in zip(heads, ends, strict=True)
        for n, (at, some) in enumerate(found[begin + 1 : end], 1)
    ]
