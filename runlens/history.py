"""A run's metric values: kept as columns, handed out as curves.

Long, one row an observation, not one wide row a step: in a wide table "not logged at this
step" and "logged as NaN" are the same empty cell, and the second one is a finding.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from msgspec import Struct

from runlens.arrays import unique
from runlens.records import NamedTuple

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

# numpy.typing.NDArray, without an import of it
FloatArray = np.ndarray[Any, np.dtype[np.float64]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
SmallIntArray = np.ndarray[Any, np.dtype[np.int16]]
BitsArray = np.ndarray[Any, np.dtype[np.uint64]]
ByteArray = np.ndarray[Any, np.dtype[np.uint8]]

Whole = TypeVar("Whole", bound=np.integer[Any])

NOT_KNOWN = float("nan")
MOST_POINTS = 5_000  # of a curve on a page


class Observation(NamedTuple):
    """One logged number."""

    metric: str  # canonical where known
    step: int  # optimizer step, never the logging index
    value: float  # NaN and infinities kept
    epoch: float = NOT_KNOWN
    time: float = NOT_KNOWN  # seconds since 1970
    segment: int = 0  # launch number; a resume starts the next
    source: str = ""  # the file it came from


class Curve(Struct, frozen=True, eq=False):
    """One metric of one run, by step. All arrays have shape (n,)."""

    step: IntArray
    value: FloatArray
    epoch: FloatArray
    time: FloatArray

    def __len__(self) -> int:
        return len(self.step)

    def at(self, points: slice | BoolArray | IntArray) -> "Curve":
        """Return some of the points: a slice (views), a mask of shape (n,), or indices."""
        if not isinstance(points, slice) and points.dtype == np.bool_ and points.all():
            return self
        return Curve(self.step[points], self.value[points], self.epoch[points], self.time[points])

    def finite(self) -> "Curve":
        """Return the points whose value is a number: no NaN, no infinity."""
        return self.at(np.isfinite(self.value))

    def after(self, step: int) -> "Curve":
        """Return the points at `step` and later."""
        return self.at(slice(int(np.searchsorted(self.step, step)), None))

    def before(self, step: int) -> "Curve":
        """Return the points earlier than `step`."""
        return self.at(slice(0, int(np.searchsorted(self.step, step))))

    @property
    def counts_from_0(self) -> bool:
        """Whether its steps are whole epochs, and what is over is one more than their number."""
        known = np.isfinite(self.epoch)
        return bool(known.any() and (self.epoch[known] - self.step[known] == 1).all())


class Columns(NamedTuple):
    """The rows of one metric, unsorted; all arrays have shape (n,)."""

    step: IntArray
    value: FloatArray
    epoch: FloatArray
    time: FloatArray
    segment: SmallIntArray
    source: SmallIntArray  # index into the sources of the history

    @property
    def curve(self) -> Curve:
        """Return the rows without where they come from."""
        return Curve(self.step, self.value, self.epoch, self.time)

    def at(self, rows: slice | BoolArray | IntArray) -> "Columns":
        """Return some of the rows."""
        return Columns._make(column[rows] for column in self)


class History:
    """All observations of a run, by metric, segment and step."""

    def __init__(self, metrics: Mapping[str, Columns], sources: Iterable[str] = ()) -> None:
        """Sort the rows of each metric by segment and step; rows that tie keep their order.

        The columns are taken over: nobody writes into them any more.
        """
        rows = {name: _sorted(metrics[name]) for name in sorted(metrics) if len(metrics[name].step)}
        for some in rows.values():
            for column in some:
                column.flags.writeable = False
        self._keep(rows, sources)

    @classmethod
    def restored(
        cls, lengths: Mapping[str, int], joined: Columns, sources: Iterable[str]
    ) -> "History":
        """Take what these were of another history; nothing is sorted."""
        history = cls.__new__(cls)
        ends = np.cumsum(list(lengths.values()), dtype=np.int64).tolist()
        rows = {
            name: joined.at(slice(end - length, end))
            for (name, length), end in zip(lengths.items(), ends, strict=True)
        }
        history.joined = joined
        history._keep(rows, sources)  # noqa: SLF001 - its own class
        return history

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep one copy of the rows."""
        return History.restored, (self.lengths, self.joined, self.sources)

    def scaled(self, metric: str, factor: float) -> "History":
        """Return a history in which one metric is multiplied by a factor."""
        mine = self._rows.get(metric)
        changed = {} if mine is None else {metric: mine._replace(value=mine.value * factor)}
        return History(self._rows | changed, self.sources)

    def _keep(self, rows: dict[str, Columns], sources: Iterable[str]) -> None:
        self.sources = tuple(sources)
        self._rows = rows
        self._curves: dict[str, Curve] = {}

    @property
    def lengths(self) -> dict[str, int]:
        """The number of rows of each metric."""
        return {name: len(rows.step) for name, rows in self._rows.items()}

    def column(self, name: str) -> Iterator[np.ndarray[Any, np.dtype[Any]]]:
        """Yield one column of each metric, in the order of `lengths`; nothing is copied."""
        return (getattr(rows, name) for rows in self._rows.values())

    @cached_property
    def joined(self) -> Columns:
        """The rows of all metrics, one metric after the other."""
        parts = list(self._rows.values()) or [_NOTHING]
        return Columns._make(np.concatenate(column) for column in zip(*parts, strict=True))

    @classmethod
    def of(cls, observations: Iterable[Observation]) -> "History":
        """Build a history from single observations; handy for tests and small runs."""
        rows: dict[str, list[Observation]] = {}
        sources: dict[str, int] = {}
        for row in observations:
            rows.setdefault(row.metric, []).append(row)
            sources.setdefault(row.source, len(sources))
        columns = {
            name: Columns(
                np.array([row.step for row in some], dtype=np.int64),
                np.array([row.value for row in some], dtype=np.float64),
                np.array([row.epoch for row in some], dtype=np.float64),
                np.array([row.time for row in some], dtype=np.float64),
                np.array([row.segment for row in some], dtype=np.int16),
                np.array([sources[row.source] for row in some], dtype=np.int16),
            )
            for name, some in rows.items()
        }
        return cls(columns, sources)

    def __len__(self) -> int:
        return sum(self.lengths.values())

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of all metrics that were logged."""
        return tuple(self._rows)

    @cached_property
    def segments(self) -> tuple[int, ...]:
        """The launch numbers that occur, in order."""
        found = [distinct(rows.segment).tolist() for rows in self._rows.values()]
        return tuple(sorted(set(chain.from_iterable(found))))

    def curve(self, metric: str) -> Curve:
        """Return one metric over the whole run; empty if it was not logged.

        A resume that goes back to a checkpoint discards what the earlier launch logged past it:
        of steps that two launches logged, only the later launch's are in the curve. `segment`
        has them all. With one launch the arrays are views into the columns.
        """
        rows = self._rows.get(metric)
        if rows is None:
            return _EMPTY
        if metric not in self._curves:
            self._curves[metric] = _without_discarded(rows.curve, rows.segment)
        return self._curves[metric]

    def segment(self, metric: str, number: int) -> Curve:
        """Return one metric as one launch logged it; empty if that launch did not log it."""
        rows = self._rows.get(metric)
        if rows is None:
            return _EMPTY
        first, end = np.searchsorted(rows.segment, [number, number + 1]).tolist()
        return rows.curve.at(slice(first, end))

    def renamed(self, names: Mapping[str, str]) -> "History":
        """Return a history of the metrics in `names` alone, each under its new name."""
        rows = {new: self._rows[old] for old, new in names.items() if old in self._rows}
        return History(rows, self.sources)

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """The same as a long pandas frame: metric, step, value, epoch, time, segment, source."""
        from runlens.extras import needed_by

        with needed_by("a pandas frame of the history"):
            import pandas as pd

        codes = np.repeat(np.arange(len(self.lengths)), list(self.lengths.values()))
        return pd.DataFrame(
            {
                "metric": pd.Categorical.from_codes(
                    codes, categories=pd.Index(list(self._rows), dtype=object)
                ),
                "step": self.joined.step,
                "value": self.joined.value,
                "epoch": self.joined.epoch,
                "time": self.joined.time,
                "segment": self.joined.segment,
                "source": pd.Categorical.from_codes(
                    self.joined.source, categories=pd.Index(list(self.sources), dtype=object)
                ),
            }
        )


def distinct(values: "np.ndarray[Any, np.dtype[Whole]]") -> "np.ndarray[Any, np.dtype[Whole]]":
    """Return the different values of an array of shape (n,), ascending.

    As `np.unique` does, in a tenth of its time where the values ascend already: steps do.
    """
    if not (values[1:] >= values[:-1]).all():
        values = np.sort(values)
    first = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values[first]


def columns(
    step: "npt.ArrayLike",
    value: "npt.ArrayLike",
    epoch: "npt.ArrayLike | None" = None,
    time: "npt.ArrayLike | None" = None,
    segment: "npt.ArrayLike" = 0,
    source: int = 0,
) -> Columns:
    """Make `Columns` of plain sequences; what is not given is unknown (NaN) or zero."""
    steps = np.asarray(step, dtype=np.int64)
    blank = np.full(len(steps), NOT_KNOWN)
    return Columns(
        steps,
        np.asarray(value, dtype=np.float64),
        blank if epoch is None else np.asarray(epoch, dtype=np.float64),
        blank if time is None else np.asarray(time, dtype=np.float64),
        np.broadcast_to(np.asarray(segment, dtype=np.int16), steps.shape),
        np.full(len(steps), source, dtype=np.int16),
    )


def _sorted(rows: Columns) -> Columns:
    step, segment = rows.step, rows.segment
    alike = segment[1:] == segment[:-1]
    if ((segment[1:] > segment[:-1]) | (alike & (step[1:] >= step[:-1]))).all():
        return rows
    order = np.lexsort((step, segment))  # stable
    return rows.at(order)


def _without_discarded(curve: Curve, segment: SmallIntArray) -> Curve:
    """Leave out what an earlier launch logged at or past the first step of a later one."""
    if not len(segment) or segment[0] == segment[-1]:
        return curve
    starts = np.flatnonzero(np.diff(segment)) + 1  # first row of each later launch
    first = np.minimum.accumulate(curve.step[starts][::-1])[::-1]
    launch = np.searchsorted(starts, np.arange(len(segment)), side="right")
    limit = np.append(first, np.iinfo(np.int64).max)
    return curve.at(curve.step < limit[launch])


_NOTHING = columns([], [])
_EMPTY = Curve(_NOTHING.step, _NOTHING.value, _NOTHING.epoch, _NOTHING.time)


def thinned(curve: Curve, cited: Iterable[float] = (), most: int = MOST_POINTS) -> Curve:
    """Keep at most about `most` points: the least and the greatest of each bucket.

    Kept besides: the first and last point, both sides of each gap of NaN, every cited step.
    """
    size = len(curve)
    if size <= most:
        return curve
    per = -(-2 * size // most)
    blocks = np.pad(curve.value, (0, -size % per), constant_values=np.nan).reshape(-1, per)
    offset = np.arange(len(blocks)) * per
    finite = np.where(np.isfinite(blocks), blocks, np.nan)
    low = np.where(np.isnan(finite), np.inf, finite).argmin(axis=1) + offset
    high = np.where(np.isnan(finite), -np.inf, finite).argmax(axis=1) + offset
    broken = ~np.isfinite(curve.value)
    edges = np.flatnonzero(broken[1:] != broken[:-1])
    shown = np.searchsorted(curve.step, sorted(cited))
    index = np.concatenate([[0, size - 1], low, high, edges, edges + 1, shown, shown - 1])
    return curve.at(unique(np.clip(index, 0, size - 1)).astype(np.int64))
