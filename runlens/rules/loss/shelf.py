"""The flat part of a training loss, and the level that a sound run comes below."""

from runlens.arrays import median
from runlens.records import NamedTuple
from runlens.rules.loss import chance
from runlens.rules.rule import LANGUAGE_TASKS, PREFERENCE_TASKS
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import loss

MISWIRED = 2.0  # nats above chance: a start that is higher comes of wrong weights or labels
LARGEST = 12.5  # nats, chance for 262,144 tokens: the largest vocabulary in use
SUMMED = 1.7  # train over eval loss: no dropout does that, a sum over batches does


class Shelf(NamedTuple):
    """The flat part of a curve."""

    start: float
    level: float


class Bound(NamedTuple):
    """The level that a sound run comes below, and where that is known from."""

    level: float
    source: str


def no_mean(run: Run, signals: Signals, shelf: Shelf) -> bool:
    """Whether a loss is no mean over tokens or pairs, which alone has a level."""
    at = chance.of_run(run)
    if run.task in PREFERENCE_TASKS and at:
        return shelf.start > SUMMED * at.level
    evals = signals.curve("eval_loss").value
    tested = float(median(evals[-3:])) if run.task in LANGUAGE_TASKS and len(evals) else 0.0
    return tested > 0 and shelf.level >= SUMMED * tested


def too_high(run: Run, signals: Signals, shelf: Shelf) -> str:
    """Say why a loss may be a sum: no mean over tokens starts so high; else empty.

    Weights drawn too large, or labels of another tokenizer, start as high: it is a doubt alone.
    """
    if run.task not in LANGUAGE_TASKS | {"other"}:
        return ""
    at = chance.of_run(run)
    highest = (at.level if at else LARGEST) + MISWIRED
    if shelf.start > highest and not len(signals.curve("eval_loss")):  # which says that it is one
        beyond = f"2 above chance, {at.name}" if at else "above chance for any vocabulary"
        return (
            f"loss starts at {loss(shelf.start)}, above {loss(highest)} ({beyond}), as one does "
            f"that is summed or rescaled"
        )
    return ""
