"""Which lines of a log are of which training, where it holds several.

A training begins with what the first one began with: a banner, a command, settings. Where nothing
of that comes again, it begins behind the exception that ended the one before, else with its first
row.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from runlens.history import IntArray
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console import commands
from runlens.sources.console.events import HEADER

BLOCK = 3  # lines of the beginning that come again: a heading, and settings above it
WHOLE = 0  # all of them do
HEAD = 200  # lines before the first row in which a beginning is looked for
CALLED = "called"  # what the shape of a command line begins with
LONGEST = 160  # characters of a line that are compared
_QUOTES = " \t`>\"'"  # around what is pasted
_DIGITS = lazy_re(r"\d+")
_LETTER = lazy_re(r"[^\W\d_]{3}")

Line = tuple[int, str]


class Span(NamedTuple):
    """The lines of a training, [begin, end); `unread`: launches right before it without a row."""

    begin: int
    end: int
    unread: int = 0


def spans(at: IntArray, training: IntArray, others: Sequence[Line], lines: int) -> list[Span]:
    """Return the lines of each training; `at` and `training` are those of the rows, shape (n,)."""
    firsts = np.searchsorted(training, np.arange(int(training.max()) + 1))
    first, last = at[firsts].tolist(), at[np.append(firsts[1:], len(at)) - 1].tolist()
    where = np.array([line for line, _ in others], dtype=np.int64)
    gaps = [
        others[slice(*np.searchsorted(where, [end + 1, begin]).tolist())]
        for end, begin in zip([-1, *last[:-1]], first, strict=True)
    ]
    marks = _marks(gaps)
    found: list[Span] = []
    begin = 0
    for number, gap in enumerate(gaps):
        starts = _starts(gap, marks) or _behind_exception(gap) or first[number : number + 1]
        if found:
            found[-1] = found[-1]._replace(end=starts[0])
            begin = starts[-1]
        found.append(Span(begin, lines, len(starts) - 1 if number else 0))
    return found


def shape(line: str) -> str:
    """Return a line with its numbers alike; empty for one that says nothing."""
    if called := commands.options(line):
        return " --".join((CALLED, *called))  # whatever their values
    return _DIGITS.sub("0", line[:LONGEST]).strip(_QUOTES) if _LETTER.search(line) else ""


def _marks(gaps: Sequence[Sequence[Line]]) -> list[str]:
    """Return the lines with which the first training begins and others too, the surest first.

    It is the first of them that most trainings have, and once each.
    """
    head = dict.fromkeys(shape(line) for _, line in gaps[0][:HEAD])
    times = [Counter(shape(line) for _, line in gap) for gap in gaps[1:]]
    return [mark for mark in head if mark and 2 * sum(mark in one for one in times) > len(times)]


def _starts(gap: Sequence[Line], marks: Sequence[str]) -> list[int]:
    """Return the lines at which launches begin; the last is that of the training that follows."""
    for mark in marks:
        if found := [at for at, line in gap if shape(line) == mark]:
            return found
    return []


def _behind_exception(gap: Sequence[Line]) -> list[int]:
    """Return the line behind the last traceback in a gap."""
    headers = [place for place, (_, line) in enumerate(gap) if HEADER in line]
    if not headers:
        return []
    rest = gap[headers[-1] + 1 :]
    ends = (n for n, (_, line) in enumerate(rest) if line[:1] not in {" ", "\t", ""})
    behind = next(ends, len(rest) - 1) + 1
    return [rest[behind][0]] if behind < len(rest) else []
