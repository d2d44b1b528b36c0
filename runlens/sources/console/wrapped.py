"""Tracebacks that Windows PowerShell broke at the width of its console.

What a program writes to stderr it keeps as a record of an error, broken behind a blank or at the
last column, and writes `NativeCommandError` once, below the place and the category of the record,
which are no lines of the program. A path, the name of a function and the message of an exception
then go on at the start of the next line, where Python writes nothing but exceptions.
"""

from collections.abc import Sequence
from unicodedata import east_asian_width

from runlens.patterns import lazy_re
from runlens.sources.console.events import HEADER, MAX_FRAMES

MARK = "NativeCommandError"
# the same and what stands above it, where the console is so narrow that it breaks them too
MARKS = (MARK, "CategoryInfo", "FullyQualified", "NativeComm")
_BEGINS = "Traceback (mo"
_PLACE = lazy_re(r"(?:At|In|Em|En|Au) .*:\d+ \S+:\d+\s*")  # where the shell called the program
LONGEST = 60  # lines of a record
_INDENTED = (" ", "\t")
_NAMES = lazy_re(r"(?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit|Warning|Failed)\b")
# between two tracebacks of one chain
_CHAIN = lazy_re(r"During handling of|The above exception")


def unwrapped(lines: Sequence[str]) -> Sequence[str]:
    """Return lines with those of tracebacks whole; what was put together leaves blank lines."""
    if not any(mark in line for line in lines for mark in MARKS):
        return lines
    made = _without_records(lines)
    for at, line in enumerate(lines):
        if _BEGINS in line:
            _join(made, at, min(len(made), at + MAX_FRAMES))
    return made


def _without_records(lines: Sequence[str]) -> list[str]:
    """Return lines with blank ones for what the shell says itself of the place of an error."""
    made = list(lines)
    for at, line in enumerate(lines):
        text = ""
        for n in range(at, min(at + LONGEST, len(lines)) if _PLACE.fullmatch(line) else at):
            text += lines[n].strip()
            if text.endswith(MARK):
                made[at : n + 1] = [""] * (n + 1 - at)
                break
    return made


def _join(made: list[str], begin: int, end: int) -> None:
    """Put the lines of one traceback together, in place."""
    behind = (n for n in range(begin + 1, end) if _BEGINS in made[n])
    end = next(behind, end)
    widest = max((_width(one) for one in made[begin:end] if one.startswith(_INDENTED)), default=0)
    whole, last = begin, made[begin]  # the line that is put together, and its last piece
    for at in range(begin + 1, end):
        line = made[at]
        if _goes_on(made[whole], last, line, full=_width(last) == widest):
            made[whole] += line
            made[at] = ""
        elif _NAMES.match(made[whole]):
            return  # the message is whole
        else:
            whole = at
        last = line


def _goes_on(whole: str, last: str, line: str, *, full: bool) -> bool:
    """Whether a line is the rest of the one above, which is `full` up to the last column."""
    if HEADER in whole + line and HEADER not in whole and HEADER not in line:
        return True
    if whole.strip() == "raise":
        return True  # what is raised stands on the next line, and begins no message
    broken = full or last.endswith(" ")
    of_message = _NAMES.match(whole) is not None
    starts = line.startswith(_INDENTED) or _NAMES.match(line) or _CHAIN.match(line)
    return broken and (of_message or not starts)


def _width(line: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in line)
