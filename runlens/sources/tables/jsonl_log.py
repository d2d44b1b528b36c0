"""Metrics as JSON Lines: LLaMA-Factory's ``trainer_log.jsonl``, ms-swift's ``logging.jsonl``...

LLaMA-Factory writes a last row without a loss when training ends, and several of its processes
may write to one file. ms-swift ends with one huge object that repeats the whole history.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from runlens.history import IntArray
from runlens.run import RESULTS_ALONE, Problem
from runlens.sources.files import OF_OTHERS, Unreadable, flat, parse_json, read_bytes, read_rows
from runlens.sources.reading import CUT_OFF, SourceReading, as_number
from runlens.sources.tables import json_curves, whole_json
from runlens.sources.tables.axis import planned
from runlens.sources.tables.cells import step_in
from runlens.sources.tables.columns import AS_FOUND, Columns, meanings, role, says_log
from runlens.sources.tables.durations import seconds
from runlens.sources.tables.first_records import settings_told
from runlens.sources.tables.held import Column, Table, renamed
from runlens.sources.tables.json_shapes import (
    as_trial,
    is_trial,
    leaves,
    measure_nothing,
    named_trainings,
    of_lists,
)
from runlens.sources.tables.names import has_metric, has_twins, is_log, is_step, keeps_words
from runlens.sources.tables.table import MAX_LOG, fill, in_part, log_bytes
from runlens.sources.tables.unnamed import STEP

LOOKS_FOR = "trainer_log.jsonl, logging.jsonl, other *.jsonl, history.json, other *.json"
FRAMEWORK = "LLaMA-Factory, ms-swift, own loops"
ENDINGS = (".jsonl", ".ndjson")
# JSON Lines all the same: detectron2, mmengine
LINES_NAMES, LINES_ENDING = {"metrics.json", "scalars.json", "log.json"}, ".log.json"
SAMPLE = 20  # rows of them
FEWEST = 2  # objects, each a line, that make JSON Lines of a file
LONGEST = 300  # characters of a text: a longer one is there to learn from
NESTED = {dict, list}
NOTHING_KNOWN = "is one JSON document in which no number is known to be of a training"
UNKNOWN = "has rows of numbers, none of which is known to be of a training"
OF_SAMPLES = "has a sample in each line, not a row of a training"
BATCH = 50_000  # rows that are held as objects
SUMMARY = "train_runtime"  # in the closing row of the Hugging Face Trainer
HISTORY = "log_history"  # in the last line of ms-swift: all rows again
FACTORY, SWIFT = "current_steps", "global_step/max_steps"
PROGRESS = {"percentage", "remaining_time", "total_flos"}
# what LLaMA-Factory calls otherwise than the Trainer whose numbers it writes
RENAMED = {"accuracy": "rewards/accuracies"}
MESSAGE = {"message", "msg", "log", "event"}  # in the rows of a logger
SAID_WITH = {"level", "levelname", "severity", "time", "timestamp", "ts", "asctime", "stream"}
LONGEST_STEP = 16  # digits

Row = dict[str, Any]


def find(place: Path, names: Mapping[Path, list[str]], columns: Columns = AS_FOUND) -> list[Path]:
    """List the logs; in a directory only those whose rows are those of a training."""
    files = [
        folder / name for folder, some in names.items() for name in some if _named(name.lower())
    ]
    return [path for path in files if looks_like_log(path, columns)] if place.is_dir() else files


def _named(name: str) -> bool:
    return name.endswith((*ENDINGS, whole_json.ENDING)) and name not in OF_OTHERS


def of_logger(path: Path) -> bool:
    """Whether each row of a file is a message of a logger, with its level or its time."""
    try:
        rows = _first_rows(path)
    except Unreadable:
        return False
    return len(rows) >= FEWEST and all(
        any(isinstance(row.get(name), str) for name in MESSAGE) and SAID_WITH & row.keys()
        for row in rows
    )


def looks_like_log(path: Path, columns: Columns = AS_FOUND) -> bool:
    """Whether a file begins with rows that a training wrote, or that `columns` tell of."""
    try:
        rows = _first_rows(path)
    except Unreadable as error:
        return "git-lfs" in str(error) and path.name in {"trainer_log.jsonl", "logging.jsonl"}
    if any(
        isinstance(value, str) and len(value) > LONGEST for row in rows for value in row.values()
    ):
        return False
    numbers = {name for row in rows for name, value in leaves(row) if as_number(value) is not None}
    known = any({FACTORY, SWIFT} & row.keys() or is_trial(row) for row in rows)
    named = meanings(sorted(numbers), columns)
    if known or is_log(set(named.values())) or says_log(sorted(numbers), columns):
        return True
    if whole_json.is_named(path.name.lower()):
        return has_metric(named.values()) or _measured(rows)
    after = len(rows) >= json_curves.FEWEST and json_curves.are_of(numbers - {STEP}, path.stem)
    return path.suffix == whole_json.ENDING and (after or has_twins(named.values()))


def _measured(rows: Sequence[Row]) -> bool:
    """Whether rows of a history hold nothing but measured numbers, whatever they are called."""
    values = [value for row in rows for value in row.values()]
    fewest = json_curves.FEWEST if json_curves.are_nameless(rows) else SAMPLE
    return len(rows) >= fewest and all(type(value) is float for value in values)


def _first_rows(path: Path) -> list[Row]:
    """Return the first rows of a file, each a line; else those of the history that it is."""
    head = read_rows(path)
    name = path.name.lower()
    rows = _rows_of_lines(head)
    if _are_histories(rows):  # whose rows count by their places
        whole = whole_json.history(read_bytes(path, MAX_LOG), path.stem)
        return [{STEP: n} | row for n, row in enumerate(whole.rows[:SAMPLE])] if whole else rows
    if len(rows) >= FEWEST or not name.endswith(whole_json.ENDING):
        return rows
    small = path.stat().st_size <= whole_json.LARGEST and whole_json.mentions_metric(head)
    may_be_whole = (
        small or whole_json.is_named(name) or json_curves.may_be_called_after(path.stem, head)
    )
    whole = whole_json.history(read_bytes(path, MAX_LOG), path.stem) if may_be_whole else None
    return whole.rows[:SAMPLE] if whole else rows if _of_lines(name) else []


def is_list(path: Path) -> bool:
    """Whether a text begins as a list of no objects: one of the lines of a log, it may be."""
    try:
        begin = read_rows(path).lstrip()
        return begin[:1] == b"[" and begin[1:].lstrip()[:1] != b"{"
    except Unreadable:
        return False


def is_column(path: Path) -> bool:
    """Whether each of the first lines of a text is one number, as numpy writes a list."""
    try:
        lines = read_rows(path).split()[:SAMPLE]
    except Unreadable:
        return False
    numbers = [as_number(line.decode(errors="replace")) for line in lines]
    return len(numbers) > 1 and None not in numbers


def _of_lines(name: str) -> bool:
    """Whether a lone object in a file of this name is the first row of a log."""
    return name.endswith(LINES_ENDING) or name in LINES_NAMES


def _are_histories(rows: Sequence[Row]) -> bool:
    """Whether each line is the history of a training: ``{"loss": [0.9, ...], "val_loss": ...}``."""
    each = list(named_trainings(rows))
    counted = any(is_step(name) for row in rows for name in row)
    return len(each) == len(rows) > 1 and not counted and all(has_twins(one) for _, one in each)


def _rows_of_lines(data: bytes) -> list[Row]:
    lines = islice(data.splitlines(), SAMPLE)
    return [row for line in lines if (row := _row(line)) is not None]


def read(path: Path, columns: Columns = AS_FOUND) -> SourceReading:
    """Read one log; `columns` are what the user says that its keys are."""
    reading = SourceReading(path, "jsonl")
    try:
        data = log_bytes(reading)
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), "the whole file"))
        return reading
    lines = _rows_of_lines(data)
    is_whole = path.suffix.lower() == whole_json.ENDING and len(lines) < FEWEST
    is_whole = is_whole or _are_histories(lines)
    found = whole_json.history(data, path.stem, lone=True) if is_whole else None
    if found:
        _fill(reading, found, columns)
    elif (
        not columns
        and lines
        and (measure_nothing(lines) if is_whole else whole_json.are_samples(lines))
    ):
        reading.problems.append(Problem(str(path), NOTHING_KNOWN if is_whole else OF_SAMPLES))
    else:
        fill(reading, _read_lines(data, reading, columns))
    return reading


def _fill(reading: SourceReading, found: whole_json.History, columns: Columns) -> None:
    """Fill a reading from the rows of a text that was read as a whole."""
    reading.config = flat(found.settings)
    reading.hints.early_stopping = found.stopped
    if found.told:
        reading.problems.append(Problem(str(reading.path), found.told, found.lost))
    if found.left_out:
        text = f"has lists that fit no row of its {len(found.rows):,}"
        reading.problems.append(Problem(str(reading.path), text, ", ".join(found.left_out)))
    if measure_nothing(found.rows) and not columns:
        told = UNKNOWN if len(found.rows) > 1 else RESULTS_ALONE
        reading.problems.append(Problem(str(reading.path), told, ""))
    rows: dict[str, Rows] = {}
    for row, name in zip(found.rows, found.trainings or repeat(""), strict=False):
        rows.setdefault(name, Rows(columns)).add(row)
    for name, some in rows.items():
        part = in_part(reading, name) if name else reading
        fill(part, _named_as_said(part, some.table(), columns))


class Rows:
    """Collects rows as columns of numbers, rows of one layout at a time."""

    def __init__(self, columns: Columns = AS_FOUND) -> None:
        """Begin with nothing; the texts of what the user calls a time or a split are kept."""
        self._texts = {theirs for ours, theirs in columns.items() if keeps_words(role(ours))}
        self._count = 0
        self._layouts: dict[tuple[str, ...], tuple[list[int], list[tuple[Any, ...]]]] = {}
        self._parts: dict[str, list[Column]] = {}
        self._words: dict[str, dict[int, str]] = {}
        self._held: Counter[str] = Counter()
        self._filled: set[str] = set()  # with more than null

    def add(self, row: Row) -> None:
        """Add one row."""
        if not NESTED.isdisjoint(map(type, row.values())):
            row = dict(leaves(row)) | dict(of_lists(row))
        rows, values = self._layouts.setdefault(tuple(row), ([], []))
        rows.append(self._count)
        values.append(tuple(row.values()))
        self._count += 1
        if self._count % BATCH == 0:
            self._decode()

    def table(self) -> Table:
        """Return all that was added."""
        self._decode()
        columns = {name: _in_order(parts) for name, parts in self._parts.items()}
        held = frozenset(name for name, rows in self._held.items() if rows == self._count)
        kept = {n: c for n, c in columns.items() if len(c.row)}
        return Table(self._count, kept, self._words, held, held - self._filled)

    def _decode(self) -> None:
        for names, (rows, values) in self._layouts.items():
            at = np.array(rows, dtype=np.int64)
            for name, column in zip(names, zip(*values, strict=True), strict=True):
                self._column(name, at, column)
        self._layouts = {}

    def _column(self, name: str, at: IntArray, column: Sequence[Any]) -> None:
        parts = self._parts.setdefault(name, [])
        self._held[name] += len(column)
        if set(map(type, column)) == {float}:
            parts.append(Column(at, np.array(column)))
            self._filled.add(name)
            return
        read = step_in if is_step(name) else as_number
        numbers = [read(value) if isinstance(value, str) else as_number(value) for value in column]
        known = np.array([number is not None for number in numbers])
        value = np.array([number for number in numbers if number is not None], dtype=np.float64)
        parts.append(Column(at[known], value))
        for plan, total in planned(name, column).items():
            self._parts.setdefault(plan, []).append(Column(at[known], np.full_like(value, total)))
        self._filled.update([name] if any(cell is not None for cell in column) else [])
        if not known.all() and (name in self._texts or keeps_words(name)):
            words = {int(n): v for n, v in zip(at, column, strict=True) if isinstance(v, str)}
            self._words.setdefault(name, {}).update(words)


def _in_order(parts: Sequence[Column]) -> Column:
    joined = Column._make(np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(joined.row, kind="stable")
    return Column(joined.row[order], joined.value[order])


class _Trainer:
    """Knows the rows of LLaMA-Factory and ms-swift: their step, plan, clock and closing row."""

    def __init__(self) -> None:
        self.framework = ""
        self._step = self._planned = 0
        self._trained = False  # whether any row has a loss
        self._closed = False  # whether a row without any metric came after the last loss
        self._evaluations: set[float] = set()  # the losses of those before

    def translated(self, row: Row) -> Row | None:
        """Return a row as others write it; None for one that is no record of the training."""
        self.framework = "ms-swift" if SWIFT in row else "llama-factory"
        if SWIFT in row:
            said = str(row[SWIFT]).partition("/")[::2]
        else:
            said = str(row[FACTORY]), str(row.get("total_steps"))
        loss, eval_loss = (as_number(row.get(name)) for name in ("loss", "eval_loss"))
        if not all(word.isdecimal() and len(word) < LONGEST_STEP for word in said):
            return None
        step, planned = int(said[0]), int(said[1])
        if loss is None and self._planned not in {0, planned}:
            return None  # an evaluation after the training, with a count of its own
        if self._closed and eval_loss in self._evaluations:
            return None  # of the best model, which was loaded at the end: not of this step
        if eval_loss is not None:
            self._evaluations.add(eval_loss)
        self._step, self._planned = step, planned
        self._trained = self._trained or loss is not None
        self._closed = loss is None and (self._closed or eval_loss is None)
        clock = seconds(str(row.get("elapsed_time", "")))
        named = {RENAMED.get(n, n): v for n, v in row.items()} if FACTORY in row else row
        kept = {name: value for name, value in named.items() if name not in PROGRESS}
        return {**kept, "step": step, "elapsed_time": clock}

    def conclude(self, reading: SourceReading) -> bool:
        """Tell how far the training got and whether the log has its closing row.

        Return whether it is the log of a training at all.
        """
        reading.framework = self.framework
        if self.framework == "ms-swift":
            reading.precision = "rounded"  # to eight decimals, a learning rate too
        if not self._trained:
            text = (
                "has progress but no loss: it is of a prediction or evaluation run, not of training"
            )
            reading.problems.append(Problem(str(reading.path), text))
            return False
        hints = reading.hints
        hints.planned_steps, hints.done_steps = self._planned or None, self._step
        closed = self._closed or hints.summary
        hints.no_exit_record = not closed and self._step < self._planned
        return True


def _read_lines(data: bytes, reading: SourceReading, columns: Columns) -> Table:
    rows, trainer = Rows(columns), _Trainer()
    bad: list[int] = []
    lines = data.splitlines()
    for number, line in enumerate(lines, 1):
        row = _row(line)
        if row is None:
            if line.strip(b" \t\0"):
                bad.append(number)
        elif isinstance(row.get(HISTORY), list) or (SUMMARY in row and "loss" not in row):
            reading.hints.summary = True
        elif FACTORY in row or SWIFT in row:
            translated = trainer.translated(row)
            if translated is not None:
                rows.add(translated)
        elif said := settings_told(row):
            reading.config |= said
        else:
            rows.add(row)
    if bad and _is_one_document(data):
        reading.problems.append(Problem(str(reading.path), NOTHING_KNOWN))
    else:
        _tell_damage(reading, bad, len(lines), torn=not data.endswith(b"\n"))
    if trainer.framework and not trainer.conclude(reading):
        return Table(0, {})
    return _named_as_said(reading, rows.table(), columns)


def _named_as_said(reading: SourceReading, table: Table, columns: Columns) -> Table:
    reading.columns = tuple(dict.fromkeys((*table.columns, *table.words)))
    return renamed(table, columns)


def _tell_damage(reading: SourceReading, bad: list[int], count: int, *, torn: bool) -> None:
    where = str(reading.path)
    if bad and bad[-1] == count and torn:
        bad = bad[:-1]
        reading.problems.append(Problem(where, CUT_OFF, "the last row"))
    if bad:
        text = f"has lines that are no JSON object (line {bad[0]:,}{', ...' if bad[1:] else ''})"
        reading.problems.append(Problem(where, text, f"{len(bad):,} of {count:,} lines"))


def _is_one_document(data: bytes) -> bool:
    """Whether the bytes are whole JSON over several lines: nothing of it is torn."""
    try:
        parse_json(data)
    except Unreadable:
        return False
    return True


def _row(line: bytes) -> Row | None:
    """Return the object in a line; NaN and Infinity, which are no JSON, are taken."""
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        try:
            row = parse_json(line.strip(b"\0 "))
        except Unreadable:
            return None
    return as_trial(row) if isinstance(row, dict) else None
