"""Where a log begins anew: with the lines again with which it began, or with the settings of a run.

What stands before the first row (settings, a banner, a heading of the table) comes again before the
first row of the next training. So does a command, with another value of an option. A heading alone
may be printed again for the reader: it is a border only where the values begin anew too.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from runlens.metrics import naming
from runlens.patterns import lazy_re
from runlens.sources.console import commands
from runlens.sources.console.counters import Counted
from runlens.sources.console.elapsed import starts
from runlens.sources.console.rows import Row
from runlens.sources.console.spans import BLOCK, HEAD, WHOLE, shape
from runlens.sources.trainings import goes_on

FEWEST = 3  # rows of a training, where only lines of the beginning say that it is one
ARGUMENTS = "Namespace("  # what argparse says that a program was started with
# a time alone in its line, which scripts write into their log when they start
_STAMP = lazy_re(
    r"(?:[=#*-]{3,} [A-Z][A-Za-z ]{0,40})?"  # "==== Loss (Mon Dec  9 02:30:22 2024) ===="
    r"\W*(?:\d{4}([-/_.]?)\d\d\1\d\d[-_T ]+\d\d([-:_]?)\d\d(?:\2\d\d(?:[.,]\d{1,6})?)?"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?: [A-Z]{3,4})? \d{4})\W*"
)
# below such a line it is the time at which that epoch began
_EPOCH = lazy_re(r"\W*(?:epoch|round|iteration)\W{0,3}\d+(?:\s*/\s*\d+)?\W*", re.IGNORECASE)
_STARTED = lazy_re(r"\btraining (?:session|job) (?:started|begins)\b", re.IGNORECASE)
# what some say at each epoch as well: of rows that count themselves, it tells why one came again
_STARTING = lazy_re(r"(?:^|[\]:>|-] ?)start(?:ing)? (?:the )?training\b(?!(?: \w+)? epoch)", 2)


class Restarts:
    """Tells where a log begins anew; `others` are its lines that are no bars and no dict rows."""

    def __init__(self, others: Sequence[tuple[int, str]], first: int) -> None:
        """Take the lines, and that of the first row."""
        self._others, self._first = others, first

    @cached_property
    def _lines(self) -> dict[int, str]:
        return dict(self._others)

    @cached_property
    def _head(self) -> set[str]:
        near = range(max(0, self._first - HEAD), self._first)
        return {shape(self.line(at)) for at in near if not self._of_epoch(at)} - {""}

    @cached_property
    def _swept(self) -> list[int]:
        """The lines of commands that differ from the one before in the value of an option."""
        called = [(at, found) for at, line in self._others if (found := commands.options(line))]
        both = pairwise(called)
        return [at for (_, before), (at, now) in both if commands.differ(before, now)]

    def line(self, at: int) -> str:
        """Return a line; empty where it is a bar or a dict row."""
        return self._lines.get(at, "")

    def between(self, before: int, after: int, alike: int = BLOCK) -> bool:
        """Whether the log begins anew between two lines: so many lines of its head come again.

        With WHOLE all of them do, if these are no single one.
        """
        if after - before < 2:  # noqa: PLR2004 - no line is between them
            return False
        lines = [self._lines.get(at, "") for at in range(before + 1, after)]
        if any(ARGUMENTS in line or _STARTED.search(line) for line in lines):
            return True
        if any(before < at < after for at in self._swept):
            return True
        alike = alike if alike > WHOLE else max(2, len(self._head))
        return len(lines) >= alike and len(self._head & set(map(shape, lines))) >= alike

    def stamped(self, before: int, after: int, alike: int = BLOCK) -> bool:
        """Whether it does, or a training is said to start, or a time alone stands there.

        The latter as it does above the first row.
        """
        lines = [self._lines.get(at, "") for at in range(before + 1, after)]
        return (
            self.between(before, after, alike)
            or any(map(_STARTING.search, lines))
            or (self._stamps(self._first - 1) and any(map(self._stamps, range(before + 1, after))))
        )

    def _stamps(self, at: int) -> bool:
        """Whether a time stands alone in a line, and is not that of the epoch named above it."""
        return is_stamp(self.line(at)) and not self._of_epoch(at)

    def _of_epoch(self, at: int) -> bool:
        """Whether a line names an epoch, or the time at which the one above it began."""
        above = self.line(at - 1) if is_stamp(self.line(at)) else self.line(at)
        return _EPOCH.fullmatch(above) is not None


def begins_anew(
    rows: Sequence[Row], others: Sequence[tuple[int, str]]
) -> Callable[[int, int, int], bool]:
    """Return what tells whether a log begins anew between two of its lines, by how many lines.

    A time alone says so of rows that count themselves: others may each have one above them.
    """
    restarts = Restarts(others, rows[0].at if rows else 0)
    every = all(max(row.counted[:6]) >= 0 for row in rows)
    return restarts.stamped if every else restarts.between


def is_stamp(line: str) -> bool:
    """Whether a line is a time and nothing else."""
    return _STAMP.fullmatch(line) is not None


def numbered_anew(rows: Sequence[Row], others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return rows without a counter, numbered from 1 in each training; others as they are."""
    if not rows or any(max(row.counted[:6]) >= 0 for row in rows):
        return list(rows)
    restarts = Restarts(others, rows[0].at)
    begins = _begins(rows, restarts, BLOCK) or _by_values(rows, restarts)
    begins = begins or starts([restarts.line(row.at) for row in rows])
    if not begins:
        return list(rows)
    return [
        row._replace(counted=Counted(step=n))
        for begin, end in pairwise([0, *begins, len(rows)])
        for n, row in enumerate(rows[begin:end], 1)
    ]


def _begins(rows: Sequence[Row], restarts: Restarts, alike: int) -> list[int]:
    """Return the rows before which the log begins anew.

    None where a single line says so of a training that is too short.
    """
    begins = [n for n in range(1, len(rows)) if restarts.between(rows[n - 1].at, rows[n].at, alike)]
    parts = (rows[begin:end] for begin, end in pairwise([0, *begins, len(rows)]))
    short = alike < BLOCK and any(_of_one_kind(part) < FEWEST for part in parts)
    return [] if short else begins


def _of_one_kind(rows: Sequence[Row]) -> int:
    """Return how many rows there are of the kind that has the most: a block has one of each."""
    return max(Counter(row.names for row in rows).values())


def _by_values(rows: Sequence[Row], restarts: Restarts) -> list[int]:
    """Return where one line of the beginning comes again and the loss begins anew with it."""
    names = next((row.names for row in rows if any(map(_is_loss, row.names))), ())
    place = next((n for n, name in enumerate(names) if _is_loss(name)), -1)
    begins = _begins(rows, restarts, 1)
    if place < 0 or not begins:
        return []
    mine = [n for n, row in enumerate(rows) if row.names == names]
    training = np.searchsorted(begins, mine, side="right")
    value = np.array([rows[n].values[place] for n in mine])
    return [] if goes_on(training, value) else begins


def _is_loss(name: str) -> bool:
    return naming(name).metric == "train_loss"
