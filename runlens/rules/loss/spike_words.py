"""How a spike is told: from which level it rose, and to which."""

from runlens.history import IntArray
from runlens.rules.loss.spike_forms import Seen
from runlens.run import Run
from runlens.wording import loss, step

POINTS = 2.0  # logged points of a spike that one batch explains
A_SPELL = 0.1  # of the points: what lasts longer is of more than one batch
FAR_TOP = 0.05  # of the run from the onset to the top: the onset is named beside it


def rise(run: Run, seen: Seen, at: IntArray, tops: IntArray, told: str) -> str:
    """Say from which level the first spike rose; with its onset where its top came much later."""
    base = float(seen.base[0])
    logged = base in run.curve("train_loss").before(int(at[0])).value[-1:]
    level = f"{'' if told or logged else 'a median of '}{loss(base)}"
    peak, top = loss(float(seen.peak[0])), step(tops[0])
    if _far(run, at[0], tops[0]):
        return f"Train loss rose from {level} before step {step(at[0])} to {peak} at step {top}"
    return f"Train loss spiked to {peak} at step {top}, from {level} before"


def level(run: Run, at: float, top: float) -> str:
    """Return what the height of a spike is a multiple of."""
    if _far(run, at, top):
        return f"the level before step {step(at)}"
    return "the level around it"


def most(seen: Seen, top: int) -> str:
    """Return what the spike is that rose most for its level: the level may have been lower there.

    >>> import numpy as np
    >>> both = Seen(*np.array([[9, 2, 0.6, 0.3, 1], [50, 4, 0.2, 0.05, 1]]).T)
    >>> most(both, 1), most(both, 0)
    ('sharpest', 'highest')
    """
    return "highest" if seen.peak[top] >= seen.peak.max() else "sharpest"


def after(width: float) -> str:
    """Say how long a spike lasted, where it is more than one batch explains."""
    return f" after {width:,.0f} logged points" if width > POINTS else ""


def _far(run: Run, at: float, top: float) -> bool:
    return top - at > FAR_TOP * run.last_step
