"""Tasks that are trained one after the other: what a score of each of them did."""

import re

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from runlens.arrays import medians
from runlens.history import Curve, FloatArray
from runlens.naming import words
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.signals import Signals
from runlens.signals.held_out import as_share
from runlens.signals.noise import sigma_diff

TASK = lazy_re(r"(?:task|domain|session|experience|exp|t)\d*", re.IGNORECASE)
# of two sets, what was learned before and what is learned now
BEFORE, NOW = {"old", "base"}, {"new", "novel"}
SCORES = {"acc", "acc1", "f1", "auc", "iou", "miou", "successrate"}
FEWEST = 4  # points of a score
NEAR = 3  # points of a level
LOST = 0.15  # of a share: chance alone takes less from a set of 50 with three standard errors
PART = 0.25  # of the best, which is lost as well
ERRORS = 4.0  # noise scales of single points


class Lost(NamedTuple):
    """A score that was lost while that of another task rose."""

    name: str
    curve: Curve
    at: int  # index of its best
    best: float  # as logged
    last: float
    other: str
    before: float  # of the other, when the first was at its best
    after: float


def forgotten(signals: Signals) -> Lost | None:
    """Return the task whose score fell most for good while that of another rose; None for none."""
    made: list[Lost] = []
    for names in families(signals.run.history.metrics):
        curves = {name: signals.curve(name) for name in names}
        known = {name: one for name, one in curves.items() if len(one) >= FEWEST}
        made += [
            lost
            for name in known
            for other in known
            if other != name and (lost := _lost(name, other, known))
        ]
    return max(made, key=lambda one: (one.best - one.last, one.after - one.before), default=None)


def families(names: tuple[str, ...]) -> list[list[str]]:
    """Return the names of scores that differ by the number of a task, or by old and new."""
    found: dict[str, list[str]] = {}
    for name in names:
        said = set(words(name))
        if not SCORES & said:
            continue
        if any(TASK.fullmatch(word) for word in said) and re.search(r"\d", name):
            found.setdefault(re.sub(r"\d+", "#", name), []).append(name)
        elif said & (BEFORE | NOW):
            rest = sorted(said - BEFORE - NOW)
            found.setdefault(" ".join(rest), []).append(name)
    return [one for one in found.values() if len(one) > 1]


def _lost(name: str, other: str, curves: dict[str, Curve]) -> Lost | None:
    curve, rival = curves[name], curves[other]
    level = _levels(as_share(curve.value))
    at = int(np.argmax(level))
    best, last = float(level[at]), float(level[-1])
    scatter = ERRORS * sigma_diff(as_share(curve.value)) / NEAR**0.5
    fell = best - last
    if at >= len(level) - 1 or fell < max(LOST, PART * best) or fell < scatter:
        return None
    raised = _levels(as_share(rival.value))
    then = int(np.searchsorted(rival.step, curve.step[at], side="right")) - 1
    if then < 0 or raised[-1] - raised[then] < LOST:
        return None
    unit = 100.0 if curve.value.max() > 1 else 1.0
    both = float(raised[then]), float(raised[-1])
    units = 100.0 if rival.value.max() > 1 else 1.0
    return Lost(name, curve, at, best * unit, last * unit, other, *(one * units for one in both))


def _levels(value: FloatArray) -> FloatArray:
    """Return the median of each point and the two before it, shape (n,)."""
    padded = np.concatenate([np.repeat(value[:1], NEAR - 1), value])
    return medians(sliding_window_view(padded, NEAR))
