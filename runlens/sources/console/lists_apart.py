"""Lists that stand in one line, or a number a line below their name, as a list a line each."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from runlens.patterns import lazy_re
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number

FEWEST = 5  # numbers of a list
SEVERAL = 2  # lists
LONGEST = 1_000_000  # characters of a line
_NUMBERS = r"[-+.\deE,;\snaif]{5,}"
# how R writes a vector: c(0.5, 0.4)
_OF_R = lazy_re(rf"([:=]\s?|<-\s?)c\(({_NUMBERS})\)")
_NAMED = lazy_re(rf"([A-Za-z_][\w ]{{0,40}}?\s?[:=]\s?\[{_NUMBERS}\])[\s,;]{{0,4}}")
_CALLED = lazy_re(r"\W{0,4}([A-Za-z][A-Za-z_ -]{1,40}?)\s?:?\W{0,4}")
_ONE = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_ARROWS = lazy_re(rf"([:=]\s?)({_ONE}(?:\s?(?:->|=>|→)\s?{_ONE}){{2,200}})\s*$", re.IGNORECASE)
_POINTED = lazy_re(r"^(\s*[A-Za-z_][\w ]{0,40}?)\s*[-=]{1,12}>\s*(?=\[)")  # to its list
_ARROW = lazy_re(r"\s?(?:->|=>|→)\s?")
_Line = tuple[int, str]


def with_lists_apart(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with a list in each.

    >>> with_lists_apart([(0, "train: [0.5, 0.4] val: [0.6, 0.5]")])
    [(0, 'train: [0.5, 0.4]'), (0, 'val: [0.6, 0.5]')]
    >>> with_lists_apart([(0, "train_loss -----> [0.5, 0.4]")])
    [(0, 'train_loss: [0.5, 0.4]')]
    """
    if any(">" in line or "→" in line for _, line in others):
        others = [(at, _POINTED.sub(r"\1: ", _ARROWS.sub(_listed, line))) for at, line in others]
    if any("[" in line or "c(" in line for _, line in others):
        others = [(at, one) for at, line in others for one in _lists(line)]
    return _below_names(others)


def _listed(found: re.Match[str]) -> str:
    """Write ``: 0.9 -> 0.7 -> 0.6`` as a list."""
    return f"{found[1]}[{', '.join(_ARROW.split(found[2]))}]"


def _lists(line: str) -> list[str]:
    """Return the lists of a line that holds nothing else; of others the line."""
    if len(line) > LONGEST:
        return [line]
    line = _OF_R.sub(r"\1[\2]", line) if "c(" in line else line
    found = _NAMED.findall(line) if line.count("[") >= SEVERAL else []
    return found if len(found) >= SEVERAL and not _NAMED.sub("", line).strip() else [line]


def _below_names(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with a list for each column of numbers below a name, where there are several."""
    names = [
        n
        for n, (_, line) in enumerate(others)
        if (found := _CALLED.fullmatch(line)) and tells(found[1])
    ]
    ends = list(pairwise([*names, len(others)]))
    if len(names) < SEVERAL or any(end - begin <= FEWEST for begin, end in ends):
        return others
    columns = [[line.strip() for _, line in others[begin + 1 : end]] for begin, end in ends]
    if any(as_number(cell) is None for cells in columns for cell in cells):
        return others
    return [*others[: names[0]], *_columns(others, names, columns)]


def _columns(
    others: Sequence[_Line], names: Sequence[int], columns: Sequence[Sequence[str]]
) -> Iterator[_Line]:
    for place, cells in zip(names, columns, strict=True):
        at, line = others[place]
        called = _CALLED.fullmatch(line)
        yield at, f"{called[1] if called else line}: [{', '.join(cells)}]"
