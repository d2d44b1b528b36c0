"""What ``nvidia-smi`` wrote of the cards while a run trained: utilization and memory, by time.

A table of ``nvidia-smi --query-gpu=... --format=csv``, the text of ``nvidia-smi dmon -o DT``, or
the pictures of ``nvidia-smi -l`` (`gpu_snapshots`):
one line a card and sample. It is no log of a training: its cards are put beside the run that lies
with it, as a tracker's system metrics are, each sample at the last step that was logged before.
Of samples without a time (``dmon`` and ``dcgmi dmon`` by default) it is said that they have none.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from runlens.arrays import median
from runlens.history import NOT_KNOWN
from runlens.patterns import lazy_re
from runlens.run import WHOLE_FILE, Problem
from runlens.sources import gpu_snapshots
from runlens.sources.files import Unreadable, read_bytes
from runlens.sources.reading import Series, SeriesBuilder, SourceReading, as_number
from runlens.wording import count

LOOKS_FOR = "a log of nvidia-smi"
FRAMEWORK = "nvidia-smi --query-gpu, nvidia-smi dmon, dcgmi dmon: beside a run"
KIND = "gpu_log"
ENDINGS = (".csv", ".txt", ".log", ".out")
MAX_SIZE = 64 * 2**20  # bytes: a sample a second of eight cards for a week
HEAD = 4_000  # bytes that tell what a file is
MORE = 60_000  # bytes: whether anything but pictures follows the first one
MEBIBYTE = 2**20 / 1e6  # in megabytes
_HEADER = lazy_re(r"(?m)^(?=.*(?:utilization|memory|temperature|power|clocks)\.).*,.*$")
_COLUMNS = lazy_re(r"(?mi)^# ?(?:date +time +)?(?:gpu|entity)\b.*$")
_UNIT = lazy_re(r"\s*\[[^\]]*\]$")
_CARD = ("index", "gpu", "entity", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id")
# as MLflow names the records of a card: (name, factor); what nvidia-smi, dmon and DCGM call them
_NAMES = {
    **dict.fromkeys(("utilization.gpu", "sm", "gputl"), ("utilization_percentage", 1.0)),
    **dict.fromkeys(("memory.used", "fb", "fbusd"), ("memory_usage_megabytes", MEBIBYTE)),
    **dict.fromkeys(("temperature.gpu", "gtemp", "tmptr"), ("temperature_celsius", 1.0)),
    **dict.fromkeys(("power.draw", "pwr", "power"), ("power_watts", 1.0)),
}
_TIMES = (
    "%Y/%m/%d %H:%M:%S.%f",
    "%Y/%m/%d %H:%M:%S",
    "%Y%m%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S.%f",
    "%a %b %d %H:%M:%S %Y",
)
APART = "its rows have no times, or the clocks are of different time zones"
AT_ONCE = 0.1  # seconds between the samples of two cards of one moment
AFTER = 2  # logging intervals behind the last row: what it died of comes after it


def find(_place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the logs of cards: files that begin with the columns that such a log has."""
    files = (folder / name for folder, some in names.items() for name in some)
    return [file for file in files if file.suffix.lower() in ENDINGS and _is_one(file)]


def _is_one(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            head = handle.read(HEAD).decode("utf-8", errors="replace")
            if gpu_snapshots.MARK in head:
                more = handle.read(MORE).decode("utf-8", errors="replace")
                return gpu_snapshots.alone(head + more)
    except OSError:
        return False
    return _header(head) is not None


def _header(text: str) -> tuple[list[str], Callable[[str], list[str]]] | None:
    """Return the columns of a log of cards, and what parts its lines; None for other text."""
    line = text.lstrip("\ufeff \r\n").partition("\n")[0]
    if _HEADER.match(line):
        return [_UNIT.sub("", cell.strip()).lower() for cell in line.split(",")], _commas
    if (found := _COLUMNS.match(text)) and any(name in _NAMES for name in found[0].lower().split()):
        return found[0].lower().strip("# ").split(), str.split
    return None


def _commas(line: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line]), [])]


def read(path: Path) -> SourceReading:
    """Read the samples of all cards; their steps are known to `beside` alone."""
    reading = SourceReading(path, KIND)
    try:
        text = read_bytes(path, MAX_SIZE).decode("utf-8", errors="replace")
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), WHOLE_FILE))
        return reading
    lines = text.splitlines()
    if gpu_snapshots.MARK in text[:HEAD]:
        drawn = gpu_snapshots.rows(lines)
        rows = [dict(zip(gpu_snapshots.COLUMNS, cells, strict=True)) for cells in drawn]
    else:
        columns, parted = _header(text) or ([], str.split)
        rows = [_row(columns, parted(line)) for line in lines[1:]]
    found = SeriesBuilder()
    for row, time, card in _cards([row for row in rows if row]):
        for name, cell in row.items():
            called, factor = _NAMES.get(name, ("", 1.0))
            number = as_number(cell.partition(" ")[0]) if called else None
            if number is not None:
                found.add(f"gpu_{card}_{called}", 0, number * factor, time=time)
    reading.series = found.series()
    return reading


def _row(columns: Sequence[str], cells: list[str]) -> dict[str, str]:
    """Return the cells of a sample by their columns; nothing for another line."""
    if cells[:1] == ["GPU"]:  # dcgmi writes "GPU 0"
        cells = cells[1:]
    return dict(zip(columns, cells, strict=True)) if len(cells) == len(columns) else {}


def _cards(rows: Sequence[dict[str, str]]) -> Iterator[tuple[dict[str, str], float, int]]:
    """Yield each sample with its time and the number of its card.

    Where no column names the card, samples of one moment are of the cards by turns.
    """
    named: dict[str, int] = {}
    before, turn = NOT_KNOWN, 0
    for row in rows:
        time = _time(row)
        turn = turn + 1 if abs(time - before) <= AT_ONCE else 0
        before = time
        card = next((row[name] for name in _CARD if name in row), None)
        number = turn if card is None else named.setdefault(card, len(named))
        yield row, time, int(card) if card and card.isdecimal() else number


def _time(row: Mapping[str, str]) -> float:
    """Return when a sample was taken, as seconds since 1970 (UTC assumed), NaN where it is not."""
    text = row.get("timestamp") or f"{row.get('date', '')} {row.get('time', '')}"
    for form in _TIMES:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return NOT_KNOWN


def beside(readings: list[SourceReading]) -> list[SourceReading]:
    """Lay the samples of cards beside what was logged while they were taken.

    Where nothing was, or where they have no times, that is a problem of the first reading.
    """
    logs = [one for one in readings if one.kind == KIND]
    others = [one for one in readings if one.kind != KIND]
    for log in logs:
        why = _laid(log, others)
        if why:
            (others or [log])[0].problems.append(Problem(str(log.path), why, WHOLE_FILE))
    return others or [replace(log, series={}) for log in logs]


def _laid(log: SourceReading, others: Sequence[SourceReading]) -> str:
    """Add samples to each reading in whose time they were taken; return why none could be."""
    cards = len({name.split("_")[1] for name in log.series})
    what = f"holds samples of {count(cards, 'GPU')}"
    if not any(np.isfinite(some.time).any() for some in log.series.values()):
        return f"{what} without a time; log with --query-gpu=timestamp,index,... or dmon -o DT"
    if not others:
        return f"{what} and no training; point at the folder of the run that they are of"
    from runlens.sources.stores.tracked import add_system  # and with it, the readers of trackers

    laid = False
    for other in others:
        told = [some.time[np.isfinite(some.time)] for some in other.series.values()]
        clock = np.unique(np.concatenate(told)) if told else np.zeros(0)
        if len(clock) < 2:  # noqa: PLR2004 - one moment is no time in which a run trained
            continue
        end = clock[-1] + AFTER * float(median(np.diff(clock)))
        kept = {n: _between(some, clock[0], end) for n, some in log.series.items()}
        add_system(other, {name: some for name, some in kept.items() if len(some.step)})
        laid = laid or any(len(some.step) for some in kept.values())
    return "" if laid else f"{what}, none within the times of a run; {APART}"


def _between(some: Series, begin: float, end: float) -> Series:
    kept = (some.time >= begin) & (some.time <= end)
    return Series._make(column[kept] for column in some)
