"""Losses that stand in progress bars alone, beside lines that tell the rest of a training.

``Epoch [3/30]:  12%|# | 13/110 [14:02<1:44:41, 64.8s/it, loss=0.53]`` above ``Test acc: 0.79``.
"""

from bisect import bisect
from collections.abc import Sequence

import numpy as np

from runlens.history import IntArray
from runlens.metrics import naming
from runlens.naming import classify
from runlens.sources.console.beside import Added, inserted
from runlens.sources.console.pairs import names_metric, pairs
from runlens.sources.console.postfix import (
    TIMES,
    epochs_of,
    from_bars,
    of_held_out,
    without_second,
)
from runlens.sources.console.records import Placed, Record, launches
from runlens.sources.console.rows import Found
from runlens.sources.console.text import Bar

LOSS = "train_loss"
MORE = 2  # records of the loss to those of the lines, from which its bars place them


def with_bar_values(known: Found, bars: Sequence[Bar]) -> Found:
    """Return what lines tell with the training loss of the bars, where it is in these alone.

    The steps are those of the bars: a line stands at that of the last bar before it.
    """
    if not known.records or known.framework or not bars or _several(known):
        return known
    named = {name for record in known.records for name in record.names}
    if LOSS in {naming(name).metric for name in named}:
        return known
    found = [(step, _without(record, named)) for step, record in from_bars(without_second(bars))]
    with_loss = sum(LOSS in {naming(n).metric for n in one.names} for _, one in found)
    if with_loss < MORE * len({record.at for record in known.records}) or with_loss < len(found):
        return known
    steps = np.array([step for step, _ in found], dtype=np.int64)
    launch = launches(steps, [record.names for _, record in found])
    if launch.any():
        return known
    at = np.array([record.at for _, record in found], dtype=np.int64)
    place = np.searchsorted(at, [record.at for record in known.records]) - 1
    every = [*(record for _, record in found), *known.records]
    every_step = np.concatenate([steps, _spread(known.records, steps[np.maximum(place, 0)])])
    order = sorted(range(len(every)), key=lambda n: every[n].at)
    none = np.zeros(len(every), dtype=np.int64)
    told = epochs_of(bars)
    return known._replace(
        records=[every[n] for n in order],
        placed=Placed(every_step[order], none, True, known.placed.doubt, none),
        epochs=(told,) if told.planned else known.epochs,
    )


def with_ends_of_held_out(known: Found, bars: Sequence[Bar]) -> Found:
    """Return what bars of the training tell, with what those of held-out data show at their end.

    Each stands at the step before it, so a check before any step is left out; and so is what is
    told elsewhere too.
    """
    metrics = {naming(name).metric for record in known.records for name in record.names}
    lines = {bar.at for bar in bars if not of_held_out(bar)}
    at = [record.at for record in known.records]
    ends: dict[int, Added] = {}
    for bar in bars if lines.issuperset(at) else ():
        before = bisect(at, bar.at) - 1
        if before < 0 or not bar.total or bar.done < bar.total or not of_held_out(bar):
            continue
        names, values = pairs(f"{bar.label} | {TIMES.sub('', bar.postfix, count=1)}")
        names = tuple(n if classify(n).split else f"val/{n}" for n in names)
        if any(map(names_metric, names)) and metrics.isdisjoint(naming(n).metric for n in names):
            ends[before] = bar.at, names, values, before
    return inserted(known, list(ends.values())) if len(ends) > 1 else known


def _spread(records: Sequence[Record], step: IntArray) -> IntArray:
    """Return steps at which rows of a kind that came in a bunch share the way to it; (n,)."""
    spread = step.copy()
    for names in {record.names for record in records}:
        mine = np.flatnonzero([record.names == names for record in records])
        distinct, which, count = np.unique(step[mine], return_inverse=True, return_counts=True)
        before = np.concatenate([[0], distinct[:-1]])[which]
        number = np.arange(len(mine)) - np.searchsorted(step[mine], step[mine]) + 1
        spread[mine] = before + number * (step[mine] - before) // count[which]
    return spread


def _several(known: Found) -> bool:
    """Whether lines tell several trainings."""
    return known.placed.training is not None and bool(known.placed.training.any())


def _without(record: Record, names: set[str]) -> Record:
    """Return what a bar shows without what lines tell too."""
    kept = [n for n, name in enumerate(record.names) if name not in names]
    return record._replace(
        names=tuple(record.names[n] for n in kept), values=tuple(record.values[n] for n in kept)
    )
