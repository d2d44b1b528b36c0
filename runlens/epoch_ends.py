"""Where whole epochs end, in steps: the second axis of a chart."""

from runlens.run import Run
from runlens.signals import Signals

MOST = 20  # ends that are told
NEAR = 0.01  # of an epoch


def epoch_ends(run: Run, signals: Signals) -> tuple[tuple[float, float], ...]:
    """Return (step, epoch) of whole epochs, about 20 of many; empty where none is known.

    Where a step is an epoch, they would be the steps again, or those and one.
    """
    per = signals.steps_per_epoch
    if not per or per == 1:
        return ()
    begun = _at_step_0(run, per)
    whole = int(run.last_step / per) + begun
    every = max(1, whole // MOST)
    return tuple((per * (at - begun), float(at)) for at in range(begun, whole + 1, every))


def _at_step_0(run: Run, per: float) -> int:
    """Return the epochs that are over at step 0: 1 where rows of whole epochs count from 0."""
    for metric in run.history.metrics:
        curve = run.curve(metric)
        if len(curve):
            ahead = float(curve.epoch[0]) - float(curve.step[0]) / per
            return int(abs(ahead - 1) < NEAR)
    return 0
