"""At which steps the dict rows of a log were printed.

The row of the Trainer names no step: it is in the progress bar next to it. tqdm shows its bar
again right after it let a row through, so the bar behind a row is exact, the bar before it may
be late. Where rows were buffered and came in bunches, or where there is no bar, steps are
concluded from the epochs in the rows.
"""

from itertools import pairwise

import numpy as np
from msgspec.structs import replace

from runlens.arrays import median, unique
from runlens.history import NOT_KNOWN, BoolArray, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.sources.console.bars import Bars
from runlens.sources.console.dicts import Rows
from runlens.sources.console.records import COUNTED, MAX_STEP, Placed, Records, launches

MOSTLY = 0.8  # share of rows with a bar of their own from which bars are trusted
ENDED = 0.98  # of a bar's total
BACK = 0.02  # of its total that a bar falls back at a restart; several ranks' bars do by less
RATES = 2_000  # rows whose bars' rates are compared
COARSE = 0.006  # epochs; older versions print two decimals
HUNDREDTH = 0.00501  # half of the last of these decimals, and what floats add to it
FINEST = 1e-9  # epochs; less is none: no epoch has so many steps
MANY = 1_000  # steps that a bar of something else reaches by no chance


class Known(NamedTuple):
    """What the log says elsewhere about steps."""

    planned_steps: float | None = None
    planned_epochs: float | None = None
    logging_steps: float | None = None
    examples: float | None = None
    batch: float | None = None  # samples an optimizer step


class _Printed(NamedTuple):
    """What is known of rows; arrays of shape (n,)."""

    at: IntArray
    epoch: FloatArray
    training: BoolArray
    closing: BoolArray  # the summary

    def taken(self, some: IntArray) -> "_Printed":
        return _Printed(self.at[some], self.epoch[some], self.training[some], self.closing[some])


def place(rows: Rows, bars: Bars, known: Known) -> Placed:
    """Say at which step and in which launch each row was printed."""
    rows = _counted_on(rows)
    at = rows.records.at
    printed = _Printed(at, rows.records.epoch, rows.are("train"), rows.are("summary"))
    steps = rows.step.copy()
    launch = np.zeros(len(rows), dtype=np.int64)
    doubts: set[str] = set()
    for number, (first, end) in enumerate(_launches(rows, bars)):
        launch[first:end] = number
        own = rows.step[first:end]
        unnamed = first + np.flatnonzero(own < 0)
        if not len(unnamed):
            continue
        after = int(at[first - 1]) if first else -1
        near = bars.between(after, int(at[end]) if end < len(rows) else None)
        if not len(near) and 2 * len(unnamed) <= len(own):
            steps[first:end] = _beside(own, printed.epoch[first:end])
            continue
        steps[unnamed], doubt = _steps(printed.taken(unnamed), near, known)
        doubts |= {doubt} if doubt else set()
    exact = bool(((rows.step >= 0) | rows.are("summary")).all())
    return Placed(steps, launch, not exact, "; ".join(sorted(doubts)))


def _counted_on(rows: Rows) -> Rows:
    """Count on over the epochs where steps count within each: they fall where the epoch rises.

    A launch begins both anew. Rows of other names, as those of an evaluation that counts its own
    batches, stand where the training did.
    """
    train = _of_one_layout(rows, np.flatnonzero(rows.are("train") & (rows.step >= 0)))
    step, epoch = rows.step[train], rows.records.epoch[train]
    back = np.flatnonzero(np.diff(step) < 0) + 1
    rises = epoch[back] > epoch[back - 1]
    anew = (epoch[back] == epoch[:1]) & (step[back] == step[:1])
    if not rises.any() or not (rises | anew).all():
        return rows
    apart = int(median(np.diff(unique(step))))
    done = step[back - 1] + np.where(step[back] > 0, 0, apart)
    before = [0]
    for more, on in zip(done.tolist(), rises.tolist(), strict=True):
        before.append(before[-1] + more if on else 0)
    own = np.array(before)[np.searchsorted(back, np.arange(len(train)), side="right")] + step
    last = np.searchsorted(train, np.arange(len(rows)), side="right") - 1
    counted = np.where(rows.step >= 0, own[np.maximum(last, 0)], rows.step)
    return replace(rows, step=counted)


def _of_one_layout(rows: Rows, some: IntArray) -> IntArray:
    """Return those of some rows whose names most of them have."""
    layout = np.zeros(len(rows), dtype=np.int64)
    for number, one in enumerate(rows.records.layouts):
        layout[one.number] = number
    often = np.bincount(layout[some]).argmax() if len(some) else 0
    mine: IntArray = some[layout[some] == often]
    return mine


def _beside(own: IntArray, epoch: FloatArray) -> IntArray:
    """Return the steps of rows of which some name theirs, `own`; -1: it names none.

    The others lie between the steps around them: where epochs tell nothing, at the one before.
    """
    before = np.maximum(np.maximum.accumulate(own), 0)
    after = np.minimum.accumulate(np.where(own >= 0, own, MAX_STEP)[::-1])[::-1]
    guess = np.rint(epoch * _ratio(own, epoch))
    guess = np.clip(np.where(np.isnan(guess), before, guess), before, np.maximum(after, before))
    return np.where(own >= 0, own, guess).astype(np.int64)


def _launches(rows: Rows, bars: Bars) -> list[tuple[int, int]]:
    """Split rows where a launch ended (summary), where the epoch or the run's bar falls back."""
    at, epoch, train = rows.records.at, rows.records.epoch, rows.are("train")
    total = counted_by(at[train], bars)
    run = bars.taken(bars.total == total)
    fallen = run.done[:-1] - run.done[1:] > BACK * total
    restarts = run.at[1:][fallen & (run.done[:-1] < ENDED * total)]
    restarted = np.searchsorted(restarts, at, side="right")
    named = np.flatnonzero(rows.step >= 0)
    launch = np.zeros(len(rows), dtype=np.int64)
    launch[named] = launches(rows.step[named], rows.kind[named].tolist())
    new = (
        (epoch[1:] < epoch[:-1])
        | (np.diff(np.maximum.accumulate(launch)) > 0)
        | (restarted[1:] > restarted[:-1])
        | (rows.are("summary")[:-1] & train[1:])
    )
    cuts = [0, *(np.flatnonzero(new) + 1).tolist(), len(rows)]
    return list(pairwise(cuts))


def counted_by(training: IntArray, bars: Bars) -> int:
    """Return the total of the bar that counts the steps of the rows; -1 without bars.

    It stands next to most training rows, whose lines are given in order; the bars of
    evaluations and data sets do not.
    """
    if not len(bars):
        return -1
    behind = np.searchsorted(bars.at, training, side="right")
    near = np.stack([behind - 1, behind], axis=1).ravel()
    near = near[(near >= 0) & (near < len(bars))]
    votes = bars.total[near]
    if not len(votes):
        return int(bars.total.max())
    totals, first, which, count = np.unique(
        votes, return_index=True, return_inverse=True, return_counts=True
    )
    if (count == count.max()).sum() == 1:
        return int(totals[count.argmax()])
    done = np.unique(bars.done[near], return_inverse=True)[1]
    shown = unique(which * len(near) + done) // len(near)
    states = np.bincount(shown, minlength=len(totals))  # the run's bar moves on from row to row
    return int(totals[np.lexsort((first, -states, -count))[0]])


def _steps(rows: _Printed, bars: Bars, known: Known) -> tuple[IntArray, str]:
    """Return the steps of the rows of one launch, shape (n,), and a doubt for the user."""
    at, epoch, training, _ = rows
    total = counted_by(at[training], bars)
    run = bars.taken(bars.total == total)
    if not len(run):
        return _by_epoch(rows, NOT_KNOWN, NOT_KNOWN, known)
    done = _whole_run(run.done, total)
    behind = np.searchsorted(run.at, at, side="right")
    own = np.ones(len(at), dtype=np.bool_)  # a bar stands between it and the next training row
    trained = np.flatnonzero(training)
    own[trained[:-1]] = behind[trained[1:]] > behind[trained[:-1]]
    own &= behind < len(run)
    exact = done[np.minimum(behind, len(run) - 1)]
    ended = trained[:-1] if len(trained) > 1 and behind[trained[-1]] == len(run) else trained
    if own[ended].mean() < MOSTLY if training.any() else not own.any():
        many = 2 * own[training].sum() > training.sum()  # of a bunch only the last row has a bar
        ratio = _ratio(exact[own], epoch[own]) if many else NOT_KNOWN
        if not known.logging_steps:
            known = known._replace(logging_steps=_redrawn(done))
        return _by_epoch(rows, ratio, float(done.max()), known)
    before = np.where(behind > 0, done[np.maximum(behind - 1, 0)], 0)
    if not _shown_again(run, behind[own]):
        exact, own = before, own | (behind > 0)
    else:
        exact = _on_time(exact, before, own & training)
    ratio = _ratio(exact[own], epoch[own])
    guess = before if np.isnan(ratio) else np.rint(epoch * ratio).astype(np.int64)
    near = abs(guess - before) <= 2 * COARSE * ratio  # its epoch and the ratio are rounded
    guess = np.where(near, before, guess)
    guess = np.clip(guess, before, np.where(behind < len(run), exact, total))
    return np.where(own, exact, guess), ""


def _on_time(exact: IntArray, before: IntArray, some: BoolArray) -> IntArray:
    """Return steps of rows whose bar behind was cut out: that before keeps the rows' interval.

    `exact` and `before` are those of the bars behind and before each row, shape (n,).
    """
    mine = np.flatnonzero(some)
    redrawn = exact[mine][exact[mine] == before[mine]]
    if len(redrawn) < 3:  # noqa: PLR2004 - two gaps are the fewest that agree
        return exact
    interval = int(median(np.diff(redrawn)))
    last, mine = exact[mine[:-1]], mine[1:]
    cut = mine[(exact[mine] - last > interval) & (before[mine] - last == interval)]
    kept = exact.copy()
    kept[cut] = before[cut]
    return kept


def _shown_again(run: Bars, behind: IntArray) -> bool:
    """Whether the bar behind a row is the bar before it drawn again, as most often it is.

    A redrawn bar has the old rate. A terminal emulator (W&B's output.log) keeps only the next
    state of the bar, which is too late; then the state before the row is the exact one. Of very
    many rows only some, evenly spread, are asked for their rates.
    """
    pairs = behind[(behind > 0) & (behind < len(run))]
    pairs = pairs[:: 1 + len(pairs) // RATES]
    again = run.done[pairs - 1] == run.done[pairs]
    others = pairs[~again].tolist()
    rates = sum(run.rate(number - 1) == run.rate(number) for number in others)
    return bool(2 * (again.sum() + rates) >= len(pairs))


def _whole_run(done: IntArray, total: int) -> IntArray:
    """Count on where a bar begins again after it was full: it shows one epoch, not the run."""
    again = np.flatnonzero((done[1:] < done[:-1] / 2) & (done[:-1] >= ENDED * total)) + 1
    epochs = np.zeros(len(done), dtype=np.int64)
    epochs[again] = 1
    return done + total * np.cumsum(epochs)


def _redrawn(done: IntArray) -> float | None:
    """Return the interval of the steps at which a bar was drawn twice: when it let a row through.

    Where the rows themselves were buffered and came later in a bunch, this is left of them.
    """
    twice = unique(done[1:][done[1:] == done[:-1]])
    return float(median(np.diff(twice))) if len(twice) > 3 else None  # noqa: PLR2004 - a share of the interval, or too few of them


def _ratio(steps: IntArray, epochs: FloatArray) -> float:
    """Return steps an epoch of rows whose steps are known; the later half is the more exact."""
    known = (epochs > FINEST) & (steps > 0)
    if not known.any():
        return NOT_KNOWN
    steps, epochs = steps[known], epochs[known]
    late = epochs >= median(epochs)
    return float(median(steps[late] / epochs[late]))


def _gap(epoch: FloatArray) -> float:
    """Return the epochs from one row to the next, or NaN.

    Printed epochs are rounded: the first gaps give the count of the next rows, these give a
    gap that is twice as exact, and so on.
    """
    gaps = np.diff(epoch)
    rising = gaps[gaps > FINEST]
    if not len(rising):
        return NOT_KNOWN
    if len(rising) < MOSTLY * len(gaps):  # so coarse that rows share an epoch
        return float((epoch[-1] - epoch[0]) / len(gaps))
    gap = float(median(rising))
    reach = 2
    while reach < 2 * len(epoch):
        last = float(epoch[min(reach, len(epoch) - 1)])
        if last > gap / 2:  # the first may be rounded to 0.0
            gap = last / np.rint(last / gap)
        reach *= 2
    return gap


def _by_epoch(
    rows: _Printed,
    ratio: float,
    last: float,
    known: Known,
) -> tuple[IntArray, str]:
    """Conclude steps from epochs: for rows that came in bunches, or without any bar.

    `ratio` is steps an epoch as far as rows with bars of their own tell, `last` the last step
    that a bar showed; NaN where there is none.
    """
    epoch, training = rows.epoch, rows.training
    gap = _gap(epoch[training])
    closing = epoch[rows.closing].tolist()
    if closing and known.planned_steps and not last > 0:
        last = known.planned_steps
    count = int(training.sum())
    every = known.logging_steps or 0.0
    if not every >= 1 and closing and count and last > 0:
        every = round(last / count) if last // max(1, round(last / count)) == count else 0.0
    if not epoch.max() > FINEST:  # a long epoch begins: rounded to 0.0
        return np.cumsum(training) * int(max(1, every)), "" if every >= 1 or not count else COUNTED
    counted = np.cumsum(training) if count else np.arange(1, len(epoch) + 1)
    fits = not last > 0 or counted[-1] * every <= last + every
    if every >= 1 and fits and _in_step((counted * every).astype(np.float64), epoch):
        return (counted * every).astype(np.int64), ""
    ratios = _ratios(closing, last, known, ratio, every / gap if every >= 1 else NOT_KNOWN)
    fitting = [some for some in ratios if some > 0 and (np.isnan(gap) or _whole(gap * some))]
    doubt = ""
    if not fitting and count and (_tied(epoch[training]) or _even(epoch[training])):
        return counted.astype(np.int64), COUNTED
    if not fitting and gap > 0:
        per_row = np.floor(last * gap / epoch.max() + 1e-6) if last > 0 else 1.0
        fitting = [max(1.0, per_row) / gap]
        doubt = "has rows without a step number, so steps were estimated from the epochs"
    if not fitting:
        return counted.astype(np.int64), COUNTED
    smooth = epoch * fitting[0]
    interval = np.rint(gap * fitting[0]) if gap > 0 else 1.0
    if interval > 1:
        smooth = np.where(training, np.rint(epoch / gap) * interval, smooth)
    return np.rint(np.clip(smooth, 0, MAX_STEP)).astype(np.int64), doubt


def _ratios(
    closing: list[float], last: float, known: Known, ratio: float, logged: float
) -> list[float]:
    """Return steps an epoch as the log tells it in its different places, the surest first."""
    found = [last / closing[-1]] if closing and closing[-1] > FINEST else []
    if known.planned_steps and known.planned_epochs:
        found.append(known.planned_steps / known.planned_epochs)
    if known.examples and known.batch:
        found.append(known.examples / known.batch)
    return [*found, ratio, logged]


def _whole(interval: float) -> bool:
    """Whether a number of steps from row to row is near a whole one."""
    return bool(interval > 0.5 and abs(interval - round(interval)) <= 0.05 * interval)  # noqa: PLR2004 - a share of the interval, or too few of them


def _tied(epoch: FloatArray) -> bool:
    """Whether epochs are too coarse to tell rows apart; shape (n,)."""
    return bool((np.diff(epoch) == 0).any())


def _even(epoch: FloatArray) -> bool:
    """Whether epochs of two decimals, shape (n,), are those of rows one interval apart, from 1 on.

    Then some interval is within the rounding of each of them.
    """
    number = np.arange(1, len(epoch) + 1)
    low, high = (epoch - HUNDREDTH) / number, (epoch + HUNDREDTH) / number
    return bool((np.round(epoch, 2) == epoch).all() and low.max() <= high.min())


def _in_step(counted: FloatArray, epoch: FloatArray) -> bool:
    """Whether counted steps grow as the epochs do, these rounded to two decimals."""
    ratio = counted[-1] / epoch.max()
    slack = COARSE * ratio + counted[0]
    return bool((abs(counted - epoch * ratio) <= slack + 0.1 * counted).all())


def closes(bars: Bars, placed: Placed, records: Records) -> bool:
    """Whether the only state of any bar stands behind all rows, as far as their next one would be.

    Where no terminal is, a bar may be shown at its end alone.
    """
    if len(bars) != 1 or bars.at[0] <= records.at[-1]:
        return False
    steps = unique(placed.step)
    ahead = int(bars.done[0] - steps[-1])
    return steps[-1] >= MANY and 0 <= ahead <= int(np.diff(steps, prepend=0).max())
