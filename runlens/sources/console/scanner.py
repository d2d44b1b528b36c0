r"""The fast way through a log: tells bars, rows and all other lines apart by their bytes.

A log of the Trainer is nine parts bars and one part rows, and both are printed by a machine: in
every line of a kind the same marks stand in the same order. So all marks (line ends and
``[ ] { } | \``) are found at once with numpy. A line whose marks are ``| | [ ]`` is a
bar if the bytes between them are those of a bar, and its numbers are summed up digit by digit,
for all bars of a block in one go. A line that is all of ``{ }`` may be a row, which
`bulk` decides. Lines that are neither are read one by one in `sorting`, with the
expressions of `text` and `dicts`; what the fast way takes these would read the
same.

A log is scanned in blocks, so that what is made on the way stays small.
"""

from collections.abc import Iterator

import numpy as np

from runlens.history import BoolArray, ByteArray, IntArray
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.bars import EXAMPLES, Bars, said_of
from runlens.sources.console.text import NEWLINE, RETURN, Labels, Text

Codes = ByteArray

BLOCK = 2**20  # bytes: what is made of a block should fit into the cache of a processor
MAX_LONG_LINE = 20_000_000  # bytes; a line longer than this is no line
DIGITS = 14  # a bar that counts further is no bar
_PIPE, _OPEN, _CLOSE, _LEFT, _RIGHT, _PERCENT, _SLASH, _SPACE, _ZERO = b"|[]{}%/ 0"
_TO_BRACES = 0x20  # the bit that makes [ \ ] of { | }, three codes in a row
_BAR = (_PIPE, _PIPE, _OPEN, _CLOSE)
_LINE_END = lazy_re(rb"[\r\n]")
_EXAMPLES = lazy_re(EXAMPLES.encode())


class Scanned(NamedTuple):
    """What was told apart by bytes; each line is in at most one of `bars` (and `rows`), `single`.

    A line that is in none is blank.
    """

    text: Text
    bars: Bars
    rows: IntArray  # shape (n, 3): line, start and end of what may be a row, behind a bar too
    single: IntArray  # lines to be read one by one
    bare: BoolArray  # of each line: it is a bar and nothing else


class _Lines(NamedTuple):
    """The lines of a block, arrays of shape (n,), and their marks, arrays of shape (m,)."""

    start: IntArray
    end: IntArray
    first: IntArray  # index of the first mark of a line
    marks: IntArray  # number of the marks in a line
    place: IntArray  # of each mark in the text
    kind: Codes  # of each mark

    def mark(self, lines: IntArray, number: int) -> IntArray:
        """Return the places of the mark of a number, from 0, in `lines`."""
        return self.place[self.first[lines] + number]


class _Block(NamedTuple):
    """What was found in one block; lines count from its first."""

    start: IntArray
    end: IntArray
    bars: IntArray  # shape (n, 5): line, done, total, where the brackets open and close
    said: BoolArray  # shape (n, 2): of training, of one epoch
    rows: IntArray
    single: IntArray
    bare: BoolArray


def scan(data: bytes, *, numbered: bool = True) -> Scanned:
    """Tell the lines of a log apart, given without NULs and colors."""
    codes = np.frombuffer(data, dtype=np.uint8)
    labels = Labels(data)
    blocks = [_block(data, codes, labels, begin, stop) for begin, stop in _blocks(data)]
    begins = np.cumsum([0, *(len(block.start) for block in blocks)]).tolist()
    text = Text(
        data,
        np.concatenate([block.start for block in blocks]),
        np.concatenate([block.end for block in blocks]),
        numbered=numbered,
    )
    for block, begin in zip(blocks, begins, strict=False):
        block.bars[:, 0] += begin
        block.rows[:, 0] += begin
        block.single[:] += begin
    columns = np.concatenate([block.bars for block in blocks]).T
    return Scanned(
        text,
        Bars(text, *columns, *np.concatenate([block.said for block in blocks]).T),
        np.concatenate([block.rows for block in blocks]),
        np.concatenate([block.single for block in blocks]),
        np.concatenate([block.bare for block in blocks]),
    )


def _blocks(data: bytes) -> Iterator[tuple[int, int]]:
    """Cut a text behind ends of lines; the last block ends one byte behind it, at its own end."""
    begin = 0
    while len(data) - begin > BLOCK:
        limit = begin + BLOCK
        stop = 1 + max(data.rfind(b"\n", begin, limit), data.rfind(b"\r", begin, limit))
        if not stop:  # a long line is a block of its own
            later = _LINE_END.search(data, limit)
            if not later:
                break
            stop = later.end()
        yield begin, stop
        begin = stop
    yield begin, len(data) + 1


def _lines(codes: Codes, begin: int, stop: int) -> _Lines:
    """Find the lines and the marks of a block."""
    part = codes[begin:stop]
    if len(part) > MAX_LONG_LINE:  # a line of its own block: only its end is kept
        begin = stop - 1
        part = codes[begin:stop]
    marked = (part | np.uint8(_TO_BRACES)) - np.uint8(_LEFT) <= _RIGHT - _LEFT
    marked |= part == NEWLINE
    marked |= part == RETURN
    place = np.flatnonzero(marked)
    kind = part[place]
    place += begin
    if stop > len(codes):
        place, kind = np.append(place, len(codes)), np.append(kind, np.uint8(NEWLINE))
    ends = np.flatnonzero((kind == NEWLINE) | (kind == RETURN))
    first = np.append(0, ends[:-1] + 1)
    end = place[ends]
    return _Lines(np.append(begin, end[:-1] + 1), end, first, ends - first, place, kind)


def _block(data: bytes, codes: Codes, labels: Labels, begin: int, stop: int) -> _Block:
    """Sort the lines of one block."""
    lines = _lines(codes, begin, stop)
    at, bars, plain = _bars(codes, lines)
    rest = lines.mark(at, 3) + 1
    behind = plain & _all_braces(lines, at, rest, len(_BAR))
    bare = _blank(data, codes, rest, lines.end[at])
    kept = bare | behind
    whole = np.flatnonzero(lines.marks == 2)  # noqa: PLR2004 - the two braces
    whole = whole[_all_braces(lines, whole, lines.start[whole], 0)]
    row = np.concatenate([whole, at[behind]])
    order = np.argsort(row)
    row = row[order]
    row_start = np.concatenate([lines.start[whole], rest[behind]])[order]
    only = np.zeros(len(lines.start), dtype=np.bool_)
    only[at[bare]] = True
    left = lines.end > lines.start
    left[row] = left[at[kept]] = False
    unmarked = np.flatnonzero(lines.marks == 0)
    left[unmarked] = ~_blank(data, codes, lines.start[unmarked], lines.end[unmarked])
    return _Block(
        lines.start,
        lines.end,
        bars[kept],
        _said(data, lines, labels, bars[kept], plain[kept]),
        np.stack([row, row_start, lines.end[row]], axis=1),
        np.flatnonzero(left),
        only,
    )


def _all_braces(lines: _Lines, at: IntArray, start: IntArray, before: int) -> BoolArray:
    """Whether lines are, from `start`, one pair of braces; `before` it they have so many marks."""
    fits: BoolArray = lines.marks[at] == before + 2
    some, begin = at[fits], start[fits]
    left, right = lines.first[some] + before, lines.first[some] + before + 1
    braces = (lines.kind[left] == _LEFT) & (lines.kind[right] == _RIGHT)
    fits[fits] = braces & (lines.place[left] == begin) & (lines.place[right] == lines.end[some] - 1)
    return fits


def _blank(data: bytes, codes: Codes, start: IntArray, end: IntArray) -> BoolArray:
    """Whether nothing but white space lies between places of the text; some may be missed."""
    blank = start >= end
    some = np.flatnonzero(~blank)
    some = some[codes[start[some]] == _SPACE]
    pairs = zip(start[some].tolist(), end[some].tolist(), strict=True)
    blank[some] = [data[first:last].isspace() for first, last in pairs]
    return blank


def _bars(codes: Codes, lines: _Lines) -> tuple[IntArray, IntArray, BoolArray]:
    """Find the lines that begin with a bar: ``label: 35%|###   | 34/96 [10:42<30:50, 2s/it]``.

    Return their numbers, shape (n,), the columns of `_Block.bars`, and whether there is nothing
    before the percentage.
    """
    at = np.flatnonzero(lines.marks >= len(_BAR))
    for number, mark in enumerate(_BAR):
        at = at[lines.kind[lines.first[at] + number] == mark]
    percent, right, opened = lines.mark(at, 0) - 1, lines.mark(at, 1), lines.mark(at, 2)
    total, slash = _number_before(codes, opened - 1)
    done, space = _number_before(codes, slash)
    fits = (
        (percent >= lines.start[at])
        & (codes[percent] == _PERCENT)
        & (codes[opened - 1] == _SPACE)
        & (codes[slash] == _SLASH)
        & (slash < opened - 2)
        & (space < slash - 1)
        & ((space == right) | ((space == right + 1) & (codes[space] == _SPACE)))
    )
    columns = np.stack([at, done, total, opened + 1, lines.mark(at, 3)], axis=1)
    plain = _plain(codes, lines.start[at], percent)
    return at[fits], columns[fits], plain[fits]


def _number_before(codes: Codes, end: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers whose digits end before `end`, and the places before their digits."""
    value = np.zeros(len(end), dtype=np.int64)
    place = end - 1
    going = np.ones(len(end), dtype=np.bool_)
    for power in range(DIGITS):
        digit = codes[place] - np.uint8(_ZERO)  # what is no digit becomes more than nine
        going &= digit <= 9  # noqa: PLR2004 - the last digit
        if not going.any():
            break
        # in 64 bits before it is multiplied: numpy 1 stays in the bits of the array
        value += (digit * going).astype(np.int64) * 10**power
        place -= going
    return value, place


def _plain(codes: Codes, start: IntArray, percent: IntArray) -> BoolArray:
    """Whether only spaces and then digits, at most three in all, stand before the percentage."""
    width = percent - start
    fits = (width > 0) & (width <= 3)  # noqa: PLR2004 - 100 %
    digits = np.ones(len(start), dtype=np.bool_)
    for back in range(1, 4):
        code = codes[percent - back]
        inside = width >= back
        digit = (code - np.uint8(_ZERO)) <= 9  # noqa: PLR2004 - the last digit
        fits &= ~inside | (digit & digits) | ((code == _SPACE) & (back > 1))
        digits &= digit
    return fits


def _said(
    data: bytes, lines: _Lines, labels: Labels, bars: IntArray, plain: BoolArray
) -> BoolArray:
    """Whether bars may be of a training, and of one epoch, as `bars` has it; (n, 2)."""
    at, _, total, opened, closed = bars.T
    said = np.zeros((len(at), 2), dtype=np.bool_)
    said[:, 0] = True
    labelled = np.flatnonzero(~plain)
    starts = lines.start[at[labelled]].tolist()
    percents = (lines.mark(at[labelled], 0) - 1).tolist()
    for number, start, percent in zip(labelled.tolist(), starts, percents, strict=True):
        label = data[start:percent].rstrip(b"0123456789.").rstrip(b" :")
        said[number] = said_of(label.decode("utf-8", errors="replace"), labels)
    said[:, 0] &= total > 0
    begin, stop = int(lines.start[0]), int(lines.end[-1])
    if data.find(b"x", begin, stop) >= 0:  # the rarest of its letters: found much faster
        rates = [match.start() for match in _EXAMPLES.finditer(data, begin, stop)]
        said[:, 0] &= np.searchsorted(rates, opened) == np.searchsorted(rates, closed)
    return said
