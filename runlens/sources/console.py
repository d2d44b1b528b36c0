"""Console logs: what a training printed, as ``train.log``, ``nohup.out``, ``slurm-123.out``...

A console log is the least exact source (rounded values, steps that stand in a progress bar) and
the only one that has the error messages. This module puts together what the `console_*` modules
read: lines and bars (`console_text`), dict rows (`console_dicts`), all other kinds of rows
(`console_lines`), exceptions, checkpoints and launches (`console_events`), settings
(`console_settings`), and the table of messages (`messages`).
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from runlens.history import FloatArray
from runlens.run import Problem
from runlens.sources import console_lines, console_story
from runlens.sources.console_dicts import NOT_METRICS, DictRow, row, without_echoes
from runlens.sources.console_records import Placed, Record, table
from runlens.sources.console_settings import settings
from runlens.sources.console_steps import Known, counted_by, place
from runlens.sources.console_text import Bar, Text, bar, first_stamp, split, stamp, tail
from runlens.sources.files import LFS, Unreadable, read_bytes
from runlens.sources.reading import SourceReading, as_number

LOOKS_FOR = "*.log, *.out, *.txt"
FRAMEWORK = "what a training printed: Trainer, TRL, axolotl, verl, Megatron, nanoGPT, ..."

MAX_LOG = 192 * 2**20  # bytes of one log that are read; each needs about ten in memory
HEAD = 48 * 2**20  # of them from the start of the file, the others from its end
SNIFFED = 65_536  # bytes at each end that are looked at before a file counts as a log
_NAME = re.compile(
    r".*\.(?:log|out|txt|err)(?:\.\d+)?$|nohup|std(?:out|err).*|console.*|.*_log$", re.IGNORECASE
)
_OTHER_TEXT = re.compile(
    r"requirements.*|readme.*|licen[cs]e.*|notice.*|vocab.*|merges.*|tokens?.*|added_tokens.*"
    r"|special_tokens.*|.*prompts?\.txt|changelog.*|version.*|debug-internal\.log|debug-core\.log"
    r"|diff\.patch|conda-environment.*|environment.*|packages.*|labels?\.txt|cmakelists\.txt",
    re.IGNORECASE,
)
_LOG = re.compile(
    rb"\{'loss'|'eval_loss'|\d%\|.{0,400}\|\s*\d+/\d+ \[|Traceback \(most recent call last\)"
    rb"|(?i:\b(?:step|iter(?:ation)?|epoch)s?\b.{0,80}(?:loss|reward|acc)|out of memory"
    rb"|\bloss\b['\"]?\s*[:=]\s*[-\d.]+|\| rollout/|\|\s*ep(?:isode)?[ _]re|s:\d+ trl:"
    rb"|train(?:ing)? loss"
    rb"|num of updates|Error: |Exception: |sigterm|\bKilled\b)"
)
_TRAINING_BAR = re.compile(r"\[rank ?\d+\]:?|train(?:ing)?|epochs?|steps?|iter\w*", re.IGNORECASE)

_TORN = re.compile(r"[-+]?[.\d][-+.,\deE]*$")


def find(place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the logs; in a directory only those that look like the log of a training."""
    files = [
        folder / name for folder, some in names.items() for name in some if _named(folder, name)
    ]
    if not place.is_dir():
        return files
    logs = [path for path in files if _looks_like_log(path)]
    first = [path for path in logs if path.name != "debug.log"]
    return first or logs  # axolotl's debug.log repeats what the console showed


def _named(folder: Path, name: str) -> bool:
    if not _NAME.fullmatch(name) or _OTHER_TEXT.fullmatch(name):
        return False
    return not (name == "debug.log" and "wandb" in folder.parts)


def _looks_like_log(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            head = handle.read(SNIFFED)
            size = handle.seek(0, 2)
            handle.seek(max(0, size - SNIFFED))
            ends = head + handle.read(SNIFFED)
    except OSError:
        return True  # reading it will say what is wrong
    return head.startswith(LFS) or _LOG.search(ends) is not None


def read(path: Path) -> SourceReading:
    """Read one console log."""
    reading = SourceReading(path, "console", precision="rounded")
    try:
        data, omitted = _text(path)
    except (Unreadable, OSError) as error:
        reading.problems.append(Problem(str(path), str(error), "the whole file"))
        return reading
    if omitted:
        what = f"is too long; {omitted / 2**20:.0f} MiB in its middle were not read"
        reading.problems.append(Problem(str(path), what, f"{omitted / 2**20:.0f} MiB"))
    take(reading, data, whole=not omitted)
    if not reading.series and not reading.events and not reading.hints.ended_step:
        what = "holds no training metric and no message that is known"
        reading.problems.append(Problem(str(path), what, "no metric"))
    return reading


def take(reading: SourceReading, data: bytes, *, whole: bool = True) -> None:
    """Fill a reading from the bytes of a console, wherever they stood.

    Where they are not the `whole` log, no line numbers are given.
    """
    text = split(data)
    _fill(reading, text if whole else text._replace(firsts=[]))


def _text(path: Path) -> tuple[bytes, int]:
    """Return the bytes of a log and how many were left out: the middle of a very long one."""
    data = read_bytes(path, MAX_LOG)
    if _binary(data):
        raise Unreadable("is no text")
    size = path.stat().st_size
    if len(data) < MAX_LOG or size <= MAX_LOG:
        return data, 0
    with path.open("rb") as handle:
        handle.seek(max(HEAD, size - (MAX_LOG - HEAD)))
        return data[:HEAD] + b"\n" + handle.read(MAX_LOG - HEAD), size - MAX_LOG


def _binary(data: bytes) -> bool:
    """Tell binary files by control characters; NULs alone occur in logs that were cut."""
    sample = data[:SNIFFED].replace(b"\0", b"")
    control = sum(sample.count(bytes([code])) for code in (*range(1, 7), *range(14, 27)))
    return not sample or control > 0.02 * len(sample)


def _fill(reading: SourceReading, text: Text) -> None:
    rows, bars, others = _sort(text.lines)
    reading.config = settings([line for _, line in others])
    run_bars = [item for item in bars if _of_training(item)]
    records, placed = _dict_rows(reading, rows, run_bars)
    if records:
        total = counted_by(rows, run_bars)
        run_bars = [item for item in run_bars if item.total == total]
    skipped: set[str] = set(NOT_METRICS)
    if not records:
        found = console_lines.read(*_without_torn_number(text.lines, others, bars))
        records, placed, skipped = found.records, found.placed, {"epoch"}
        run_bars = console_story.run_bars(run_bars, placed, records)
        reading.framework = found.framework
        if found.planned_steps:
            reading.hints.planned_steps = found.planned_steps
    reading.steps_inferred = placed.inferred
    if placed.doubt:
        reading.problems.append(Problem(str(reading.path), placed.doubt, "exact steps"))
    reading.framework = reading.framework or _framework(others, rows)
    times = _times(text, records)
    reading.series = table(records, placed, times, skipped, reading.framework)
    reading.started = first_stamp(text.lines)
    reading.log_tail = tail(text.lines)
    summaries = [item.record.at for item in rows if item.kind == "summary"]
    console_story.tell(reading, text, others, records, placed, run_bars, summaries)


def _sort(lines: list[str]) -> tuple[list[DictRow], list[Bar], list[tuple[int, str]]]:
    """Part the lines into rows, bars, and all others; what stands behind a bar counts as a line."""
    rows: list[DictRow] = []
    bars: list[Bar] = []
    others: list[tuple[int, str]] = []
    for at, whole in enumerate(lines):
        line = whole
        if ("%|" in line or "it [" in line) and (state := bar(at, line)):
            bars.append(state)
            line = state.rest
        if "{" in line and (found := row(at, line)):
            rows.append(found)
        elif line and not line.isspace():
            others.append((at, line))
    return rows, bars, others


def _without_torn_number(
    lines: list[str], others: list[tuple[int, str]], bars: list[Bar]
) -> tuple[list[tuple[int, str]], list[Bar]]:
    """Leave out the number with which a log breaks off: ``0.1`` may be the half of ``0.125``."""
    last = len(lines) - 1
    if others and others[-1][0] == last:
        others = [*others[:-1], (last, _TORN.sub("", others[-1][1]))]
    if bars and bars[-1].at == last and lines[last].endswith(bars[-1].postfix):  # no bracket
        bars = [*bars[:-1], bars[-1]._replace(postfix=_TORN.sub("", bars[-1].postfix))]
    return others, bars


def _of_training(item: Bar) -> bool:
    return item.total > 0 and "examples/s" not in item.postfix and _names_training(item.label)


@lru_cache(maxsize=4096)
def _names_training(label: str) -> bool:
    return not label.strip() or _TRAINING_BAR.match(label.strip()) is not None


def _dict_rows(
    reading: SourceReading, rows: list[DictRow], bars: list[Bar]
) -> tuple[list[Record], Placed]:
    """Give the dict rows their steps; the closing row is a hint, not a point."""
    rows = without_echoes(rows, bars)
    config = {key: as_number(reading.config.get(key)) for key in _KNOWN}
    reading.hints.summary = bool(rows) and any(item.kind == "summary" for item in rows[-3:])
    if config["planned_steps"]:
        reading.hints.planned_steps = int(config["planned_steps"])
    if config["num_train_epochs"] and config["num_train_epochs"] > 0:
        reading.hints.planned_epochs = config["num_train_epochs"]
    planned_epochs = config["num_train_epochs"] if not (config["max_steps"] or 0) > 0 else None
    planned = config["planned_steps"]
    known = Known(
        planned,
        planned_epochs,
        config["logging_steps"],
        config["num_examples"],
        config["total_train_batch_size"],
    )
    placed = place(rows, bars, known)
    kept = [number for number, item in enumerate(rows) if item.kind != "summary"]
    index = np.array(kept, dtype=np.int64)
    part = Placed(placed.step[index], placed.launch[index], placed.inferred, placed.doubt)
    return [rows[number].record for number in kept], part


_KNOWN = (
    "planned_steps",
    "num_train_epochs",
    "logging_steps",
    "max_steps",
    "num_examples",
    "total_train_batch_size",
)


def _times(text: Text, records: list[Record]) -> FloatArray:
    return np.fromiter(
        (stamp(text.lines[record.at]) for record in records), dtype=np.float64, count=len(records)
    )


def _framework(others: list[tuple[int, str]], rows: list[DictRow]) -> str:
    head = "\n".join(line for _, line in others[:400])
    if "axolotl" in head:
        return "axolotl"
    names = {name for item in rows[:50] for name in item.record.names}
    if names & {"num_updates", "train_num_updates"}:
        return "fairseq"
    return "transformers" if names & {"grad_norm", "learning_rate", "train_runtime"} else ""
