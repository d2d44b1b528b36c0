"""Tables of metrics: Lightning's ``metrics.csv``, Keras' CSVLogger, ``progress.csv``...

An empty cell is not logged: Lightning writes training and evaluation to different rows of one
wide table. A cell that says ``nan`` is a value, and a finding.
"""

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from runlens.metrics import plain
from runlens.patterns import lazy_re
from runlens.run import Problem
from runlens.sources.broken_off import without_torn_cell
from runlens.sources.decimals import ungrouped
from runlens.sources.files import WIDEST, Unreadable, read_bytes, read_rows
from runlens.sources.pickles import TABLE as PICKLED
from runlens.sources.pickles import is_pickle
from runlens.sources.reading import CUT_OFF, SourceReading
from runlens.sources.tables import short_heads
from runlens.sources.tables.axis import counts, planned
from runlens.sources.tables.cells import (
    LONGEST,
    SAMPLE,
    SPLIT,
    alike,
    decoded,
    goes_on,
    headed,
    number_in,
    plain_text,
    rows_of,
    spread_around,
    step_in,
)
from runlens.sources.tables.columns import (
    AS_FOUND,
    Columns,
    chosen_metrics,
    meanings,
    role,
    says_log,
)
from runlens.sources.tables.held import Column, Table, renamed
from runlens.sources.tables.listed import upright
from runlens.sources.tables.long import is_long, lone_value
from runlens.sources.tables.names import (
    ROW_NUMBERS,
    TIMES,
    has_metric,
    is_log,
    is_step,
    keeps_words,
    measures_training,
    of_losses,
    of_samples,
    without_number,
)
from runlens.sources.tables.preface import settings_above
from runlens.sources.tables.readers import reader_of
from runlens.sources.tables.table import fill, log_bytes
from runlens.sources.tables.unnamed import STEP, UNNAMED
from runlens.sources.tags import held_out_folder, of_both
from runlens.wording import count

LOOKS_FOR = "metrics.csv, progress.csv, other *.csv"
FRAMEWORK = "Lightning, Keras, stable-baselines3, Ultralytics, own loops"
ENDINGS = (".csv", ".tsv")
KNOWN_NAMES = {
    "metrics.csv", "progress.csv", "history.csv", "log.csv", "logs.csv", "train_log.csv",
    "training_log.csv", "training.csv", "loss.csv", "losses.csv",
}  # fmt: skip
MONITOR = lazy_re(rb'#\{"|r,l,t[,\r\n]')  # how a table of episodes begins: see `sb3_monitor`
BEGINNING = 6  # bytes of it
FEWEST_UNKNOWN = 3  # rows of a table in which nothing is known but a counter
MOST_COLUMNS = 4_000
BATCH = 20_000  # rows that are held as text
SHOWN = 40  # characters of a cell in a message
NOT_LOGGED = {"", "na", "n/a", "none", "null", "-", "--"}
_HISTORY = lazy_re(
    r"(?:.*[_-])?(?:history|loss(?:es)?|rewards?|returns?)(?:[_-].*)?\.[ct]sv$"
    r"|(?:train(?:ing)?|val(?:id(?:ation)?)?|eval(?:uation)?|test)[_-](?:metrics|progress|log)\.[ct]sv$"
)
# file names that say which split the whole table is of
_HELD_OUT = lazy_re(r"(?:^|[_\W])(val|valid|validation|eval|evaluation|evaluations|test)(?=[_\W])")
_END = lazy_re(rb"[\r\n]")


def find(place: Path, names: Mapping[Path, list[str]], columns: Columns = AS_FOUND) -> list[Path]:
    """List the tables; in a directory only those with the columns of a training log."""
    files = [
        folder / name
        for folder, some in names.items()
        for name in some
        if name.lower().endswith(ENDINGS)
    ]
    if place.is_dir():
        return [path for path in files if looks_like_log(path, columns)]
    return [path for path in files if not is_monitor(path)]


def is_monitor(path: Path) -> bool:
    """Whether a file is a table of episodes."""
    try:
        return MONITOR.match(read_bytes(path, BEGINNING)) is not None
    except Unreadable:
        return False


def looks_like_log(path: Path, columns: Columns = AS_FOUND) -> bool:
    """Whether a file begins as a table that a training wrote, or that `columns` tell of."""
    try:
        rows = list(islice(rows_of(decoded(read_rows(path), path.stem)), SAMPLE))
    except (Unreadable, csv.Error):
        return False
    found = _header(rows[0]) if rows else []
    if _exported(found, path) or says_log(found, columns) or is_long(found, rows[1:]):
        return True
    named = meanings(found, columns)
    losses = of_losses(found, path.stem)
    header = [losses.get(name, named.get(name, "")) for name in found]
    if any(len(cell) > LONGEST for row in rows for cell in row):
        return False
    if is_log(header):
        at = [place for place, name in enumerate(header) if is_step(name)]
        return len(rows) > 1 and any(_steps(rows, place) for place in at)
    # without a step: rows of numbers under names that we know, in a file with a name that we know
    # or beside a column that counts
    cells = [
        cell
        for row in rows[1:]
        for name, cell in zip(header, row, strict=False)
        if plain(name) not in TIMES
    ]
    if not cells or any(number_in(cell) is None for cell in cells):
        return False
    counted = _counted(header, rows[1:])
    if has_metric(header):
        of_keras = {"loss", "val_loss"} <= set(header)  # its History.history
        return (measures_training(header) and counted) or _is_named(path) or of_keras
    steps = (counted or any(map(is_step, header))) and len(header) > 1
    return _is_named(path) and (_unnamed(header) or (steps and len(rows) > FEWEST_UNKNOWN))


def _is_named(path: Path) -> bool:
    """Whether a file has a name that training logs have."""
    name = path.name.lower()
    return name in KNOWN_NAMES or _HISTORY.match(name) is not None


def _unnamed(header: Sequence[str]) -> bool:
    numbered = [name for name in header if name.startswith(UNNAMED)]
    return bool(numbered) and {*header} - {*numbered} <= {"", STEP, SPLIT, short_heads.STAMP}


def _counted(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a column counts on from row to row, under a name that numbers no samples."""
    columns = zip(header, zip(*rows, strict=False), strict=False)
    return any(
        plain(name) not in ROW_NUMBERS | TIMES
        and counts(np.array([number_in(cell) for cell in cells]))
        for name, cells in columns
        if name
    )


def _steps(rows: Sequence[Sequence[str]], place: int) -> bool:
    """Whether a column holds what can be a step below its name: numbers from 0 on, or nothing."""
    cells = {row[place].strip() for row in rows if len(row) > place}
    values = [step_in(cell) for cell in cells - {"", rows[0][place].strip()}]
    return all(value is not None and value >= 0 for value in values)


def read(path: Path, columns: Columns = AS_FOUND) -> SourceReading:
    """Read one table; `columns` are what the user says that its columns are."""
    reading = SourceReading(path, "csv")
    try:
        data = _narrow(log_bytes(reading))
        as_found = plain_text(data)
        bare = upright(as_found, path.stem)
        text = headed(bare, without_number(path.stem))
        found = _table(reading, text, columns, named=text.endswith(f"\n{bare}"))
    except (Unreadable, csv.Error) as error:
        reading.problems.append(Problem(str(path), str(error), "the whole file"))
        return reading
    if bare is not as_found:
        told = "has curves in its cells: each row was taken for a training"
        reading.problems.append(Problem(str(path), told))
    reading.config = settings_above(data)
    fill(reading, found)
    if any(part == "lightning_logs" or part.startswith("version_") for part in path.parts[-3:-1]):
        reading.framework = reading.framework or "lightning"
    return reading


def _narrow(data: bytes) -> bytes:
    """Return the bytes of a table; raise Unreadable for a pickle, and a line wider than headers."""
    if is_pickle(data) or data.startswith(b'{"'):  # a CSV file begins with a name
        raise Unreadable(PICKLED if is_pickle(data) else "holds objects of JSON, no cells")
    if len(data) > WIDEST and not _END.search(data[:WIDEST]):
        raise Unreadable(f"begins with a line of more than {WIDEST / 2**20:.0f} MiB: no table")
    return data


def _header(row: Sequence[str]) -> list[str]:
    """Return the names of the columns; a second of one name is numbered, a second step has none."""
    names = [cell.strip() for cell in row[:MOST_COLUMNS]]
    seen: Counter[str] = Counter()
    for place, name in enumerate(names):
        seen[name] += 1
        if name and seen[name] > 1:
            again = plain(name) in TIMES or is_step(name)
            names[place] = "" if again else f"{name} ({seen[name]})"
    return names


def _table(reading: SourceReading, text: str, columns: Columns, *, named: bool) -> Table:
    """Return a table; `named`: its columns are by us."""
    header = _header(next(rows_of(text), []))
    if not header:
        raise Unreadable("holds no row")
    if sum(number_in(cell) is not None for cell in header) * 2 > len(header):
        raise Unreadable("has no header row that names its columns")
    reading.columns = tuple(name for name in header if name)
    if told := short_heads.told(header, nothing=_unnamed(header), ours=named):
        reading.problems.append(Problem(str(reading.path), told, ""))
    chosen = chosen_metrics(header, columns)
    named = has_metric(header) or bool(of_losses(header, reading.path.stem))
    named = named or (has_metric([reading.path.stem]) and alike(header))
    named = named and not of_samples(header)
    measured = chosen or named or _exported(header, reading.path) or _unnamed(header)
    if not (measured or goes_on(header, text) or looks_like_log(reading.path, columns)):
        raise Unreadable("has no column of what trainings log (loss, reward, ...)")
    return _named_by_file(reading.path, renamed(table(reading, text, columns), columns), chosen)


def table(reading: SourceReading, text: str, columns: Columns = AS_FOUND) -> Table:
    """Return what stands below the first row, under the names in that row."""
    rows = rows_of(text)
    header = _header(next(rows, []))
    if "\n<<<<<<< " in text:
        told = "has git's marks of a merge that failed: its two versions follow one another"
        reading.problems.append(Problem(str(reading.path), told))
    torn = not text.endswith(("\n", "\r"))
    rows = without_torn_cell(rows) if torn else rows
    parts, readable = _Parts(header, columns), _up_to_damage(rows, reading)
    while batch := list(islice(readable, BATCH)):
        parts.add(batch)
    parts.tell(reading, torn=torn)
    return parts.table()


def _up_to_damage(rows: Iterator[list[str]], reading: SourceReading) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:  # a cell without an end: a quotation mark that is not closed
        problem = Problem(str(reading.path), f"cannot be read to its end ({error})", "the rest")
        reading.problems.append(problem)


def _exported(header: Sequence[str], path: Path) -> bool:
    """Whether a table is of one metric, named by the file alone: TensorBoard's page writes such."""
    by_page = {"step", "value"} <= {name.lower() for name in header}
    return bool(lone_value(header)) and (by_page or has_metric([path.stem]))


def _named_by_file(path: Path, found: Table, chosen: Collection[str]) -> Table:
    """Name what stands in val_log.csv as held out, in losses.csv as losses, if columns do not."""
    if losses := of_losses(found.columns.keys() - set(chosen), path.stem):
        named = {losses.get(n, n): c for n, c in found.columns.items()}
        found = Table(found.rows, named, found.words, frozenset(named))
    if _exported([*found.columns, *found.words], path):
        called = without_number(path.stem.rpartition("-tag-")[2])
        value = lone_value(list(found.columns))
        data = "" if _says_split(called) else held_out_folder(path)
        called = f"{data}/{called}" if data else called
        named = {called if n == value else n: c for n, c in found.columns.items()}
        return Table(found.rows, named, found.words, frozenset(named))
    split = _HELD_OUT.search(path.name.lower())
    data = split[1] if split else held_out_folder(path)
    if not data or "train" in path.name.lower() or of_both(found.columns):
        return found
    prefix = "eval/" if data.startswith("eval") else f"{data}/"
    named = {
        (name if name in chosen or _says_split(name) else f"{prefix}{name}"): column
        for name, column in found.columns.items()
    }
    return Table(found.rows, named, found.words, frozenset(named))


def _says_split(name: str) -> bool:
    """Whether a name says itself which split it is of, or is no metric."""
    return not has_metric([name]) or _HELD_OUT.search(f"_{name}_") is not None


class _Parts:
    """Collects batches of rows as columns of numbers."""

    def __init__(self, header: list[str], columns: Columns) -> None:
        self.header, self._first = header, next(iter(header), "-")
        self._texts = {theirs for ours, theirs in columns.items() if keeps_words(role(ours))}
        self.rows = 0
        self._parts: dict[str, list[Column]] = {}
        self._words: dict[str, dict[int, str]] = {}
        self._strange: dict[str, str] = {}  # a cell of each column that is no number
        self._short: list[int] = []  # rows with too few cells
        self._long = 0
        self._means: set[str] = set()  # columns whose cells have a deviation as well

    def add(self, batch: list[list[str]]) -> None:
        """Add rows; a row that is a header again names the columns of those after it."""
        names = set(self.header)
        again = [n for n, row in enumerate(batch) if row and row[0].strip() in names]
        for begin, end in zip([-1, *again], [*again, len(batch)], strict=True):
            if begin >= 0:
                self.header = _header(batch[begin])
            self._take(batch[begin + 1 : end])

    def _take(self, rows: list[list[str]]) -> None:
        width = len(self.header)
        lengths = [len(row) for row in rows]
        if lengths and (min(lengths) < width or max(lengths) > width):
            self._short += [self.rows + n for n, length in enumerate(lengths) if length < width]
            self._long += sum(length > width for length in lengths)
            rows = [[*row[:width], *[""] * (width - len(row))] for row in rows]
        for name, cells in zip(self.header, zip(*rows, strict=True), strict=False):
            if name:
                self._column(name, cells)
        if not self._first:  # what a frame of pandas calls its rows
            self._other(
                "", [(n, row[0]) for n, row in enumerate(rows) if number_in(row[0]) is None]
            )
        self.rows += len(rows)

    def _column(self, name: str, cells: tuple[str, ...]) -> None:
        """Turn cells into numbers: at once where all are, else those that are."""
        try:
            if "_" in "".join(cells):
                raise ValueError  # noqa: TRY301 - Python reads "1_1.8" as 11.8
            value = np.array([float(cell) for cell in cells])
            places = np.arange(len(cells))
        except ValueError:
            whole = ungrouped(cells, counts=is_step(name))
            known = [(n, cell) for n, cell in enumerate(whole) if cell and not cell.isspace()]
            read = reader_of(name)
            pairs = [(n, number) for n, cell in known if (number := read(cell)) is not None]
            if len(pairs) < len(known):
                self._other(name, known)
            self._means.update([name] if any(spread_around(c) for _, c in known[:1]) else [])
            places = np.array([n for n, _ in pairs], dtype=np.int64)
            value = np.array([number for _, number in pairs], dtype=np.float64)
            for plan, total in planned(name, (cell for _, cell in known)).items():
                said = Column(self.rows + places, np.full_like(value, total))
                self._parts.setdefault(plan, []).append(said)
        self._parts.setdefault(name, []).append(Column(self.rows + places, value))

    def _other(self, name: str, known: list[tuple[int, str]]) -> None:
        kept = name in self._texts or keeps_words(name)
        if kept or name == self._first:
            self._words.setdefault(name, {}).update({self.rows + n: cell for n, cell in known})
        if name and not kept:
            said = (c[:SHOWN] for _, c in known if c.strip().lower() not in NOT_LOGGED)
            self._strange.setdefault(name, next((c for c in said if number_in(c) is None), ""))

    def table(self) -> Table:
        """Return all that was added."""
        columns = {
            name: Column._make(np.concatenate(column) for column in zip(*parts, strict=True))
            for name, parts in self._parts.items()
        }
        kept = {n: c for n, c in columns.items() if len(c.row)}
        blank = columns.keys() - kept.keys() - self._strange.keys() - self._words.keys()
        return Table(self.rows, kept, self._words, frozenset(kept), frozenset(blank))

    def tell(self, reading: SourceReading, *, torn: bool) -> None:
        """Report what was lost."""
        where = str(reading.path)
        if torn and self._short and self._short[-1] == self.rows - 1:
            self._short.pop()
            reading.problems.append(Problem(where, CUT_OFF, "cells of the last row"))
        if self._short or self._long:
            text = "has rows with more or fewer cells than its header"
            lost = f"cells of {len(self._short) + self._long:,} of {self.rows:,} rows"
            reading.problems.append(Problem(where, text, lost))
        if self._means:
            columns = count(len(self._means), "column")
            text = f"has a deviation in each cell of {columns}: the mean was taken"
            reading.problems.append(Problem(where, text, "the deviations"))
        for name, cell in self._strange.items():
            numbers = sum(len(part.row) for part in self._parts[name])
            if cell and not numbers and has_metric([name]):
                reading.problems.append(
                    Problem(where, f"{name} holds no number but {cell!r}", name)
                )
