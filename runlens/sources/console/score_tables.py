"""Tables of results: a model in each row and what it was judged by in each column.

``Model  Accuracy  F1`` above ``RandomForest  0.91  0.90``, with pipes, borders or blanks, or as
pandas prints it. Each row is a training of a single point. Of a table of classes the row of all
of them is taken.
"""

import re
from collections.abc import Sequence

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.counters import Counted
from runlens.sources.console.mining.phrases import SPLIT, split_of
from runlens.sources.console.rows import Row
from runlens.sources.console.telling import named_in, tells
from runlens.sources.tables.cells import number_in

LONGEST = 300  # lines of a text
WIDEST = 400  # characters of a line
FEWEST = 2  # rows
_APART = tuple(
    map(lazy_re, (r"\s*[|│┃║]\s*", r"\s*&\s*", r"\s*\t\s*", r"\s{2,}", r"\s*[,;]\s*", r"\s+"))
)
_EDGES = " \t|│┃║"
_RULE = lazy_re(r"[-=+*#_~|│┃─━┄┼╋┌┐└┘├┤┬┴╒╕╘╛╞╡╪═║\s:]{3,}")
_TEX_END = lazy_re(r"\s*\\\\.{0,40}$")
_LETTER = lazy_re(r"[^\W\d_]")
_CLASSES = lazy_re(r"(?i)class(?:es)?|category|label|entity|tag")
_ALL = lazy_re(r"(?i)all|overall|total|mean|average|macro|micro")
_OF_DATA = lazy_re(rf"(?:{SPLIT.pattern})$", re.IGNORECASE)
_PERCENT = lazy_re(r"(.*\d)\s?%")


class _Head(NamedTuple):
    """A line of names, and what parts them."""

    apart: re.Pattern[str]
    names: list[str]


def score_table(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the rows of the first table of scores in a text, nothing where it has none."""
    if len(others) > LONGEST:
        return []
    measured = ""
    for place, (_, line) in enumerate(others):
        measured = measured or named_in(line)
        for known in _heads(line, of_data=measured != ""):
            if rows := _rows(known, others[place + 1 :]):
                return rows
    return []


def _heads(line: str, *, of_data: bool) -> list[_Head]:
    """Return the ways in which a line may be read as names, of which one is of a score.

    Where a line above says what was measured they may be `of_data`: ``Model | Train | Test``.
    """
    text = _TEX_END.sub("", line).strip(_EDGES)
    ways = []
    for apart in _APART if len(line) <= WIDEST else ():
        names = [name.strip("*`\"' ") for name in apart.split(text)]
        data = {split_of(name) for name in names if _OF_DATA.search(name)}
        scores = any(map(tells, names)) or (of_data and "train/" in data and len(data) > 1)
        scores = scores and all(map(_LETTER.search, names))
        if len(names) > 1 and scores and all(number_in(name) is None for name in names):
            ways.append(_Head(apart, names))
    return ways


def _rows(head: _Head, below: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the rows below a head up to the first line that is none."""
    found: dict[str, Row] = {}
    for at, line in below:
        if _RULE.fullmatch(line):
            continue
        named = _row(at, line, head)
        if named is None or named[0] in found:
            break
        found[named[0]] = named[1]
    whole = [one for label, one in found.items() if _ALL.fullmatch(label)]
    if _CLASSES.fullmatch(head.names[0]):
        return whole[:1]
    return list(found.values()) if len(found) >= FEWEST else []


def _row(at: int, line: str, head: _Head) -> tuple[str, Row] | None:
    """Return the words of a row and its numbers by their names; None where it is no such row."""
    cells = head.apart.split(_TEX_END.sub("", line).strip(_EDGES))
    if len(cells) == len(head.names) + 1 and cells[0].isdigit():  # pandas numbers its rows
        cells = cells[1:]
    if len(cells) != len(head.names) or number_in(cells[0]) is not None:
        return None
    numbers: dict[str, float] = {}
    words = []
    for name, cell in zip(head.names, cells, strict=True):
        share = _PERCENT.fullmatch(cell)
        number = number_in(share[1] if share else cell)
        if number is None:
            words.append(cell)
        elif canonical_key(name) not in KNOWN_KEYS:
            numbers[name.rpartition("(")[2].strip(") ") or name] = number
    measured = any(not one.is_integer() for one in numbers.values()) or "%" in line
    told = any(tells(name) or _OF_DATA.search(name) for name in numbers) and measured
    if not told or not all(map(_LETTER.search, words)):
        return None
    return " ".join(words), Row(at, Counted(), tuple(numbers), tuple(numbers.values()))
