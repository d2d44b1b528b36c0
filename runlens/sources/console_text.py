"""Console output as it lies in a file, taken apart into the lines that a person would have seen.

A progress bar is rewritten with a carriage return, so one line of the file can hold hundreds of
bars and a metric row among them; terminals' colours, NULs and broken UTF-8 occur everywhere.
"""

import json
import math
import re
from bisect import bisect_right
from datetime import UTC, datetime
from typing import NamedTuple

from runlens.history import NOT_KNOWN

MAX_LONG_LINE = 20_000_000  # a line longer than this is no line
TAIL = 200  # lines
SHOWN = 500  # characters of a line of the tail

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_NOTEBOOK = re.compile(r'\s*\[\{"stream_name":')
_STAMP = re.compile(
    r"(?:(\d{4})-(\d\d)-(\d\d)|(\d\d)/(\d\d)/(\d{4}))[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?"
)
_STAMP_WITHIN = 60  # characters from the start of a line
_ENDLESS = re.compile(r"\b(\d{1,15})it \[([^\]]*)\]")
_BAR = re.compile(r"\| *(\d+)/(\d+) \[([^\]]*)\]?")


class Text(NamedTuple):
    """The lines of a log, and where in the file they stand."""

    lines: list[str]
    firsts: list[int]  # index of the first of `lines` in each line of the file; empty: not known

    def number(self, index: int) -> int | None:
        """Return the number, from 1, of the file's line that holds `lines[index]`."""
        return bisect_right(self.firsts, index) if self.firsts else None


class Bar(NamedTuple):
    """One state of a progress bar."""

    at: int  # index into the lines
    label: str  # what stands before the percentage
    done: int
    total: int  # 0: the bar does not know it
    postfix: str  # what stands in the brackets: times, rate, values
    rest: str  # what stands behind the bar


def split(data: bytes) -> Text:
    """Take the bytes of a log apart into lines: at line feeds and at carriage returns."""
    text = data.decode("utf-8", errors="replace")
    if "\0" in text:
        text = text.replace("\0", "")
    if notebook := _NOTEBOOK.match(text) is not None:
        text = _from_notebook(text)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\n" not in text:
        text = text.replace("\r", "\n")
    lines: list[str] = []
    firsts: list[int] = []
    for physical in text.split("\n"):
        firsts.append(len(lines))
        if len(physical) > MAX_LONG_LINE:
            continue
        if "\r" in physical:
            lines.extend(physical.split("\r"))
        else:
            lines.append(physical)
    return Text(lines, [] if notebook else firsts)


def _from_notebook(text: str) -> str:
    """Join what a Kaggle log, a JSON list with one object for each write, says was printed."""
    pieces = []
    for line in text.split("\n"):
        try:
            entry = json.loads(line.strip().strip(",[]") or "{}")
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and isinstance(entry.get("data"), str):
            pieces.append(entry["data"])
    return "".join(pieces)


def bar(at: int, line: str) -> Bar | None:
    """Return the progress bar in `line`: ``35%|###   | 34/96 [10:42<30:50, 29.85s/it]``."""
    percent = line.find("%|")
    if percent < 0:
        return _endless(at, line)
    found = _BAR.search(line, percent + 2)
    if not found or found.end(2) - found.start(1) > 30:  # noqa: PLR2004 - no bar counts so far
        return None
    label = line[:percent].rstrip("0123456789.").rstrip(" :")
    return Bar(at, label, int(found[1]), int(found[2]), found[3], line[found.end() :])


def _endless(at: int, line: str) -> Bar | None:
    """Return a bar of unknown total: ``Epoch 11: : 0it [47:45, ?it/s, loss=1.5]``."""
    found = _ENDLESS.search(line)
    if not found:
        return None
    label = line[: found.start()].rstrip(" :")
    return Bar(at, label, int(found[1]), 0, found[2], line[found.end() :])


def stamp(line: str) -> float:
    """Return the time at the start of a log line as seconds since 1970 (UTC assumed), or NaN."""
    found = _STAMP.search(line, 0, _STAMP_WITHIN + 26)
    if not found or found.start() > _STAMP_WITHIN:
        return NOT_KNOWN
    year, month, day, us_month, us_day, us_year, hour, minute, second, part = found.groups()
    try:
        moment = datetime(
            int(year or us_year),
            int(month or us_month),
            int(day or us_day),
            int(hour),
            int(minute),
            int(second),
            tzinfo=UTC,
        )
    except ValueError:
        return NOT_KNOWN
    return moment.timestamp() + (float(f"0.{part}") if part else 0.0)


def first_stamp(lines: list[str]) -> float | None:
    """Return the first time among the first lines, or None."""
    times = (stamp(line) for line in lines[:2000])
    return next((time for time in times if not math.isnan(time)), None)


def tail(lines: list[str]) -> tuple[str, ...]:
    """Return the last lines that are not blank, the states of one bar as a single line."""
    kept: list[str] = []
    for line in reversed(lines):
        if not line or line.isspace():
            continue
        state = bar(0, line) if kept and "%|" in kept[-1] else None
        if state and not state.rest.strip():
            continue
        kept.append(line.rstrip()[:SHOWN])
        if len(kept) == TAIL:
            break
    return tuple(reversed(kept))
