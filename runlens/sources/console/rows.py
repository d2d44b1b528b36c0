"""Rows of a console log put in their places: from counters to the steps of the run."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from runlens.arrays import median
from runlens.history import NOT_KNOWN, IntArray
from runlens.metrics import naming
from runlens.records import NamedTuple
from runlens.sources.console.counters import Counted
from runlens.sources.console.records import COUNTED, Placed, Record, before, first_epoch, launches
from runlens.sources.console.renames import framework_of, renamed
from runlens.sources.console.telling import tells
from runlens.sources.console.trainings import Apart, Counts, count_words, joined, tell_apart

CROWD = 3  # rows without a counter in a row that are no summaries of an epoch
RANKS = 3  # falls by one interval from which several ranks print: a resume falls once
ONCE_AN_EPOCH = 1.5  # rows an epoch up to which the epoch is taken for the step


class Row(NamedTuple):
    """A line, or some that belong together, with its counter and its numbers."""

    at: int
    counted: Counted
    names: tuple[str, ...]
    values: tuple[float, ...]


class Epochs(NamedTuple):
    """How many epochs of a training are done, and of how many; None: its rows do not say."""

    done: float | None = None
    planned: float | None = None
    batches: int = 0  # of each, where it is told


class Found(NamedTuple):
    """What the lines of a log give."""

    records: list[Record]
    placed: Placed
    framework: str = ""
    planned: tuple[int | None, ...] = ()  # steps, of each training
    epochs: tuple[Epochs, ...] = ()  # of each training


# whether a log begins anew between two of its lines, by how many lines that come again
Anew = Callable[[int, int, int], bool]


def _never(_before: int, _after: int, _alike: int) -> bool:
    return False


def placed(
    rows: list[Row], framework: str = "", anew: Anew = _never, begins: Sequence[int] = ()
) -> Found:
    """Return the records of rows and where in which training they stand.

    At the rows `begins` another training does, whatever is counted there.
    """
    framework = framework or framework_of({name for row in rows[:200] for name in row.names})
    rows = _renamed(rows, framework)
    if not rows:
        return Found([], Placed(*np.zeros((2, 0), dtype=np.int64)), framework)
    some = [_apart(rows[n:end], anew) for n, end in pairwise([0, *begins, len(rows)])]
    rows, apart = [row for mine, _ in some for row in mine], joined([one for _, one in some])
    parts = [
        _placed([rows[n] for n in np.flatnonzero(apart.training == one).tolist()])
        for one in range(int(apart.training.max()) + 1)
    ]
    before = np.cumsum([0, *(int(part.placed.launch.max()) + 1 for part in parts[:-1])])
    launch = [part.placed.launch + n for part, n in zip(parts, before.tolist(), strict=True)]
    doubts = dict.fromkeys(part.placed.doubt for part in parts if part.placed.doubt)
    doubts |= {apart.doubt: None} if apart.doubt else {}
    return Found(
        [record for part in parts for record in part.records],
        Placed(
            np.concatenate([part.placed.step for part in parts]),
            np.concatenate(launch),
            any(part.placed.inferred for part in parts),
            "; ".join(doubts),
            apart.training,
        ),
        framework,
        tuple(planned for part in parts for planned in part.planned),
        tuple(epochs for part in parts for epochs in part.epochs),
    )


def _apart(rows: list[Row], anew: Anew) -> tuple[list[Row], Apart]:
    """Return rows with the training of each; epochs that nobody named are counted."""
    counts = Counts(*_counters(rows))
    judged = {names: _judged(names) for names in {row.names for row in rows}}
    placed = [(row, judged[row.names]) for row in rows]
    value = np.array([row.values[place] if place >= 0 else NOT_KNOWN for row, place in placed])
    if all(place >= 0 for _, place in placed) and np.isnan(value).all():
        value = np.arange(len(rows)).astype(float)  # NaN goes on, and never begins anew
    kinds = [row.names[place] if place >= 0 else row.names for row, place in placed]
    total = np.array([max(row.counted.steps, row.counted.batches) for row in rows])
    at = [row.at for row in rows]

    def begins(row: int, alike: int) -> bool:
        return anew(at[row - 1], at[row], alike)

    apart = tell_apart(counts, kinds, value, begins, total)
    if apart.passes is not None:
        rows = [
            row._replace(counted=_within(row.counted, n))
            for row, n in zip(rows, apart.passes.tolist(), strict=True)
        ]
    elif apart.ahead is not None:
        ahead = zip(rows, apart.ahead.tolist(), strict=True)
        rows = [row._replace(counted=_after(row.counted, steps)) for row, steps in ahead]
    return rows, apart


def _counters(rows: Sequence[Row]) -> list[IntArray]:
    return [np.array([getattr(r.counted, n) for r in rows], dtype=np.int64) for n in Counts._fields]


def _judged(names: tuple[str, ...]) -> int:
    """Return the place of the training loss among names, else of what tells; -1: none does.

    A single number is what its row is judged by, whatever its name.
    """
    loss = (n for n, name in enumerate(names) if naming(name).metric == "train_loss")
    alone = 0 if len(names) == 1 else -1
    return next(loss, next((n for n, name in enumerate(names) if tells(name)), alone))


def _within(counted: Counted, epoch: int) -> Counted:
    """Return a counter of steps, or of epochs alone, as one of the batches of an epoch."""
    step = max(counted.step, counted.batch), max(counted.steps, counted.batches)
    batch, batches = step if step[0] >= 0 else (counted.epoch, counted.epochs)
    return Counted(epoch=epoch, batch=batch, batches=batches)


def _after(counted: Counted, steps: int) -> Counted:
    own = max(counted.step, counted.batch)
    return counted if own < 0 else counted._replace(step=own + steps, batch=-1, batches=-1)


def _placed(rows: list[Row]) -> Found:
    """Return the records of one training and where in it they stand."""
    rows = _means_apart(_counted_on(_without_still_step(rows)))
    step, inferred, doubt = _steps(rows)
    names = [row.names for row in rows]
    launch = launches(step, names, _jitter(step, names))
    first = 0 if any(row.counted.epoch == 0 for row in rows) else 1
    over = _trained_in_the_first(rows) if first == 0 else 0
    records = [
        Record(row.at, row.names, row.values, _epoch(row.counted, first, over)) for row in rows
    ]
    more = _counts_to_the_last(rows)
    planned = [_planned(row.counted, more) for row in rows]
    known = next((number for number in reversed(planned) if number > 0), None)
    places = Placed(step, launch, inferred, doubt)
    return Found(records, places, planned=(known,), epochs=(_epochs(rows),))


def _means_apart(rows: list[Row]) -> list[Row]:
    """Name the means of epochs so where batches have the same names: ``Epoch 3 | loss 0.2``."""
    named = [row for row in rows if row.counted.epoch >= 0 and row.counted.step < 0]
    within = [row for row in named if row.counted.batch >= 0]
    over = [row for row in named if row.counted.batch < 0]
    most = ONCE_AN_EPOCH * len({row.counted.epoch for row in over})
    if not over or len(over) > most:
        return rows
    names, others = ({name for row in some for name in row.names} for some in (within, over))
    others -= names if len(within) <= most else set()
    known = {naming(name).metric for name in names}
    both = (name for name in others if naming(name).metric in known)
    means = {name: f"epoch {name}" for name in both if _has_mean(name)}
    at = {row.at for row in over} if means else set()
    return [
        row._replace(names=tuple(means.get(name, name) for name in row.names))
        if row.at in at
        else row
        for row in rows
    ]


def _has_mean(name: str) -> bool:
    """Whether a metric of the training has a mean of the epoch beside it."""
    metric = naming(name).metric
    return metric.startswith("train_") and naming(f"epoch {name}").metric != metric


def _epochs(rows: list[Row]) -> Epochs:
    """Return the epochs of one training: ``Epoch 3/50``.

    How much of the last one is done is told by its rows, beside those of an epoch that is over.
    """
    named = [row for row in rows if row.counted.epoch >= 0]
    if not named:
        return Epochs()
    often = Counter(row.names for row in named).most_common(1)[0][0]
    last = max(row.counted.epoch for row in named)
    many = Counter(row.counted.epoch for row in named if row.names == often)
    if last not in many:
        many = Counter(row.counted.epoch for row in named)
    planned = next((row.counted.epochs for row in reversed(rows) if row.counted.epochs > 0), 0)
    planned += _counts_to_the_last(rows) if planned else 0
    over = [count for epoch, count in many.items() if epoch != last]
    begun = [row.counted.batch / row.counted.batches for row in named if row.counted.batches > 0]
    share = min(1.0, many[last] / float(median(over)) if over else max(begun, default=1.0))
    from_zero = min(many) == 0 or (min(many) > 1 and last == planned - 1)
    done = last - (not from_zero) + share
    if not planned:
        mine = (row.counted.batches for row in reversed(named) if row.names == often)
        return Epochs(done, batches=next(mine))
    return Epochs(float(min(done, planned)) if last <= planned else done, float(planned))


def _jitter(step: IntArray, names: list[tuple[str, ...]]) -> int:
    """Return how far ranks that print on their own may fall back: one interval, again and again."""
    gaps = np.diff(step)
    gaps = gaps[gaps > 0]
    interval = int(median(gaps)) if len(gaps) else 0
    often = Counter(names).most_common(1)[0][0]
    mine = np.diff(step[np.array([some == often for some in names])])
    return interval if ((mine < 0) & (mine >= -interval)).sum() >= RANKS else 0


def _counts_to_the_last(rows: Sequence[Row]) -> int:
    """Return 1 where epochs from 0 name the last and not their number: ``Epoch 9/9``; else 0."""
    epochs = {row.counted.epoch for row in rows}
    return int(0 in epochs and any(row.counted.epoch == row.counted.epochs > 0 for row in rows))


def _planned(counted: Counted, more: int) -> int:
    if counted.batches > 0 and counted.epochs > 0:
        return counted.batches * (counted.epochs + more)
    return counted.steps


def _trained_in_the_first(rows: Sequence[Row]) -> int:
    """Return 1 where all that an epoch logs stands at 0 too: it is over then, no start; else 0."""
    logged = [{row.names for row in rows if row.counted.epoch == epoch} for epoch in (0, 1)]
    return int(logged[0] >= logged[1] > set())


def _epoch(counted: Counted, first: int, over: int) -> float:
    if counted.epoch < 0:
        return NOT_KNOWN
    if counted.batches > 0 and counted.batch >= 0:
        return counted.epoch - first + counted.batch / counted.batches
    return float(counted.epoch + over)


def _steps(rows: list[Row]) -> tuple[IntArray, bool, str]:
    """Return the step of each row, shape (n,), whether it was concluded, and a doubt."""
    explicit = [row.counted.step >= 0 for row in rows]
    if all(explicit):
        return np.array([row.counted.step for row in rows], dtype=np.int64), False, ""
    epochs = [row.counted.epoch for row in rows]
    if any(explicit) or any(row.counted.batch >= 0 for row in rows):
        step = np.array(_carried(rows), dtype=np.int64)
        if count_words(Counts(*_counters(rows)), step):
            return np.maximum.accumulate(np.maximum(epochs, 0)), True, ""
        return step, True, ""
    launch = launches(np.array(epochs, dtype=np.int64), [row.names for row in rows]).tolist()
    layouts = Counter(
        (row.names, row.counted.epoch, n) for row, n in zip(rows, launch, strict=True)
    )
    mean = sum(layouts.values()) / len(layouts)
    once = all(many == 1 for (_, epoch, _), many in layouts.items() if epoch < 0)
    if mean <= ONCE_AN_EPOCH and max(epochs) >= 0 and once:  # a row an epoch: nothing is lost
        known = 0
        around = [known := epoch if epoch >= 0 else known for epoch in epochs]
        return np.array(around, dtype=np.int64), True, ""
    counts: Counter[tuple[str, ...]] = Counter()
    numbers = []
    for row in rows:
        counts[row.names] += 1
        numbers.append(counts[row.names])
    return np.array(numbers, dtype=np.int64), True, COUNTED if max(numbers) > 1 else ""


def _without_still_step(rows: list[Row]) -> list[Row]:
    """Forget a step that is the same in all epochs: it was printed once, in the first."""
    steps = {row.counted.step for row in rows}
    epochs = {row.counted.epoch for row in rows} - {-1}
    if len(steps) > 1 or -1 in steps or len(epochs) < 2:  # noqa: PLR2004 - one is no course
        return rows
    return [row._replace(counted=row.counted._replace(step=-1, steps=-1)) for row in rows]


def _counted_on(rows: list[Row]) -> list[Row]:
    """Say that what stands beside the epochs is a step where it goes on from one to the next.

    Batches of an epoch would begin anew with each: ``Epoch 2 | step 500/200000``. Where each
    kind of row has its own at the end of every epoch they count nothing.
    """
    epoch = np.array([row.counted.epoch for row in rows])
    batch = np.array([row.counted.batch for row in rows])
    known = (batch >= 0) & np.array([row.counted.step < 0 for row in rows])
    if not known.any():
        return rows
    counting = (row.names for row, mine in zip(rows, known.tolist(), strict=True) if mine)
    often = Counter(counting).most_common(1)[0][0]
    mine = known & np.array([row.names == often for row in rows])
    later = np.diff(epoch[mine]) > 0
    gaps = np.diff(batch[mine])[later]
    same = len(gaps) >= CROWD and not gaps.any() and len(gaps) == mine.sum() - 1
    if same and known.all() and (batch != batch[mine][0]).any():
        return [row._replace(counted=_of_epoch(row.counted)) for row in rows]
    if not later.any() and _cut_out(rows):
        gaps = np.ones(1)  # steps as printed: how many batches an epoch has is not known
    if not len(gaps) or not (gaps > 0).all():
        return rows
    return [
        row._replace(counted=_as_step(row.counted)) if mine else row
        for row, mine in zip(rows, known.tolist(), strict=True)
    ]


def _cut_out(rows: Sequence[Row]) -> bool:
    """Whether all rows are of one later epoch, of whose batches nothing tells the number."""
    shown = min((row.counted.epoch for row in rows if row.counted.epoch >= 0), default=0)
    return _first_epoch(rows) < shown and all(row.counted.batches <= 0 for row in rows)


def _of_epoch(counted: Counted) -> Counted:
    return counted if counted.batches > 0 else counted._replace(batch=-1)


def _as_step(counted: Counted) -> Counted:
    return counted._replace(step=counted.batch, steps=counted.batches, batch=-1, batches=-1)


def _carried(rows: list[Row]) -> list[int]:
    """Count batches on over the epochs; a row with no counter of its own has the last step.

    Where many rows without a counter stand between two with a step they share the way evenly.
    """
    batches = _batches(rows)
    first = _first_epoch(rows)
    if max(row.counted.batches for row in rows) > 0 > max(row.counted.epochs for row in rows):
        first = min(first, 1)  # an excerpt of later epochs stands where its rows say
    above = next((row.counted.epoch for row in rows if row.counted.batch >= 0), -1)
    same = rows[0].counted.epoch == above  # what stands above its batches is where it begins
    step, waiting = max(0, above - first) * max(0, batches) if same else 0, 0
    steps: list[int] = []
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
    begun = next((n for n, r in enumerate(rows) if max(r.counted.step, r.counted.batch) >= 0), 0)
    return steps if any(steps[:begun]) else [before(steps[begun:])] * begun + steps[begun:]


def _batches(rows: list[Row]) -> int:
    """Return the batches of an epoch; where none says, the last: counted one by one from 0, all."""
    planned = max(row.counted.batches for row in rows)
    seen = np.unique([row.counted.batch for row in rows if row.counted.batch >= 0])
    if not len(seen) or planned >= seen[-1]:
        return planned
    return len(seen) if not seen[0] and len(seen) == seen[-1] + 1 else int(seen[-1])


def _first_epoch(rows: Sequence[Row]) -> int:
    """Return what the run calls its first epoch, which a log that was resumed does not show."""
    shown = [row.counted.epoch for row in rows if row.counted.epoch >= 0]
    planned = max(row.counted.epochs for row in rows)
    return first_epoch(min(shown, default=0), max(shown, default=0), planned)


def _renamed(rows: list[Row], framework: str) -> list[Row]:
    known = {one: renamed(one, framework) for one in {row.names for row in rows}}
    found = [row._replace(names=known[row.names]) for row in rows]
    return [_without_mfu(row) for row in found] if framework == "nanogpt" else found


def _without_mfu(row: Row) -> Row:
    """Leave out an mfu of -100 %: nanoGPT does not know it yet."""
    every = zip(row.names, row.values, strict=True)
    kept = [(name, value) for name, value in every if not (name == "mfu" and value < 0)]
    if len(kept) == len(row.names):
        return row
    return row._replace(names=tuple(name for name, _ in kept), values=tuple(v for _, v in kept))
