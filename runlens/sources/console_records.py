"""What the dialects of console logs have in common: records, and series made of them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from runlens.history import NOT_KNOWN, FloatArray, IntArray
from runlens.metrics import naming
from runlens.sources.reading import Series, as_number

MAX_STEP = 10**15


class Record(NamedTuple):
    """Named numbers that were printed together."""

    at: int  # index of the line
    names: tuple[str, ...]
    values: tuple[str | float, ...]
    epoch: float = NOT_KNOWN


class Placed(NamedTuple):
    """Where the records of a log stand in the run; arrays of shape (number of records,)."""

    step: IntArray
    launch: IntArray
    inferred: bool = False
    doubt: str = ""  # for the user, where the steps were concluded from little


def table(
    records: Sequence[Record],
    placed: Placed,
    time: FloatArray,
    skipped: Iterable[str] = (),
    framework: str = "",
) -> dict[str, Series]:
    """Make series of records, one a name; `time` has shape (number of records,).

    Of two names that mean the same metric the one with fewer points is left out: a log that
    prints ``loss`` each step and ``train loss`` each epoch would have two values for one step.
    """
    columns = _columns(records, frozenset(skipped))
    epochs = np.array([record.epoch for record in records], dtype=np.float64)
    series = {}
    for name, (rows, values) in columns.items():
        number = np.array(rows, dtype=np.int64)
        order = np.argsort(number, kind="stable")
        number = number[order]
        series[name] = Series(
            placed.step[number], values[order], epochs[number], time[number], placed.launch[number]
        )
    return _without_doubles(series, framework)


def _columns(
    records: Sequence[Record], skipped: frozenset[str]
) -> dict[str, tuple[list[int], FloatArray]]:
    """Turn rows into columns, rows of one layout at a time; numpy would do it row by row."""
    layouts: dict[tuple[str, ...], tuple[list[int], list[tuple[str | float, ...]]]] = {}
    for number, record in enumerate(records):
        rows, values = layouts.setdefault(record.names, ([], []))
        rows.append(number)
        values.append(record.values)
    parts: dict[str, list[tuple[list[int], FloatArray]]] = {}
    for names, (rows, values) in layouts.items():
        for name, column in dict(zip(names, zip(*values, strict=True), strict=True)).items():
            if name not in skipped:
                parts.setdefault(name, []).append((rows, _floats(column)))
    return {
        name: ([n for rows, _ in some for n in rows], np.concatenate([v for _, v in some]))
        for name, some in parts.items()
    }


def _floats(column: Sequence[str | float]) -> FloatArray:
    try:
        return np.fromiter(map(float, column), dtype=np.float64, count=len(column))
    except ValueError:
        numbers = (as_number(item) for item in column)
        return np.array([NOT_KNOWN if n is None else n for n in numbers], dtype=np.float64)


def _without_doubles(series: dict[str, Series], framework: str) -> dict[str, Series]:
    best: dict[str, str] = {}
    for name, points in series.items():
        metric = naming(name, framework).metric
        rival = best.get(metric)
        if rival is None or len(points.step) > len(series[rival].step):
            best[metric] = name
    return {name: series[name] for name in series if best[naming(name, framework).metric] == name}


def launches(steps: IntArray, groups: Sequence[object], slack: int = 0) -> IntArray:
    """Give each record its launch: a new one begins where the step of its group falls back.

    `groups` has one entry a record; records of different groups (training, evaluation) may be
    printed out of order. Rows that fall back by at most `slack` steps are no new launch (ranks).
    """
    number = 0
    highest: dict[object, int] = {}
    found = np.zeros(len(steps), dtype=np.int64)
    for row, (step, group) in enumerate(zip(steps.tolist(), groups, strict=True)):
        last = highest.get(group)
        if last is not None and step < last - slack:
            number += 1
            highest = {}
        highest[group] = step if last is None or number else max(step, last)
        found[row] = number
    return found
