"""At which steps the dict rows of a log were printed.

The row of the Trainer names no step: it is in the progress bar next to it. tqdm shows its bar
again right after it let a row through, so the bar behind a row is exact, the bar before it may
be late. Where rows were buffered and came in bunches, or where there is no bar, steps are
concluded from the epochs in the rows.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from runlens.history import NOT_KNOWN, FloatArray, IntArray
from runlens.sources.console_dicts import DictRow
from runlens.sources.console_records import Placed
from runlens.sources.console_text import Bar

MOSTLY = 0.8  # share of rows with a bar of their own from which bars are trusted
ENDED = 0.98  # of a bar's total
BACK = 0.02  # of its total that a bar falls back at a restart; several ranks' bars do by less
COARSE = 0.006  # epochs; older versions print two decimals


class Known(NamedTuple):
    """What the log says elsewhere about steps."""

    planned_steps: float | None = None
    planned_epochs: float | None = None
    logging_steps: float | None = None
    examples: float | None = None
    batch: float | None = None  # samples an optimizer step


def place(rows: Sequence[DictRow], bars: Sequence[Bar], known: Known) -> Placed:
    """Say at which step and in which launch each row was printed."""
    count = len(rows)
    steps = np.array([item.step for item in rows], dtype=np.int64)
    launch = np.zeros(count, dtype=np.int64)
    doubts: set[str] = set()
    parts = _launches(rows, bars)
    for number, (first, end) in enumerate(parts):
        launch[first:end] = number
        if (steps[first:end] >= 0).all():
            continue
        some = rows[first:end]
        after = rows[first - 1].record.at if first else -1
        before = rows[end].record.at if end < count else None
        near = [bar for bar in bars if bar.at > after and (before is None or bar.at < before)]
        own, doubt = _steps(some, near, known)
        steps[first:end] = np.where(steps[first:end] >= 0, steps[first:end], own)
        doubts |= {doubt} if doubt else set()
    exact = all(item.step >= 0 for item in rows)
    return Placed(steps, launch, not exact, "; ".join(sorted(doubts)))


def _launches(rows: Sequence[DictRow], bars: Sequence[Bar]) -> list[tuple[int, int]]:
    """Split rows where a launch ended (summary), where the epoch or the run's bar falls back."""
    total = counted_by(rows, bars)
    run = [bar for bar in bars if bar.total == total]
    restarts = [
        now.at
        for before, now in pairwise(run)
        if before.done - now.done > BACK * total and before.done < ENDED * total
    ]
    cuts = [0]
    for number in range(1, len(rows)):
        here, before = rows[number], rows[number - 1]
        back = here.record.epoch < before.record.epoch
        back |= 0 <= here.step < before.step and here.kind == before.kind
        again = any(before.record.at < at <= here.record.at for at in restarts)
        if back or again or (before.kind == "summary" and here.kind == "train"):
            cuts.append(number)
    return list(zip(cuts, [*cuts[1:], len(rows)], strict=True))


def counted_by(rows: Sequence[DictRow], bars: Sequence[Bar]) -> int:
    """Return the total of the bar that counts the steps of the rows; -1 without bars.

    It stands next to most training rows; the bars of evaluations and data sets do not.
    """
    if not bars:
        return -1
    stops = np.array([bar.at for bar in bars], dtype=np.int64)
    behind = np.searchsorted(stops, [r.record.at for r in rows if r.kind == "train"], side="right")
    votes: Counter[int] = Counter()
    for index in behind.tolist():
        for near in (index - 1, index):
            if 0 <= near < len(bars):
                votes[bars[near].total] += 1
    if votes:
        return votes.most_common(1)[0][0]
    return max(bars, key=lambda bar: bar.total).total


def _steps(rows: Sequence[DictRow], bars: Sequence[Bar], known: Known) -> tuple[IntArray, str]:
    """Return the steps of the rows of one launch, shape (n,), and a doubt for the user."""
    total = counted_by(rows, bars)
    run = [bar for bar in bars if bar.total == total]
    at = np.array([item.record.at for item in rows], dtype=np.int64)
    epoch = np.array([item.record.epoch for item in rows], dtype=np.float64)
    training = np.array([item.kind == "train" for item in rows], dtype=np.bool_)
    if not run:
        return _by_epoch(rows, NOT_KNOWN, NOT_KNOWN, known)
    seen = np.array([bar.at for bar in run], dtype=np.int64)
    done = _whole_run(np.array([bar.done for bar in run], dtype=np.int64), total)
    behind = np.searchsorted(seen, at, side="right")
    own = np.ones(len(rows), dtype=np.bool_)  # a bar stands between it and the next training row
    trained = np.flatnonzero(training)
    own[trained[:-1]] = behind[trained[1:]] > behind[trained[:-1]]
    own &= behind < len(run)
    exact = done[np.minimum(behind, len(run) - 1)]
    if own[training].mean() < MOSTLY if training.any() else not own.any():
        many = 2 * own[training].sum() > training.sum()  # of a bunch only the last row has a bar
        ratio = _ratio(exact[own], epoch[own]) if many else NOT_KNOWN
        if not known.logging_steps:
            known = known._replace(logging_steps=_redrawn(done))
        return _by_epoch(rows, ratio, float(done.max()), known)
    before = np.where(behind > 0, done[np.maximum(behind - 1, 0)], 0)
    if not _shown_again(run, behind[own]):
        exact, own = before, own | (behind > 0)
    ratio = _ratio(exact[own], epoch[own])
    guess = before if np.isnan(ratio) else np.rint(np.nan_to_num(epoch) * ratio).astype(np.int64)
    guess = np.clip(guess, before, np.where(behind < len(run), exact, total))
    return np.where(own, exact, guess), ""


def _shown_again(run: Sequence[Bar], behind: IntArray) -> bool:
    """Whether the bar behind a row is the bar before it drawn again, as most often it is.

    A redrawn bar has the old rate. A terminal emulator (W&B's output.log) keeps only the next
    state of the bar, which is too late; then the state before the row is the exact one.
    """
    pairs = [(run[n - 1], run[n]) for n in behind.tolist() if 0 < n < len(run)]
    again = [before.done == after.done or _rate(before) == _rate(after) for before, after in pairs]
    return bool(2 * sum(again) >= len(again))


def _rate(bar: Bar) -> str:
    return bar.postfix.partition(", ")[2]


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
    twice = np.unique(done[1:][done[1:] == done[:-1]])
    return float(np.median(np.diff(twice))) if len(twice) > 3 else None  # noqa: PLR2004 - a share of the interval, or too few of them


def _ratio(steps: IntArray, epochs: FloatArray) -> float:
    """Return steps an epoch of rows whose steps are known; the later half is the more exact."""
    known = (epochs > 0) & (steps > 0)
    if not known.any():
        return NOT_KNOWN
    steps, epochs = steps[known], epochs[known]
    late = epochs >= np.median(epochs)
    return float(np.median(steps[late] / epochs[late]))


def _gap(epoch: FloatArray) -> float:
    """Return the epochs from one row to the next, or NaN.

    Printed epochs are rounded: the first gaps give the count of the next rows, these give a
    gap that is twice as exact, and so on.
    """
    gaps = np.diff(epoch)
    if not (gaps > 0).any():
        return NOT_KNOWN
    if (gaps > 0).mean() < MOSTLY:  # so coarse that rows share an epoch
        return float((epoch[-1] - epoch[0]) / len(gaps))
    gap = float(np.median(gaps[gaps > 0]))
    reach = 2
    while reach < 2 * len(epoch):
        last = float(epoch[min(reach, len(epoch) - 1)])
        gap = last / max(1.0, np.rint(last / gap))
        reach *= 2
    return gap


def _by_epoch(
    rows: Sequence[DictRow],
    ratio: float,
    last: float,
    known: Known,
) -> tuple[IntArray, str]:
    """Conclude steps from epochs: for rows that came in bunches, or without any bar.

    `ratio` is steps an epoch as far as rows with bars of their own tell, `last` the last step
    that a bar showed; NaN where there is none.
    """
    epoch = np.array([item.record.epoch for item in rows], dtype=np.float64)
    training = np.array([item.kind == "train" for item in rows], dtype=np.bool_)
    gap = _gap(epoch[training])
    closing = [item.record.epoch for item in rows if item.kind == "summary"]
    if closing and known.planned_steps and not last > 0:
        last = known.planned_steps
    count = int(training.sum())
    every = known.logging_steps or 0.0
    if not every >= 1 and closing and count and last > 0:
        every = round(last / count) if last // max(1, round(last / count)) == count else 0.0
    counted = np.cumsum(training) if count else np.arange(1, len(epoch) + 1)
    fits = not last > 0 or counted[-1] * every <= last + every
    if every >= 1 and fits and _in_step((counted * every).astype(np.float64), epoch):
        return (counted * every).astype(np.int64), ""
    ratios = _ratios(closing, last, known, ratio, every / gap if every >= 1 else NOT_KNOWN)
    fitting = [some for some in ratios if some > 0 and (np.isnan(gap) or _whole(gap * some))]
    doubt = ""
    if not fitting and gap > 0:
        per_row = np.floor(last * gap / np.nanmax(epoch) + 1e-6) if last > 0 else 1.0
        fitting = [max(1.0, per_row) / gap]
        doubt = "its rows name no step: concluded from their epochs"
    if not fitting:
        return counted.astype(np.int64), "its rows name no step: they were counted"
    smooth = np.nan_to_num(epoch) * fitting[0]
    interval = np.rint(gap * fitting[0]) if gap > 0 else 1.0
    if interval > 1:
        smooth = np.where(training, np.rint(np.nan_to_num(epoch) / gap) * interval, smooth)
    return np.rint(smooth).astype(np.int64), doubt


def _ratios(
    closing: list[float], last: float, known: Known, ratio: float, logged: float
) -> list[float]:
    """Return steps an epoch as the log tells it in its different places, the surest first."""
    found = [last / closing[-1]] if closing and closing[-1] > 0 else []
    if known.planned_steps and known.planned_epochs:
        found.append(known.planned_steps / known.planned_epochs)
    if known.examples and known.batch:
        found.append(known.examples / known.batch)
    return [*found, ratio, logged]


def _whole(interval: float) -> bool:
    """Whether a number of steps from row to row is near a whole one."""
    return bool(interval > 0.5 and abs(interval - round(interval)) <= 0.05 * interval)  # noqa: PLR2004 - a share of the interval, or too few of them


def _in_step(counted: FloatArray, epoch: FloatArray) -> bool:
    """Whether counted steps grow as the epochs do, these rounded to two decimals."""
    if np.isnan(epoch).any() or not epoch[-1] > 0:
        return False
    ratio = counted[-1] / epoch[-1]
    slack = COARSE * ratio + counted[0]
    return bool((abs(counted - epoch * ratio) <= slack + 0.1 * counted).all())
