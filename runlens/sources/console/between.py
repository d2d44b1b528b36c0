"""Numbers without a name between lines that count: ``Epoch 3`` above ``0.52``."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from runlens.sources.console.counters import Counted
from runlens.sources.console.mining.slots import parts
from runlens.sources.console.rows import Row
from runlens.sources.console.telling import tells
from runlens.sources.console.unnamed_lists import as_printed
from runlens.sources.reading import as_number

FEWEST = 5  # numbers
MOSTLY = 0.8  # share of them that stand as far from the one before as most
FURTHEST = 4  # lines from one to the next


def between_lines(others: Sequence[tuple[int, str]], stem: str) -> list[Row]:
    """Return a row for each number that stands alone below a line that counts on.

    Its name is that of the file, if that tells. Whole numbers alone are no measure.
    """
    found = [
        (place, number)
        for place, (_, line) in enumerate(others)
        if (number := as_number(as_printed(line).strip())) is not None
    ]
    places = [place for place, _ in found]
    apart = Counter(after - before for before, after in pairwise(places))
    usual, often = max(apart.items(), key=lambda one: one[1], default=(0, 0))
    if not 1 < usual <= FURTHEST or len(found) < FEWEST or often < MOSTLY * (len(found) - 1):
        return []
    counts = [_count(others[place - 1][1]) if place else -1 for place in places]
    rises = all(before < after for before, after in pairwise(counts))
    if not rises or counts[0] < 0 or all(number.is_integer() for _, number in found):
        return []
    name = stem if tells(stem) else "column 1"
    return [
        Row(others[place][0], Counted(step=count), (name,), (number,))
        for count, (place, number) in zip(counts, found, strict=True)
    ]


def _count(line: str) -> int:
    """Return the first whole number of a line; -1 where it has none."""
    return next((int(slot.value) for slot in parts(line).slots if slot.whole), -1)
