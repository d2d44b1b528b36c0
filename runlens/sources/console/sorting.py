"""Rows, bars and all other lines of a log, each with the careful expressions that it needs."""

import numpy as np

from runlens.history import BoolArray, IntArray
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.bars import Bars
from runlens.sources.console.bulk import decoded
from runlens.sources.console.dicts import DictRow, Rows, cut, row
from runlens.sources.console.sample_panels import FRAME, without_samples
from runlens.sources.console.scanner import Scanned
from runlens.sources.console.text import Bar, Text, bar

MAX_DICT = 200  # lines of a dict
EXCERPT = 60  # lines of an excerpt, at most; in one, a line may be a row by itself
_NUMBER = lazy_re(r"\s*\d+\s")
_OPENED = lazy_re(rb"\{\s*(?:[\r\n]|\Z)")  # a line that may begin a dict over several lines
_ENTRY = lazy_re(r"""$|['"][^'"]{1,120}['"]\s*:""")


class Sorted(NamedTuple):
    """The lines of a log; what stands behind a bar counts as a line."""

    text: Text
    rows: Rows
    bars: Bars
    others: list[tuple[int, str]]  # all that is not blank, with the index of the line
    told: BoolArray  # of each line: it was read for itself, so it may have a time stamp
    bare: BoolArray  # of each line: it is known to be a bar and nothing else


def sort(log: Scanned) -> Sorted:
    """Read rows and bars: those that a scan told apart at once, the others one by one."""
    rows, left = decoded(log.text.data, log.rows)
    own_bars, lines = _behind_bars(log.text, log.single)
    lines += [(at, log.text.part(start, end)) for at, start, end in left.tolist()]
    lines.sort()
    lines = without_samples(lines) if FRAME.encode() in log.text.data else lines
    whole = _joined(lines) if _OPENED.search(log.text.data) else lines
    own_rows, others = _parted(whole, numbered=not (own_bars or len(log.bars)))
    rows = Rows.joined([rows, Rows.of(own_rows)])
    if len(rows) and others and len(log.text) <= EXCERPT and others[-1][0] > rows.records.at[-1]:
        torn = cut(*others[-1], rows)
        rows = Rows.joined([rows, Rows.of(torn)])
        others = others[: len(others) - len(torn)]
    told = np.zeros(len(log.text), dtype=np.bool_)
    told[log.single] = told[left[:, 0]] = True
    return Sorted(
        log.text,
        rows,
        Bars.joined([log.bars, Bars.of(log.text, own_bars)]),
        others,
        told,
        log.bare,
    )


def _behind_bars(text: Text, single: IntArray) -> tuple[list[Bar], list[tuple[int, str]]]:
    """Return the bars in single lines, and the lines, or what stands in them behind a bar."""
    bars: list[Bar] = []
    lines: list[tuple[int, str]] = []
    starts, ends = text.start[single].tolist(), text.end[single].tolist()
    for at, start, end in zip(single.tolist(), starts, ends, strict=True):
        line = text.part(start, end)
        if ("%|" in line or "it [" in line or "% ━" in line) and (state := bar(at, line)):
            bars.append(state)
            line = state.rest
        lines.append((at, line))
    return bars, lines


def _joined(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Write rows that are printed as a dict over several lines into the first of them."""
    whole: list[tuple[int, str]] = []
    begun = -1  # place of an open brace in `whole`
    for at, line in lines:
        whole.append((at, line))
        text = line.strip()
        if text.endswith("{"):
            begun = len(whole) - 1
        elif begun >= 0 and text.startswith("}"):
            _join(whole, begun)
            begun = -1
        elif begun >= 0 and (len(whole) - begun > MAX_DICT or not _ENTRY.match(text)):
            begun = -1
    if begun >= 0:  # the log ends in it
        _join(whole, begun)
        if len(whole) > begun + 1:
            whole[begun:] = [(whole[begun][0], " ".join(text.strip() for _, text in whole[begun:]))]
    return whole


def _join(lines: list[tuple[int, str]], begun: int) -> None:
    """Make one line of those from `begun` on, if that is a row."""
    first, *others = (part.strip() for _, part in lines[begun:])
    whole = first + " ".join(others).removesuffix("}") + "}"
    if row(lines[begun][0], whole):
        lines[begun:] = [(lines[begun][0], whole)]


def _parted(
    lines: list[tuple[int, str]], *, numbered: bool
) -> tuple[list[DictRow], list[tuple[int, str]]]:
    """Part lines into rows and others that are not blank.

    A number in front of other lines too is that of the line, and beside bars it is of no use.
    """
    numbered = numbered and not any("{" not in line and _NUMBER.match(line) for _, line in lines)
    rows: list[DictRow] = []
    others: list[tuple[int, str]] = []
    for at, line in lines:
        if "{" in line and (found := row(at, line, numbered=numbered)):
            rows.append(found)
        elif line and not line.isspace():
            others.append((at, line))
    return rows, others
