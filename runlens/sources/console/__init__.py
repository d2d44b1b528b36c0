"""Console logs: what a training printed, as ``train.log``, ``nohup.out``, ``slurm-123.out``...

A console log is the least exact source (rounded values, steps that stand in a progress bar) and
the only one that has the error messages. This module puts together what the modules beside it
read: lines and bars (`text`), dict rows (`dicts`), all other kinds of rows
(`lines`), exceptions, checkpoints and launches (`events`), settings
(`printed_settings`), and the table of messages (`messages`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np

from runlens.history import NOT_KNOWN, BoolArray, FloatArray, IntArray
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Problem
from runlens.sources import saved_numbers
from runlens.sources.console import story as console_story
from runlens.sources.console.bars import Bars
from runlens.sources.console.dict_rows import closings, dict_rows, framework_of
from runlens.sources.console.dicts import NOT_METRICS
from runlens.sources.console.excerpts import begins_at_start, is_excerpt, shown_whole
from runlens.sources.console.printed_settings import BANNER_KEYS, TOTAL_BATCH, settings
from runlens.sources.console.records import Placed, Records, table
from runlens.sources.console.rows import Epochs
from runlens.sources.console.scanner import scan
from runlens.sources.console.sorting import Sorted, sort
from runlens.sources.console.spans import Span, spans
from runlens.sources.console.steps import counted_by
from runlens.sources.console.telling import counts_episodes, says_output, telling, tells, titled
from runlens.sources.console.text import (
    Text,
    cleaned,
    first_stamp,
    from_notebook,
    stamp,
    tail,
    utf8,
)
from runlens.sources.console.twins import held_out, of_both_data, of_held_out
from runlens.sources.console.unstarted import never_began
from runlens.sources.files import LFS, Unreadable, read_bytes
from runlens.sources.reading import Hints, Series, SourceReading
from runlens.sources.tables.names import called_after
from runlens.sources.trainings import numbered
from runlens.wording import count

LOOKS_FOR = "*.log, *.out, *.txt, *.md, *.INFO, *loss*.dat"
FRAMEWORK = "what a training printed: Trainer, TRL, axolotl, verl, Megatron, nanoGPT, ..."

MAX_LOG = 192 * 2**20  # bytes of one log that are read; each needs about four in memory
HEAD = 48 * 2**20  # of them from the start of the file, the others from its end
MARKDOWN = ".md"
NOTEBOOK = ".ipynb"  # its pictures stand between what it printed
FEW_DICTS = 20  # rows of dicts beside which others are looked for: a run has more of its own
FEWEST_BARE = 5  # bare numbers from which they are a curve, whatever lies beside them
PASTED = 20  # rows from which Markdown is a log that was pasted, and no text with an example
SNIFFED = 65_536  # bytes at each end that are looked at before a file counts as a log
_NAME = lazy_re(
    r".*\.(?:log|out|txt|err|md)(?:\.\d+)?$|nohup|std(?:out|err).*|console.*|.*_log$|log"
    r"|.*\.(?-i:INFO)(?:\.\d{8}-\d{6}\.\d+)?|.*loss.*\.dat",  # glog's, as of Caffe; DeepXDE's
    re.IGNORECASE,
)
_WANDB_RUN = lazy_re(r"(?:offline-)?run-\d{8}_\d{6}-")  # its logs/debug.log is the client's own
_WANDB_CLIENT = lazy_re(rb"\[wandb_(?:setup|init|run)\.py:")  # what it begins with elsewhere
_OTHER_TEXT = lazy_re(
    r"requirements.*|readme.*|licen[cs]e.*|notice.*|vocab.*|merges.*|tokens?.*|added_tokens.*"
    r"|special_tokens.*|.*prompts?\.txt|changelog.*|version.*|debug-internal\.log|debug-core\.log"
    r"|diff\.patch|conda-environment.*|environment.*|packages.*|labels?\.txt|cmakelists\.txt",
    re.IGNORECASE,
)
_LOG = lazy_re(
    rb"\{'loss'|'eval_loss'|\d%\|.{0,400}\|\s*\d+/\d+ \[|Traceback \(most recent call last\)"
    rb"|(?i:\b(?:step|iter(?:ation)?|epoch)s?\b.{0,80}(?:loss|reward|acc)|out of memory"
    rb"|\bloss\b['\"]?\s*[:=]\s*[-\d.]+|\| rollout/|\|\s*ep(?:isode)?[ _]re|s:\d+ trl:"
    rb"|train(?:ing)? loss"
    rb"|num of updates|tokenization mismatch|Error: |Exception: |sigterm|\bKilled\b)"
)
# one update of a progress bar: text with an example shows a few of them, a log PASTED and more
_BAR = lazy_re(rb"\d/\d+ \[\d+:\d\d")


def find(place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the logs; in a directory only those that look like the log of a training."""
    files = [
        folder / name for folder, some in names.items() for name in some if _named(folder, name)
    ]
    if not place.is_dir():
        return [path for path in files if path.suffix.lower() != MARKDOWN]
    fewest = {MARKDOWN: PASTED}
    shows = (looks_like_log(path, fewest.get(path.suffix.lower(), 1)) for path in files)
    logs = [f for f, shown in zip(files, shows, strict=True) if shown or _console_of_wandb(f)]
    first = [path for path in logs if path.name != "debug.log"]
    return first or logs  # axolotl's debug.log repeats what the console showed


def _named(folder: Path, name: str) -> bool:
    if not _NAME.fullmatch(name) or _OTHER_TEXT.fullmatch(name):
        return False
    of_wandb = "wandb" in folder.parts or _WANDB_RUN.match(folder.parent.name)
    return not (name == "debug.log" and of_wandb)


def _console_of_wandb(path: Path) -> bool:
    """Whether W&B kept what a run printed here, whatever it was."""
    run = path.parent.parent.name
    return path.match("files/output.log") and _WANDB_RUN.match(run) is not None


def left_alone(names: Mapping[Path, list[str]]) -> list[Path]:
    """List the files that are what a run left where nothing else lies beside them.

    A few numbers of which only their names say what they are, ``loss.txt``, or that they are of
    both data; words that refused a program before it began; a text of results, or of one table.
    """
    may_be = saved_numbers.may_be
    named = (f / n for f, some in names.items() for n in some if _named(f, n) or may_be(f / n))
    one = sum(map(len, names.values())) == 1  # a user points at it
    files = [f for f in named if f.suffix != MARKDOWN or (one and shown_whole(f))]
    return [f for f in files if looks_like_log(f, 1, 1) or never_began(f) or of_both_data(f)]


def looks_like_log(path: Path, rows: int = 1, fewest: int = FEWEST_BARE) -> bool:
    """Whether the ends of a file look like those of the log of a training, with so many rows.

    Of bare numbers it takes the `fewest`; of 1, nothing else lies beside the file.
    """
    try:
        with path.open("rb") as handle:
            head = handle.read(MAX_LOG if path.suffix.lower() == NOTEBOOK else SNIFFED)
            size = handle.seek(0, 2)
            handle.seek(max(len(head), (size - SNIFFED) & ~1))  # whole characters of UTF-16
            end = handle.read()
    except OSError:
        return True  # reading it will say what is wrong
    if path.name == "debug.log" and _WANDB_CLIENT.search(head):
        return False
    end = utf8(head[:2] + end) if (text := utf8(head)) is not head else end
    ends = text + b"\n" * (size > 2 * SNIFFED) + end
    of_pickle = saved_numbers.text_of(path, head)
    fewest = 1 if of_pickle and b": " in of_pickle else fewest  # it has names
    ends = of_pickle or from_notebook(ends) or ends
    if rows == 1 and (head.startswith(LFS) or _LOG.search(ends)):
        return True
    if len(_BAR.findall(ends)) >= max(rows, PASTED):
        return True
    alone = fewest == 1 and says_output(path.stem, head)
    named = alone or of_pickle or tells(path.stem) or titled(ends)
    return _rows_in(path if named else Path(), ends, fewest) >= rows


def _rows_in(path: Path, data: bytes, fewest: int) -> int:
    """Return how many values of one metric come out of a part of a file.

    `path` is given where its name or its title says what its numbers are; `fewest` of such count.
    """
    if _binary(data):
        return 0
    part, log = SourceReading(path, "console"), sort(scan(cleaned(data)[0], numbered=False))
    series = _series(log, _measured(part, log))
    most = max((len(points.value) for points in series.values()), default=0)
    return 0 if part.problems and most < fewest else most


def read(path: Path) -> SourceReading:
    """Read one console log into one reading, whatever number of trainings it shows."""
    (reading,) = _read(path, _whole)
    return reading


def read_all(path: Path) -> list[SourceReading]:
    """Read one console log: a reading for each training in it.

    Where W&B kept the log of a run, its own record of that run lies beside it.
    """
    recorded = _console_of_wandb(path) and any(path.parent.parent.glob("*.wandb"))
    return _read(path, _whole if recorded else apart)


def _whole(reading: SourceReading, log: Sorted) -> list[SourceReading]:
    fill(reading, log)
    return [reading]


def _read(
    path: Path, parted: Callable[[SourceReading, Sorted], list[SourceReading]]
) -> list[SourceReading]:
    reading = SourceReading(path, "console", precision="rounded")
    try:
        data, omitted = _text(path)
    except (Unreadable, OSError) as error:
        reading.problems.append(Problem(str(path), str(error), "the whole file"))
        return [reading]
    if omitted:
        what = f"is too long; {omitted / 2**20:.0f} MiB in its middle were not read"
        reading.problems.append(Problem(str(path), what, f"{omitted / 2**20:.0f} MiB"))
    text, numbered = cleaned(data)
    first, *_ = parts = parted(reading, sort(scan(text, numbered=numbered and not omitted)))
    told = len(parts) > 1 or first.series or first.events or first.hints.ended_step
    if not told and not _console_of_wandb(path):
        what = "holds no training metric and no known error message"
        first.problems.append(Problem(str(path), what))
    return parts


def take(reading: SourceReading, data: bytes, *, whole: bool = True) -> None:
    """Fill a reading from the bytes of a console, wherever they stood.

    Where they are not the `whole` log, no line numbers are given.
    """
    text, numbered = cleaned(data)
    fill(reading, sort(scan(text, numbered=numbered and whole)))


def _text(path: Path) -> tuple[bytes, int]:
    """Return the bytes of a log and how many were left out: the middle of a very long one."""
    data = read_bytes(path, MAX_LOG)
    if data.startswith(saved_numbers.BEGINS):
        if (text := saved_numbers.as_text(data)) is None:
            raise Unreadable(saved_numbers.why_refused(data))
        return text, 0
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
    sample = utf8(data[:SNIFFED]).replace(b"\0", b"")
    control = sum(sample.count(bytes([code])) for code in (*range(1, 7), *range(14, 27)))
    return not sample or control > 0.02 * len(sample)


def fill(reading: SourceReading, log: Sorted) -> None:
    """Fill a reading from the lines of a console, whatever number of trainings it shows."""
    _tell(reading, log, _measured(reading, log), Span(0, len(log.text)))


def apart(reading: SourceReading, log: Sorted) -> list[SourceReading]:
    """Fill a reading for each training that a console shows; `reading` says what all share."""
    found = _measured(reading, log)
    training = found.placed.training
    if training is None or not training.any():
        _tell(reading, log, found, Span(0, len(log.text)))
        return [reading]
    parts = []
    for number, span in enumerate(spans(found.records.at, training, log.others, len(log.text))):
        kept = [] if number else list(reading.problems)
        part = replace(reading, hints=Hints(), series={}, events=[], problems=kept)
        own = settings([line for at, line in log.others if span.begin <= at < span.end])
        part.config = own or reading.config
        part.hints.followed = span.end < len(log.text)
        _tell(part, log, found.of(number), span)
        if span.unread:
            text = f"{count(span.unread, 'start')} right before it left no row"
            part.problems.append(Problem(str(reading.path), text))
        parts.append(part)
    return numbered(parts)


class _Measured(NamedTuple):
    """The rows of a log, and what they say about it; arrays of shape (n,)."""

    records: Records
    placed: Placed
    told: BoolArray  # whether a row may have told its time
    bars: Bars  # of the run
    skipped: frozenset[str]
    framework: str
    planned: tuple[int | None, ...]
    epochs: tuple[Epochs, ...]
    dicts: bool

    def of(self, number: int) -> Self:
        """Return what belongs to one training."""
        mine = self.placed.of(number)
        placed = self.placed.taken(mine)
        return self._replace(
            records=self.records.taken(mine),
            placed=placed._replace(launch=placed.launch - placed.launch[0]),
            told=self.told[mine],
            planned=self.planned[number : number + 1],
            epochs=self.epochs[number : number + 1],
        )


def _measured(reading: SourceReading, log: Sorted) -> _Measured:
    """Find the rows of a log; settings and plan go into the reading."""
    rows, bars = log.rows, log.bars
    reading.config = settings([line for _, line in log.others])
    reading.paths = dict.fromkeys((TOTAL_BATCH, *BANNER_KEYS.values()), "")  # worked out
    run_bars = bars.taken(bars.training)
    records, placed = dict_rows(reading, rows, run_bars, log.others)
    if len(records) and not _beside_lines(records, log):
        total = counted_by(rows.records.at[rows.are("train")], run_bars)
        run_bars = run_bars.taken(run_bars.total == total)
        told, skipped = log.told[records.at], frozenset(NOT_METRICS)
        framework = framework_of(log.others, rows)
        return _Measured(records, placed, told, run_bars, skipped, framework, (), (), dicts=True)
    from runlens.sources.console.bare import named_by_file  # 25 modules, of no use to dicts
    from runlens.sources.console.last_launch import rows_of
    from runlens.sources.console.torn import without_torn_number

    others, states = without_torn_number(log)
    found, problem = rows_of(others, states, reading.path)
    found = found if found.records else closings(rows)
    reading.problems += problem
    found = found._replace(records=named_by_file(found.records, called_after(reading.path.stem)))
    if prefix := of_held_out(reading.path, found.records):
        found = found._replace(records=[held_out(record, prefix) for record in found.records])
    records, placed = Records.of(found.records), found.placed
    reading.of_agent = counts_episodes(log.text, records.at)
    told = np.ones(len(records), dtype=np.bool_)
    run_bars = console_story.run_bars(run_bars, placed, records)
    framework = found.framework or framework_of(log.others, rows)
    skipped = frozenset(("epoch",))
    return _Measured(
        records,
        placed,
        told,
        run_bars,
        skipped,
        framework,
        found.planned,
        found.epochs,
        dicts=False,
    )


def _beside_lines(records: Records, log: Sorted) -> bool:
    """Whether a few dicts stand in a log whose rows are lines: ``meta: {'iteration': 23, ...}``."""
    if len(records) > FEW_DICTS or len(log.others) <= len(records):
        return False
    from runlens.sources.console import lines

    found = lines.read(log.others, ())
    dicts = sum(sum(map(tells, some.names)) * len(some.number) for some in records.layouts)
    return len(found.records) > len(records) and telling(r.names for r in found.records) > dicts


def _tell(reading: SourceReading, log: Sorted, found: _Measured, span: Span) -> None:
    """Fill a reading from the rows of one training and from its lines."""
    records, placed = found.records, found.placed
    planned = next((steps for steps in found.planned if steps), None)
    if planned:
        reading.hints.planned_steps = planned
    for done, epochs, _ in found.epochs[:1]:
        reading.hints.done_epochs = done
        reading.hints.planned_epochs = epochs
    reading.steps_inferred = placed.inferred
    if placed.doubt:
        reading.problems.append(Problem(str(reading.path), placed.doubt, "the exact step numbers"))
    reading.framework = found.framework
    reading.series = _series(log, found)
    reading.started = first_stamp(log.text, span.begin, span.end)
    reading.log_tail = tail(log.text, log.bare, span.begin, span.end)
    at = log.rows.records.at
    summary = log.rows.are("summary")[(at >= span.begin) & (at < span.end)]
    reading.hints.summary = bool(summary[-3:].any())
    summaries = at[(at >= span.begin) & (at < span.end)][summary]
    others = log.others
    if span.begin or span.end < len(log.text):
        others = [item for item in others if span.begin <= item[0] < span.end]
    bars = found.bars.between(span.begin - 1, span.end)
    if not (reading.hints.planned_epochs or planned or found.dicts):
        from runlens.sources.console.plans import steps_above, tell_plan

        near = log.bars.between(span.begin - 1, span.end)
        bars = tell_plan(reading.hints, records.at, others, near, bars)
        if reading.hints.planned_epochs == 1 and found.epochs and found.epochs[0].batches > 0:
            reading.hints.done_epochs = found.epochs[0].done  # its batches say how much of it
            reading.hints.planned_steps = found.epochs[0].batches
        if not (reading.hints.planned_steps or len(bars)):
            reading.hints.planned_steps = steps_above(records, placed, others, near)
    reading.hints.excerpt = is_excerpt(log, records.at, span)
    reading.hints.from_start = begins_at_start(reading)
    console_story.tell(reading, log.text, others, records, placed, bars, summaries.tolist())


def _series(log: Sorted, found: _Measured) -> dict[str, Series]:
    times = _times(log.text, found.records.at, found.told)
    return table(found.records, found.placed, times, found.skipped, found.framework)


def _times(text: Text, at: IntArray, told: BoolArray) -> FloatArray:
    """Return when the lines `at` were printed, NaN but for those that may have told it."""
    times = np.full(len(at), NOT_KNOWN)
    times[told] = [stamp(text.line(line)) for line in at[told].tolist()]
    return times
