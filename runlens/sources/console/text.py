"""Console output as it lies in a file, taken apart into the lines that a person would have seen.

A progress bar is rewritten with a carriage return, so one line of the file can hold hundreds of
bars and a metric row among them; terminals' colors, NULs and broken UTF-8 occur everywhere.
A line is made a string only when somebody asks for it: most lines of a long log are bars that
nobody reads, and `scanner` finds out about those from their bytes.
"""

import json
import math
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np

from runlens.history import NOT_KNOWN, BoolArray, IntArray
from runlens.naming.languages import words_of_logs
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console import histories, html_tables, xml_rows
from runlens.sources.console.one_line import with_ends
from runlens.sources.console.rows_in_first import with_first_apart
from runlens.sources.decimals import log_with_points

TAIL = 200  # lines
SHOWN = 500  # characters of a line of the tail
NEWLINE = 10  # the codes of line ends
RETURN = 13
HEAD = 2_000  # lines in which the start of the run is looked for

_ANSI = lazy_re(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# keys that were pressed, as a terminal echoes them: "^[[B"
_ECHOED = lazy_re(rb"\^\[\[(?:[0-9;]{1,20}[A-Za-z~]|[A-DFHJK](?!-))")
_RETURNS = lazy_re(rb"\r{2,}")
_KAGGLE = lazy_re(rb'\s*\[\{"stream_name":')
_NOTEBOOK = lazy_re(rb'\s*\{\s*"(?:cells|metadata|nbformat)"')
_STAMP = lazy_re(
    r"(?:(\d{4})-(\d\d)-(\d\d)|(\d\d)/(\d\d)/(\d{4}))[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?"
)
_HOUR = lazy_re(r"\d:\d\d:\d")  # of a stamp: what few lines have is sought first
_STAMP_WITHIN = 60  # characters from the start of a line
_ENDLESS = lazy_re(r"\b(\d{1,15})it \[([^\]]{0,2000})\]")
ENCODINGS = ("gb18030", "shift_jis", "euc_kr", "big5", "cp1251")  # of Windows, beside UTF-8
_OF_POWERSHELL = b"NativeCommandError"  # it wraps what programs say on stderr as its window does
_CUT_DICT = lazy_re(rb"(\{'\w+': [^{}\r\n]{1,400})\r?\n([^{}\r\n]{1,400}\})")
WESTERN = "cp1252"  # where words of logs are told by nothing: "pérdida", "précision"
TAKEN_FOR = ("gb18030", "cp1252", "cp1251", "big5")  # in which UTF-8 was read and written again
FEW_BY_CHANCE = 4  # words of logs that other text may hold
SAMPLED = 200_000  # bytes at the start of a log in which its prefix is looked for
MOST_COMPARED, FEWEST_COMPARED = 400, 3  # lines
LONGEST_PREFIX = 120  # characters
_DIGITS = lazy_re(r"\d+")
_BEGINS = lazy_re(r"[^{'\"%]*[ \t|>\]:)](?!\d)")  # it ends where a word does
_FRACTION = lazy_re(r"(\[[^\]]*\])?\s*(\d{1,7})\s*/\s*(\d{1,7})")
_BAR = lazy_re(r"\| *(\d{1,15})/(\d{1,15}) \[([^\]]*)\]?")
_RICH = lazy_re(r"\d{1,3}% [━╸╺]+ +(\d[\d,]{0,18})/(\d[\d,]{0,18}) +\[([^\]]*)\]")
_APART = lazy_re(r" *(<) *| +(?=,)|(?<=[\d?]) +(?=\w+/s)")


class Labels:
    """What stands before the bars of a log, without what all its lines begin with.

    Stamps, hosts, ranks, marks of a quotation: found by what most lines that are no bars share once
    their digits are alike.
    """

    def __init__(self, data: bytes) -> None:
        """Take the bytes of a log, of which some are looked at, and only when a label asks."""
        self._data = data

    def bare(self, label: str) -> str:
        """Return a label without the prefix of its line."""
        found = self._prefix.match(label) if self._prefix else None
        return label[found.end() :] if found else label

    @cached_property
    def _prefix(self) -> re.Pattern[str] | None:
        sample = self._data[:SAMPLED].decode("utf-8", errors="replace")
        lines = [line for line in sample.splitlines() if line.strip() and "%|" not in line]
        shapes = sorted(_DIGITS.sub("0", line[:LONGEST_PREFIX]) for line in lines[:MOST_COMPARED])
        if len(shapes) < FEWEST_COMPARED:
            return None
        aside = len(shapes) // 10  # so many at each end may be of another program
        first, last = shapes[aside], shapes[-1 - aside]
        alike = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
        begins = _BEGINS.match(first[:alike])
        parts = begins[0].rstrip(" :").split("0") if begins else [""]
        return re.compile(r"\d+".join(map(re.escape, parts)) + r"[\s:]*") if any(parts) else None


class Text:
    """The bytes of a log, and where the lines stand in them."""

    def __init__(self, data: bytes, start: IntArray, end: IntArray, *, numbered: bool) -> None:
        """Take the bytes, first and behind the last of each line, shape (number of lines,).

        Where the bytes are not those of a file (not `numbered`), lines have no numbers.
        """
        self.data = data
        self.start = start
        self.end = end
        self._numbered = numbered

    def __len__(self) -> int:
        return len(self.start)

    def line(self, index: int) -> str:
        """Return a line."""
        return self.part(int(self.start[index]), int(self.end[index]))

    def part(self, start: int, end: int) -> str:
        """Return what stands between two places."""
        if self._ascii is not None:
            return self._ascii[start:end]
        return self.data[start:end].decode("utf-8", errors="replace")

    @cached_property
    def _ascii(self) -> str | None:
        """The whole text, where a byte is a letter: a part of it costs a fourth then."""
        return self.data.decode("ascii") if self.data.isascii() else None

    def number(self, index: int) -> int | None:
        """Return the number, from 1, of the file's line that holds a line; None: not known."""
        if not self._numbered:
            return None
        return int(np.searchsorted(self._breaks, index)) + 1

    @cached_property
    def _breaks(self) -> IntArray:
        """The lines that end a line of the file: at a line feed, unless the file has none."""
        codes = np.frombuffer(self.data, dtype=np.uint8)
        ends = codes[self.end[:-1]]
        feeds = np.flatnonzero(ends == NEWLINE)
        return feeds if len(feeds) else np.arange(len(ends))


class Bar(NamedTuple):
    """One state of a progress bar."""

    at: int  # index into the lines
    label: str  # what stands before the percentage
    done: int
    total: int  # 0: the bar does not know it
    postfix: str  # what stands in the brackets: times, rate, values
    rest: str  # what stands behind the bar


def utf8(data: bytes) -> bytes:
    """Return the bytes of a text in UTF-8, where PowerShell on Windows wrote it in UTF-16."""
    if not data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return data
    return data.decode("utf-16", errors="replace").encode("utf-8", errors="replace")


def cleaned(data: bytes) -> tuple[bytes, bool]:
    """Return what a log shows without NULs and colors, and whether its lines are the file's."""
    data = utf8(data)
    if b"\0" in data:
        data = data.replace(b"\0", b"")
    data = _in_utf8(data)
    if notebook := _KAGGLE.match(data) is not None:
        data = _from_kaggle(data.decode("utf-8", errors="replace"))
    elif (printed := from_notebook(data)) is not None:
        data, notebook = printed, True
    elif (
        rows := histories.lines_of(data) or html_tables.in_lines(data) or xml_rows.in_lines(data)
    ) is not None:
        data, notebook = rows, True
    if wrapped := _OF_POWERSHELL in data:
        data = _CUT_DICT.sub(rb"\1\2", data)
    if b"%\\|" in data:  # bars in a table of Markdown
        data = data.replace(b"\\|", b"|")
    if b"\x1b" in data:
        data = _ANSI.sub(b"", data)
    if b"^[[" in data:
        data = _ECHOED.sub(b"", data)
    data = log_with_points(data)
    counted = (rows := with_first_apart(with_ends(data))) is data
    data = rows
    if 4 * b"\r" in data:  # lines of nothing, each of which takes 38 bytes of memory
        counted = counted and b"\n" in data  # else each return ends a line of the file
        data = _RETURNS.sub(b"\r", data)
    return data, counted and not (notebook or wrapped)


def _in_utf8(data: bytes) -> bytes:
    """Return the bytes of a log in UTF-8: of other encodings the one that has words of logs."""
    sample = data[:SAMPLED].rpartition(b"\n")[0]
    if sample.isascii():
        return data
    try:
        text = sample.decode()
    except UnicodeDecodeError:
        found = {name: _words(sample, name) for name in ENCODINGS}
        best = max(ENCODINGS, key=found.__getitem__)
        best = best if found[best] else (WESTERN if _is_western(sample) else "utf-8")
        return data.decode(best, errors="replace").encode()
    said = words_of_logs(text)
    for name in TAKEN_FOR:
        if words_of_logs(_untwisted(text, name)) > FEW_BY_CHANCE + said:
            return _untwisted(data.decode(errors="replace"), name).encode()
    return data


def _is_western(sample: bytes) -> bool:
    """Whether letters beside ASCII are bytes alone, as Windows writes them: no damaged UTF-8."""
    text = sample.decode(errors="replace")
    lost = text.count("\ufffd")
    return lost > sum(not one.isascii() for one in text) - lost


def _untwisted(text: str, encoding: str) -> str:
    """Return a text whose bytes were taken for those of another encoding, as PowerShell does."""
    return text.encode(encoding, errors="ignore").decode(errors="replace")


def _words(sample: bytes, encoding: str) -> int:
    """Count the words of logs in bytes of an encoding; 0 where they are none of it."""
    try:
        return words_of_logs(sample.decode(encoding))
    except UnicodeDecodeError:
        return 0


def from_notebook(data: bytes) -> bytes | None:
    """Join what the cells of a Jupyter notebook (nbformat 4) printed; None: it is no notebook."""
    if not _NOTEBOOK.match(data):
        return None
    try:
        outputs = [some for cell in json.loads(data)["cells"] for some in cell.get("outputs", ())]
        printed = ["".join(_printed(output)) for output in outputs]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return "\n".join(printed).encode("utf-8", errors="replace")


def _printed(output: dict[str, Any]) -> Iterable[str]:
    """Return the text of one output: a stream's, a result's, an exception's."""
    result = output.get("data", {}).get("text/plain")
    text: Iterable[str] = output.get("text") or result or output.get("traceback", ())
    return text


def _from_kaggle(text: str) -> bytes:
    """Join what a Kaggle log, a JSON list with one object for each write, says was printed."""
    pieces = []
    for line in text.split("\n"):
        try:
            entry = json.loads(line.strip().strip(",[]") or "{}")
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and isinstance(entry.get("data"), str):
            pieces.append(entry["data"])
    return "".join(pieces).encode("utf-8", errors="replace")


def bar(at: int, line: str) -> Bar | None:
    """Return the progress bar in `line`: ``35%|###   | 34/96 [10:42<30:50, 29.85s/it]``."""
    percent = line.find("%|")
    if percent < 0:
        return _of_rich(at, line) or _endless(at, line)
    found = _BAR.search(line, percent + 2)
    if not found or found.end(2) - found.start(1) > 30:  # noqa: PLR2004 - no bar counts so far
        return None
    label = in_words(line[:percent].rstrip("0123456789.").rstrip(" :"))
    return Bar(at, label, int(found[1]), int(found[2]), found[3], line[found.end() :])


def in_words(label: str) -> str:
    """Return the label of a bar; a fraction that is all of it counts epochs: ``[fold_0] 001/200``.

    The bar itself counts what is within them.
    """
    found = _FRACTION.fullmatch(label.strip())
    if not found or int(found[2]) > int(found[3]):
        return label
    return f"epoch {found[2]}/{found[3]} {found[1] or ''}".rstrip()


def _of_rich(at: int, line: str) -> Bar | None:
    """Return a bar of tqdm.rich, which Stable-Baselines3 has: ``9% ━╸ 90/1,000 [ 0:01 <...``."""
    found = _RICH.search(line) if "% ━" in line else None
    if not found:
        return None
    done, total = (int(found[n].replace(",", "")) for n in (1, 2))
    label = in_words(line[: found.start()].rstrip(" :"))
    return Bar(at, label, done, total, _APART.sub(r"\1", found[3].strip()), line[found.end() :])


def _endless(at: int, line: str) -> Bar | None:
    """Return a bar of unknown total: ``Epoch 11: : 0it [47:45, ?it/s, loss=1.5]``."""
    found = _ENDLESS.search(line)
    if not found:
        return None
    label = line[: found.start()].rstrip(" :")
    return Bar(at, label, int(found[1]), 0, found[2], line[found.end() :])


def stamp(line: str) -> float:
    """Return the time at the start of a log line as seconds since 1970 (UTC assumed), or NaN."""
    within = _STAMP_WITHIN + 26
    if line.find(":", 0, within) < 0 or not _HOUR.search(line, 0, within):
        return NOT_KNOWN
    found = _STAMP.search(line, 0, within)
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


def first_stamp(text: Text, begin: int, end: int) -> float | None:
    """Return the first time among the first of some lines, or None."""
    times = (stamp(text.line(at)) for at in range(begin, min(end, begin + HEAD)))
    return next((time for time in times if not math.isnan(time)), None)


def tail(text: Text, bare: BoolArray, begin: int, end: int) -> tuple[str, ...]:
    """Return the last of some lines that are not blank, the states of one bar as a single line.

    `bare`, shape (number of lines,): lines that are known to be a bar and nothing else.
    """
    kept: list[str] = []
    for at in begin + np.flatnonzero((text.end > text.start)[begin:end])[::-1]:
        after_bar = bool(kept) and "%|" in kept[-1]
        if after_bar and bare[at]:
            continue
        line = text.line(at)
        if line.isspace():
            continue
        state = bar(at, line) if after_bar else None
        if state and not state.rest.strip():
            continue
        kept.append(line.rstrip()[:SHOWN])
        if len(kept) == TAIL:
            break
    return tuple(reversed(kept))
