"""What the dialects of console logs have in common: records, and series made of them."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Self

import numpy as np
from msgspec import Struct

from runlens.arrays import median
from runlens.history import NOT_KNOWN, BoolArray, FloatArray, IntArray
from runlens.metrics import naming
from runlens.naming import words
from runlens.naming.classify import split_of
from runlens.records import NamedTuple
from runlens.sources.reading import Series, as_number

COUNTED = "has rows without a step number, so the rows were numbered in order"
MAX_STEP = 10**15
FEWEST = 3  # rewards of episodes: fewer are no course of their own
NUMBERED = 5  # values that rise by one from row to row from which they are its number


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
    training: IntArray | None = None  # None: all are of one

    def of(self, training: int) -> BoolArray:
        """Tell which records are of a training."""
        mine = np.ones(len(self.step), dtype=np.bool_)
        return mine if self.training is None else np.equal(self.training, training, out=mine)

    def taken(self, which: BoolArray | IntArray) -> "Placed":
        """Return the places of some records."""
        training = None if self.training is None else self.training[which]
        return self._replace(step=self.step[which], launch=self.launch[which], training=training)


class Layout(NamedTuple):
    """The records that have the same names."""

    names: tuple[str, ...]
    number: IntArray  # of each record, ascending, shape (n,)
    values: FloatArray  # shape (n, number of names); what is no number is NaN


class Records(Struct, frozen=True, eq=False):
    """The records of a log in the order of their lines, as columns; arrays of shape (n,)."""

    at: IntArray  # index of the line
    epoch: FloatArray
    layouts: tuple[Layout, ...]  # each record with names is in one

    def __len__(self) -> int:
        return len(self.at)

    @classmethod
    def of(cls, records: Sequence[Record]) -> Self:
        """Turn records into columns."""
        at = np.array([record.at for record in records], dtype=np.int64)
        epoch = np.array([record.epoch for record in records], dtype=np.float64)
        rows: dict[tuple[str, ...], tuple[list[int], list[tuple[str | float, ...]]]] = {}
        for number, record in enumerate(records):
            if record.names:
                numbers, values = rows.setdefault(record.names, ([], []))
                numbers.append(number)
                values.append(record.values)
        layouts = (
            Layout(names, np.array(numbers, dtype=np.int64), _matrix(values))
            for names, (numbers, values) in rows.items()
        )
        return cls(at, epoch, tuple(layouts))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> tuple[Self, IntArray]:
        """Join records of one log by line; return their order too: indices into the parts."""
        at = np.concatenate([part.at for part in parts])
        order = np.argsort(at, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        found: dict[tuple[str, ...], list[tuple[IntArray, FloatArray]]] = {}
        begin = 0
        for part in parts:
            for names, number, values in part.layouts:
                found.setdefault(names, []).append((place[begin + number], values))
            begin += len(part)
        layouts = sorted((_layout(names, some) for names, some in found.items()), key=_first)
        epoch = np.concatenate([part.epoch for part in parts])[order]
        return cls(at[order], epoch, tuple(layouts)), order

    def taken(self, kept: BoolArray) -> "Records":
        """Return some of them; `kept` has shape (n,)."""
        number = np.cumsum(kept) - 1
        layouts = []
        for names, rows, values in self.layouts:
            mine = kept[rows]
            if mine.any():
                layouts.append(Layout(names, number[rows[mine]], values[mine]))
        return Records(self.at[kept], self.epoch[kept], tuple(layouts))

    def names(self, count: int) -> set[str]:
        """Return all names in the first `count` records."""
        return {name for layout in self.layouts if _first(layout) < count for name in layout.names}


def _layout(names: tuple[str, ...], parts: Sequence[tuple[IntArray, FloatArray]]) -> Layout:
    number = np.concatenate([number for number, _ in parts])
    order = np.argsort(number, kind="stable")
    return Layout(names, number[order], np.concatenate([values for _, values in parts])[order])


def _first(layout: Layout) -> int:
    return int(layout.number[0])


def _matrix(rows: Sequence[tuple[str | float, ...]]) -> FloatArray:
    columns = [_floats(column) for column in zip(*rows, strict=True)]
    return np.stack(columns, axis=1)


def _floats(column: Sequence[str | float]) -> FloatArray:
    try:
        return np.fromiter(map(float, column), dtype=np.float64, count=len(column))
    except ValueError:
        numbers = (as_number(item) for item in column)
        return np.array([NOT_KNOWN if n is None else n for n in numbers], dtype=np.float64)


def table(
    records: Records,
    placed: Placed,
    time: FloatArray,
    skipped: Iterable[str] = (),
    framework: str = "",
) -> dict[str, Series]:
    """Make series of records, one a name; `time` has shape (number of records,).

    Of two names that mean the same metric the one with fewer points is left out: a log that
    prints ``loss`` each step and ``train loss`` each epoch would have two values for one step.
    """
    left_out = frozenset(skipped)
    parts: dict[str, list[tuple[IntArray, FloatArray]]] = {}
    for names, number, values in records.layouts:
        for name, column in dict(zip(names, values.T, strict=True)).items():
            if name not in left_out:
                parts.setdefault(name, []).append((number, column))
    series = {}
    for name, some in parts.items():
        number = np.concatenate([number for number, _ in some])
        order = np.argsort(number, kind="stable")
        number = number[order]
        value = np.concatenate([column for _, column in some])[order]
        if _numbers_rows(value):
            continue
        series[name] = Series(
            placed.step[number],
            value,
            records.epoch[number],
            time[number],
            placed.launch[number],
        )
    return _without_bests(_without_doubles(series, framework))


def _without_bests(series: dict[str, Series]) -> dict[str, Series]:
    """Leave out what tells a score again wherever it was better than ever, by another name.

    ``[BEST] saved (val_macro_f1=0.39)`` below ``val_f1=0.39``: by its last number the run would
    have ended at its best.
    """
    again = {
        name
        for name, few in series.items()
        if len(few.step) >= FEWEST and _goes_one_way(few.value)
        for other, many in series.items()
        if len(many.step) > len(few.step) and _tells_again(name, few, other, many)
    }
    return {name: points for name, points in series.items() if name not in again}


def _goes_one_way(value: FloatArray) -> bool:
    steps = np.diff(value)
    return bool((steps > 0).all() or (steps < 0).all())


def _tells_again(name: str, few: Series, other: str, many: Series) -> bool:
    """Whether each point of a score is one of another's, on the same data and of the same kind."""
    alike = (
        split_of(words(name)) == split_of(words(other)) and words(name)[-1:] == words(other)[-1:]
    )
    said = set(zip(many.step.tolist(), many.launch.tolist(), many.value.tolist(), strict=True))
    mine = zip(few.step.tolist(), few.launch.tolist(), few.value.tolist(), strict=True)
    return alike and said.issuperset(mine)


def _numbers_rows(value: FloatArray) -> bool:
    """Whether values count the rows, whatever they are called: they measure nothing."""
    return len(value) >= NUMBERED and value[0] in {0, 1} and bool((np.diff(value) == 1).all())


def _without_doubles(series: dict[str, Series], framework: str) -> dict[str, Series]:
    """Leave out what means the same as another name; of a test set is what validation is not."""
    best: dict[tuple[str, bool], str] = {}
    meant = {n: (naming(n, framework).metric, split_of(words(n)) == "test") for n in series}
    for name, points in series.items():
        rival = best.get(meant[name])
        if rival is None or _before(name, rival, len(points.step), len(series[rival].step)):
            best[meant[name]] = name
    return {name: series[name] for name in series if best[meant[name]] == name}


def _before(name: str, rival: str, points: int, others: int) -> bool:
    """Whether a name is taken before another: it has more points.

    Of as many points one of a single batch (``batch_loss: 0.07, loss: 0.37``) gives way; to that
    of whole episodes a reward of steps, or so far in one of them, does.
    """
    of_steps = [words(one) == ("reward",) for one in (name, rival)]
    of_episodes = "episode" in {*words(name), *words(rival)}
    if of_episodes and any(of_steps) and others >= FEWEST <= points:
        return of_steps[1]
    if points == others and "batch" in words(rival) and "batch" not in words(name):
        return True
    return points > others


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
            found[_begun(steps, found, row) : row] = number
        highest[group] = step if last is None or number else max(step, last)
        found[row] = number
    return found


def _begun(steps: IntArray, launch: IntArray, row: int) -> int:
    """Return where a launch begins that shows at a row: others of its rows may come before.

    They stand right before it, at steps that the launch before had passed already.
    """
    first = row
    while first > 1 and launch[first - 1] == launch[row - 1] and steps[first - 1] <= steps[row]:
        first -= 1
    return first if first < row and steps[first] < steps[first - 1] else row


def first_epoch(shown: int, last: int, planned: int) -> int:
    """Return what a run calls its first epoch: the first that is shown, but of a resumed one.

    Of `planned` epochs from 0 on the last is one less than their number.

    >>> first_epoch(85, 90, 300), first_epoch(85, 300, 300), first_epoch(1, 3, 10)
    (0, 1, 1)
    """
    return shown if shown <= 1 or planned < last else int(last == planned)


def before(steps: Sequence[int]) -> int:
    """Return the step one interval before the first of some, not below 0.

    What is measured above them is so: at the start of a run, or where a part of its log begins.

    >>> before([8310, 8320, 8330]), before([50, 150, 250]), before([7])
    (8300, 0, 0)
    """
    gaps = [after - one for one, after in pairwise(steps) if after > one]
    return max(0, int(steps[0] - median(np.array(gaps)))) if gaps else 0
