"""Held-out scores that fall while a policy trains: what its reward should stand for gets worse."""

import numpy as np

from runlens.history import Curve
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.trend import mann_kendall

SCORE = lazy_re(r"^eval_.*(acc|score|reward|success|pass|solve|exact|win)")
NO_SCORE = lazy_re(r"std|worst|len|loss|time|count|min|max")
FEWEST = 5  # evaluations
TAU = -0.6  # Kendall's: of five points two pairs may be out of order
LOST = 0.3  # of the level of the first two that must be gone at the last two
MOST = 0.5  # of all scores that must fall: of many one always does by chance


class Fallen(NamedTuple):
    """The held-out scores fell: the one that lost most, and how many did."""

    metric: str
    at: float  # step of its best
    start: float
    end: float
    tau: float
    falling: int
    scores: int


def fallen(run: Run, signals: Signals) -> Fallen | None:
    """Return the fall of the held-out scores where most of them fell; else None."""
    names = [m for m in run.history.metrics if SCORE.search(m) and not NO_SCORE.search(m)]
    judged = [(m, signals.curve(m)) for m in names]
    judged = [(m, c) for m, c in judged if len(c) >= FEWEST and np.ptp(c.value) > 0]
    falls = [one for m, c in judged if (one := _fall(m, c, len(judged)))]
    if not falls or len(falls) <= MOST * len(judged):
        return None
    # a share is read more easily than a score that may be negative, and a large one has less noise
    worst = max(falls, key=lambda one: (one.start > 0, one.start - one.end))
    return worst._replace(falling=len(falls))


def _fall(metric: str, curve: Curve, scores: int) -> Fallen | None:
    start, end = float(curve.value[:2].mean()), float(curve.value[-2:].mean())
    tau = mann_kendall(curve.value)[0]
    if tau > TAU or start - end < max(LOST * abs(start), 1e-12):
        return None
    at = float(curve.step[int(np.argmax(curve.value))])
    return Fallen(metric, at, start, end, tau, 1, scores)
