"""Why a file is none that RunLens reads: said for each, so that the user knows what to change."""

from collections.abc import Mapping, Sequence
from os import SEEK_END
from pathlib import Path

from runlens.patterns import lazy_re
from runlens.run import WHOLE_FILE, Problem
from runlens.sources import npy_arrays, pickles
from runlens.sources.console.text import utf8
from runlens.sources.evidence import LIKELY, what
from runlens.sources.files import SNIFFED, Unreadable, parse_json, read_bytes
from runlens.sources.reading import SourceReading

SHOWN = 3  # problems, and files, that are named
LONGEST = 200  # characters of an error
TOLD = 5  # files that are looked into
# the endings of logs, the surest first
LOGS = (".csv", ".tsv", ".jsonl", ".json", ".log", ".out", ".txt", ".err", "")
ARRAY = ".npy"
NAMES = 6  # columns or keys that are listed
# a name and its number: "Action [3]: 11.67"
_NUMBERED = lazy_re(r"[A-Za-z_]\w{0,80}(?:\s?\[\w{1,9}\])?\s*[:=]\s*[-+]?\d")
_LOST = lazy_re(r"[A-Za-z_]\w{0,80}(?:\s?\[\w{1,9}\])?\s*[:=]\s*[-+]?(?:nan|inf)\b", 2)
# weights and objects: looking into them could run what is in them
_OBJECTS = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"\x89HDF")


def refusals(names: Mapping[Path, Sequence[str]]) -> list[Problem]:
    """Return a problem for each of the files that are most like a log: what it holds instead."""
    files = [folder / name for folder, some in names.items() for name in some]
    likely = [file for file in files if file.suffix.lower() in LOGS]
    likely.sort(key=lambda file: (LOGS.index(file.suffix.lower()), str(file)))
    others = {*LIKELY, ARRAY} - set(LOGS)
    likely += [file for file in files if file.suffix.lower() in others]
    return [Problem(str(file), why_refused(file), WHOLE_FILE) for file in likely[:TOLD]]


def why_refused(file: Path) -> str:
    """Say what a file holds, in a clause: ``is a table of the columns a, b: ...``."""
    if known := what(file):
        return known
    try:
        head = _head(file)
    except Unreadable as error:
        return str(error)
    if not head.strip():
        return "is empty"
    if head.startswith(npy_arrays.BEGINS[0]):
        return pickles.REFUSED if npy_arrays.objects_in(head) else npy_arrays.REFUSED
    if head.startswith(_OBJECTS):
        return "holds weights or objects, which are not opened"
    text = utf8(head)
    if b"\0" in text:
        return "is binary, of no format that is known"
    lines, mark = text.decode("utf-8", "replace").splitlines(), head[:2] if text != head else b""
    return _of_json(file, lines[0]) or _of_table(lines) or _of_text(lines, _end(file, mark))


def _head(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(SNIFFED)
    except OSError as error:
        raise Unreadable(f"cannot be opened ({error.strerror or 'unknown error'})") from None


def _of_json(file: Path, first: str) -> str:
    """Tell of the keys of a JSON document, or of the first of its lines."""
    if not first.lstrip().startswith(("{", "[")):
        return ""
    for text in (first.encode(), read_bytes(file)):
        try:
            value = parse_json(text)
        except Unreadable:
            continue
        row = value[0] if isinstance(value, list) and value else value
        if isinstance(row, dict):
            return f"is JSON with the keys {_listed(list(map(str, row)))}: no metric by step in it"
        return "is JSON without a metric by step"
    return ""


def _of_table(lines: Sequence[str]) -> str:
    """Tell of the columns of a table; "" for other text."""
    import csv  # what is refused is rare

    for mark in (",", "\t", ";"):
        rows = list(csv.reader(lines[:3], delimiter=mark))
        if len(rows) > 1 and len({len(row) for row in rows}) == 1 and len(rows[0]) > 1:
            return (
                f"is a table of the columns {_listed(rows[0])}: none is known as a step with a "
                "loss, a reward or a score; --column train_loss=NAME or reward=NAME says which is"
            )
    return ""


def _end(file: Path, mark: bytes) -> list[str]:
    """Return the last lines of a file, which begins with a `mark` where it is in UTF-16."""
    with file.open("rb") as opened:
        size = opened.seek(0, SEEK_END)
        opened.seek(max(0, (size - SNIFFED) & ~1))  # whole characters of UTF-16
        return utf8(mark + opened.read()).decode("utf-8", "replace").splitlines()


def _of_text(lines: Sequence[str], end: Sequence[str]) -> str:
    """Tell of the first line with a name and a number, and of the last where that is lost."""
    numbered = [line for line in lines if _NUMBERED.search(line)]
    if not numbered:
        return "is text without numbers by name"
    shown = " ".join(numbered[0].split())[:80]
    lost = next((line for line in reversed(end) if _LOST.search(line)), "")
    ends = f", and near its end {' '.join(lost.split())[:80]!r}" if lost else ""
    return f"is text of no layout that is known: {shown!r}{ends}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return ", ".join(name.strip()[:40] or "(no name)" for name in names[:NAMES]) + more


def lost(readings: Sequence[SourceReading], problems: Sequence[Problem]) -> str:
    """Say why nothing came of what was read: what is wrong with it, or what it holds instead."""
    if problems:
        said = "; ".join(f"{Path(where).name} {text}" for where, text, _ in problems[:SHOWN])
        more = f" and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        return f"nothing readable here: {said}{more}"
    for one in readings:
        if one.hints.traceback:  # of whatever program: it may be one that never started
            last = one.hints.traceback.strip().splitlines()[-1][:LONGEST]
            return (
                f"{one.path.name} holds no training but the error of a program, {last!r}; if it is "
                f"yours, point at the file itself"
            )
    names = ", ".join(dict.fromkeys(one.path.name for one in readings[:SHOWN]))
    return f"no metric, log or event in {names}; point at a run that logged something"
