"""Rows that are no dicts: ``iter 10: loss 2.1, time 35.10ms``, ``step:12 - actor/entropy:0.3``...

One parser for all: a line with a counter (step, iteration, update, epoch) and named numbers, of
which at least one has a name such as loss, reward, accuracy or learning rate. Where that cannot
be right a framework has its own few lines below. A layout counts only if it occurs twice:
numbers in ordinary prose are no metrics.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from runlens.history import NOT_KNOWN, IntArray
from runlens.sources.console_pairs import ANCHOR, NUMBER, pairs
from runlens.sources.console_postfix import Reached, from_bars
from runlens.sources.console_records import MAX_STEP, Placed, Record, launches
from runlens.sources.console_tables import from_tables, from_tensors
from runlens.sources.console_text import Bar

MAX_WIDTH = 20_000  # characters of one row; verl prints some thousand
CROWD = 3  # rows without a counter in a row that are no summaries of an epoch
ONCE_AN_EPOCH = 1.5  # rows an epoch up to which the epoch is taken for the step

_PREFIX = re.compile(
    r"\s+|\((?:[\w. ]+ )?pid=\d+[^)]*\)|\[(?![^\]]*\d+/\d+)"
    r"(?!(?i:epoch|step|iter|batch))[^\]]{0,80}\]"
    r"|\(\w+\.py:? ?\d*\)|\d{4}-\d\d-\d\d[ T][\d:.,]+|\d\d/\d\d/\d{4} [\d:]+"
    r"|(?:INFO|WARNING|DEBUG|ERROR)(?::[\w.]*:|\b:?)|[\w.]+(?= - )|[-|>*#:]+(?=\s)|rank ?\d+:?"
    r"|\w+\.py:\d+\]?",
)
_OF = r"(?:\s*(?:/|of)\s*(\d+))?"
_BATCHES = re.compile(  # epoch e of E, batch n of N
    r"(?:train(?:ing)?[ :]*)?epoch[: ]*\[?\s*(\d+)" + _OF + r"\]?[\s,:|\-]*"
    r"(?:(?:step|batch|iter(?:ation)?)s?[: ]*)?[\[(]\s*(\d+)\s*/\s*(\d+)(?:\s*\(\d+%\))?[\])]"
    r"|train: \[(\d+)/(\d+)\]\[\s*(\d+)/(\d+)\]"
    r"|epoch[: ]*\[?\s*(\d+)"
    + _OF
    + r"\]?[\s,:|\-]*(?:step|batch|iter(?:ation)?)s?[: ]+\[?(\d+)"
    + _OF,
    re.IGNORECASE,
)
_STEP = re.compile(
    r"\[?(?:global[_ ]?|train(?:ing)?[_ ]?)?(?:steps?|iter(?:ation)?s?|updates?|num[_ ]updates"
    r"|it|s|validation loss at iteration)(?:\s*[:=#]\s*|\s+|\s*\[)(\d+)"
    + _OF
    + r"\]?(?![\d.]*[a-z%\d])",
    re.IGNORECASE,
)
_EPOCH = re.compile(
    r"\[?(?:train(?:ing)? |end of )?(?:epoch|ep|episode)s?\s*[:=#\[]?\s*(\d+)"
    + _OF
    + r"\]?(?![\d.]*\d)"
    r"|train: \[(\d+)/(\d+)\]",
    re.IGNORECASE,
)
_LATER_STEP = re.compile(r"\b(?:global_)?step\s*[:=]\s*(\d+)\b")
_BARE_EPOCH = re.compile(
    r"^\W*(?:start(?:ing)? )?epoch\W{0,3}(\d+)(?:\s*(?:/|of)\s*(\d+))?\b", re.IGNORECASE
)
_LABELLED = re.compile(
    r"^\W*(?:train|training|val|valid|validation|test|eval)\w*\.?[ _](?:loss|acc)", re.IGNORECASE
)
_LIGHTNING = re.compile(
    r"Epoch (\d{1,9}), global step (\d{1,15}): '?([\w/]+)'? (?:reached ("
    + NUMBER
    + r")|was not in)"
)


class Counted(NamedTuple):
    """A line with its counter; what is not in it is -1."""

    step: int
    steps: int  # planned
    epoch: int
    epochs: int
    batch: int
    batches: int
    rest: str


class Row(NamedTuple):
    """A line with its counter and its numbers."""

    at: int
    counted: Counted
    names: tuple[str, ...]
    values: tuple[float, ...]


class Found(NamedTuple):
    """What the lines of a log give."""

    records: list[Record]
    placed: Placed
    framework: str = ""
    planned_steps: int | None = None


def read(others: Sequence[tuple[int, str]], bars: Sequence[Bar]) -> Found:
    """Read the metrics of a log that has no dict rows."""
    reached = [
        Reached(at, int(found[1]), int(found[2]), found[3], float(found[4] or NOT_KNOWN))
        for at, line in others
        if "global step" in line and (found := _LIGHTNING.search(line))
    ]
    rows = [] if reached else _known_layouts(list(_rows(others)))
    if rows:
        return _found(rows)
    for records, framework in (
        from_tables(others),
        (from_bars(bars, reached), "lightning" if reached else ""),
        (from_tensors(others), ""),
    ):
        if len(records) > 1:
            steps = np.array([step for step, _ in records], dtype=np.int64)
            some = [record for _, record in records]
            launch = launches(steps, [record.names for record in some])
            return Found(some, Placed(steps, launch, framework == ""), framework)
    nothing = np.zeros(0, dtype=np.int64)
    return Found([], Placed(nothing, nothing))


def _rows(others: Sequence[tuple[int, str]]) -> Iterator[Row]:
    epoch = epochs = -1
    for at, line in others:
        if len(line) > MAX_WIDTH or not any(mark in line for mark in "0123456789"):
            continue
        if header := _BARE_EPOCH.match(line):
            epoch, epochs = _whole(header[1]), _whole(header[2])
        if not ANCHOR.search(line):
            continue
        if counted := _counted(line):
            names, values = pairs(counted.rest)
            if names:
                yield Row(at, counted, names, values)
        elif epoch >= 0 and _LABELLED.match(line):
            names, values = pairs(line)
            yield Row(at, Counted(-1, -1, epoch, epochs, -1, -1, ""), names, values)


def _counted(line: str) -> Counted | None:
    """Find the counter at the start of a line, behind time stamps, levels and processes."""
    start = 0
    for _ in range(12):
        prefix = _PREFIX.match(line, start)
        if not prefix or prefix.end() == start:
            break
        start = prefix.end()
    if found := _BATCHES.match(line, start):
        epoch, epochs, batch, batches = next(
            found.group(n, n + 1, n + 2, n + 3) for n in (1, 5, 9) if found[n]
        )
        return Counted(
            -1,
            -1,
            _whole(epoch),
            _whole(epochs),
            _whole(batch),
            _whole(batches),
            line[found.end() :],
        )
    if found := _STEP.match(line, start):
        return Counted(_whole(found[1]), _whole(found[2]), -1, -1, -1, -1, line[found.end() :])
    if found := _EPOCH.match(line, start):
        epoch, epochs = (found[1], found[2]) if found[1] else (found[3], found[4])
        rest = line[found.end() :]
        if later := _LATER_STEP.search(rest):
            return Counted(_whole(later[1]), -1, _whole(epoch), _whole(epochs), -1, -1, rest)
        return Counted(-1, -1, _whole(epoch), _whole(epochs), -1, -1, rest)
    if later := _LATER_STEP.search(line, start):
        return Counted(_whole(later[1]), -1, -1, -1, -1, -1, line[start:])
    return None


def _whole(text: str | None) -> int:
    return int(text) if text and len(text) < 16 and int(text) < MAX_STEP else -1  # noqa: PLR2004 - more digits are no step


def _known_layouts(rows: list[Row]) -> list[Row]:
    """Keep the rows whose layout occurs more than once; and single ones of the same counter."""
    layouts = Counter(row.names for row in rows)
    kept = [row for row in rows if layouts[row.names] > 1]
    if not kept:
        return []
    return [row for row in rows if layouts[row.names] > 1 or _alike(row.counted, kept[0].counted)]


def _alike(some: Counted, other: Counted) -> bool:
    return (some.step >= 0) == (other.step >= 0) and (some.batch >= 0) == (other.batch >= 0)


def _found(rows: list[Row]) -> Found:
    framework = _framework(rows)
    rows = _renamed(rows, framework)
    step, inferred, doubt = _steps(rows)
    launch = launches(step, [row.names for row in rows], _jitter(step))
    records = [Record(row.at, row.names, row.values, _epoch(row.counted)) for row in rows]
    planned = [_planned(row.counted) for row in rows]
    return Found(
        records,
        Placed(step, launch, inferred, doubt),
        framework,
        next((number for number in reversed(planned) if number > 0), None),
    )


def _jitter(step: IntArray) -> int:
    """Return how far ranks that print on their own may fall back: one interval."""
    gaps = np.diff(step)
    gaps = gaps[gaps > 0]
    return int(np.median(gaps)) if len(gaps) else 0


def _planned(counted: Counted) -> int:
    if counted.batches > 0 and counted.epochs > 0:
        return counted.batches * counted.epochs
    return counted.steps


def _epoch(counted: Counted) -> float:
    if counted.epoch < 0:
        return NOT_KNOWN
    if counted.batches > 0 and counted.epochs > 0:  # counted from 1
        return counted.epoch - 1 + counted.batch / counted.batches
    return float(counted.epoch)


def _steps(
    rows: list[Row],
) -> tuple[IntArray, bool, str]:
    """Return the step of each row, shape (n,), whether it was concluded, and a doubt."""
    explicit = [row.counted.step >= 0 for row in rows]
    if all(explicit):
        return np.array([row.counted.step for row in rows], dtype=np.int64), False, ""
    if any(explicit) or any(row.counted.batch >= 0 for row in rows):
        return np.array(_carried(rows), dtype=np.int64), True, ""
    epochs = [row.counted.epoch for row in rows]
    layouts = Counter((row.names, row.counted.epoch) for row in rows)
    mean = sum(layouts.values()) / len(layouts)
    if mean <= ONCE_AN_EPOCH:
        return np.array(epochs, dtype=np.int64), True, "its rows name epochs, no steps"
    counts: Counter[tuple[str, ...]] = Counter()
    numbers = []
    for row in rows:
        counts[row.names] += 1
        numbers.append(counts[row.names])
    doubt = "its rows name no step: they were counted"
    return np.array(numbers, dtype=np.int64), True, doubt


def _carried(rows: list[Row]) -> list[int]:
    """Count batches on over the epochs; a row with no counter of its own has the last step.

    Where many rows without a counter stand between two with a step they share the way evenly.
    """
    batches = max(max(row.counted.batches, row.counted.batch) for row in rows)
    first = min((row.counted.epoch for row in rows if row.counted.epoch >= 0), default=0)
    step = 0
    steps: list[int] = []
    waiting = 0
    for row in rows:
        counted = row.counted
        if counted.step >= 0:
            if waiting >= CROWD and counted.step > step:
                way = [step + (n + 1) * (counted.step - step) // waiting for n in range(waiting)]
                steps[-waiting:] = way
            step = counted.step
        elif counted.batch >= 0:
            whole = counted.batches if counted.batches > 0 else batches
            step = max(0, counted.epoch - first) * whole + counted.batch
        waiting = waiting + 1 if counted.step < 0 and counted.batch < 0 else 0
        steps.append(step)
    return steps


def _framework(rows: list[Row]) -> str:
    names = {name for row in rows[:200] for name in row.names}
    if "lm loss" in names and names & {"consumed samples", "loss scale", "global batch size"}:
        return "megatron"
    if any(name.startswith(("actor/", "critic/")) for name in names):
        return "verl"
    if {"train loss", "val loss"} <= names and "loss" in names:
        return "nanogpt"
    if {"loss", "mfu", "time_ms"} <= names:
        return "nanogpt"
    return ""


# names that are wrong as they stand, because the same word means something else elsewhere
_RENAMED = {
    "nanogpt": {"train loss": "eval_train_loss", "val loss": "val_loss", "time_ms": "dt_ms"},
    "megatron": {"lm loss value": "lm loss validation", "lm loss PPL": "validation ppl"},
}
_LLM_C = {"trl": "train_loss", "tel": "val_loss"}


def _renamed(rows: list[Row], framework: str) -> list[Row]:
    names = _RENAMED.get(framework, {}) | _LLM_C
    unknown_mfu = framework == "nanogpt"
    renamed = []
    for row in rows:
        kept = [
            (names.get(name, name), value)
            for name, value in zip(row.names, row.values, strict=True)
            if not (unknown_mfu and name == "mfu" and value < 0)  # -100 %: not known yet
        ]
        renamed.append(
            row._replace(names=tuple(name for name, _ in kept), values=tuple(v for _, v in kept))
        )
    return renamed
