"""Losses of exactly zero here and there: batches whose NaN the logger replaced."""

import numpy as np

from runlens.arrays import median, unique
from runlens.diagnosis import Severity
from runlens.history import Curve, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.rules.numerics.second_signs import Launch
from runlens.wording import percent, step

FEWEST_BEFORE = 5  # losses above zero before the first
FAR_ABOVE = 50.0  # smallest other loss over the smallest step between two: no rounding to zero
WORSE = 1.5  # mean absolute step between losses over that before: the loss is erratic
ERRATIC = "the other losses scatter more than before"
SOON = 0.1  # of the usual distance of two rows
STILL = 5  # logged learning rates that are equal


class Scattered(NamedTuple):
    """Zeros among losses far above it."""

    first: int  # index
    zeros: int
    share: float  # of the points from the first on


def scattered(curve: Curve, least: int, level: float) -> Scattered | None:
    """Return the zeros that no rounding and no small loss explains, if there are so many."""
    value = curve.value
    zeros = np.flatnonzero(value == 0)
    if len(zeros) < least or zeros[0] < FEWEST_BEFORE:
        return None
    if _sums_of_few(curve, zeros):
        return None
    first = int(zeros[0])
    others = value[first:][value[first:] != 0]
    groups = 1 + int((np.diff(zeros) > 1).sum())
    if groups < least or not len(others) or others.min() < max(level, FAR_ABOVE * _grain(value)):
        return None
    return Scattered(first, len(zeros), len(zeros) / (len(value) - first))


def _sums_of_few(curve: Curve, zeros: IntArray) -> bool:
    """Whether each zero follows another row within far fewer steps than rows lie apart.

    A sum of one batch that is divided by the interval of a hundred: the first row of an epoch.
    """
    apart = np.diff(curve.step)
    return bool((apart[zeros - 1] <= SOON * float(median(apart))).all())


def _grain(value: FloatArray) -> float:
    """Return the smallest step between two different losses: that of the rounding, if any."""
    different = unique(value[value != 0])
    return float(np.diff(different).min()) if len(different) > 1 else 0.0


def signs(launch: Launch, rate: Curve, found: Scattered) -> tuple[str, ...]:
    """Say what else shows that these batches had no usable gradient; empty where nothing does.

    A gradient norm that is a number there leaves a batch without labels as the likelier reading,
    as long as the schedule goes on.
    """
    onset = int(launch.loss.step[found.first])
    made: list[str] = []
    norm = launch.norm.after(onset).value
    if len(norm) and (bad := int((~np.isfinite(norm)).sum())):
        made.append(f"the gradient norm was not finite at {bad:,} points")
    if text := _stands_still(rate, onset):
        made.append(text)
    before, after = launch.loss.value[: found.first], launch.loss.value[found.first :]
    erratic = _scatter(after[after != 0]) > WORSE * _scatter(before)
    if erratic and not len(norm):
        made.append(ERRATIC)
    return tuple(made)


def severity(told: tuple[str, ...]) -> Severity:
    """Say how grave the zeros are by the second signs; without one they are only told."""
    if not told:
        return "info"
    return "warning" if told == (ERRATIC,) else "critical"


def _stands_still(rate: Curve, onset: int) -> str:
    """Say that a moving schedule stopped: the optimizer's steps are skipped."""
    before, after = rate.before(onset), rate.after(onset)
    if len(after) < STILL or len(before) < STILL or np.ptp(after.value) > 0:
        return ""
    moved = before.value[np.diff(before.value, append=before.value[-1]) != 0]
    if 2 * len(moved) < len(before):
        return ""
    last = int(before.step[before.value != after.value[0]][-1])
    return f"the learning rate stands still after step {step(last)}: the steps are skipped"


def _scatter(value: FloatArray) -> float:
    return float(median(np.abs(np.diff(value)))) if len(value) > 1 else 0.0


def words(found: Scattered) -> str:
    """How many there are: ``17 of 40 points (42 %)``."""
    return f"{found.zeros} points ({percent(found.share)})"
