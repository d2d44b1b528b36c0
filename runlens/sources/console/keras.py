"""Keras' progress lines: ``Epoch 3/10``, then ``1875/1875 [=====] - 4s - loss: 0.29``.

The bar is rewritten with carriage returns or backspaces, each state with the mean since the
epoch began. So of each epoch the last state counts, at the epoch as it is printed; Keras' other
logs, which count from 0, are laid onto it. Where there is but one epoch all its states count, at
their batches; where it is fitted again and again, and each time leaves one state, each is an epoch.
A loss that is NaN at the end of the first epoch may have been finite within it: its states count.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

import numpy as np

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted, whole
from runlens.sources.console.pairs import pairs
from runlens.sources.console.rows import Row

_EPOCH = lazy_re(r"^[\s`>]*Epoch (\d+)/(\d+)\s*$")
_STATE = lazy_re(
    r"^\s*(?:(\d+)/(\d+|Unknown)\s*(?:\[[=>.]*\]|[━╸╺=> ]{3,}|(?=- \d))|(?=(?:- )?\d+s\b))"
    r"(.*\bloss: .*)$"
)
# a state as a callback prints it, between those of Keras
_PLAIN = lazy_re(r"^\s*(\d+)/(\d+) - (loss: .*)$")
_CHECKPOINT = lazy_re(r"(?<![A-Za-z])Epoch (\d{1,6}): \w+ (?:improved|did not improve|reached)\b")


def keras(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the rows of Keras' progress lines."""
    states = list(_states(others))
    if len({row.counted.epoch for row in states}) == 1:
        if fits := _fits(states, others):
            return fits
        return [row for row in states if row.counted.batch >= 0]
    ends = [
        state
        for state, after in pairwise([*states, None])
        if state and (not after or _begins(state.counted, after.counted))
    ]
    if within := _before_nan(ends[:1], others):
        return [*within, *ends]
    return _evaluated([_at_epoch(row) for row in ends])


def _before_nan(first: Sequence[Row], others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the states of the first epoch, where its loss ends as NaN and was finite in it.

    Those of the other stream may stand above its heading. They go on, batch by batch, as with an
    evaluation before it they do not.
    """
    if not first or not np.isnan(_loss_of(first[0])):
        return []
    (end,) = first
    found = []
    for at, line in takewhile(lambda item: item[0] < end.at, others):
        states = (_PLAIN.match(some) or _STATE.match(some) for some in line.split("\b") if some)
        for state in filter(None, states):
            names, values = pairs(state[3])
            counted = end.counted._replace(batch=whole(state[1]))
            if names and _total(state[2]) == end.counted.batches > 0:
                found.append(Row(at, counted, names, values))
    batch = [row.counted.batch for row in found]
    rising = all(a < b for a, b in pairwise(batch))
    some = rising and any(np.isfinite(_loss_of(row)) for row in found)
    return [row for row in found if row.counted.batch < end.counted.batches] if some else []


def _loss_of(row: Row) -> float:
    return dict(zip(row.names, row.values, strict=True)).get("loss", 0.0)


def _fits(states: Sequence[Row], others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the only state of each fit of one epoch, ``Epoch 1/1``, counted; [] for other logs."""
    if len(states) == 1 or any(state.counted.epochs != 1 for state in states):
        return []
    heads = np.array([at for at, line in others if _EPOCH.match(line)])
    fit = np.searchsorted(heads, [state.at for state in states], side="right")
    if not (np.diff(fit) > 0).all():
        return []
    return [
        state._replace(counted=Counted(epoch=epoch)) for epoch, state in enumerate(states, start=1)
    ]


def _evaluated(rows: list[Row]) -> list[Row]:
    """Return rows without the zeros of an evaluation that TensorFlow 2.0 printed before its first.

    All of them are exactly 0 in the first epoch, the accuracy and the loss alike, and not in the
    next.
    """
    zeros = [dict(zip(row.names, row.values, strict=True)) for row in rows[:2]]
    held_out = [[v for n, v in one.items() if n.startswith("val_")] for one in zeros]
    if len(held_out) < len(("first", "next")) or not held_out[0] or any(held_out[0]):
        return rows
    if not all(held_out[1]):
        return rows
    kept = [(n, v) for n, v in zeros[0].items() if not n.startswith("val_")]
    return [
        rows[0]._replace(names=tuple(n for n, _ in kept), values=tuple(v for _, v in kept)),
        *rows[1:],
    ]


def _begins(before: Counted, after: Counted) -> bool:
    """Whether another epoch begins, or the same one again in a second launch."""
    return before.epoch != after.epoch or before.batch > after.batch


def _at_epoch(row: Row) -> Row:
    epoch, epochs = row.counted.epoch, row.counted.epochs
    return row._replace(counted=Counted(epoch=epoch, epochs=epochs))


def _states(others: Sequence[tuple[int, str]]) -> Iterator[Row]:
    """Yield the states of the bars; what an excerpt shows above its first header is one earlier."""
    heads = (found for _, line in others if "Epoch " in line and (found := _EPOCH.match(line)))
    first = next(((whole(found[1]), whole(found[2])) for found in heads), (-1, -1))
    epoch, epochs = (first[0] - 1, first[1]) if first[0] > 1 else (-1, -1)
    trained = -1  # batches of the epoch: a bar of another number is that of an evaluation
    for at, line in others:
        names_epoch = "Epoch " in line
        if names_epoch and (found := _EPOCH.match(line)):
            epoch, epochs, trained = whole(found[1]), whole(found[2]), -1
            continue
        checkpoint = _CHECKPOINT.search(line) if names_epoch else None
        epoch = whole(checkpoint[1]) if checkpoint else epoch
        shown = line[: checkpoint.start()] if checkpoint else line
        if epoch >= 0 and "loss: " in shown:
            for state in filter(None, shown.split("\b")):
                if not (found := _STATE.match(state)):
                    continue
                names, values = pairs(found[3])
                batch, batches = whole(found[1]), _total(found[2])
                trained = batches if trained < 0 else trained
                if names and batches in {trained, -1}:
                    yield Row(at, Counted(-1, -1, epoch, epochs, batch, batches), names, values)


def _total(text: str | None) -> int:
    return whole(text) if text and text.isdigit() else -1
