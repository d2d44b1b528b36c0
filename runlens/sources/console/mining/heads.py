"""Rows of bare numbers under a line of names: tables of any make.

``| Step | Loss |`` and ``| 37 | 1.61 |`` (Markdown, rich, PrettyTable), ``epoch  train_loss`` and
``0  2.31``, ``train_loss,valid_loss`` and ``5.2  4.9``.
"""

import re
from functools import lru_cache

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.mining.phrases import SPLIT, Column, Phrase, counter, split_of
from runlens.sources.console.mining.slots import CLOCK, Slot, parts

MAX_HEAD = 1_000  # characters
MAX_CELL = 60
_EDGES = " \t|│┃║*#=-+_:>"
_SPLITTERS = tuple(
    lazy_re(form) for form in (r"\s*[|│┃║]\s*", r"\s*\t\s*", r"\s*[,;]\s*", r"\s{2,}", r"\s+")
)
_PIPES, _SPACE = _SPLITTERS[0], _SPLITTERS[-1]
_LETTER = lazy_re(r"[^\W\d_]")
_TOLD = lazy_re(r"loss|reward", re.IGNORECASE)
_ROW = lazy_re(r"\s*(?:[|│┃║>]\s*)*(?:[-+]?\d|\.\d)")


class Head(NamedTuple):
    """A line of names."""

    splitter: re.Pattern[str]
    names: tuple[str, ...]

    @property
    def sure(self) -> bool:
        """Whether the line names what trainings print: a table of other data may have scores."""
        return any(counter(name) or _TOLD.search(name) for name in self.names)


@lru_cache(maxsize=4096)
def head(line: str) -> Head | None:
    """Return the names in a line that has no number; None where it names no columns.

    Lines without a number come again and again: each is looked at once.
    """
    if len(line) > MAX_HEAD:
        return None
    text = line.strip(_EDGES)
    for splitter in _SPLITTERS:
        names = tuple(name.strip("`'\"") for name in splitter.split(text))
        if len(names) > 1:
            good = all(_LETTER.search(name) and len(name) <= MAX_CELL for name in names)
            found = Head(splitter, names)
            return found if good and found.sure else None
    return None


def row(line: str, names: Head | None) -> tuple[Phrase, tuple[Slot, ...]] | None:
    """Return what a row of numbers says under its names; None for what is no such row."""
    if names is None or not _ROW.match(line):
        return None
    cells = _cells(line, names)
    if len(cells) != len(names.names):
        return None
    columns: list[Column] = []
    slots: list[Slot] = []
    data = ""
    for name, cell in zip(names.names, cells, strict=True):
        found = parts(cell)
        if len(found.slots) == 1 and not _LETTER.search("".join(found.text)):
            columns.append(Column(name, counter(name)))
            slots.append(found.slots[0])
        elif SPLIT.fullmatch(cell):
            data = split_of(cell)
        elif found.slots and CLOCK not in "".join(found.text):
            return None
    if 2 * len(slots) < len(cells):
        return None
    named = (Column(c.name if c.kind else data + c.name, c.kind) for c in columns)
    return Phrase(tuple(named), ""), tuple(slots)


def _cells(line: str, names: Head) -> list[str]:
    text = line.strip(" \t|│┃║")
    cells = names.splitter.split(text)
    if len(cells) != len(names.names) and names.splitter is not _PIPES:
        cells = _SPACE.split(text)
    return cells
