"""The history of a W&B run by optimizer step: what in its rows is the step.

W&B's own ``_step`` counts calls of ``log()``; the optimizer step is a metric like any other. It
is taken from the step metric that ``define_metric`` names, else from a metric with one of the
usual names that goes on as a step does, else from ``_step``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from runlens.history import NOT_KNOWN, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.sources.reading import MAX_STEP, Series
from runlens.sources.wandb_dir.rows import Column

ROW_COUNTER, CLOCK = "_step", "_timestamp"
# Metrics that are the step by their name. These may go back, where several trainings or a resume
# are in one run; the others may count inside an epoch and are the step only if they never do.
RESTARTS_ALLOWED = (
    "train/global_step",
    "trainer/global_step",
    "training/global_step",
    "global_step",
)
STEP_NAMES = (*RESTARTS_ALLOWED, "step", "iter", "iteration")
EPOCH_NAMES = ("train/epoch", "epoch")
# rows of TRL's own for its timings: many to a step, and nothing of the training is in them
SKIPPED = ("_", "profiling/")
MOVES = 0.5  # least share of a metric's points at which its step moves on
RESTARTS = 0.1  # largest share at which it goes back


class Axis(NamedTuple):
    """The step of every history row, and the launch it belongs to; arrays of shape (rows,)."""

    step: IntArray
    launch: IntArray


@dataclass
class History:
    """The columns of a run with their steps and times. `declared`: step metrics by name or glob."""

    rows: int
    columns: Mapping[str, Column]
    declared: Mapping[str, str]
    main: str = ROW_COUNTER  # the step of most points
    _axes: dict[str, Axis | None] = field(default_factory=dict)

    def series(self) -> dict[str, Series]:
        """Return the metrics as series; what served as a step is none of them."""
        time = self._spread(CLOCK)
        epoch = self._spread(*EPOCH_NAMES)
        names = [name for name in self.columns if name and not name.startswith(SKIPPED)]
        counters = {*STEP_NAMES, *self.declared.values()} - set(EPOCH_NAMES)
        chosen = {name: self._step_of(name) for name in names if name not in counters}
        points: dict[str, int] = {}
        for name, step in chosen.items():
            points[step] = points.get(step, 0) + len(self.columns[name].row)
        self.main = max(points, key=points.__getitem__, default=self._step_of())
        for name in counters.intersection(names) - points.keys():
            chosen[name] = self.main
        for name in [name for name, step in chosen.items() if step == ROW_COUNTER]:
            # several rows a step, as evaluations make: they do name their step
            if self._named(self.columns[name]):
                chosen[name] = self.main
        found: dict[str, Series] = {}
        last: _Rows | None = None
        for name, step in chosen.items():
            column = self.columns[name]
            if last is None or last.by != step or not np.array_equal(last.row, column.row):
                last = _rows(step, column.row, self.axis(step), epoch, time)
            found[name] = _series(column.value, last)
        return found

    @property
    def clock(self) -> FloatArray:
        """The time of each row in seconds since 1970, shape (rows,); NaN where unknown."""
        return self._spread(CLOCK)

    def axis(self, name: str) -> Axis:
        """Return the steps by one key; by the row's number where it is none."""
        if name not in self._axes:
            self._axes[name] = self._axis(name)
        axis = self._axes[name]
        if axis is None:
            return Axis(np.arange(self.rows), np.zeros(self.rows, dtype=np.int64))
        return axis

    def _axis(self, name: str) -> Axis | None:
        """Rows without the key are at the step of the row before them; at first, 0."""
        column = self.columns.get(name)
        if column is None:
            return None
        value = column.value
        if not ((value >= 0) & (value < MAX_STEP) & (np.floor(value) == value)).all():
            return None
        known = np.zeros(self.rows, dtype=np.int64)
        known[column.row] = np.arange(1, len(column.row) + 1)
        step = np.concatenate([[0], value.astype(np.int64)])[np.maximum.accumulate(known)]
        return Axis(step, np.cumsum(np.diff(step, prepend=0) < 0))

    def _step_of(self, name: str = ROW_COUNTER) -> str:
        for candidate in self._candidates(name):
            by = self.columns.get(candidate)
            if by is not None and self._fits(candidate, self.columns.get(name, by)):
                return candidate
        return ROW_COUNTER

    def _named(self, column: Column) -> bool:
        """Whether all rows of a metric hold the step of most points."""
        main = self.columns.get(self.main)
        return main is not None and bool(np.isin(column.row, main.row).all())

    def _candidates(self, name: str) -> Iterator[str]:
        """Yield the step metric declared for a name, the most exact first; then the usual ones."""
        globs = [g for g in self.declared if g.endswith("*") and name.startswith(g[:-1])]
        for pattern in (name, *sorted(globs, key=len, reverse=True)):
            step = self.declared.get(pattern, "")
            if step and step.rpartition("/")[2] not in {"epoch", "epochs"}:
                yield step
        yield from STEP_NAMES

    def _fits(self, candidate: str, column: Column) -> bool:
        """Whether a metric's points move on by this step, as optimizer steps do."""
        axis = self.axis(candidate)
        if self._axes[candidate] is None:
            return False
        moves = np.diff(axis.step[column.row])
        again = (moves == 0) & (column.value[1:] == column.value[:-1])  # says nothing new
        moves = moves[~again]
        counts_in_epochs = candidate in STEP_NAMES and candidate not in RESTARTS_ALLOWED
        back = int(np.count_nonzero(moves < 0))
        allowed = 0 if counts_in_epochs else RESTARTS * len(moves)
        moved = int(np.count_nonzero(moves))
        return back <= allowed and moved >= MOVES * len(moves)

    def _spread(self, *names: str) -> FloatArray:
        """Return a value for each row, shape (rows,), from the first key that exists."""
        spread = np.full(self.rows, NOT_KNOWN)
        for name in names:
            if name in self.columns:
                spread[self.columns[name].row] = self.columns[name].value
                break
        return spread


class _Rows(NamedTuple):
    """What a series has besides its values, shared by all metrics of the same rows."""

    by: str  # the step metric
    row: IntArray
    step: IntArray
    epoch: FloatArray
    time: FloatArray
    launch: IntArray


def _rows(by: str, row: IntArray, axis: Axis, epoch: FloatArray, time: FloatArray) -> _Rows:
    shared = (axis.step[row], epoch[row], time[row], axis.launch[row])
    for one in shared:
        one.flags.writeable = False
    return _Rows(by, row, *shared)


def _series(value: FloatArray, at: _Rows) -> Series:
    """Make a series; what a row says again at the same step is no second observation."""
    new = (np.diff(at.step, prepend=-1) != 0) | (np.diff(at.launch, prepend=-1) != 0)
    if new.all():
        return Series(at.step, value, at.epoch, at.time, at.launch)
    new[1:] |= (value[1:] != value[:-1]) & ~(np.isnan(value[1:]) & np.isnan(value[:-1]))
    return Series(at.step[new], value[new], at.epoch[new], at.time[new], at.launch[new])
