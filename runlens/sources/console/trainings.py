"""Which rows of a log are of which training, told by what they count before steps are made of it.

An epoch that falls back to its first is another training: a fold, a seed, a start from scratch. A
counter of steps that does so may be that of an epoch that nobody names. There the values decide:
with a new training they begin anew, within one they go on.
"""

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise

import numpy as np

from runlens.arrays import median
from runlens.history import BoolArray, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.sources.console.records import launches
from runlens.sources.console.spans import BLOCK, WHOLE
from runlens.sources.tables.launches import slack_of
from runlens.sources.trainings import goes_on, of_launches

FEWEST = 3  # rows of a training of which nothing but its steps says that it is one
HEADED = 0.1  # share of the rows that go on, from which lines before them are their heading
MOSTLY = 0.8  # share of the rows that name a counter
FAR = 10  # times as much as a counter rises else
EPOCHS = 4  # rows that each name another epoch from which their steps would go on
STILL = 2  # steps at which they stand if they do not: before a sample, and behind it
UNCERTAIN = "its steps begin anew and no epoch says why: read as trainings of their own"


class Counts(NamedTuple):
    """What the rows of a log count; -1: it names none. Arrays of shape (n,)."""

    epoch: IntArray
    step: IntArray
    batch: IntArray


class Apart(NamedTuple):
    """The training of each row and, where a counter ran through it again and again, the pass."""

    training: IntArray
    passes: IntArray | None = None  # from 0, shape (n,): epochs that nobody named
    doubt: str = ""
    ahead: IntArray | None = None  # steps before those that a resumed launch counts, shape (n,)


def tell_apart(
    counts: Counts,
    groups: Sequence[Hashable],
    value: FloatArray,
    anew: Callable[[int, int], bool],
    total: IntArray,
) -> Apart:
    """Tell trainings apart.

    `groups` are the kinds of rows, of which each is printed in order; `value` is the number by
    which each row is judged, NaN where it has none; `anew` tells whether the log begins anew right
    before a row, by how many lines of its beginning, as it does not between epochs that nobody
    named; `total` is what each row counts to, -1 where it does not say.
    """
    if _are_trials(counts.epoch, anew):
        return Apart(np.arange(len(counts.epoch), dtype=np.int64))
    position, by_epoch = _position(counts, groups)
    number = _numbered(groups)
    ahead = _ahead(counts, number, value)
    if ahead is not None:
        return Apart(np.zeros(len(position), dtype=np.int64), ahead=ahead)
    epoch = None if by_epoch else counts.epoch
    found = _by_counter(position, number, value, epoch, total)
    begins = (np.flatnonzero(np.diff(found.training)) + 1).tolist()
    anew_at = [anew(n, BLOCK) for n in begins]
    if found.doubt and all(anew_at):
        found = found._replace(doubt="")  # the log says why
    alone = by_epoch and max(counts.step.max(initial=-1), counts.batch.max(initial=-1)) < 0
    if alone and _counted_again(position, found.training, value) and not any(anew_at):
        return Apart(np.zeros(len(position), dtype=np.int64), found.training)
    if found.passes is not None:
        begins = (np.flatnonzero(np.diff(found.passes)) + 1).tolist()
        return Apart(found.passes) if all(anew(n, WHOLE) for n in begins) else found
    unsaid = np.max(counts, axis=0) < 0
    again = _again(position, number, found.training) if alone else np.zeros_like(unsaid)
    unsaid |= _far(_filled(counts.epoch) if by_epoch else position)
    return found._replace(training=_also_anew(found.training, position, unsaid, again, anew))


def joined(parts: Sequence[Apart]) -> Apart:
    """Return what was told of rows part by part, of which each begins another training."""
    if len(parts) == 1:
        return parts[0]
    training: list[int] = []
    for part in parts:
        begin = 1 + training[-1] if training else 0
        training += (part.training + begin).tolist()
    doubts = dict.fromkeys(part.doubt for part in parts if part.doubt)
    return Apart(np.array(training, dtype=np.int64), doubt="; ".join(doubts))


def _are_trials(epoch: IntArray, anew: Callable[[int, int], bool]) -> bool:
    """Whether each row names the same epoch, and the log begins anew before each; shape (n,).

    A program was tried for one epoch, time and again.
    """
    some = len(epoch) > FEWEST and epoch[0] >= 0 and bool((epoch == epoch[0]).all())
    return some and all(anew(n, BLOCK) for n in range(1, len(epoch)))


def _far(counter: IntArray) -> BoolArray:
    """Tell the rows, shape (n,), before which a counter left out far more than between others.

    So it does where a start had no memory for its first epochs, and logged none of them.
    """
    apart = np.diff(counter, prepend=counter[:1])
    far: BoolArray = apart > FAR * median(np.abs(apart[apart != 0]))
    return far


def _again(position: IntArray, group: IntArray, training: IntArray) -> BoolArray:
    """Tell the rows, shape (n,), at which a start that failed in its first epoch was repeated.

    Of a log of several trainings, whose epochs have one row of a kind: at the first of them a kind
    comes again, though not in each training, as what is checked before one does.
    """
    found = np.zeros(len(position), dtype=np.bool_)
    seen: set[tuple[int, int]] = set()
    first = later = doubled = 0
    for n, (at, kind) in enumerate(zip(position.tolist(), group.tolist(), strict=True)):
        if n == 0 or training[n] > training[n - 1]:
            seen, first = set(), at
        doubled += (at, kind) in seen and at > first
        later += at > first
        if at == first and (at, kind) in seen:
            found[n], seen = True, set()
        seen.add((at, kind))
    some = len(set(training[found].tolist())) <= training.max(initial=0)
    return found & bool(some and doubled <= (1 - MOSTLY) * later)


def _also_anew(
    training: IntArray,
    position: IntArray,
    unsaid: BoolArray,
    again: BoolArray,
    anew: Callable[[int, int], bool],
) -> IntArray:
    """Return the training of each row, shape (n,), those too that came no further than its start.

    Where a start failed in its first epoch, the next one counts the same: only the log tells. So it
    does of a row that names no counter, or one far off. Where most of such trainings would be a
    single row, the beginning that comes again is but the heading of a sample.
    """
    first = int(position[0]) if len(position) else 0
    begins = np.zeros(len(training), dtype=np.int64)
    for n in range(1, len(training)):
        if training[n] > training[n - 1]:
            first = int(position[n])
        elif again[n] or ((position[n] <= first or unsaid[n]) and anew(n, BLOCK)):
            begins[n] = 1
            first = int(position[n])
    found = training + np.cumsum(begins)
    rest = [n for n in range(1, len(training)) if not begins[n] and training[n] == training[n - 1]]
    if begins.any() and sum(anew(n, BLOCK) for n in rest) > max(begins.sum(), HEADED * len(rest)):
        return training  # it comes again where the counter goes on too, as between samples
    return found if len(found) >= 2 * (found[-1] + 1) else training


def count_words(counts: Counts, step: IntArray) -> bool:
    """Whether `step` stands still at rows that name epoch after epoch; shape (n,).

    The steps of others count the words of a sample: ``step 2: token 9`` below ``Epoch 3 - loss 1``.
    """
    mine = (counts.epoch >= 0) & (np.maximum(counts.step, counts.batch) < 0)
    return len(np.unique(counts.epoch[mine])) >= EPOCHS and len(np.unique(step[mine])) <= STILL


def _by_counter(
    position: IntArray,
    number: IntArray,
    value: FloatArray,
    epoch: IntArray | None,
    total: IntArray,
) -> Apart:
    """Tell trainings by `position`; `epoch`: what beside it says so too, None where it is in it."""
    begun = _launches(position, number)
    if not begun[-1]:
        return Apart(np.zeros(len(position), dtype=np.int64))
    training = of_launches(position, _together(position, begun, number))
    if epoch is None or not training[-1] or _epochs_fall(epoch, training):
        return Apart(training)
    alone = np.zeros(len(position), dtype=np.int64)
    cut = _cut(position, training, total)
    if not cut and _same_ends(position, training) and goes_on(training, value):
        return Apart(alone, training)
    short = np.bincount(training)[:-1] < FEWEST
    return Apart(alone) if 2 * short.sum() >= len(short) else Apart(training, None, UNCERTAIN)


def _counted_again(position: IntArray, training: IntArray, value: FloatArray) -> bool:
    """Whether epochs count to the same again and again while the values go on all the way.

    ``model.fit(epochs=5)`` within a loop of one's own is one training, folds begin anew.
    """
    often = len(training) > 0 and training[-1] + 1 >= FEWEST
    return bool(often and _same_ends(position, training) and goes_on(training, value))


def _epochs_fall(epoch: IntArray, training: IntArray) -> bool:
    """Whether the epoch that rows name beside their steps falls too, and rises at no border."""
    borders = np.flatnonzero(np.diff(training)) + 1
    before, behind = epoch[borders - 1], epoch[borders]
    return bool(((behind >= 0) & (behind <= before)).all() and (behind < before).any())


def _ahead(counts: Counts, group: IntArray, value: FloatArray) -> IntArray | None:
    """Return the steps, shape (n,), before launches that count their own and go on with the epochs.

    None where one begins at the first epoch, or behind one that is not there, or where no launch
    shows how many steps an epoch has, or the values do not go on.
    """
    within = counts.step if (counts.step >= 0).any() else counts.batch
    if not (within >= 0).any() or counts.epoch.max() < 0:
        return None
    epoch, step = _filled(counts.epoch), _filled(within)
    launch = of_launches(step, _together(step, _launches(step, group), group))
    borders = np.flatnonzero(np.diff(launch)) + 1
    on = (epoch[borders] > epoch[0]) & (epoch[borders] <= epoch[borders - 1] + 1)
    if not len(borders) or not on.all() or not goes_on(launch, value):
        return None
    long: list[int] = []  # steps of epochs that are neither the first of their launch nor its last
    for mine in np.split(np.arange(len(epoch)), borders):
        own, begins = np.unique(epoch[mine], return_index=True)
        if set(np.diff(epoch[mine]).tolist()) <= {0, 1}:
            long += np.diff(step[mine][begins[1:] - 1])[: len(own) - 2].tolist()
    if not long or min(long) <= 0:
        return None
    first = epoch[np.concatenate([[0], borders])] - epoch[0]
    ahead: IntArray = first[launch] * int(median(np.array(long)))
    return ahead


def _numbered(groups: Sequence[Hashable]) -> IntArray:
    names = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    return np.array([names[group] for group in groups], dtype=np.int64)


def _launches(position: IntArray, group: IntArray) -> IntArray:
    main = position[group == np.bincount(group).argmax()]
    return launches(position, group.tolist(), slack_of(main))


def _together(position: IntArray, launch: IntArray, group: IntArray) -> IntArray:
    """Return the launches of which the kinds of most rows begin anew, and go on from there; (n,).

    Where one of several does, or a single row, a best row was printed again.
    """
    last: dict[int, int] = {}
    found = np.zeros(len(launch), dtype=np.int64)
    number = 0
    for begin, end in pairwise([*np.flatnonzero(np.diff(launch, prepend=-1)), len(launch)]):
        mine: dict[int, list[int]] = {}
        for kind, at in zip(group[begin:end].tolist(), position[begin:end].tolist(), strict=True):
            mine.setdefault(kind, []).append(at)
        known = {kind: len(some) for kind, some in mine.items() if kind in last}
        anew = sum(rows for kind, rows in known.items() if _anew(mine[kind], last[kind]))
        number += bool(known) and 2 * anew >= sum(known.values())
        found[begin:end] = number
        last |= {kind: some[-1] for kind, some in mine.items()}
    return found


def _anew(some: Sequence[int], last: int) -> bool:
    """Whether rows of a kind go on behind `last`, where it stood before, but not at once."""
    return some[0] < last and (len(some) == 1 or some[1] <= last)


def _position(counts: Counts, groups: Sequence[Hashable]) -> tuple[IntArray, bool]:
    """Return where each row stands, as a number that rises within a training, shape (n,).

    And whether epochs tell it. A row that names nothing stands where the row before it does.
    """
    epoch, step, batch = counts
    known = epoch >= 0
    within = step if (step >= 0).mean() >= (batch >= 0).mean() else batch
    if not known.any():
        return _filled(within), False
    epoch = _filled(epoch)
    if within is step and (step >= 0).mean() >= MOSTLY and not _inner(epoch, step, groups):
        return _filled(step), False
    whole = int(within.max(initial=0)) + 1
    return epoch * whole + np.where(within >= 0, within, whole - 1), True


def _inner(epoch: IntArray, step: IntArray, groups: Sequence[Hashable]) -> bool:
    """Whether steps count within an epoch: of a kind of rows they fall where the epoch rises."""
    last: dict[Hashable, tuple[int, int]] = {}
    rising = fallen = 0
    for group, now, at in zip(groups, epoch.tolist(), step.tolist(), strict=True):
        if at < 0:
            continue
        before = last.get(group)
        if before and now > before[0]:
            rising += 1
            fallen += at < before[1]
        last[group] = now, at
    return rising > 0 and fallen >= MOSTLY * rising


def _filled(number: IntArray) -> IntArray:
    """Return numbers with those that are not known (-1) taken from the row before; at first, 0."""
    place = np.maximum.accumulate(np.where(number >= 0, np.arange(1, len(number) + 1), 0))
    return np.concatenate([[0], number])[place]


def _cut(position: IntArray, training: IntArray, total: IntArray) -> bool:
    """Whether a counter fell before it had come to the number it counts to: no end of an epoch."""
    last = np.flatnonzero(np.diff(training))
    apart = int(median(np.diff(np.unique(position))))
    return bool((position[last] + apart < total[last]).any())


def _same_ends(position: IntArray, training: IntArray) -> bool:
    """Whether a counter came equally far each time, as in every epoch; the last may stop."""
    borders = np.flatnonzero(np.diff(training)) + 1
    parts = np.split(position, borders)
    ends = np.array([int(part.max()) for part in parts], dtype=np.int64)
    apart = int(median(np.diff(np.unique(position))))
    return bool(np.ptp(ends[:-1]) <= apart and ends[-1] <= ends[:-1].max())
