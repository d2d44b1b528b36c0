"""Rows that count within the epoch which a line above them names: ``Epoch 2/10``, ``step 10/614``.

The rows of an evaluation in between count to another number; of these the last is kept, which
says what was measured on all of it. So it is where each row names its epoch.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from runlens.history import NOT_KNOWN
from runlens.patterns import lazy_re
from runlens.sources.console.averages import MARK
from runlens.sources.console.counters import Counted, begin, whole
from runlens.sources.console.mining.counting import within_epoch
from runlens.sources.console.mining.phrases import phrase
from runlens.sources.console.mining.slots import parts
from runlens.sources.console.rows import Row

_EPOCH = lazy_re(
    r"\W*(?:(?:start|begin)\w* )?(?:train(?:ing)? )?(?:at |of |for |in )?epoch\W{0,3}"
    r"(\d+)(?:\s*(?:/|of)\s*(\d+))?\W*$",
    re.IGNORECASE,
)
_EVALUATES = lazy_re(
    r"\W*(?:(?:eval|valid|test)\w*\W{1,3}(?:begin|start)\w*"
    r"|(?:begin|start)\w*\W{1,3}(?:eval|valid|test)\w*)\W*",
    re.IGNORECASE,
)


def within(rows: list[Row], others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return rows with the epochs of their headings, where their steps begin anew with each."""
    rows = _without_second_half(rows, dict(others))
    counted = [row for row in rows if max(row.counted[:6]) >= 0 and not _sums_up(row)]
    step = np.array([row.counted.step for row in counted])
    gaps = np.diff(step)
    if not ((gaps < 0).any() or (len(gaps) and not gaps.any())):
        return rows
    if any(row.counted.epoch >= 0 or row.counted.step < 0 for row in counted):
        return rows
    heads = [
        (at, whole(head[1]), whole(head[2]))
        for at, line in others
        if (head := _EPOCH.match(line, begin(line)))
    ]
    if any(_of(row, heads).counted.epoch != row.counted.epoch for row in rows if _sums_up(row)):
        return rows
    place = [bisect_left(heads, (row.at,)) - 1 for row in counted]
    epoch = np.array([heads[n][1] if n >= 0 else NOT_KNOWN for n in place])
    total = np.array([row.counted.steps for row in counted])
    mine = total == Counter(total.tolist()).most_common(1)[0][0]  # not of an evaluation
    if not within_epoch(step[mine].astype(float), epoch[mine], total[mine].astype(float)):
        return rows
    begun = [at for at, line in others if _EVALUATES.fullmatch(line)]
    placed = [row if _sums_up(row) else _of(row, heads) for row in rows]
    batches = _parted([row for row in placed if row.counted.batch >= 0], begun)
    uncounted = [row for row in placed if row.counted.batch < 0]
    return sorted([*batches, *uncounted], key=lambda row: row.at)


def _sums_up(row: Row) -> bool:
    """Whether a row names an epoch alone, as one that sums it up does."""
    return row.counted.epoch >= 0 > max(row.counted.step, row.counted.batch)


def _without_second_half(rows: list[Row], lines: Mapping[int, str]) -> list[Row]:
    """Return rows with the last alone of each evaluation that is printed as the training is.

    In each epoch they count to a second number behind the first: ``Epoch: [1][99/782]`` behind
    ``Epoch: [1][4999/5005]``.
    """
    own = [row for row in rows if row.counted.epoch >= 0 and row.counted.batches > 0]
    halves: dict[int, list[int]] = {}
    for (epoch, total), _ in groupby(own, key=lambda row: (row.counted.epoch, row.counted.batches)):
        halves.setdefault(epoch, []).append(total)
    first, *second = next(iter(halves.values()), [0])
    *whole, last = halves.values() if len(second) == 1 and len(halves) > 1 else [[]]
    if not whole or any(half != [first, *second] for half in whole) or last[:1] != [first]:
        return rows
    names = {row.counted.batches: set[tuple[str, ...]]() for row in own}
    for row in own:
        names[row.counted.batches].add(row.names)
    if len(names) > 2 or names[first] != names[second[0]]:  # noqa: PLR2004 - the two halves
        return rows
    evaluated = {id(row): row for row in own if row.counted.batches != first}
    ends = {
        row.counted.epoch: _evaluated(_with_means(row, lines[row.at])) for row in evaluated.values()
    }
    kept = [row for row in rows if id(row) not in evaluated]
    return sorted([*kept, *ends.values()], key=lambda row: row.at)


def _evaluated(row: Row) -> Row:
    """Return the last row of an evaluation."""
    names = tuple(f"val {name}" for name in row.names)
    return row._replace(names=names, counted=row.counted._replace(batch=-1, batches=-1))


def _with_means(row: Row, line: str) -> Row:
    """Return a row with the means so far that its line has in brackets: ``Loss 2.25 (2.26)``."""
    taken = parts(line)
    columns = zip(phrase(taken.text, taken.marks).columns, taken.slots, strict=True)
    means = {c.name.removesuffix(MARK): slot.value for c, slot in columns if c.name.endswith(MARK)}
    named = zip(row.names, row.values, strict=True)
    return row._replace(values=tuple(means.get(name, value) for name, value in named))


def _of(row: Row, heads: Sequence[tuple[int, int, int]]) -> Row:
    """Return a row with the epoch of the heading above it, where one is."""
    place = bisect_left(heads, (row.at,)) - 1
    epoch, epochs = heads[place][1:] if place >= 0 else (-1, -1)
    step, steps = row.counted.step, row.counted.steps
    return row._replace(counted=Counted(epoch=epoch, epochs=epochs, batch=step, batches=steps))


def _parted(rows: list[Row], begun: Sequence[int]) -> list[Row]:
    """Name the rows of an evaluation, which begins at lines, so; of each keep the last."""
    kept: list[Row] = []
    before = -1  # batches of the training, while an evaluation is going on
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        batches = row.counted.batches
        first = kept[-1].at if kept else -1
        if before < 0 and bisect_left(begun, row.at) > bisect_left(begun, first):
            before = kept[-1].counted.batches if kept else -1
        if before < 0 or batches == before:
            before = -1
            kept.append(row)
            continue
        if after is None or after.counted.batches != batches:
            kept.append(_evaluated(row))
    return kept
