"""A loss that falls all the time, by next to nothing: steps that are too small."""

import numpy as np

from runlens.arrays import median
from runlens.causes.hypothesis import HINT, SPEAKS, Sign
from runlens.causes.patterns import STUCK
from runlens.causes.rate_limits import fell_in_order
from runlens.causes.scene import Scene
from runlens.history import FloatArray
from runlens.usual_rates import FEWEST_ORDERED
from runlens.wording import percent

MORE = "Run 100 steps at ten times the learning rate. The curves should begin to move"
HALVED = 0.5  # of its start: a rate that took the loss below it moves the weights
LEAST_TOLD = 1e-3  # of a level: a percentage has one decimal
LEFT = 0.3  # of a fall, behind its first quarter: half of what a straight line has left there
BENT = 0.02  # of its fall: a loss that has gone a sixth of its way to a level leaves a line by it


def creeps(scene: Scene) -> Sign | None:
    """Say that a loss which is taken for flat falls all the time, by next to nothing."""
    train = scene.curve("train_loss").value
    if not scene.has(*STUCK):
        return None
    straight = _straight(train)
    if not straight and not fell_in_order(scene, "train_loss"):
        return None
    levels = scene.signals.levels("train_loss")
    if not HALVED * levels.start < levels.end < levels.start:
        return None
    if levels.start - levels.end < HALVED * (float(train[0]) - levels.end):
        return None  # most of the fall came at once: that is not steadily
    if _early(train, levels.start, levels.end):
        return None
    share = 1 - levels.end / levels.start
    fell = percent(share) if share >= LEAST_TOLD else f"less than {percent(LEAST_TOLD)}"
    said = f"the loss fell steadily, but by {fell} in {len(train):,} logged points"
    if not straight:
        return Sign(said, HINT)
    said += ", in a straight line: the gradient stayed what it was"
    return Sign(said, SPEAKS, "Learning rate too low", MORE)


def _early(value: FloatArray, start: float, end: float) -> bool:
    """Whether next to all of a fall came in the first quarter: what is flat since did not creep."""
    quarter = value[len(value) // 4 : len(value) // 2]
    return bool(median(quarter) - end < LEFT * (start - end))


def _straight(value: FloatArray) -> bool:
    """Whether a fall is a straight line, which no curve is that comes anywhere, and no scatter."""
    if len(value) < FEWEST_ORDERED or value[-1] >= value[0]:
        return False
    at = np.arange(len(value))
    off = value - np.polyval(np.polyfit(at, value, 1), at)
    return bool(np.abs(off).max() <= BENT * np.ptp(value))
