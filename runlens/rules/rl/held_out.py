"""Scores that fall while a policy trains: what its reward should stand for gets worse."""

import numpy as np

from runlens.history import Curve, FloatArray
from runlens.naming import words
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.rules.rl import policy
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.trend import mann_kendall, ranked

SCORE = lazy_re(r"^eval_.*(acc|score|reward|success|pass|solve|exact|win)")
NO_SCORE = lazy_re(r"std|worst|len|loss|time|count|min|max")
FEWEST = 5  # evaluations
TAU = -0.6  # Kendall's: of five points two pairs may be out of order
LOST = 0.3  # of the level of the first two that must be gone at the last two
# of answers of the policy itself, which its reward should stand for; not of how they look
RIGHT = frozenset(
    ("acc", "exact", "correct", "em", "success", "successrate", "solved", "pass", "pass1", "right")
)
# a score that the policy is not paid by, which is logged to hold the other against
GOLD = frozenset(("gold", "oracle"))
OF_FORM = frozenset(
    ("reward", "format", "form", "length", "len", "std", "min", "max", "error", "loss", "wrong",
     "count", "num", "total", "time", "clip", "kl", "value", "task", "level")
)  # fmt: skip
HALF = 0.5  # of the first level: no share of hundreds of answers loses as much by chance
RARELY = 0.01  # chance of the order of its points
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


def lost(run: Run, signals: Signals) -> list[str]:
    """Return the held-out shares of which half was gone at the end, in whatever order.

    One that falls to 0 early and stays there has few pairs in order, and has lost all the same.
    """
    names = [m for m in run.history.metrics if SCORE.search(m) and not NO_SCORE.search(m)]
    curves = [(m, signals.curve(m).value) for m in names if len(signals.curve(m)) >= FEWEST]
    shares = [m for m, value in curves if value.min() >= 0 and value.max() <= 1]
    levels = {m: signals.levels(m) for m in shares}
    return [m for m, level in levels.items() if level.end <= HALF * level.start]


def right_answers(run: Run, signals: Signals) -> Fallen | None:
    """Return the fall of a share of right answers in training, where most of them fell; else None.

    ``exact answers 29.5 % -> 0.6 %`` beside a reward that rises. Where held-out scores are logged
    those decide, and where a logged curriculum got harder more answers are wrong by that.
    """
    if any(SCORE.search(m) for m in run.history.metrics):
        return None
    names = [m for m in run.history.metrics if ":" not in m and _of_right(m)]
    judged = [(m, c) for m in names if len(c := signals.curve(m)) >= policy.FEWEST]
    judged = [(m, c) for m, c in judged if np.ptp(c.value) > 0 and _of_scale(m, c)]
    falls = [one for m, c in judged if (one := _fall(m, c, len(judged)))]
    falls = [one for one in falls if _by_chance(signals.curve(one.metric).value) < RARELY]
    if len(falls) <= MOST * len(judged):
        return None
    from runlens.rules.rl import curriculum  # agents alone have one

    if curriculum.harder(run, run.first_step, run.last_step):
        return None
    worst = max(falls, key=lambda one: one.start - one.end)
    value = signals.curve(worst.metric).value
    return worst._replace(start=float(value[0]), end=float(value[-1]), falling=len(falls))


def _of_right(name: str) -> bool:
    said = set(words(name))
    if GOLD & said:
        return not OF_FORM - {"reward"} & said
    return bool(RIGHT & said) and not OF_FORM & said


def _of_scale(name: str, curve: Curve) -> bool:
    """Whether it is a share, or a gold score above 0, of which a part can be lost."""
    return curve.value.min() >= 0 and bool(curve.value.max() <= 1 or GOLD & set(words(name)))


def _by_chance(value: FloatArray) -> float:
    return min(ranked(value)[1], _by_level(value))


def _by_level(value: FloatArray) -> float:
    from runlens.rules.rl.falls import of_level  # of policies alone

    return of_level(value)


def _fall(metric: str, curve: Curve, scores: int) -> Fallen | None:
    """Return a fall in order, or of at least half at once that lasts: 0 cannot fall further."""
    start, end = float(curve.value[:2].mean()), float(curve.value[-2:].mean())
    tau = mann_kendall(curve.value)[0]
    gone = end <= HALF * start and _by_level(curve.value) < RARELY
    if (tau > TAU and not gone) or start - end < max(LOST * abs(start), 1e-12):
        return None
    at = float(curve.step[int(np.argmax(curve.value))])
    return Fallen(metric, at, start, end, tau, 1, scores)
