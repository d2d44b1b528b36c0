"""Several trainings in one source: folds, seeds, stages, starts from scratch that were appended.

A launch that goes on where another stopped belongs to its training. One that begins where its
training began is a training of its own: each becomes a reading of its own, and nothing is judged
across the border.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from runlens.arrays import median, unique
from runlens.history import NOT_KNOWN, FloatArray, IntArray
from runlens.metrics import naming
from runlens.run import Problem
from runlens.sources.reading import Hints, Series, SourceReading

FEWEST = 3  # points of a training that an epoch alone tells: a stray row is none
NEAR = 5  # points on each side of a border whose values are compared
GOES_ON = 0.5  # share of the way back to the start below which values go on
MOSTLY = 0.8  # share of the borders at which they do


def of_launches(step: IntArray, launch: IntArray) -> IntArray:
    """Return the training of each row, shape (n,): a launch that begins at its start is the next.

    So is one that writes its rows less often than the first did, from the first of its intervals.
    """
    training = np.zeros(len(step), dtype=np.int64)
    number = lowest = every = 0
    for n, one in enumerate(unique(launch).tolist()):
        distinct = unique(step[launch == one])
        first, gaps = int(distinct[0]), np.diff(distinct)
        interval = int(median(gaps)) if len(gaps) else 0
        rarer = 0 < every < interval and abs(first - lowest - interval) <= 1
        if n == 0 or first <= lowest or rarer:
            number, lowest, every = number + (n > 0), first, int(gaps.min(initial=interval))
        training[launch == one] = number
    return training


def apart(reading: SourceReading) -> list[SourceReading]:
    """Return a reading for each training in it; where there is one, the reading itself."""
    training = _by_launch(reading)
    if training and _are_cycles(reading, training):
        return [_counted_on(reading, training)]
    training = training or _by_epoch(reading)
    if not training:
        return [reading]
    count = 1 + max(int(some.max()) for some in training.values())
    parts = [_part(reading, training, number, last=number == count - 1) for number in range(count)]
    return numbered(parts)


def goes_on(training: IntArray, value: FloatArray) -> bool:
    """Whether values go on where a counter begins anew, as they do from epoch to epoch.

    `training` are the passes of the counter, ascending; both of shape (n,).
    """
    known = np.isfinite(value)
    training, value = training[known], value[known]
    begins = np.flatnonzero(np.diff(training)) + 1
    if not len(begins):
        return False
    ends = [0, *begins.tolist(), len(value)]
    near = min(NEAR, max(1, min(np.diff(ends).tolist()) // 2))
    start = float(median(value[:near]))
    going = 0
    for border in begins.tolist():
        before = float(median(value[border - near : border]))
        after = float(median(value[border : border + near]))
        going += (after - before) * np.sign(start - before) < GOES_ON * abs(start - before)
    return going >= MOSTLY * len(begins)


Trainings = dict[str, IntArray]  # of each series, of each of its points


def first_steps(every: Iterable[Series]) -> dict[int, int]:
    """Return the lowest step of each launch."""
    first: dict[int, int] = {}
    for series in every:
        for launch in unique(series.launch).tolist():
            begins = int(series.step[series.launch == launch].min())
            first[launch] = min(begins, first.get(launch, begins))
    return first


def _by_launch(reading: SourceReading) -> Trainings:
    """Tell trainings by the steps at which launches begin; nothing where there is one."""
    first = first_steps(reading.series.values())
    order = np.array(sorted(first), dtype=np.int64)
    steps = np.array([first[launch] for launch in order.tolist()], dtype=np.int64)
    owner = of_launches(steps, np.arange(len(order)))
    if not owner.any():
        return {}
    return {n: owner[np.searchsorted(order, s.launch)] for n, s in reading.series.items()}


def _are_cycles(reading: SourceReading, training: Trainings) -> bool:
    """Whether launches are equally long and the loss goes on: ``fit_one_cycle`` again and again.

    The last may have ended before its time.
    """
    name = next((n for n in training if naming(n, reading.framework).metric == "train_loss"), "")
    if not name:
        return False
    points = np.bincount(training[name])
    whole = (points[:-1] == points[0]).all() and points[-1] <= points[0]
    if not whole or min(len(points), int(points[0])) < FEWEST:
        return False
    return goes_on(training[name], reading.series[name].value)


def _counted_on(reading: SourceReading, passes: Trainings) -> SourceReading:
    """Return one training whose counter restarted, with its steps and epochs counted on."""
    step = _length([some.step for some in reading.series.values()])
    epoch = _length([some.epoch for some in reading.series.values()])
    series = {
        name: some._replace(
            step=some.step + int(step) * passes[name],
            epoch=some.epoch + epoch * passes[name],
            launch=np.zeros_like(some.launch),
        )
        for name, some in reading.series.items()
    }
    many = 1 + max(int(some.max()) for some in passes.values())
    text = f"its steps begin anew {many - 1} times and the loss goes on: cycles of one training"
    problems = [*reading.problems, Problem(str(reading.path), f"{text}, counted on")]
    done = max(float(some.epoch.max()) for some in series.values())
    hints = replace(reading.hints, done_epochs=None if np.isnan(done) else done)
    return replace(reading, series=series, steps_inferred=True, problems=problems, hints=hints)


def _length(some: Sequence[IntArray | FloatArray]) -> float:
    """Return how far a counter runs in each pass, one interval behind its last; NaN: unknown."""
    known = np.concatenate(some)
    distinct = unique(known[np.isfinite(known)].astype(np.float64))
    if len(distinct) < 2:  # noqa: PLR2004 - one place has no interval
        return NOT_KNOWN
    return float(distinct[-1] - distinct[0] + median(np.diff(distinct)))


def _by_epoch(reading: SourceReading) -> Trainings:
    """Tell trainings in a run of W&B, whose own step goes on, by a logged epoch that falls back.

    Nothing is told where the loss goes on all the same: such epochs are those of an inner loop.
    """
    if reading.kind != "wandb" or not reading.series:
        return {}
    main = max(reading.series.values(), key=lambda some: int(np.isfinite(some.epoch).sum()))
    known = np.isfinite(main.epoch)
    step, epoch = main.step[known], main.epoch[known]
    if len(epoch) < FEWEST or (np.diff(step) < 0).any():
        return {}
    begins = np.flatnonzero((np.diff(epoch) < -1) & (epoch[1:] <= epoch[0] + 1)) + 1
    parts = np.diff([0, *begins.tolist(), len(epoch)])
    if not len(begins) or parts.min() < FEWEST or (np.diff(epoch) < 0).sum() > len(begins):
        return {}
    if (epoch[begins + 1] > epoch[begins - 1]).any():
        return {}  # a stray row
    borders = step[begins]
    found = {
        name: np.searchsorted(borders, some.step, side="right")
        for name, some in reading.series.items()
    }
    losses = [name for name in found if naming(name, reading.framework).metric == "train_loss"]
    if losses and goes_on(found[losses[0]], reading.series[losses[0]].value):
        return {}
    return found


def _part(reading: SourceReading, training: Trainings, number: int, *, last: bool) -> SourceReading:
    """Return what one training logged; how the source ended, only its last one says."""
    series = {
        name: Series._make(column[kept] for column in some)
        for name, some in reading.series.items()
        if (kept := training[name] == number).any()
    }
    first = min((int(some.launch.min()) for some in series.values()), default=0)
    series = {name: some._replace(launch=some.launch - first) for name, some in series.items()}
    hints = reading.hints
    done, of_all = _last_epoch(series), _last_epoch(reading.series)
    if done is not None and of_all is not None and hints.done_epochs is not None:
        done += hints.done_epochs - of_all  # one more where the source counts from 0
    plan = Hints(planned_steps=hints.planned_steps, planned_epochs=hints.planned_epochs)
    return replace(
        reading,
        series=series,
        hints=replace(hints if last else plan, done_epochs=done),
        events=list(reading.events) if last else [],
        problems=list(reading.problems) if last else [],
        log_tail=reading.log_tail if last else (),
    )


def _last_epoch(series: Mapping[str, Series]) -> float | None:
    """Return the last epoch that series tell; None where they tell none."""
    known = (one.epoch[np.isfinite(one.epoch)] for one in series.values())
    return max((float(some.max()) for some in known if len(some)), default=None)


def numbered(parts: list[SourceReading]) -> list[SourceReading]:
    """Name the trainings of a source after their place in it: ``train.log (2 of 3)``."""
    wide = len(str(len(parts)))
    return [
        replace(
            part,
            run_id=f"{part.run_id}#{number:0{wide}}" if part.run_id else f"{number:0{wide}}",
            run_name=f"{part.run_name or part.path.name} ({number:0{wide}} of {len(parts)})",
            in_store=True,
        )
        for number, part in enumerate(parts, 1)
    ]
