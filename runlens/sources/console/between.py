"""Numbers without a name between other lines: ``Epoch 3`` above ``0.52``."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from runlens.sources.console.counters import Counted
from runlens.sources.console.mining.slots import parts
from runlens.sources.console.rows import Row
from runlens.sources.console.telling import tells
from runlens.sources.console.unnamed_lists import as_printed

FEWEST = 5  # rows
MOSTLY = 0.8  # share of them that stand as far from the one before as most
FURTHEST = 4  # lines from one to the next


def between_lines(
    others: Sequence[tuple[int, str]], stem: str, numbers: Callable[[str], tuple[float, ...]]
) -> list[Row]:
    """Return a row for each line of `numbers` alone that stands below one that counts on.

    Or that says the same again and again. A single column is called after the file, if that
    tells. Whole numbers alone are no measure.
    """
    known = ((place, numbers(as_printed(line))) for place, (_, line) in enumerate(others))
    found = [(place, values) for place, values in known if values]
    places = [place for place, _ in found]
    width = len(found[0][1]) if found else 0
    apart = Counter(after - before for before, after in pairwise(places))
    usual, often = max(apart.items(), key=lambda one: one[1], default=(0, 0))
    regular = 1 < usual <= FURTHEST and often >= MOSTLY * (len(found) - 1)
    measured = any(not number.is_integer() for _, values in found for number in values)
    if len(found) < FEWEST or not (regular and measured):
        return []
    counts = [_count(others[place - 1][1]) if place else -1 for place in places]
    rise = counts[0] >= 0 and all(before < after for before, after in pairwise(counts))
    between = {line for place, (_, line) in enumerate(others) if place not in places}
    if any(len(values) != width for _, values in found) or not (rise or len(between) < usual):
        return []
    one = width == 1 and tells(stem)
    names = (stem,) if one else tuple(f"column {n}" for n in range(1, width + 1))
    steps = counts if rise else [-1] * len(found)
    return [
        Row(others[place][0], Counted(step=step), names, values)
        for step, (place, values) in zip(steps, found, strict=True)
    ]


def by_turns(found: Sequence[tuple[int, tuple[float, ...]]]) -> list[tuple[int, tuple[float, ...]]]:
    """Return the rows of numbers that stand below one another, each below its count; else as is.

    ``0``, ``0.52``, ``1``, ``0.48``: so a program prints its epoch, and what it measured.
    """
    numbers = [values[0] for _, values in found if len(values) == 1]
    for width in range(2, FURTHEST + 1):
        counts, whole = numbers[::width], len(numbers) == len(found)
        rows = list(zip(*(numbers[n::width] for n in range(width)), strict=False))
        rise = {after - before for before, after in pairwise(counts)} == {1.0}
        if whole and rise and len(rows) >= FEWEST and len(rows) * width == len(found):
            return [(found[n * width][0], row) for n, row in enumerate(rows)]
    return list(found)


def _count(line: str) -> int:
    """Return the first whole number of a line; -1 where it has none."""
    return next((int(slot.value) for slot in parts(line).slots if slot.whole), -1)
