"""Rows, bars and all other lines of a log, each with the careful expressions that it needs."""

from typing import NamedTuple

import numpy as np

from runlens.history import BoolArray, IntArray
from runlens.sources.console.bars import Bars
from runlens.sources.console.bulk import decoded
from runlens.sources.console.dicts import DictRow, Rows, row
from runlens.sources.console.scanner import Scanned
from runlens.sources.console.text import Bar, Text, bar


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
    own_rows, others = _parted(sorted(lines))
    told = np.zeros(len(log.text), dtype=np.bool_)
    told[log.single] = told[left[:, 0]] = True
    return Sorted(
        log.text,
        Rows.joined([rows, Rows.of(own_rows)]),
        Bars.joined([log.bars, Bars.of(log.text, own_bars)]),
        others,
        told,
        log.bare,
    )


def _behind_bars(text: Text, single: IntArray) -> tuple[list[Bar], list[tuple[int, str]]]:
    """Return the bars in single lines, and the lines, or what stands in them behind a bar."""
    bars: list[Bar] = []
    lines: list[tuple[int, str]] = []
    for at in single.tolist():
        line = text.line(at)
        if ("%|" in line or "it [" in line) and (state := bar(at, line)):
            bars.append(state)
            line = state.rest
        lines.append((at, line))
    return bars, lines


def _parted(lines: list[tuple[int, str]]) -> tuple[list[DictRow], list[tuple[int, str]]]:
    """Part lines into rows and others that are not blank."""
    rows: list[DictRow] = []
    others: list[tuple[int, str]] = []
    for at, line in lines:
        if "{" in line and (found := row(at, line)):
            rows.append(found)
        elif line and not line.isspace():
            others.append((at, line))
    return rows, others
