"""Which column of a table is the step of its rows, and what is counted where none says it."""

from collections.abc import Iterable, Sequence

import numpy as np

from runlens.arrays import median, unique
from runlens.history import FloatArray, IntArray
from runlens.metrics import plain
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.reading import MAX_STEP
from runlens.sources.tables.held import Column, Table, spread
from runlens.sources.tables.launches import LAG, appended, slack_of
from runlens.sources.tables.names import (
    EPISODES,
    EPOCHS,
    PARTS,
    ROUNDS,
    SIZES,
    SPLIT_NAMES,
    TRAININGS,
    counter,
    is_step,
)
from runlens.sources.tables.no_course import numbers_samples
from runlens.sources.tables.unnamed import FEWEST_TIMED, MOSTLY, UNNAMED

MOST_BACK = 0.1  # largest share of rows at which a step goes back
FEWEST_COUNTED = 5  # rows from which a column of another name can be the step
FEW = 0.5  # least share of distinct values from which an epoch can be the step


_OF = lazy_re(r"\W*(?:[^\W\d]+[ _:-]{0,2})?\d{1,9}\s?(?:/|of)\s?(\d{1,9})\W*")


class Axis(NamedTuple):
    """The step of each row, shape (rows,), and the column that it came from ("": numbered)."""

    step: IntArray
    name: str
    inferred: str = ""  # how it was concluded, where no column names it


def axis_of(table: Table, main: Column) -> Axis:
    """Take the best column that goes on as a step does; else number the rows."""
    columns = sorted((key, name) for name in table.columns if (key := counter(name)))
    outer = _outer(table, [name for _, name in columns], main)
    exact = any(counts(table.columns[name].value) for _, name in columns)
    anew = [] if outer else _counted_anew(table, [name for _, name in columns], main)
    within: Axis | None = None
    for _, name in columns:
        step = _dense(table, name)
        if step is None or (exact and _falls(step[main.row])):
            continue
        if anew and name not in anew and _of_each(step[main.row]):
            continue
        begun = _within(table, step, outer, main)
        if len(begun) and plain(name) not in EPOCHS:
            within = within or Axis(step, name)
        elif (name != outer or plain(name) in EPOCHS) and _moves(name, step[main.row]):
            if within and (plain(name) in EPOCHS or _coarse(step[main.row])):
                break
            return _finer(table, [n for _, n in columns], name, main)
    if within:
        return _over(table, within, outer, main)
    none = _no_counters(table)
    for name, column in table.columns.items():
        going = name not in none and (counts(column.value) or goes_on(name, column.value))
        if going and (step := _dense(table, name)) is not None:
            return Axis(step, name)
    measured = np.zeros(table.rows, dtype=np.int64)  # a line of another kind is none of them
    measured[np.concatenate([column.row for column in table.columns.values()])] = 1
    return Axis(np.maximum(np.cumsum(measured) - 1, 0), "", "they were numbered row by row")


def _no_counters(table: Table) -> set[str]:
    """Return the columns that are no step, however they count.

    Where a part of the data, a sample or a training is named in each row, none is: ``fold`` beside
    ``train_samples``. So a training is by its number where a step stands still: ``trial`` of one
    ``episode`` each.
    """
    columns = table.columns
    none = {name for name in columns if plain(name) in PARTS | SIZES}
    apart = {name for name in none if plain(name) in PARTS and counts(columns[name].value)}
    still = [name for name in columns if is_step(name) and len(unique(columns[name].value)) == 1]
    if still and table.rows >= FEWEST_COUNTED:
        none |= {name for name in columns if plain(name) in TRAININGS}
    return set(columns) if apart or numbers_samples(columns, table.rows) else none


def _finer(table: Table, counters: Sequence[str], name: str, main: Column) -> Axis:
    """Return a counter, or the first that tells apart the rows it says the same of.

    ``iteration`` rises where ``env_steps`` stand still. Epochs of parts are left alone.
    """
    every = [n for n in (name, *counters) if n == name or plain(n) not in EPOCHS]
    steps = {n: step for n in every if (step := _dense(table, n)) is not None}
    rises = (n for n, step in steps.items() if (np.diff(step[main.row]) > 0).all())
    found = next(rises, name)
    return Axis(steps[found], found)


def _coarse(step: IntArray) -> bool:
    """Whether most rows say what others do: ``train_steps``, the sum at the end of each round."""
    return len(unique(step)) < FEW * len(step)


def _falls(step: IntArray) -> bool:
    """Whether steps fall again and again: beside ``Episode``, ``Steps`` are those of each."""
    return bool(np.count_nonzero(np.diff(step) < 0) > LAG)


def _counted_anew(table: Table, counters: Sequence[str], main: Column) -> list[str]:
    """Return the counters that go on row by row in each of several launches."""
    dense = {name: step for name in counters if (step := _dense(table, name)) is not None}
    return [name for name, step in dense.items() if appended(step[main.row])]


def _of_each(step: IntArray) -> bool:
    """Whether steps stand still mostly, and fall: beside ``episode``, those of an episode."""
    apart = np.diff(step)
    return bool((apart < 0).any() and np.mean(apart == 0) >= FEW)


def lengths(table: Table, axis: str) -> dict[str, Column]:
    """Return the columns that say how long each episode was: ``Steps`` that fall beside one."""
    if plain(axis) not in EPISODES:
        return {}
    named = {n: c for n, c in table.columns.items() if plain(n) in {"step", "steps", "timesteps"}}
    return {n: c for n, c in named.items() if np.count_nonzero(np.diff(c.value) < 0) > LAG}


def planned(name: str, cells: Iterable[object]) -> dict[str, float]:
    """Return the plan that the cells of a column that counts all say: 20 of ``Epoch 3/20``."""
    said = (_OF.fullmatch(cell) if isinstance(cell, str) else None for cell in cells)
    totals = {float(one[1]) if one else 0.0 for one in said} if is_step(name) else set()
    called = "total_epochs" if plain(name) in EPOCHS else "total_steps"
    return {called: totals.pop()} if len(totals) == 1 and 0.0 not in totals else {}


def counts(value: FloatArray) -> bool:
    """Whether numbers, whatever they are called, count on: whole ones, each as much above the last.

    Of five drawn numbers none do so by chance; a metric has noise.
    """
    if len(value) < FEWEST_COUNTED or not ((value >= 0) & (value < MAX_STEP)).all():
        return False
    apart = np.diff(value)
    return bool(
        apart[0] >= 1
        and (apart == apart[0]).all()
        and value[0] == np.floor(value[0])
        and apart[0] == np.floor(apart[0])
    )


def goes_on(name: str, value: FloatArray) -> bool:
    """Whether numbers nearly all count on, each as much above the last as that was.

    Some row was lost, or launches that were appended to a table without names count by steps of
    their own. These come to different ends: what falls from the same number counts in an epoch.
    """
    if len(value) < FEWEST_TIMED or not ((value >= 0) & (value < MAX_STEP)).all():
        return False
    apart = np.diff(value)
    even = (apart > 0).mean() >= MOSTLY and (np.diff(apart) == 0).mean() >= MOSTLY
    if not even or (np.floor(value) != value).any():
        return False
    ends = value[:-1][apart < 0]
    return not len(ends) or (name.startswith(UNNAMED) and len(unique(ends)) > 1)


def _dense(table: Table, name: str) -> IntArray | None:
    """Return a step for each row: a row that names none is at the step of the row before it.

    Before the first that is named there is one as far as rows are apart, as before the first update
    of a launch that goes on.
    """
    column = table.columns[name]
    known = np.isfinite(column.value)
    row, value = column.row[known], column.value[known]
    whole = (value >= 0) & (value < MAX_STEP) & (np.floor(value) == value)
    if not len(value) or not whole.all():
        return None
    place = np.zeros(table.rows, dtype=np.int64)
    place[row] = np.arange(1, len(row) + 1)
    apart = np.diff(value)
    begin = max(0.0, value[0] - median(apart[apart > 0])) if (apart > 0).any() else 0.0
    filled = np.concatenate([[begin], value]).astype(np.int64)
    return filled[np.maximum.accumulate(place)]


def _moves(name: str, step: IntArray) -> bool:
    """Whether steps, in the order of the rows, go on; an epoch must do so at most rows."""
    if len(step) < 2:  # noqa: PLR2004 - nothing to compare
        return True
    distinct = len(unique(step))
    if distinct == 1:
        return len(step) == 2  # noqa: PLR2004 - a training row and its evaluation
    if plain(name) in EPOCHS and appended(step):
        return True
    if plain(name) in {*EPOCHS, *ROUNDS} and distinct < FEW * len(step):
        return False
    back = np.count_nonzero(np.diff(step) < -slack_of(step))
    return bool(back <= max(LAG, MOST_BACK * len(step)))


def _outer(table: Table, counters: Sequence[str], main: Column) -> str:
    """Return the column of the epochs: by its name, else one that rises where another begins anew.

    "" where there is none. It says most of its numbers more than once.
    """
    if named := next((name for name in table.columns if plain(name) in EPOCHS), ""):
        return named
    dense = {name: step for name in counters if (step := _dense(table, name)) is not None}
    apart = {name: np.diff(step[main.row]) for name, step in dense.items()}
    for name, going in apart.items():
        rises = going > 0
        if (going < 0).any() or not 0 < np.count_nonzero(rises) < FEW * len(rises):
            continue
        if any(((other < 0) == rises).all() for other in apart.values()):
            return name
    return ""


def _within(table: Table, step: IntArray, outer: str, main: Column) -> IntArray:
    """Return the rows of `main` where steps begin anew because an epoch does; shape (n,)."""
    none = np.zeros(0, dtype=np.int64)
    mine = step[main.row]
    back = np.flatnonzero(np.diff(mine) < 0) + 1
    if not outer or not len(back):
        return none
    epoch = spread(table.rows, table.columns[outer])[main.row]
    rises = epoch[back] > epoch[back - 1]
    launched = epoch[back] == epoch.min()  # by another launch, which begins with the first epoch
    phase = _phases(table)[main.row]
    other = (epoch[back] == epoch[back - 1]) & (phase[back] != phase[back - 1])
    return main.row[back] if rises.any() and (rises | launched | other).all() else none


def _phases(table: Table) -> FloatArray:
    """Return the data of each row, where numbers say them, shape (rows,); else zeros."""
    named = (column for name, column in table.columns.items() if plain(name) in SPLIT_NAMES)
    return spread(table.rows, next(named, Column(np.arange(table.rows), np.zeros(table.rows))))


def _over(table: Table, within: Axis, outer: str, main: Column) -> Axis:
    """Count on over the epochs where a column counts within each."""
    step, name = within.step, within.name
    begun = _within(table, step, outer, main)
    before = main.row[np.searchsorted(main.row, begun) - 1]
    apart = int(median(np.diff(unique(step[main.row]))))
    done = step[before] + np.where(step[begun] > 0, 0, apart)
    epoch = spread(table.rows, table.columns[outer])
    phase = _phases(table)
    launched = (epoch[begun] <= epoch[before]) & (phase[begun] == phase[before])
    total = np.cumsum(done)
    at_launch = np.maximum.accumulate(np.where(launched, total, 0))
    offset = np.concatenate([[0], total - at_launch])
    rows = np.arange(table.rows)
    number = np.searchsorted(begun, rows, side="right")
    # rows of another kind may count something else: they stand where the row before them does
    last = main.row[np.maximum(np.searchsorted(main.row, rows, side="right") - 1, 0)]
    what = "epoch" if plain(outer) in EPOCHS else outer
    told = f"{name} begins anew each {what} and was added up"
    return Axis(step[last] + offset[number], name, told)
