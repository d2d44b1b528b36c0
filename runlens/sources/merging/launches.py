"""What the readings of a run say together about its launches, before their rows are joined."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from msgspec import structs

from runlens.arrays import median
from runlens.history import BoolArray, Columns, IntArray, distinct
from runlens.run import Problem
from runlens.sources.merging.align import moved
from runlens.sources.merging.likeness import (
    PREFIX,
    Content,
    begins_after,
    telling,
)
from runlens.sources.merging.log_places import in_order, of_one_command, of_one_launch
from runlens.sources.reading import SourceReading
from runlens.wording import count

MOST = 0.5  # share of the points that launches from the start on left out, from which it is said
WHOLE = 0.02  # how far from a whole number of steps the distance of two rows may be


def of_last_launch(group: Sequence[Content]) -> list[Content]:
    """Leave out what lies before the last start: how a run ended, only its last launch says."""
    return [one for one in group if not any(_superseded(one, other) for other in group)]


def _superseded(one: Content, other: Content) -> bool:
    """Whether a run was started again after `one`, with `other` as the log of that launch.

    What died before its first row was followed by a launch that trained where that one is a later
    attempt, started later, or came to its end.
    """
    paths = one.reading.path, other.reading.path
    logs = one.reading.kind == other.reading.kind == "console"
    if one.reading.kind != other.reading.kind or not other.measured:
        return False
    if logs and of_one_launch(*paths):
        return False
    if one.measured:
        return begins_after(one, other)
    if logs and of_one_command(*paths):
        return in_order(paths[0]) < in_order(paths[1])
    known = one.started is not None and other.started is not None
    return other.reading.hints.summary or (known and (one.started or 0) < (other.started or 0))


def with_counts_continued(group: Sequence[Content]) -> list[Content]:
    """Put each launch of a resumed run behind the one before where all count log calls from 0.

    W&B's own counter goes on when a run is resumed online; offline each directory begins at 0.
    A directory that holds the values of another one is its copy and stays where it is.
    """
    made = list(group)
    mine = [n for n, one in enumerate(group) if one.measured and _counts_calls(one.reading)]
    last = None
    for place in sorted(mine, key=lambda n: group[n].started or 0.0):
        one = group[place]
        if last is not None and one.span[0] == group[mine[0]].span[0] and _differ(one, last):
            put = moved(one, 1, last.span[1] + 1 - one.span[0])
            text = "counts its steps from 0 again; they were put behind those of the launch before"
            told = Problem(str(one.reading.path), text)
            put.reading.problems.append(told)
            made[place] = put
        last = made[place]
    return made


def _counts_calls(reading: SourceReading) -> bool:
    return reading.kind == "wandb" and reading.steps_inferred


def _differ(one: Content, other: Content) -> bool:
    """Whether two readings say different things at the steps that both have."""
    return any(len(same) and same.mean() < 1 / 2 for _, same in _compared(one, other))


def _compared(one: Content, other: Content) -> Iterator[tuple[IntArray, BoolArray]]:
    """Yield, by metric, the steps that both readings have, and at which of them they agree."""
    for name in telling(one.series.keys() & other.series.keys()):
        mine, theirs = one.series[name], other.series[name]
        steps, first, second = np.intersect1d(mine.step, theirs.step, return_indices=True)
        yield steps, np.isclose(mine.value[first], theirs.value[second], rtol=1e-9, equal_nan=True)


def begun_anew(metrics: Mapping[str, Columns], paths: Sequence[Path]) -> list[Problem]:
    """Tell of rounds that all begin at the first step: only the last of them is in the curves."""
    name = next(iter(telling(metrics)), None)
    if name is None:
        return []
    rows = metrics[name]
    launches = distinct(rows.segment.astype(np.int64))
    first = [int(rows.step[rows.segment == number].min()) for number in launches]
    anew = [number for number, step in zip(launches, first, strict=True) if step <= min(first)]
    left = int((rows.segment < anew[-1]).sum())
    if len(anew) < 2 or left <= MOST * len(rows.step):  # noqa: PLR2004 - one began nothing anew
        return []
    text = f"begins anew at step {min(first):,}: only the last of {len(anew)} rounds was judged"
    where = str(paths[int(rows.source[rows.segment == anew[-1]][0])])
    return [Problem(where, text, f"{left:,} of {count(len(rows.step), 'point')} of {name}")]


def with_rewinds(group: Sequence[Content]) -> list[Content]:
    """Mark in each trainer state what a later launch did again from a checkpoint before it.

    The history in the furthest state is the one that the run kept. Another state that is equal
    to it up to some step and differs from there on was saved by a launch that was given up.
    """
    states = [one for one in group if one.reading.kind == "trainer_state" and one.measured]
    kept = max(states, key=lambda one: one.trained[1], default=None)
    return [
        structs.replace(one, abandoned=_fork(one, kept))
        if kept is not None and one is not kept and one in states
        else one
        for one in group
    ]


def _fork(one: Content, kept: Content) -> int | None:
    """Return the first step at which a state differs; None where it does not, or does from 0."""
    forks = []
    for steps, same in _compared(one, kept):
        at = np.flatnonzero(~same)
        if len(at) and at[0] >= min(PREFIX, len(steps) - 1) and same[at[0] :].mean() < 1 / 2:
            forks.append(int(steps[at[0]]))
    return min(forks, default=None)


def with_steps_of_bars(group: Sequence[Content]) -> list[Content]:
    """Give the rows of ``train.out`` the steps that the bar in ``train.err`` shows.

    The Trainer prints its rows to one stream and its progress bar to the other: the rows alone
    name no step.
    """
    return [_with_steps(one, group) for one in group]


def _with_steps(one: Content, group: Sequence[Content]) -> Content:
    if not one.measured or not one.reading.steps_inferred or one.reading.kind != "console":
        return one
    bars = [
        other.reading.hints
        for other in group
        if not other.measured
        and other.reading.kind == "console"
        and of_one_launch(one.reading.path, other.reading.path)
    ]
    last = max((hints.ended_step or 0 for hints in bars), default=0)
    planned = max((hints.planned_steps or 0 for hints in bars), default=0)
    epochs = next(filter(None, (other.reading.hints.planned_epochs for other in group)), 0)
    every = _by_epochs(one, planned / epochs) if planned and epochs else None
    if every is None and one.reading.hints.summary:  # else rows may be missing at its end
        every = _by_count(last, one.trained[1])
    if every is None:
        return one
    put = moved(one, every, 0)
    return structs.replace(put, reading=replace(put.reading, steps_inferred=False))


def _by_epochs(one: Content, steps: float) -> int | None:
    """Return the steps between two rows from their epochs, at so many `steps` an epoch."""
    rows = max((one.series[name] for name in telling(one.series)), key=lambda some: len(some.step))
    known = np.isfinite(rows.epoch) & (rows.step > 0)
    if not known.any():
        return None
    every = float(median(steps * rows.epoch[known] / rows.step[known]))
    whole = round(every)
    return whole if whole > 0 and abs(every - whole) <= WHOLE * every else None


def _by_count(last: int, rows: int) -> int | None:
    """Return the only whole distance at which `rows` rows end a run of `last` steps."""
    if not 0 < rows <= last:
        return None
    widest = last // rows
    alone = (widest - 1) * (rows + 1) <= last < widest * (rows + 1)
    return widest if alone or last % rows == 0 else None
