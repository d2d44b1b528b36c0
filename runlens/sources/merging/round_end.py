"""An end that is a round number: people plan 300 epochs or 20,000 steps, and nothing stops there.

Of ends that come by chance at most one in four is round in the sense used here: round numbers lie
four spacings of rows apart, ten where the end need only lie near one. Of 105 runs of others known
to have been cut 20 end so (19 %), of 393 that came to their end 173, most others at the last step
of an epoch.
"""

from math import isfinite

import numpy as np

from runlens.history import History
from runlens.records import NamedTuple
from runlens.wording import step

BY_LUCK = 4  # spacings of rows between two round numbers
PASSED = 10  # the same where a round number lies within a spacing of the end
DIGITS = 25  # round is at most 25 times 5, 10, 50, 100...: 120 and 250, not 345
FEWEST = 3  # rows from which a spacing is known
LATE = 20  # rows at the end whose spacing counts: loops log more often at first
WHOLE = 0.01  # of an epoch: bars round


class Axis(NamedTuple):
    """Where the rows of a run lie: the first and the last step, and what lies between two."""

    first: int
    last: int
    spacing: int


def round_end(history: History, done_epochs: float | None) -> str:
    """Return the round number at which a run ended, in words: "epoch 300"; "" where it is none."""
    axis = axis_of(history)
    if done_epochs is not None and not isfinite(done_epochs):
        return ""
    whole = done_epochs is not None and abs(done_epochs - round(done_epochs)) <= WHOLE
    if done_epochs is not None and whole and _is_round(round(done_epochs), 1, BY_LUCK):
        return f"epoch {round(done_epochs):,}"
    if axis is None or (whole and axis.spacing == 1):
        return ""  # its steps are epochs
    ends = [axis.last, axis.last + 1] if (axis.last + 1) % axis.spacing == 0 else [axis.last]
    if axis.first == 0:  # counted from 0: the row behind the last is the number of all
        ends = [axis.last + axis.spacing]
    if done_epochs is None or whole:
        found = next((end for end in ends if _is_round(end, axis.spacing, BY_LUCK)), None)
        found = found or _passed(axis)
    else:  # a plan in steps amid an epoch is a rounder one
        found = next((end for end in ends if end == _roundness(end)), None)
    return f"step {step(found)}" if found else ""


def axis_of(history: History) -> Axis | None:
    """Return the axis of the metric with the most points; None where there are too few."""
    curves = [history.curve(name).step for name in history.metrics]
    steps = max(curves, key=len, default=np.array([], dtype=np.int64))
    if len(steps) < FEWEST:
        return None
    spacing = int(np.median(np.diff(steps[-LATE:])))
    return Axis(int(steps[0]), int(steps[-1]), spacing) if spacing > 0 else None


def _passed(axis: Axis) -> int | None:
    """Return a round number within a spacing of the last row: plans that end with a rollout."""
    least = PASSED * axis.spacing
    unit = next(u * f for u in (10**n for n in range(18)) for f in (1, 5) if u * f >= least)
    near = round(axis.last / unit) * unit
    close = -axis.spacing < near - axis.last <= axis.spacing
    return near if close and _is_round(near, axis.spacing, PASSED) else None


def _is_round(number: int, spacing: int, apart: int) -> bool:
    unit = _roundness(number)
    return unit >= max(5, apart * spacing) and number <= DIGITS * unit


def _roundness(number: int) -> int:
    """Return the largest of 1, 5, 10, 50, 100... that divides a number above zero."""
    unit = 1
    while number > 0 and number % (unit * 10) == 0:
        unit *= 10
    return unit * 5 if number > 0 and number % (unit * 5) == 0 else unit
