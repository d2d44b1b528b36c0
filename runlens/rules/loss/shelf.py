"""The flat part of a training loss, the level that a sound run comes below, and their evidence."""

from typing import NamedTuple

import numpy as np

from runlens.diagnosis import Evidence
from runlens.history import Curve
from runlens.rules.loss import chance
from runlens.rules.rule import LANGUAGE_TASKS, PREFERENCE_TASKS
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import loss, times

MISWIRED = 2.0  # nats above chance: no start of a mean over tokens is higher
HIGHEST_START = 14.0  # where the vocabulary is not known; ln 262,144, the largest in use, is 12.5
SUMMED = 1.7  # train over eval loss: no dropout does that, a sum over batches does


class Shelf(NamedTuple):
    """The flat part of a curve."""

    knee: int  # index
    start: float
    level: float  # of the last fifth
    slope: float  # per step over the last two thirds
    scale: float  # noise


class Bound(NamedTuple):
    """The level that a sound run comes below, and where that is known from."""

    level: float
    source: str
    patience: float = 1.0  # factor on the run lengths that the slope would need
    doubtful: float = 0.0  # how far above it a run may be sound all the same


def no_mean(run: Run, signals: Signals, shelf: Shelf) -> str:
    """Say why a loss is no mean over tokens or pairs, which alone has a level; else empty."""
    at = chance.of_run(run)
    if run.task in PREFERENCE_TASKS and at and shelf.start > SUMMED * at.level:
        told = f"{times(shelf.start / at.level)} {at.name}"
        return (
            f"loss starts at {loss(shelf.start)}, {told}: a sum of pairs, whose level says nothing"
        )
    if run.task not in LANGUAGE_TASKS:
        return ""
    highest = at.level + MISWIRED if at else HIGHEST_START
    if shelf.start > highest:
        beyond = f"2 above chance, {at.name}" if at else "above chance for any vocabulary"
        return (
            f"loss starts at {loss(shelf.start)}, above {loss(highest)} ({beyond}): it is no mean "
            f"over tokens, but a sum or scaled, and its level says nothing"
        )
    evals = signals.curve("eval_loss").value
    tested = float(np.median(evals[-3:])) if len(evals) else 0.0
    if tested > 0 and shelf.level >= SUMMED * tested:
        return (
            f"loss ends at {loss(shelf.level)}, {times(shelf.level / tested)} the eval loss: it is "
            f"a sum over batches or scaled, and its level says nothing"
        )
    return ""


def evidence(
    run: Run,
    signals: Signals,
    train: Curve,
    shelf: Shelf,
    bound: Bound,
    lengths: float | str,
    needed: float,
) -> tuple[Evidence, ...]:
    """Return the level and the slope; and evaluation loss: both high is underfitting."""
    last, onset = float(train.step[-1]), float(train.step[shelf.knee])
    level = "Level of train loss in the last fifth"
    why = "500 without a gain are a common alert, and usual at the end of a decay"
    rows = [
        Evidence(level, shelf.level, bound.level, bound.source, "train_loss", last),
        Evidence("Change after the knee", shelf.slope * (last - onset), where="train_loss"),
        Evidence("Further run lengths to that limit", lengths, needed),
        Evidence("Train loss at the start", shelf.start, where="train_loss"),
        Evidence("Steps since the knee", run.last_step - onset, source=why),
    ]
    evals = signals.curve("eval_loss").value
    if len(evals):
        rows.append(Evidence("Eval loss at the end", float(evals[-1]), where="eval_loss"))
    return tuple(rows)
