"""The loss of an agent's value function beside its reward."""

import numpy as np

from runlens.metrics import spoken
from runlens.records import NamedTuple
from runlens.rules.rl import policy
from runlens.signals import Signals
from runlens.wording import loss, step

METRICS = ("value_loss", "train_loss")  # of an agent with one network it is that
DOUBLED = 2.0  # times its lowest level: a squared error that grew by as much as itself
NEAR = 0.1  # of the run: so far apart two turns of smoothed curves are one thing
RARE = 1e-3  # chance that noise alone rises so, as of the fall of the reward


class Turn(NamedTuple):
    """A loss that rises from where a reward falls."""

    metric: str
    at: float  # step of its lowest level
    low: float
    end: float

    @property
    def words(self) -> str:
        """Say it: ``train loss rose from 0.05 (step 26, smoothed) to 0.19 (median at the end)``."""
        low = f"{loss(self.low)} (step {step(self.at)}, smoothed)"
        return f"{spoken(self.metric)} rose from {low} to {loss(self.end)} (median at the end)"


def turned(signals: Signals, best: float, onset: float) -> Turn | None:
    """Return the loss that had fallen until the reward was best, or fell, and rises from there.

    Where a policy only earns more the loss may rise with its returns: the reward must fall. Of a
    reward that is a cost both are one thing; it says no more than that they went together.
    """
    if signals.run.task != "rl":
        return None
    apart = NEAR * (signals.run.last_step - signals.run.first_step)
    for metric in METRICS:
        curve = signals.curve(metric)
        if len(curve) < policy.FEW:
            continue
        smooth = signals.smooth(metric)
        at = int(np.argmin(smooth))
        low, end = float(smooth[at]), policy.last_level(curve.value)
        rises = signals.shape(metric).rose_after_best().chance < RARE and end >= DOUBLED * low > 0
        if rises and best - apart <= curve.step[at] <= onset + apart and at > 0:
            return Turn(metric, float(curve.step[at]), low, end)
    return None
