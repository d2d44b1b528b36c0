"""Lines without what does not belong to them: a reader's remarks, and the row that follows.

Who pastes a log points at its rows (``<-- spike``); a program that forgets an end of line prints
its rows behind one another.
"""

import re
from collections.abc import Iterator, Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.mining.slots import parts
from runlens.sources.console.pairs import norms_named

SHORTEST = 4  # characters between the first two numbers of a row that tell it from any other text
_REMARK = lazy_re(r"(?<=[\d)}\]|])\s+(?:<[-=]+|[←⇐⬅])\s*[^\W\d].*$")
# a sentence, whose NaN is no value of a name: "NaN loss detected! Skipping batch."
_OF_NAN = lazy_re(
    r"\b(?:nan|inf|infinite) (?:\w+ )?(?:loss|grad)(?=.*\b(?:detect|encounter|found|skip|ignor))"
    r"|\b(?:detect|encounter|found|skip|ignor)\w* .{0,40}\b(?:nan|inf|infinite) (?:loss|grad)",
    re.IGNORECASE,
)
_LETTER = lazy_re(r"[^\W\d_]")
Line = tuple[int, str]


def plain(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines of a log, each row by itself and without remarks behind it."""
    rows = ((at, line) for at, line in lines if not _OF_NAN.search(line))
    return ((at, norms_named(row)) for at, line in rows for row in _rows(_without_remark(line)))


def _without_remark(line: str) -> str:
    return _REMARK.sub("", line) if "<" in line or not line.isascii() else line


def _rows(line: str) -> Iterator[str]:
    """Yield the rows in a line: ``[010] loss: 0.3 [011] loss: 0.2`` holds two."""
    text, _, slots = parts(line)
    between = text[1] if len(slots) > 2 else ""  # noqa: PLR2004 - two rows have more numbers
    if text[2:].count(between) == 0 or not (
        slots[0].whole and len(between) >= SHORTEST and _LETTER.search(between)
    ):
        yield line
        return
    begins = re.escape(text[0].strip()) + r"\d+" + re.escape(between)
    starts = [found.start() for found in re.finditer(begins, line)]
    for begin, end in zip([0, *starts[1:]], [*starts[1:], len(line)], strict=True):
        yield line[begin:end]
