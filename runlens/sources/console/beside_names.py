"""Numbers that only their file names, in a line or with commas: ``2.3 1.9 1.5``, ``2,3``.

And those whose name goes on behind them: ``dice 0.91 mask_1``, ``dice 0.85 mask_2``; and the three
scores of who finds things, which are called by their letters: ``P: 0.9, R: 0.8, F: 0.85``.
And those whose name goes on behind them: ``dice 0.91 mask_1``, ``dice 0.85 mask_2``; or begins with
one of many parts, a line each: ``bucket 0 perplexity 9.5``, ``bucket 1 perplexity 12.3``.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.counters import begin
from runlens.sources.console.forms import by_form
from runlens.sources.console.mining.counter_names import counter
from runlens.sources.console.pairs import pairs
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number

FEWEST = 4  # numbers
MOST = 10_000  # of a line
LONGEST = 400  # characters of a line of one part
_APART = (lazy_re(r"\s*,\s*"), lazy_re(r"\s*;\s*"), lazy_re(r"\s+"))
_COMMA = lazy_re(r"\s*([-+]?\d{1,9}),(\d{1,17})\s*")
# a name, its number, and which of the parts of what was measured it is of
_PART = r"(?:mask|class|label|head|output|task|channel|organ|category)(?:e?s)?"
_OF_PART = lazy_re(
    r"\s*([A-Za-z][\w ]{0,40}?)\s*[:=\s]\s*([-+]?\d+\.\d+(?:e[-+]?\d{1,3})?)\s+"
    rf"(?:for |of |on )?({_PART}[_ ]?\d{{1,3}})\s*",
    re.IGNORECASE,
)
# precision, recall and the F score as fastNLP and taggers write them, of a class too: "f-PER=0.9"
_SCORES = {"p": "precision", "pre": "precision", "prec": "precision", "r": "recall"}
_SCORES |= {"rec": "recall", "f": "f1", "f1": "f1"}
_SCORE = lazy_re(
    r"(?<![\w.-])(p(?:rec?)?|r(?:ec)?|f1?)(-[\w-]{1,30})?(\s?[:=]\s?)(\d[\d.]*)(?=%|[\s,;|)]|$)",
    re.IGNORECASE,
)
NEAR = 0.1  # of the harmonic mean of the others: a mean of those of classes lies so far from it
# what stands before a part, which one it is, and what was measured on it
_PART_FIRST = lazy_re(
    rf"(\W*(?:[A-Za-z]{{1,20}}\s?[:|-]\s*)?)({_PART}|bucket|cluster|domain|agent|layer|joint)"
    r"[ _#]{1,2}(\d{1,3})(?![\d./%])\W{0,5}(?=[A-Za-z])(.*)",
    re.IGNORECASE,
)
_WORD = lazy_re(r"[A-Za-z_]+")
_Line = tuple[int, str]


def with_ends_named(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with the part that a number is of in its name, where there are several.

    >>> with_ends_named(list(enumerate(["dice 0.9 mask_1", "dice 0.8 mask_2"] * 2)))[1]
    (1, 'dice_mask_2: 0.8')
    """
    found = {at: said for at, line in others if (said := _OF_PART.fullmatch(line))}
    of: dict[str, set[str]] = {}
    for said in found.values():
        of.setdefault(said[1], set()).add(said[3])
    several = {name for name, some in of.items() if len(some) > 1 and tells(name)}
    named = {at: f"{s[1]}_{s[3]}: {s[2]}" for at, s in found.items() if s[1] in several}
    return [(at, named.get(at, line)) for at, line in others]


def with_scores_spelled(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with precision, recall and F score by their names, where all three are there.

    The last is the harmonic mean of the others: statistics are called F, p and r as well.

    >>> with_scores_spelled([(0, "dev: f=0.8, pre=0.8, rec=0.8")])
    [(0, 'dev: f1=0.8, precision=0.8, recall=0.8')]
    """
    return [(at, _spelled(line) if _may_score(line) else line) for at, line in others]


def _may_score(line: str) -> bool:
    """Whether a line may name an F score; a search takes longer."""
    return any(mark in line for mark in ("f", "F")) and ("=" in line or ":" in line)


def _spelled(line: str) -> str:
    said = {
        (_SCORES[found[1].lower()], found[2] or ""): as_number(found[4])
        for found in _SCORE.finditer(line)
    }
    of = {part for _, part in said}

    def whole(part: str) -> bool:
        precision, recall, f1 = (said.get((n, part)) for n in ("precision", "recall", "f1"))
        if precision is None or recall is None or f1 is None:
            return False
        mean = 2 * precision * recall / ((precision + recall) or 1)
        return abs(f1 - mean) <= NEAR * mean

    if not of or not all(map(whole, of)):
        return line
    return _SCORE.sub(lambda m: f"{_SCORES[m[1].lower()]}{m[2] or ''}{m[3]}{m[4]}", line)


def with_parts_first(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with the part in each name, where the parts are gone through again and again.

    Each time they stand right behind one another, from the first on, and below another line.

    >>> lines = ["step 10 loss 0.9", "bucket 0 loss 0.8", "bucket 1 loss 0.7"]
    >>> with_parts_first(list(enumerate([*lines, *lines])))[2]
    (2, 'bucket_1 loss 0.7')
    """
    lines = ((n, line) for n, (_, line) in enumerate(others) if _begins_with_part(line))
    found = ((n, _PART_FIRST.match(line, begin(line))) for n, line in lines)
    said = {n: part for n, first in found if first and (part := _part_first(first))}
    times: dict[str, list[list[int]]] = {}
    for n, part in said.items():
        above = said.get(n - 1)
        some = times.setdefault(part.kind, [])
        if above and above.kind == part.kind and part.number == above.number + 1:
            some[-1].append(part.number)
        else:
            again = above and above.kind == part.kind
            some.append([part.number] if n and not again else [])
    named = {kind for kind, some in times.items() if _come_again(some)}
    return [
        (at, said[n].line if n in said and said[n].kind in named else line)
        for n, (at, line) in enumerate(others)
    ]


class _Part(NamedTuple):
    """A line of one part: what it begins with, which part it is, the line with it in each name."""

    kind: str
    number: int
    line: str


@by_form
def _begins_with_part(line: str) -> bool:
    return len(line) <= LONGEST and _PART_FIRST.match(line, begin(line)) is not None


def _part_first(said: re.Match[str]) -> _Part | None:
    """Read a line that begins with a part, if it tells what was measured on it and counts none."""
    names, _ = pairs(said[4], sure=True)
    if not any(map(tells, names)) or any(map(counter, _WORD.findall(said[4]))):
        return None
    line, behind = said.string[: said.end(1)], said[4]
    for name in names:
        before, found, behind = behind.partition(name)
        line += f"{before}{said[2].lower()}_{said[3]} {found}" if found else before
    return _Part(f"{said[1]}{said[2]}", int(said[3]), line + behind)


def _come_again(times: Sequence[Sequence[int]]) -> bool:
    """Whether several parts are gone through more than once, each time from the first on."""
    firsts = {tuple(some[:1]) for some in times}
    return len(times) > 1 and firsts <= {(0,), (1,)} and len(firsts) == 1 < max(map(len, times))


def apart_in(others: Sequence[_Line], stem: str) -> list[_Line]:
    """Return the lines of a file that is called after what it measures, each with one number.

    Two whole numbers with a comma between them are one with decimals, where the first do not
    count the rows. Of a single line each number is its own.
    """
    if not tells(stem):
        return list(others)
    commas = [_COMMA.fullmatch(line) for _, line in others]
    whole = [int(one[1]) for one in commas if one]
    if len(whole) == len(others) >= FEWEST and not all(a < b for a, b in pairwise(whole)):
        return [
            (at, f"{one[1]}.{one[2]}") for (at, _), one in zip(others, commas, strict=True) if one
        ]
    line = others[0][1].strip(" ,;\t") if len(others) == 1 else ""
    for apart in _APART:
        cells = apart.split(line)
        numbers = all(as_number(cell) is not None for cell in cells)
        if numbers and FEWEST <= len(cells) <= MOST and "." in line:
            return [(others[0][0], cell) for cell in cells]
    return list(others)
