"""How far a training loss fell from its start, with its error, and what says that it learned."""

import numpy as np

from runlens.arrays import median
from runlens.history import Curve, FloatArray
from runlens.records import NamedTuple
from runlens.rules.loss import surroundings
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import MEDIAN_LOSS, inflation, sigma, smooth, window
from runlens.signals.trend import ranked
from runlens.wording import loss, step

LEARNED = 0.03  # share of its start that a loss falls where something was learned
LITTLE = 2.0  # times that: less is surely no more than a beginning
ONE_SIDED = 1.645  # standard errors of a one-sided test at 5 %
NO_TREND = 0.2  # p of the order of the points: one curve in five without a trend shows less
HALF = 0.5  # of a gain
SECOND = 2.0  # epoch: counted from 0 or from 1, it is not the first
PART = 0.05  # of the steps, as of a history that begins late: what ends as early lacks its rest
ERRORS = 3.0  # noise scales: less is no fall


class Fall(NamedTuple):
    """How far the loss fell from its start to its last third."""

    start: float
    end: float
    error: float  # standard error of the fall
    needed: float  # fall that counts as learning

    @property
    def height(self) -> float:
        """The fall, negative for a rise."""
        return self.start - self.end


def fall_of(value: FloatArray, share: float) -> Fall:
    """Return the fall from the first tenth to the last third, with its error."""
    first, last = max(1, min(3, len(value) // 4), len(value) // 10), max(2, len(value) // 3)
    start, end = float(median(value[:first])), float(median(value[-last:]))
    wide = inflation(value - smooth(value))
    error = MEDIAN_LOSS * sigma(value) * (1 / first + 1 / last) ** 0.5 * wide
    return Fall(start, end, error, share * abs(start))


def only_noise(value: FloatArray, fall: float) -> bool:
    """Whether a fall between both ends is one that points in any order show as well.

    Or one that no eye sees: within the scatter of single points, surely little, and not surely as
    much as learning is.
    """
    (tau, chance), scatter, whole = ranked(value), sigma(value), fall_of(value, LEARNED)
    if (chance > NO_TREND or tau > 0) and fall < ERRORS * scatter:
        return True
    least, most = (whole.height + sign * ONE_SIDED * whole.error for sign in (-1, 1))
    within = max(fall, whole.height) < scatter
    return within and least < whole.needed and most < LITTLE * whole.needed


def learned(value: FloatArray, fall: Fall) -> str:
    """Say by which number the loss did fall; empty where it did not."""
    first = float(value[0])
    if first - fall.end > max(fall.needed, 3 * sigma(value)):
        return f"loss fell from {loss(first)} at the first point to {loss(fall.end)}"
    few = max(2, len(value) // 100)
    early = float(median(value[:few]))
    if early - fall.end > max(fall.needed, 3 * MEDIAN_LOSS * sigma(value) / few**0.5):
        return f"loss fell from {loss(early)} in the first points to {loss(fall.end)}"
    shown = smooth(value)[max(3, len(value) // 10) :]
    best = fall.start - float(shown.min())
    spread = 7.5 * sigma(value) / max(3, window(len(value))) ** 0.5
    # what was lost again, and lies within the scatter of the points, no eye sees
    seen = fall.height > HALF * best or best > sigma(value)
    if seen and best > max(fall.needed, spread):
        return (
            f"loss was {loss(best)} below its start, and {loss(max(fall.needed, spread))} is enough"
        )
    return ""


def begins_late(train: Curve) -> float:
    """Return the epoch of a first loss that is not of the first, where steps begin at 1; else 0.

    One interval before, an epoch or more had been done: a log that counts each epoch's batches
    from one, and shows a late epoch alone.
    """
    if len(train) < 2 or not np.isfinite(train.epoch).all():  # noqa: PLR2004 - an interval
        return 0.0
    first, interval = float(train.epoch[0]), float(train.epoch[1] - train.epoch[0])
    per_row = float(train.step[1] - train.step[0])
    anew = train.step[0] <= per_row and first - interval >= SECOND
    return first if anew else 0.0


def part_of_run(run: Run) -> bool:
    """Whether other columns go on long after the last training loss, which counts something else.

    A few fits that are counted from one, beside thousands of steps.
    """
    train = run.curve("train_loss")
    return len(train) > 0 and float(train.step[-1]) < PART * run.last_step


def without_start(run: Run, signals: Signals, train: Curve) -> str:
    """Say why the history tells nothing of the start, or of more than it; empty: it does."""
    if signals.partial:
        return f"the history begins at step {step(signals.begins)}: the start is missing"
    if late := begins_late(train):
        return f"the history begins in epoch {late:.0f}: the start is missing"
    if part_of_run(run):
        return "the training loss ends long before the run does"
    if surroundings.launches(run) and surroundings.launches(run)[0] <= train.step[0]:
        return "the first loss is that of a resumed launch: the start is missing"
    if signals.warmup.present and signals.warmup.end > 0.9 * run.last_step:
        to = signals.warmup.end
        until = f", which lasts to step {step(to)}" if to > run.last_step else ""
        return f"the run ends inside its warm-up{until}"
    return ""
