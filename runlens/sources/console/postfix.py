"""Numbers that stand in a progress bar and nowhere else: tqdm's label and postfix, Lightning.

``Training:  1%|  | 28/5000 [00:22<54:11, 1.53it/s, loss=10.86, lr=5.79e-05]``. A bar is drawn
many times with the same values until new ones are there: of equal ones in a row only the first
counts; but where Lightning shows one value all along, that is the loss of each batch. Its bar
counts the batches of one epoch, those of the validation among them; its lines on checkpoints say
how many optimizer steps an epoch has.
"""

import re
from collections.abc import Sequence
from itertools import groupby, pairwise
from math import isnan

import numpy as np

from runlens.history import NOT_KNOWN
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.pairs import names_metric, pairs
from runlens.sources.console.records import Record, first_epoch
from runlens.sources.console.rows import Epochs
from runlens.sources.console.text import Bar
from runlens.sources.trainings import goes_on

# in the label of a bar; so is the pair at its start: "[3/50] Loss_D: 0.5"
_NAMED = (
    r"(?:\bepoch\W{0,3}|^\s*\[(?=\d{1,9}/\d{1,9}\])"
    r"|^\s*(?:train(?:ing)?|valid(?:ation)?|val|test|eval)[ _#-]{1,2}(?=\d{1,6}\W*$))"  # "Train 3"
)
_EPOCH = lazy_re(rf"{_NAMED}(\d{{1,9}})", re.IGNORECASE)
_OF_EPOCHS = lazy_re(rf"{_NAMED}(\d{{1,9}})\s*/\s*(\d{{1,9}})\b", re.IGNORECASE)
_EPOCHS = lazy_re(rf"{_NAMED}\d+(?:/\d+)?", re.IGNORECASE)
_STEP = lazy_re(r"\b(?:global_)?step=(\d{1,15})\b")
# elapsed, remaining and, if it is shown, the rate
TIMES = lazy_re(r"^[^,]*(?:, *[\d.?]+[^,=:]*/[^,=:]*)?(?:, |$)")
_NUMBER = lazy_re(r"[:=]\s?[-+]?\d")  # behind its name
_LIGHTNING = "v_num="  # its bar is drawn anew with the loss of each batch
TURNS = 4  # bars, from which two lengths by turns are those of training and held-out data
FEWEST = 3  # bars parted by lines, in which one value all along is that of each
MOST = 2  # a loss that changes in one of so many states of its bar is that of each batch
_CELLS = lazy_re(r"\s*\d+(?:/\d+)?(?:\s+[-+.\w]*\d[-+.\w]*|\s+[-+]?(?:nan|inf))+\s*")
_DIGIT = lazy_re(r"\d")
_HELD_OUT = lazy_re(r"valid|sanity|test|predict|eval", re.IGNORECASE)
_OF_BOTH = lazy_re(r"\W*(?:epoch|train|loss|trn?\b)", re.IGNORECASE)  # how its label begins


class Reached(NamedTuple):
    """What Lightning says when it saves: ``Epoch 4, global step 840: 'val_loss' reached 0.48``."""

    at: int
    epoch: int
    step: int
    name: str
    value: float


def from_bars(bars: Sequence[Bar], reached: Sequence[Reached] = ()) -> list[tuple[int, Record]]:
    """Return steps and records of the values in training bars, and of what was reached."""
    found = _last_of_step(_changes(bars, count := _Count(bars, reached), every=False))
    names = {name for _, record in found for name in record.names}
    if len(names) == 1 and sum(_LIGHTNING in bar.postfix for bar in bars) > len(bars) // 2:
        training = [b for b in bars if (b.done or not b.total) and not count.validates(b)]
        every = _last_of_step(_changes(training, count, every=True))
        found = every if len(found) == 1 or MOST * len(found) > len(every) else found
    elif len(found) == 1 and len(parted := _parted(bars)) >= FEWEST:
        found = _last_of_step(_changes(parted, count, every=True))
    found += [
        (item.step, Record(item.at, (item.name,), (item.value,)))
        for item in reached
        if not isnan(item.value)  # NaN: not among the best, so not printed
    ]
    return _over_passes(found, bars) or sorted(found, key=lambda item: item[1].at)


def _parted(bars: Sequence[Bar]) -> Sequence[Bar]:
    """Return the last states of bars before lines that part them: of the epochs they count over."""
    return [bar for bar, n in pairwise(bars) if n.at - bar.at > 1] + list(bars[-1:])


def _over_passes(
    found: Sequence[tuple[int, Record]], bars: Sequence[Bar]
) -> list[tuple[int, Record]]:
    """Return the steps of values whose bar begins anew with each epoch, which it does not name.

    Nothing where it is no such bar: one of several labels or lengths, or where the values begin
    anew too, with the next training.
    """
    at = {record.at for _, record in found}
    measured = {bar.label for bar in bars if bar.at in at}
    bars = [bar for bar in bars if bar.label in measured]  # others play games between its epochs
    kinds = {(bar.label.strip(), bar.total) for bar in bars}
    label, total = min(kinds, default=("", 0))
    counted = max((step for step, _ in found), default=0)
    if len(kinds) != 1 or not counted <= total > 0 or _DIGIT.search(label):
        return []
    again = np.cumsum(np.diff([bar.done for bar in bars], prepend=0) < 0).tolist()
    number_at = {bar.at: number for bar, number in zip(bars, again, strict=True)}
    passes = np.array([number_at.get(record.at, 0) for _, record in found])
    value = np.array([record.values[0] for _, record in found])
    if not passes.any() or not goes_on(passes, value):
        return []
    return [
        (step + number * total, record._replace(epoch=number + step / total))
        for (step, record), number in zip(found, passes.tolist(), strict=True)
    ]


def without_second(bars: Sequence[Bar]) -> Sequence[Bar]:
    """Leave out of bars without a label the second of each epoch, which counts another number.

    They come by turns: the one of the training, then that of held-out data.
    """
    first = 0 if any(bar.label.strip() for bar in bars) else first_of_turns(bars)
    return [bar for bar in bars if bar.total == first] if first else bars


def first_of_turns(bars: Sequence[Bar]) -> int:
    """Return the length of the bars of the training where two lengths come by turns; 0: others."""
    totals = [total for total, _ in groupby(bar.total for bar in bars)]
    first, second = totals[::2], totals[1::2]
    alike = len(set(first)) == len(set(second)) == 1
    return first[0] if alike and len(totals) >= TURNS else 0


def _changes(bars: Sequence[Bar], count: "_Count", *, every: bool) -> list[tuple[int, Record]]:
    """Return steps and records of new values in training bars, or of `every` state of them."""
    found: list[tuple[int, Record]] = []
    before: dict[str, float] = {}
    last = ""
    for bar in bars:
        if of_held_out(bar) or (found and bar.total and not bar.done):
            continue  # one at its start shows what was, at times below the label of before
        label = _EPOCHS.sub("", bar.label)
        names, values = pairs(f"{label} | {TIMES.sub('', bar.postfix, count=1)}")
        row = dict(zip(names, values, strict=True))
        measured = {name: value for name, value in row.items() if names_metric(name)}
        epoch = _EPOCH.search(bar.label)
        other = epoch and bar.done == bar.total and epoch[1] != last  # equal to the one before
        if measured and (every or other or measured != before):
            found.append((count.step(bar), Record(bar.at, names, values, count.epoch(bar))))
            before, last = measured, epoch[1] if epoch else ""
    return found


def epochs_of(bars: Sequence[Bar]) -> Epochs:
    """Return the epochs that the labels of training bars tell: ``Train Epoch: [3/200]``."""
    shown = [(bar, said) for bar in bars if (said := _OF_EPOCHS.search(bar.label))]
    shown = [(bar, said) for bar, said in shown if not of_held_out(bar)]
    if not shown:
        return Epochs()
    bar, last = shown[-1]
    first = min(1, *(int(said[1]) for _, said in shown))
    part = min(1.0, bar.done / bar.total) if bar.total else 1.0
    to_the_last = first == 0 and any(int(said[1]) == int(said[2]) for _, said in shown)
    return Epochs(int(last[1]) - first + part, float(last[2]) + to_the_last)


def as_lines(bars: Sequence[Bar]) -> list[tuple[int, str]]:
    """Return the labels of training bars that hold numbers as lines that begin with their step.

    Of the states of a bar at one step the last counts: ``step 3/12000 | Tot:7.9 PDE:2.9e-03``.
    """
    count = _Count(bars, ())
    lines: dict[int, tuple[int, str]] = {}
    for bar in bars:
        label = _EPOCHS.sub("", bar.label)
        if _NUMBER.search(label) and not _HELD_OUT.search(label):
            step = count.step(bar)
            lines[step] = bar.at, f"step {step}/{bar.total} | {label}"
    return sorted(lines.values())


def table_rows(bars: Sequence[Bar]) -> list[tuple[int, str]]:
    """Return the labels that are rows of a table, its names in a line above: ``3/99  0.1  0.5``.

    Of the states of a bar, whose first cell is the same, the last counts.
    """
    found = [(bar.at, bar.label) for bar in bars if _CELLS.fullmatch(bar.label)]
    states = groupby(found, key=lambda line: line[1].split(None, 1)[0])
    return [list(same)[-1] for _, same in states]


class _Count:
    """Says at which step of the run a bar stands that may count the batches of one epoch."""

    def __init__(self, bars: Sequence[Bar], reached: Sequence[Reached]) -> None:
        epochs = [int(epoch[1]) for bar in bars if (epoch := _EPOCH.search(bar.label))]
        planned = [int(of[2]) for bar in bars if (of := _OF_EPOCHS.search(bar.label))]
        self._first = first_epoch(
            next(iter(epochs), 0), max(epochs, default=0), max(planned, default=0)
        )
        self._overall = counts_on(bars)
        self._counts_epochs = self._overall and self._behind_its_label(bars)
        from statistics import median  # 3 ms, and few logs count the batches of an epoch

        self._steps = median(item.step / (item.epoch + 1) for item in reached) if reached else 0.0
        endless = (bar.done for bar in bars if not bar.total and not of_held_out(bar))
        self._whole = max(endless, default=0)  # of an epoch, where its bar does not know
        plain = [b for b in bars if b.total and not b.label.strip()]
        full = len(plain) == len(bars) and all(b.done == b.total for b in bars)
        self._pass = {b.at: n for n, b in enumerate(plain)} if full else {}  # only ends are left
        self._held_out = max((b.total for b in bars if of_held_out(b)), default=0)

    def epoch(self, bar: Bar) -> float:
        """Return the epochs that were done, NaN where the label names none."""
        label = _EPOCH.search(bar.label)
        whole = 0 if self._overall else bar.total or self._whole
        done = min(1.0, bar.done / whole) if whole else 0.0
        return max(0, int(label[1]) - self._first) + done if label else NOT_KNOWN

    def validates(self, bar: Bar) -> bool:
        """Whether a bar of the training stands behind its own batches, in those of validation."""
        return 0 < self._held_out < bar.total < bar.done + self._held_out

    def _behind_its_label(self, bars: Sequence[Bar]) -> bool:
        """Whether a bar never counts more than the epochs that its label does."""
        labels = ((bar.done, _EPOCH.search(bar.label)) for bar in bars if bar.total)
        return all(done <= int(e[1]) - self._first + 1 for done, e in labels if e)

    def step(self, bar: Bar) -> int:
        if named := _STEP.search(bar.postfix):
            return int(named[1])
        label = _EPOCH.search(bar.label)
        if label and self._counts_epochs:
            return int(label[1])  # the bar itself is drawn at some of them
        epoch = max(0, int(label[1]) - self._first) if label and not self._overall else 0
        epoch = self._pass.get(bar.at, epoch)
        if not self._steps:
            return epoch * (bar.total or self._whole) + bar.done
        if not bar.total:
            return round((epoch + 1) * self._steps)
        batches = bar.total - self._held_out if bar.total > self._held_out else bar.total
        return round((epoch + min(1.0, bar.done / max(1, batches))) * self._steps)


def of_held_out(bar: Bar) -> bool:
    """Whether a bar is of held-out data alone: not ``train loss = 0.5 | test acc = 0.8``."""
    found = _HELD_OUT.search(bar.label)
    if not found or not _OF_BOTH.match(bar.label):
        return found is not None
    return _NUMBER.search(bar.label, 0, found.start()) is None


def counts_on(bars: Sequence[Bar]) -> bool:
    """Whether bars count on where the epoch in their label rises: those of the whole run."""
    begun = (b for b in bars if b.total and b.done)  # at its start one may have the label of before
    shown = [(int(epoch[1]), b) for b in begun if (epoch := _EPOCH.search(b.label))]
    later = [(before, now) for (e, before), (f, now) in pairwise(shown) if f > e]
    # a label may be new before its bar goes on; the bar of an epoch was full then
    goes_on = bool(later) and shown[0][1].done < shown[-1][1].done
    return goes_on and all(
        b.total == n.total and (b.done < n.done or b.done == n.done < b.total) for b, n in later
    )


def _last_of_step(found: list[tuple[int, Record]]) -> list[tuple[int, Record]]:
    """Keep one record a step: the values that were there when the step was over."""
    kept = [
        item
        for item, after in pairwise(found)
        if after[0] != item[0] or after[1].names != item[1].names
    ]
    return kept + found[-1:]
