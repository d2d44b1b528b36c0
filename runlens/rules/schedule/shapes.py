"""Shapes of a learning-rate curve: what is planned by name, and where it does what no plan does."""

import numpy as np

from runlens.history import BoolArray, Curve, FloatArray
from runlens.signals import Signals
from runlens.signals.phases import suddenly_up

FLAT = ("constant", "constant_with_warmup")
STEADY = 0.01  # relative change below which a rate is constant
STEADY_POINTS = 5  # that it must have been so, at least
CUT_OFF = 0.1  # share of the peak: a planned restart comes after the decay, not in its middle
ROSE = 0.1  # share of the peak, and of the rate before, that a rise is at least
MANY = 2  # more rises than that are a schedule of its own kind: cyclic, adaptive


def steady(value: FloatArray) -> BoolArray:
    """Where the rate had been constant for a tenth of the run: past any warm-up."""
    span = max(STEADY_POINTS, len(value) // 10)
    flat = np.zeros(len(value), dtype=bool)
    flat[span:] = np.abs(value[span:] - value[:-span]) <= STEADY * value[span:]
    return flat & (value > 0)


def cyclic(value: FloatArray) -> bool:
    """Whether a rate begins to rise again and again, as many points apart each time."""
    up = np.diff(value) > 0
    begins = np.flatnonzero(up[1:] & ~up[:-1])
    often = len(begins) > MANY and int(np.ptp(np.diff(begins))) <= 1
    return often or _repeats(value, [int(one) + 2 for one in begins])


def _repeats(value: FloatArray, begins: list[int]) -> bool:
    """Whether each cycle is as long as the first and has its rates; the last one may be cut.

    A launch that was lost begins its schedule again as well, but not twice after as many steps.
    """
    if len(begins) < MANY or value.max() <= 0:
        return False
    period = begins[0]
    whole = len(value) // period * period
    laps = value[:whole].reshape(-1, period)
    equal = np.abs(laps - laps[0]).max() <= STEADY * value.max()
    cut = np.abs(value[whole:] - value[: len(value) - whole]).max(initial=0.0)
    return len(laps) > MANY and bool(equal and cut <= STEADY * value.max())


def ended(value: FloatArray) -> bool:
    """Whether a rate has come down to the end of a decay, point by point."""
    if len(value) < STEADY_POINTS or value[-1] >= CUT_OFF * value.max():
        return False
    return bool((np.diff(value[-STEADY_POINTS:]) < 0).all())


def bettered(signals: Signals, rate: Curve, at: float) -> bool:
    """Whether each loss stays lower from a leap off a constant rate on than it was before.

    A second stage, as of layers that are released, or a rate that was too low: it did no harm. A
    schedule that starts over by mistake undoes some of what its decay had gained.
    """
    before = rate.value[rate.step < at]
    if np.ptp(before) > STEADY * before.max():
        return False
    return all(_lower(signals, name, at) for name in ("train_loss", "eval_loss"))


def _lower(signals: Signals, name: str, at: float) -> bool:
    """Whether a loss lies lower from a step on than anywhere before; so does one not logged.

    Of training, which is one of batches, the smooth course is asked.
    """
    curve = signals.curve(name)
    value = signals.smooth(name) if name == "train_loss" else curve.value
    before, after = value[curve.step < at], value[curve.step >= at]
    if not len(curve):
        return name != "train_loss"
    return len(before) > 1 and len(after) > 1 and bool(after.max() < before.min())


def expected(name: str, rate: Curve, start: float, total: float) -> FloatArray | None:
    """Return the configured schedule after its warm-up, as a share of the peak."""
    return left(name, np.clip((rate.step - start) / max(total - start, 1.0), 0.0, 1.0))


def left(name: str, done: FloatArray) -> FloatArray | None:
    """Return what a schedule has left of its peak, where `done` is the share of the plan."""
    if name in FLAT:
        return np.ones(len(done))
    shapes = {"linear": 1 - done, "cosine": (1 + np.cos(np.pi * done)) / 2}
    return shapes.get(name)


def rises_in_decay(value: FloatArray) -> list[int]:
    """Return the indices before which a falling rate rose between two records, above CUT_OFF.

    By ROSE, or by less after it had come down record by record, in steps far smaller. Empty where
    it rose before it had fallen (warm-up), or more than twice.
    """
    peak = float(value.max())
    fallen = np.maximum.accumulate(value)[:-1] > (1 + ROSE) * value[:-1]
    up = value[1:] - value[:-1] >= ROSE * np.maximum(value[:-1], peak)
    at = np.flatnonzero((up & fallen) | suddenly_up(value))
    whole = len(at) <= MANY and bool((value[at] > CUT_OFF * peak).all())
    return [int(index) + 1 for index in at] if whole else []
