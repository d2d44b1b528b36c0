"""From what a run logged to W&B to series by step, whether it lay in a folder or on a server."""

import re
from collections.abc import Mapping

import numpy as np

from runlens.arrays import median
from runlens.metrics import naming
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Problem
from runlens.sources.reading import Series, SourceReading, series
from runlens.sources.wandb_dir.history import ROW_COUNTER, History
from runlens.sources.wandb_dir.rows import Column, without_nulls

# The closing row of the Trainer: means over the whole run, no points of a curve.
CLOSING = "train_runtime"
OF_CLOSING = lazy_re(r"(?:train/)?(?:train_(?:loss|runtime|\w+_per_second)|total_flos)")
# Up to 0.28.1 a NaN of a numpy float32 or float16 was written as null.
NULL_IS_NULL_SINCE = (0, 28, 2)
NEVER_NONE = {"train_loss", "eval_loss", "grad_norm"}  # so that null can only be NaN there

Stats = list[tuple[float, list[tuple[str, float]]]]  # system metrics by time


class Logged(NamedTuple):
    """The rows of a run as columns, and what is needed to understand them."""

    rows: int
    columns: Mapping[str, Column]
    declared: Mapping[str, str]  # step metric by name or glob
    stats: Stats
    sdk: str  # the client's version
    closing: int | None  # rows before the Trainer's closing row came into the summary


def take_history(logged: Logged, reading: SourceReading) -> None:
    """Fill a reading with the metrics and system metrics of a run, each by its step."""
    columns = dict(logged.columns)
    closing = _drop_closing(columns)
    if logged.closing is not None:
        closing = logged.closing - 1
    columns = _without_nulls(columns, logged.sdk, reading)
    history = History(logged.rows, columns, logged.declared)
    reading.series = history.series()
    steps, launches = history.axis(history.main)
    hints = reading.hints
    if len(steps):
        hints.ended_step = int(steps[-1])
        # a later training of the same run need not have come to its end
        hints.summary = closing is not None and bool(launches[closing] == launches[-1])
        counted = history.main == ROW_COUNTER and bool((np.diff(steps) == 1).all())
        reading.steps_inferred = counted and len(steps) > 1
        hints.done_steps = None if counted else hints.ended_step
    else:
        hints.summary = closing is not None
    reading.series |= _system(logged.stats, history)


def _drop_closing(columns: dict[str, Column]) -> int | None:
    """Take the closing row of the Trainer out of the columns and return its number."""
    marks = [columns[name].row for name in (f"train/{CLOSING}", CLOSING) if name in columns]
    rows = np.concatenate(marks) if marks else np.array([], dtype=np.int64)
    for name in filter(OF_CLOSING.fullmatch, list(columns)):
        kept = ~np.isin(columns[name].row, rows)
        columns[name] = Column._make(values[kept] for values in columns[name])
    return int(rows[-1]) if len(rows) else None


def _without_nulls(
    columns: dict[str, Column], sdk: str, reading: SourceReading
) -> dict[str, Column]:
    """Leave out nulls (None was logged), but where they can only be NaN."""
    version = tuple(int(part) for part in re.findall(r"\d+", sdk)[:3])
    found = {}
    for name, column in columns.items():
        nan = version < NULL_IS_NULL_SINCE and naming(name).metric in NEVER_NONE
        found[name] = without_nulls(column, kept=nan)
        if taken := int(found[name].null.sum()):
            text = f"null of {name} is taken for NaN: wandb {sdk or 'of old'} writes numpy's NaN so"
            reading.problems.append(Problem(str(reading.path), text, f"{taken} values"))
    return {name: column for name, column in found.items() if len(column.row)}


def _system(stats: Stats, history: History) -> dict[str, Series]:
    """Return the system metrics that are kept, at the step of the history row before each.

    Those before the first row stand at 0, or at the first row where a run was resumed there.
    ``system/heartbeat`` is 1 at each time: it goes on while a run hangs.
    """
    times: dict[str, tuple[list[float], list[float]]] = {}
    for time, found in stats:
        for name, number in (("heartbeat", 1.0), *found):
            rows = times.setdefault(f"system/{name}", ([], []))
            rows[0].append(time)
            rows[1].append(number)
    axis = history.axis(history.main)
    clock = np.maximum.accumulate(np.nan_to_num(history.clock, nan=0.0))
    resumed = len(axis.step) > 1 and axis.step[0] > median(np.diff(axis.step))
    begin = axis.step[0] if resumed else 0
    found_series = {}
    for name, (when, value) in times.items():
        before = np.searchsorted(clock, when, side="right")  # 0: no row yet
        step = np.concatenate([[begin], axis.step])[before]
        launch = np.concatenate([[0], axis.launch])[before]
        found_series[name] = series(step, value, time=when, launch=launch)
    return found_series
