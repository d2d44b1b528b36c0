"""Whether one of two runs goes on with the weights of the other: one training, not two.

A run goes on where the other ended if its first step follows the other's last one and its loss
starts where that one's ended. It started from trained weights if its own first steps have a loss
near the end of the other, which itself began far above: the weights of the other, or of another
training.
"""

import numpy as np

from runlens.arrays import median
from runlens.comparison import Check
from runlens.records import NamedTuple
from runlens.run import RL_TASKS, Run
from runlens.wording import loss, step

WHAT = "Start"
POINTS = 5  # of a curve, whose median is a level
NEXT = 2.0  # intervals after the last step, within which the next one lies
NEAR = 0.1  # of how far the first run came: as near as the levels of one training lie
EARLY = 0.02  # share of a run within which a loss is that of the start
FAR = 0.3  # share of the first loss that a training must have taken off, or nothing tells


class Levels(NamedTuple):
    """Train loss at the start and at the end of a run, and the steps of its points."""

    start: float
    end: float
    first: int
    last: int
    interval: float


def goes_on(a: Run, b: Run) -> tuple[str, int] | None:
    """Return (the run that goes on, the step at which the other ended); None for two trainings."""
    one, two = _levels(a), _levels(b)
    if one is None or two is None:
        return None
    for name, ended, then in (("B", one, two), ("A", two, one)):
        after = then.first - ended.last
        follows = 0 < after <= NEXT * max(ended.interval, then.interval)
        if follows and abs(then.start - ended.end) <= NEAR * abs(ended.start - ended.end):
            return name, ended.last
    return None


def started(a: Run, b: Run) -> list[Check]:
    """Return the point that fails, where one run started from trained weights; else nothing."""
    one, two = _levels(a), _levels(b)
    if one is None or two is None or {a.task, b.task} & RL_TASKS:
        return []
    for name, other, fresh, warm in (("B", "A", one, two), ("A", "B", two, one)):
        early = all(at.first <= max(EARLY * at.last, 2 * at.interval) for at in (fresh, warm))
        came = fresh.start - fresh.end
        if early and came > FAR * fresh.start and warm.start <= fresh.end + NEAR * came:
            said = f"train loss starts at {loss(warm.start)} in {name}, near where {other} ended"
            why = f"{said} ({loss(fresh.end)}, from {loss(fresh.start)}): trained weights"
            return [Check(WHAT, False, f"{why}, or easier data")]
    return []


def _levels(run: Run) -> Levels | None:
    curve = run.curve("train_loss").finite()
    if len(curve) < 2 * POINTS:
        return None
    interval = float(median(np.diff(curve.step)))
    first, last = float(median(curve.value[:POINTS])), float(median(curve.value[-POINTS:]))
    return Levels(
        first, last, int(curve.step[0]), max(run.last_step, int(curve.step[-1])), interval
    )


def sentence(name: str, at: int) -> str:
    """Say that two runs are one training."""
    other = "A" if name == "B" else "B"
    return f"{name} goes on where {other} ended, at step {step(at)}: they are one training, not two"
