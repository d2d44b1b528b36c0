"""Rows of bare numbers under a line of names: tables of any make.

``| Step | Loss |`` and ``| 37 | 1.61 |`` (Markdown, rich, PrettyTable), ``epoch  train_loss`` and
``0  2.31``, ``train_loss,valid_loss`` and ``5.2  4.9``. A cell may hold several names, and then as
many numbers, under the data that they are of: ``|-- VALID --|-- TRAIN --|`` above ``| loss  top-1 |
loss  top-1 |``.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from runlens.naming.vocabulary import LOSS
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.counters import begin
from runlens.sources.console.mining.counter_names import counter
from runlens.sources.console.mining.phrases import SPLIT, Column, Phrase, split_of
from runlens.sources.console.mining.slots import CLOCK, Slot, parts
from runlens.sources.tables.names import is_setting

MAX_HEAD = 1_000  # characters
MAX_CELL = 60
MOST_WORDS = 3  # of a name
NEARLY_FULL = 3  # cells
OF_BOTH = 2  # names for each of the data: a single one stands below it
_EDGES = " \t|│┃║*#=-+_:>"
_SPLITTERS = tuple(
    lazy_re(form)
    for form in (r"\s*[|│┃║]\s*", r"\s*&\s*", r"\s*\t\s*", r"\s*[,;]\s*", r"\s{2,}", r"\s+")
)
_PIPES, _GAP, _SPACE = _SPLITTERS[0], _SPLITTERS[-2], _SPLITTERS[-1]
_PIPE = lazy_re(r"[|│┃║]")
_FRAMED = lazy_re(r"[\s>]*[|│┃║]?(.*)[|│┃║]\s*")  # the first edge may be taken for a prefix
_TEX_END = lazy_re(r"\s*\\\\(?:\[[^\]]*\])?(?:\s*\\\w+)*\s*$")  # of a row of LaTeX, and a rule
_SET_BEHIND = lazy_re(r"(?:\s{2,}[A-Za-z]\w*=[\w.-]+)+\s*$")  # settings behind names of columns
_NORM = lazy_re(r"(?<!\S)\|(g|grad|w|theta)\|(?!\S)")  # no column of its own between two edges
_SWEEPS, _PASS = {"sweep", "sweeps"}, "iteration"
_TOKEN = lazy_re(r"\S+")
_WORDS = lazy_re(r"\S+(?: \S+)*")
_LETTER = lazy_re(r"[^\W\d_]")
_TOLD = lazy_re(rf"{LOSS}|reward", re.IGNORECASE)
_ROW = lazy_re(
    rf"\s*(?:[|│┃║>]\s*)*(?:\*\*)?(?:[-+]?\d|\.\d|(?:{SPLIT.pattern})\s*[|│┃║\t ])", re.IGNORECASE
)
_UNIT_APART = lazy_re(r"(?<=\d)\s+(?=(?:m?s|secs?|seconds|mins?|h|%|it/s|[KMG]i?B)(?:\s|$))")
_BEST = r"(?=\S)(?:[^\w\s%]+\s*)?(?:\(?(?:new )?(?:best|saved?|improved)\)?)?[^\w\s%]*"
_TOOK = lazy_re(r"[\d.]+ (?:m?secs?|seconds?|min(?:utes)?s?|hours?)", re.IGNORECASE)
_MARK = lazy_re(_BEST, re.IGNORECASE)  # behind a row: of the best epoch so far
_MARKED = lazy_re(rf"([-+\d]\S*)\s+{_BEST}", re.IGNORECASE)
_REMARK = lazy_re(r"\W*[^\W\d](?:\D*)")  # in a column without a name
_SAYS = lazy_re(r"[^\w\d]*[^\W\d_]{3,}\s")  # a remark begins with a word
# several numbers under one name: ``[0.1, 0.2]``, ``0.056–0.061``
_LISTED = lazy_re(r"\[[-+.\deE,\s]*\]|[.\d]+\s?[–—~]\s?[.\d]+")
_SETTING = {"True", "False", "None"}
_HELD_OUT_ROW = lazy_re(r"(?<=\d) +h\s*$")  # Vowpal Wabbit's mark of averages over held-out data
_HELD_OUT = "val/"
_TYPE = lazy_re(r"(?:Int|UInt|Float)\d+\??|String\d*\??|Any|Bool")
_NAMED_ROW = lazy_re(r"\s*[|│┃║]?\s*([A-Za-z][\w/ .@-]{0,40}?)\s*[|│┃║]")


class Head(NamedTuple):
    """A line of names."""

    splitter: re.Pattern[str]
    names: tuple[str, ...]
    line: str = ""  # as it stands, its names at their places
    data: tuple[str, ...] = ()  # what stands above each of its cells; of others nothing does
    paired: bool = False  # each name stands in two lines, a word in each

    @property
    def sure(self) -> bool:
        """Whether the line names what trainings print: a table of other data may have scores."""
        return any(counter(name) or _TOLD.search(name) for name in self.names) or self.of_data

    @property
    def of_data(self) -> bool:
        """Whether it names nothing but data: its rows name what is measured."""
        words = self.splitter is not _SPACE
        return words and all(SPLIT.fullmatch(name) for name in self.names)


def without_settings(line: str) -> str:
    """Return a comment that names columns without the settings that stand behind the names.

    >>> without_settings("#it  loss   clip=none  bptt=60")
    '#it  loss'
    """
    return _SET_BEHIND.sub("", line) if line[:1] == "#" else line


@lru_cache(maxsize=4096)
def head(line: str, above: str = "") -> Head | None:
    """Return the names in a line that has no number; None where it names no columns.

    `above` is the line above it. Lines without a number come again and again: each is looked at
    once.
    """
    if len(line) > MAX_HEAD:
        return None
    if pairs := _paired(line, above):
        return pairs
    text = _NORM.sub(r"\1_norm", _TEX_END.sub("", line)).strip(_EDGES)
    for splitter in _SPLITTERS:
        names = _swept(tuple(name.strip("`'\"*") for name in splitter.split(text)))
        if len(names) > 1:
            named = names[1:] if not names[0] else names  # pandas names no index
            good = all(map(_LETTER.search, named))
            good = good and max(map(len, _GAP.split("  ".join(named)))) <= MAX_CELL
            good = good and named[-1] not in _SETTING  # "Dynamic Loss Scaling: True"
            if splitter is _GAP and max(len(name.split()) for name in names) > MOST_WORDS:
                continue  # only some of the names are two blanks apart
            found = Head(splitter, names, line, _data_above(line, above, len(names)))
            return found if good and found.sure else _behind_prefix(line)
    return None


def _swept(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of columns of which the first, a sweep, is an iteration over all states.

    Beside a setting that it varies it is a search.
    """
    if names[0].lower() not in _SWEEPS or any(map(is_setting, names)):
        return names
    return (_PASS, *names[1:])


def _paired(line: str, above: str) -> Head | None:
    """Return the names whose words stand one above the other; None for others.

    So Vowpal Wabbit prints ``average since example example`` above ``loss last counter weight``.
    Each word begins or ends where the other does, and one comes again: it is no name by itself.
    """
    if len(above) > MAX_HEAD or not (above[:1].strip() and line[:1].strip()):
        return None
    upper, lower = ([(*m.span(), m[0]) for m in _TOKEN.finditer(some)] for some in (above, line))
    said = [word for _, _, word in upper]
    if not len(upper) == len(lower) > len(set(said)) or not all(map(str.isalpha, said)):
        return None
    both = list(zip(upper, lower, strict=True))
    if any(one[0] != other[0] and one[1] != other[1] for one, other in both):
        return None
    found = Head(_SPACE, tuple(f"{one[2]} {other[2]}" for one, other in both), line, paired=True)
    return found if found.sure and len(set(found.names)) == len(both) else None


def _behind_prefix(line: str) -> Head | None:
    """Return the names of data behind a stamp: ``12:05 - INFO - a.b -  Training | Validation``."""
    start = begin(line)
    found = head(line[start:]) if start else None
    return found if found and found.of_data else None


def _data_above(line: str, above: str, width: int) -> tuple[str, ...]:
    """Return the data that the line above names over each cell of a head; nothing: it names none.

    An edge of the table is no cell.
    """
    cells, over = (_PIPE.split(some) for some in (line, above))
    if len(cells) != len(over) or len(cells) < width:
        return ()
    said = [
        data.strip(_EDGES) for cell, data in zip(cells, over, strict=True) if cell.strip(_EDGES)
    ]
    data = tuple(split_of(some) if SPLIT.fullmatch(some) else "" for some in said)
    return data if len(data) == width and any(data) else ()


def with_second(names: Head | None, line: str, above: str = "") -> Head | None:
    """Return a head with the second line of its names; None for a line that is none.

    MATLAB writes ``| Mini-batch |`` above ``|    Loss    |``, Julia the type of each column.
    Without pipes it stands right below what is `above`, and each of its words below one name.
    """
    if names and names.splitter is _GAP and names.line == above:
        return _below_words(names, line)
    if names is None or names.splitter is not _PIPES or not _PIPE.search(line):
        return None
    cells = [cell.strip() for cell in _PIPE.split(line)]
    if len(cells) > len(names.names) and not cells[-1]:  # its borders
        cells.pop()
    if len(cells) > len(names.names) and not cells[0]:
        cells.pop(0)
    if len(cells) != len(names.names) or all(cells) or not any(cells):
        return None
    if all(map(_TYPE.fullmatch, " ".join(cells).split())):
        return names
    joined = zip(names.names, cells, strict=True)
    return names._replace(names=tuple(f"{above} {cell}".strip() for above, cell in joined))


def _below_words(names: Head, line: str) -> Head | None:
    """Return a head whose words stand in two lines: ``train  valid`` above ``loss  loss``.

    Each of the shorter line has one of the other above or below it.
    """
    upper, lower = (
        [(*m.span(), m[0]) for m in _WORDS.finditer(some)] for some in (names.line, line)
    )
    if grouped := _grouped(names, [word for _, _, word in lower]):
        return Head(_GAP, grouped, line)
    few, many = sorted((upper, lower), key=len)
    below = [[n for n, other in enumerate(many) if _overlap(one, other)] for one in few]
    if len(few) == len(many) or any(len(some) != 1 for some in below):
        return None
    said = {some[0]: word for some, (_, _, word) in zip(below, few, strict=True)}
    both = ((said.get(n, ""), word) for n, (_, _, word) in enumerate(many))
    ordered = both if few is upper else ((word, more) for more, word in both)
    found = Head(_GAP, tuple(" ".join(some).strip() for some in ordered), line)
    return found if len(said) == len(few) and found.sure else None


def _grouped(names: Head, words: Sequence[str]) -> tuple[str, ...]:
    """Return names that come again for each of the data above them: ``epoch loss acc loss acc``."""
    rest = [word for word in words if not counter(word)]
    each = len(rest) // len(names.names)
    if not names.of_data or each < OF_BOTH or rest != rest[:each] * len(names.names):
        return ()
    data = (name for name in names.names for _ in range(each))
    return tuple(word if counter(word) else f"{next(data)} {word}" for word in words)


def _overlap(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def row(line: str, names: Head | None) -> tuple[Phrase, tuple[Slot, ...]] | None:
    """Return what a row of numbers says under its names; None for what is no such row."""
    if names and names.of_data:
        return _measured_row(line, names)
    if names is None or not (_ROW.match(line) or names.splitter is _PIPES):
        return None
    held_out = _HELD_OUT_ROW.search(line) if names.paired else None
    if held_out:
        line = line[: held_out.start()]
    cells = _cells(line, names)
    if _indexed(cells, names):
        names = names._replace(names=("", *names.names))
    if len(cells) != len(names.names):
        return None
    if held_out:
        marked = (n if counter(n) else f"{_HELD_OUT}{n}" for n in names.names)
        names = names._replace(names=tuple(marked))
    return _under(*_one_by_one(names, cells))


def of_named_row(line: str, names: Head) -> tuple[str, Phrase, tuple[Slot, ...]] | None:
    """Return the word that a row begins with, and what it says under all names but the first."""
    text = _TEX_END.sub("", line).strip(" \t|│┃║>")
    word, *cells = trimmed(names.splitter.split(text), len(names.names))
    if len(cells) + 1 != len(names.names) or not _LETTER.search(word):
        return None
    found = _under(names._replace(names=names.names[1:]), cells)
    return (word, *found) if found else None


def _under(names: Head, cells: Sequence[str]) -> tuple[Phrase, tuple[Slot, ...]] | None:
    """Return what cells say, each under its name; None where they are no row of numbers."""
    columns: list[Column] = []
    slots: list[Slot] = []
    data = ""
    for name, cell in zip(names.names, cells, strict=True):
        found = parts(cell)
        if len(found.slots) == 1 and not _LETTER.search("".join(found.text)):
            kind = counter(name)
            columns.append(Column(name, kind))
            slots.append(_counting(found.slots[0]) if kind else found.slots[0])
        elif SPLIT.fullmatch(cell):
            data = split_of(cell)
        elif _LISTED.fullmatch(cell):
            columns += [Column(f"{name}[{n}]" if n else name) for n in range(len(found.slots))]
            slots += found.slots
        elif found.slots and CLOCK not in "".join(found.text) and not _TOOK.fullmatch(cell):
            return None
    if 2 * len(slots) < len(cells):
        return None
    named = (Column(c.name if c.kind else data + c.name, c.kind) for c in columns)
    return Phrase(tuple(named), ""), tuple(slots)


def _counting(slot: Slot) -> Slot:
    """Return what a counter counts as a whole number, if it is one: a tensor prints 3 as 3.0."""
    return slot._replace(whole=slot.whole or slot.value.is_integer())


def _one_by_one(names: Head, cells: list[str]) -> tuple[Head, list[str]]:
    """Return names and cells where each cell has as many numbers as its head has names in it.

    Each name begins with the data that stand above its cell.
    """
    several = [_GAP.split(name) for name in names.names]
    numbers = [_GAP.split(cell) for cell in cells]
    if [len(some) for some in several] != [len(some) for some in numbers]:
        return names, cells
    data = names.data or ("",) * len(several)
    named = tuple(of + name for of, some in zip(data, several, strict=True) for name in some)
    return names._replace(names=named), [cell for some in numbers for cell in some]


def _indexed(cells: list[str], names: Head) -> bool:
    """Whether a row begins with its number, over which no name stands: a frame of pandas."""
    blank = bool(cells) and names.line[: len(cells[0])].isspace()
    return blank and cells[0].isdecimal() and len(cells) == len(names.names) + 1


def _measured_row(line: str, names: Head) -> tuple[Phrase, tuple[Slot, ...]] | None:
    """Return what a row says whose first cell names the measure, its head the data of each number.

    ``Training | Validation`` above ``loss | 0.5 | 0.6``.
    """
    line = line[begin(line) :]
    named = _NAMED_ROW.match(line)
    found = parts(line[named.end() :]) if named else None
    if not (named and found) or len(found.slots) != len(names.names):
        return None
    if _LETTER.search("".join(found.text)):
        return None
    columns = (Column(split_of(data) + named[1]) for data in names.names)
    return Phrase(tuple(columns), ""), found.slots


def _cells(line: str, names: Head) -> list[str]:
    if names.splitter is _PIPES and (framed := _FRAMED.fullmatch(line)):
        cells = [some.strip() for some in _PIPE.split(framed[1])]
        if len(cells) == len(names.names):  # an empty one at an end is one
            return _without_remark(cells)
    text = _TEX_END.sub("", line).strip(" \t|│┃║>")
    if names.splitter in {_GAP, _SPACE} and (piped := _piped(text, len(names.names))):
        return piped
    cells = trimmed(names.splitter.split(text), len(names.names))
    if len(cells) == len(names.names) + 1 and names.splitter not in {_GAP, _SPACE}:
        cells = cells[:-1] if _REMARK.fullmatch(cells[-1]) else cells
    whole = len(cells) == len(names.names) or _indexed(cells, names)
    if not whole and names.splitter is not _PIPES:
        cells = trimmed(_SPACE.split(_UNIT_APART.sub("", text)), len(names.names))
        whole = len(cells) == len(names.names) or _indexed(cells, names)
        return cells if whole else below(line, names)
    return cells


def _without_remark(cells: list[str]) -> list[str]:
    """Return cells of which the last is empty where it is words: ``Early Stop 1/2``."""
    return [*cells[:-1], ""] if _SAYS.match(cells[-1]) else cells


def _piped(text: str, width: int) -> list[str]:
    """Return the cells of a row with pipes below names without; a time behind them has no name."""
    cells = _PIPES.split(text) if _PIPE.search(text) else []
    timed = (
        len(cells) == width + 1 and not parts(cells[-1]).slots and CLOCK in parts(cells[-1]).text[0]
    )
    return cells[:width] if timed or len(cells) == width else []


def trimmed(cells: list[str], width: int) -> list[str]:
    """Return the cells of a row without the mark behind it.

    >>> trimmed(["3", "0.52", "<--", "best"], 2), trimmed(["3", "0.52 *"], 2)
    (['3', '0.52'], ['3', '0.52'])
    """
    if len(cells) > width and _MARK.fullmatch(" ".join(cells[width:])):
        return cells[:width]
    marked = _MARKED.fullmatch(cells[-1]) if len(cells) == width else None
    return [*cells[:-1], marked[1]] if marked else cells


def below(line: str, names: Head) -> list[str]:
    """Return the cells of a row with blanks: each begins or ends where its name does.

    Of several words in a cell the last one does: ``2020-06-01 10:11:02   0.931 sec`` has units, and
    a date. In a row of NEARLY_FULL cells and more that lacks one it stands below one name alone.
    Nothing is returned where one does neither.
    """
    spans, at = list[tuple[int, int]](), 0
    for name in names.names:
        at = names.line.find(name, at)
        if at < 0:
            return []
        spans.append((at, at + len(name)))
        at += len(name)
    cells = [""] * len(names.names)
    full = NEARLY_FULL < len(cells) == 1 + len(line.split())
    waiting = -1
    for token in _TOKEN.finditer(line):
        begin, end = token.span()
        exact = [n for n, (first, last) in enumerate(spans) if first == begin or last == end]
        below_it = (n for n, (first, last) in enumerate(spans) if begin < last and first < end)
        under = list(below_it) if full else []
        right = [n for n, (_, last) in enumerate(spans) if last >= end]
        place = next(iter(exact or (under if len(under) == 1 else right)), -1)
        if place < 0 or waiting not in {-1, place} or (cells[place] and not exact and under):
            return []
        waiting = place if not (exact or under) else -1
        cells[place] = token[0]
    return cells if waiting < 0 else []
