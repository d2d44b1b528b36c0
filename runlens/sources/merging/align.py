"""Steps for a log that names none: read off another source of the same run.

W&B's ``output.log`` has the rows of the console without its progress bars, so its reader can
only conclude steps from epochs or count rows. Where another source logged the same values, the
rows are found there, and a straight line through the pairs puts every step right.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from runlens.arrays import median, unique
from runlens.history import BoolArray, FloatArray, IntArray
from runlens.metrics import base
from runlens.run import Event, Problem
from runlens.sources.merging.likeness import SHARED, Content, digits
from runlens.sources.reading import Series, SourceReading

MAIN, EPOCHS = 20, 5  # points of a training loss, and of what was logged beside it
PER_EPOCH = 2  # steps between two points from which they count another unit
ENOUGH = 3  # rows that must be found
FITS = 0.9  # share of the pairs that the line must hit within half an interval
INFERRED = "has rows without a step number"  # how a reader's problem about inferred steps begins
NUMBERED = f"{INFERRED}, so the rows were numbered"  # where nothing tells more of them


def aligned(group: Sequence[Content]) -> list[Content]:
    """Return the readings of a run with inferred steps put right where that is possible.

    Where all count epochs, those that begin with 1 are laid onto those that begin with 0.
    """
    some = [one for one in group if one.series]
    sure = [one for one in some if not one.reading.steps_inferred] or sorted(some, key=_first)[:1]
    return [
        _put_right(one, sure) if one.reading.steps_inferred and one not in sure else one
        for one in group
    ]


def _first(one: Content) -> int:
    return min(int(some.step[0]) for some in one.series.values())


def in_one_unit(one: Content, beside: Iterable[Content] = ()) -> Content:
    """Return a reading with what it logged at epochs put at the steps of its training loss.

    A writer that is told the batch for training and the epoch for evaluation (`add_scalar` of
    TensorBoard takes any number) has two axes in one file; the clock of its records joins them.
    Where it has a writer for each, the training loss is in a reading of the same run `beside` it.
    """
    own = _main(one)
    main = (
        own if own or "train_loss" in one.series else next(filter(None, map(_main, beside)), None)
    )
    if main is None:
        return one
    moved = {name: put for name, some in one.series.items() if (put := _by_clock(some, main))}
    if not moved:
        return one
    said = f"{', '.join(sorted(moved))}: logged at epochs, put at the steps of the training loss"
    problem = Problem(str(one.reading.path), f"{said} by the time of each record")
    series = one.series | moved
    reading = replace(one.reading, series=series, problems=[*one.reading.problems, problem])
    return Content(reading, series, one.folder, one.abandoned)


def _main(one: Content) -> Series | None:
    """Return the training loss, where its points have times and steps that rise."""
    found = one.series.get("train_loss")
    if found is None or len(found.step) < MAIN or not _dated(found):
        return None
    return found if (np.diff(found.step) > 0).all() else None


def _dated(some: Series) -> bool:
    return bool(np.isfinite(some.time).all() and (np.diff(some.time) >= 0).all())


def _by_clock(some: Series, main: Series) -> Series | None:
    """Return a series that counts epochs at the steps that had been done when it was logged."""
    step = some.step
    if len(step) < EPOCHS or step[0] > 1 or not (np.diff(step) == 1).all() or not _dated(some):
        return None
    done = np.concatenate([[0], main.step])  # before its first point nothing is
    at = done[np.searchsorted(main.time, some.time, side="right")]
    apart = np.diff(at)
    if apart.min() < PER_EPOCH or apart.max() > 2 * apart.min():
        return None  # no epochs, which are equally long
    return some._replace(step=at)


def _put_right(one: Content, sure: Sequence[Content]) -> Content:
    line = next((line for other in sure if (line := _line(one, other)) is not None), None)
    return one if line is None else moved(one, *line)


def moved(one: Content, slope: float, offset: float) -> Content:
    """Return a reading with every step put at ``slope * step + offset``."""

    def put(step: IntArray) -> IntArray:
        return np.maximum(np.round(slope * step + offset), 0).astype(np.int64)

    series = {name: some._replace(step=put(some.step)) for name, some in one.series.items()}
    return Content(_moved_reading(one.reading, series, slope, offset), series, one.folder)


def _moved_reading(
    reading: SourceReading, series: dict[str, Series], slope: float, offset: float
) -> SourceReading:
    def at(step: int | None) -> int | None:
        return None if step is None else max(0, round(slope * step + offset))

    events: list[Event] = [event._replace(step=at(event.step)) for event in reading.events]
    ended = reading.hints.ended_step  # beside a plan it was read from a counter, as true as that
    hints = replace(reading.hints, ended_step=ended if reading.hints.planned_steps else at(ended))
    kept = [problem for problem in reading.problems if not problem.text.startswith(INFERRED)]
    return replace(reading, series=series, events=events, hints=hints, problems=kept)


def _line(one: Content, other: Content) -> tuple[float, float] | None:
    """Return (slope, offset) from the inferred steps to the true ones."""
    common = [name for name in one.series.keys() & other.series.keys() if base(name) not in SHARED]
    for name in sorted(common, key=lambda name: -len(one.series[name].step)):
        line = _through(one.series[name], other.series[name])
        if line is not None:
            return line
    return None


def _through(one: Series, other: Series) -> tuple[float, float] | None:
    mine, theirs = digits(one.value), digits(other.value)
    _, first, second = np.intersect1d(_single(mine), _single(theirs), return_indices=True)
    if len(first) < ENOUGH:
        return None
    at = _places(mine)[first], _places(theirs)[second]
    x, y = one.step[_kept(one)][at[0]], other.step[_kept(other)][at[1]]
    order = np.argsort(x)
    x, y = x[order].astype(float), y[order].astype(float)
    if x[0] == x[-1]:
        return None
    slope = float(median(np.diff(y)[np.diff(x) > 0] / np.diff(x)[np.diff(x) > 0]))
    offset = float(median(y - slope * x))
    every = float(median(np.diff(unique(y)))) if len(unique(y)) > 1 else 1.0
    hit = np.abs(slope * x + offset - y) <= every / 2
    return (slope, offset) if slope > 0 and hit.mean() >= FITS else None


def _kept(series: Series) -> BoolArray:
    kept: BoolArray = np.isfinite(series.value) & (series.value != 0)
    return kept


def _single(value: FloatArray) -> FloatArray:
    """Return the values that occur once: only these name a row."""
    distinct, count = np.unique(value, return_counts=True)
    single: FloatArray = distinct[count == 1]
    return single


def _places(value: FloatArray) -> IntArray:
    """Return where each of the values of `_single` stands."""
    _, first, count = np.unique(value, return_index=True, return_counts=True)
    places: IntArray = first[count == 1].astype(np.int64)
    return places
