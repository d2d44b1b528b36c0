"""The phases of a run by its learning-rate curve: warm-up, peak, decay, zero tail."""

from math import isfinite

import numpy as np

from runlens.arrays import medians
from runlens.history import BoolArray, Curve, FloatArray
from runlens.records import NamedTuple
from runlens.run import Run

WARMUP_WITHIN = 0.30  # a rise that ends later is no warm-up
RISES_FROM = 0.95  # of the first top: a curve that begins higher has no warm-up
TOP = 0.8  # of the peak: a rise that ends lower is none; restarts may top the first one a little
ZERO = 1e-12
RESTART = 0.20  # a rise of this share after an equal fall
FALLING = 5  # records by each of which a schedule came down
SUDDEN, SEEN = 20.0, 0.02  # times their usual step, and share of the peak: no schedule turns so
FEWEST = 3


class Warmup(NamedTuple):
    """Where warm-up ends: a step, and how that is known."""

    end: int
    how: str  # "config", "learning rate", "assumed"
    present: bool  # whether there is a warm-up at all


def warmup(run: Run) -> Warmup:
    """Return the end of warm-up: from the settings, from the learning-rate curve, else 3 %."""
    total = run.state.planned_steps or run.last_step
    rate = run.curve("learning_rate").finite()
    by_curve = _by_curve(rate, total)
    said = (run.number("warmup_steps"), run.number("warmup_ratio"))
    steps, ratio = (one if one and isfinite(one) else None for one in said)
    if by_curve is not None and len(rate) >= 3 * FEWEST:
        return by_curve
    if steps and steps >= 1:
        return Warmup(int(steps), "config", present=True)
    if (ratio or (steps and 0 < steps < 1)) and total:
        return Warmup(round((ratio or steps or 0.0) * total), "config", present=True)
    if by_curve is not None:
        return by_curve
    covered = run.last_step - run.first_step
    return Warmup(run.first_step + round(0.03 * covered), "assumed", present=False)


def _by_curve(rate: Curve, total: int) -> Warmup | None:
    if len(rate) < FEWEST or not (rate.value > ZERO).any():
        return None
    value = rate.value
    falls = np.flatnonzero(np.diff(value) < 0)
    top = int(falls[0]) if len(falls) else len(value) - 1  # where the first rise ends
    first = int(np.argmax(value >= 0.999 * value[top]))
    end = int(rate.step[first])
    rising = value[0] < RISES_FROM * value[top] and value[top] >= TOP * value.max()
    if rising and end <= max(WARMUP_WITHIN * max(total, int(rate.step[-1])), rate.step[0]):
        return Warmup(end, "learning rate", present=True)
    if not rising:
        return Warmup(int(rate.step[0]), "learning rate", present=False)
    return None


def rises_throughout(run: Run) -> bool:
    """Whether the logged rate rises from first to last: more of a warm-up than it is cannot be."""
    value = run.curve("learning_rate").finite().value
    return bool(
        len(value) >= FEWEST and value[0] < RISES_FROM * value[-1] and (np.diff(value) >= 0).all()
    )


def still_rising(value: FloatArray) -> bool:
    """Whether a rate never falls and ends above what it was a tenth of its records before."""
    tenth = max(2, len(value) // 10)
    return bool(len(value) > tenth and (np.diff(value) >= 0).all() and value[-1] > value[-tenth])


def suddenly_up(value: FloatArray) -> BoolArray:
    """Return behind which records, shape (n - 1,), a rate leaps that fell at each one before."""
    change = np.diff(value)
    leaps = np.zeros(len(change), dtype=bool)
    if len(change) > FALLING:
        before = np.lib.stride_tricks.sliding_window_view(change[:-1], FALLING)
        usual = np.where((before < 0).all(axis=1), -medians(before), np.inf)
        leaps[FALLING:] = change[FALLING:] > np.maximum(SUDDEN * usual, SEEN * value.max())
    return leaps


def restarts(rate: Curve) -> list[int]:
    """Return the steps at which the learning rate rises again after a clear fall.

    Or all at once, however little, after it had come down record by record.
    """
    if len(rate) < FEWEST:
        return []
    value = rate.value
    peak = np.maximum.accumulate(value)
    up = np.diff(value) > RESTART * np.maximum(value[:-1], ZERO)
    up &= value[:-1] < (1 - RESTART) * peak[:-1]
    fallen = np.flatnonzero(up | suddenly_up(value))
    if not len(fallen):
        return []
    first = np.concatenate([[True], np.diff(fallen) > 1])
    return [int(step) for step in rate.step[fallen[first] + 1]]
