"""Tables of an evaluation whose batches or samples are counted: what its end tells counts."""

import numpy as np
from msgspec.structs import replace

from runlens.history import NOT_KNOWN, FloatArray
from runlens.metrics import naming
from runlens.naming import classify
from runlens.sources.console.averages import MARK
from runlens.sources.console.mining.counting import COUNTS_DATA, Counters
from runlens.sources.console.mining.table import Table
from runlens.sources.console.telling import tells

HELD_OUT = {"val", "test"}
BEST = (np.maximum.accumulate, np.minimum.accumulate)


def with_whole_evaluations(
    tables: list[Table], kept: list[Table], *, alone: bool
) -> tuple[list[Table], list[Table]]:
    """Return tables with the last row alone of each evaluation that counts its batches.

    It says what was measured on all of them, and stands where the rows of the training do: these
    are among the tables, or were read before if they are not `alone`.
    """
    going = not alone or any(_goes_on(table) for table in kept)
    begun = {
        id(table): (_evaluates(table) and not _by_turns(table, kept))
        or (going and _of_samples(table))
        for table in kept
        if table.counts.any
    }
    if alone and len(kept) == 1 and (means := _of_one_pass(kept[0])):
        only = replace(_last_of_each(kept[0]), names=means)
        return [only if t is kept[0] else t for t in tables], [only]
    if alone and all(begun.values()):
        return tables, kept
    whole = {id(table): _last_of_each(table) for table in kept if begun.get(id(table))}
    return [whole.get(id(t), t) for t in tables], [whole.get(id(t), t) for t in kept]


def _evaluates(table: Table) -> bool:
    """Whether a table counts the batches of held-out data: ``Evaluated 10/287``."""
    place = max(table.counts.step, table.counts.batch)
    named = COUNTS_DATA.fullmatch(table.layout.columns[place].name) if place >= 0 else None
    return named is not None and not named["train"]


def _by_turns(table: Table, kept: list[Table]) -> bool:
    """Whether rows of the training count the same, one before each: ``train (3/9)``.

    Both count epochs then, and no batches.
    """
    count = table.value[:, max(table.counts)]
    return any(
        len(other.line) == len(count) > 1
        and np.array_equal(other.value[:, max(other.counts)], count)
        and bool((other.line < table.line).all() and (table.line[:-1] < other.line[1:]).all())
        for other in kept
        if other.counts.any
    )


def _of_one_pass(table: Table) -> tuple[str, ...]:
    """Return the names of the means so far, if batches of held-out data are counted only once.

    Nothing but a test of a model that was trained before is there then: ``Test: [3/99] Loss 0.7
    (0.8)``. What has no mean is of the last batch alone.
    """
    count = table.value[:, max(table.counts)]
    total = np.fmax(table.steps, table.batches)
    once = _evaluates(table) and len(count) > 1 and bool((np.diff(count) > 0).all())
    if not once or not (total == total[0]).all():
        return ()
    held = replace(table, names=_of_held_out(table))
    named = zip(with_means(held).names, held.names, strict=True)
    means = tuple(name if name != before else "" for name, before in named)
    return means if any(means) else ()


def _goes_on(table: Table) -> bool:
    """Whether a table counts steps from the first row to the last, of the training then."""
    return len(table.line) > 1 and bool((np.diff(table.step) > 0).all())


def _of_samples(table: Table) -> bool:
    """Whether what is only measured on held-out data is counted from the first again and again."""
    count = table.value[:, max(table.counts.step, table.counts.batch)]
    fallen = count[1:][np.diff(count) < 0]
    splits = {classify(name).split for name in table.names if name}
    held_out = bool(splits & HELD_OUT) and "train" not in splits
    return held_out and len(fallen) > 1 and bool((fallen == count[0]).all())


def _last_of_each(table: Table) -> Table:
    count = table.value[:, max(table.counts.step, table.counts.batch)]
    last = np.append(np.diff(count) <= 0, True)
    blank = np.full(int(last.sum()), NOT_KNOWN)
    return replace(
        table, line=table.line[last], value=table.value[last], names=_of_held_out(table),
        step=blank, steps=blank,
        epoch=table.epoch[last], epochs=table.epochs[last], batch=blank, batches=blank,
        counts=Counters(epoch=table.counts.epoch), record=table.record[last],
        lasts=True,
    )  # fmt: skip


def _of_held_out(table: Table) -> tuple[str, ...]:
    return tuple(n if not n or classify(n).split else f"val/{n}" for n in table.names)


def with_means(table: Table) -> Table:
    """Take the means so far of an evaluation: ``val loss 0.41 (0.52)`` is of its last batch.

    What is the best so far, or a spread, is no mean.
    """
    splits = {classify(name).split for name in table.names if name}
    if not splits or not splits <= HELD_OUT:
        return table
    names = list(table.names)
    for mean, name in enumerate(table.names):
        base = name.removesuffix(MARK)
        last = table.names.index(base) if base != name else mean
        if last != mean and _of_mean(table.value[:, mean], table.value[:, last]):
            names[last], names[mean] = "", base
    return replace(table, names=tuple(names))


def with_data_named(tables: list[Table]) -> list[Table]:
    """Return tables of held-out data with these in the names that others have for the training.

    ``Val loss: 0.5 | Acc: 80%`` below ``Train loss: 0.4 | Acc: 85%``: its first name says it.
    """
    first = [next((classify(n).split for n in table.names if n), "") for table in tables]
    known = {
        naming(name).metric
        for table, split in zip(tables, first, strict=True)
        for name in table.names
        if split not in HELD_OUT and tells(name)
    }
    return [
        replace(table, names=tuple(_of_data(name, split, known) for name in table.names))
        if split in HELD_OUT
        else table
        for table, split in zip(tables, first, strict=True)
    ]


def _of_data(name: str, split: str, known: set[str]) -> str:
    own = not name or classify(name).split or naming(name).metric not in known
    return name if own else f"{split}/{name}"


def _of_mean(mean: FloatArray, last: FloatArray) -> bool:
    """Whether numbers in brackets may be means of those before them; both of shape (n,)."""
    best = any((mean == ends(last)).all() for ends in BEST)
    near = np.abs(mean - last) <= np.maximum(np.abs(mean), np.abs(last)) / 2
    return not best and bool(2 * near.sum() >= len(mean))
