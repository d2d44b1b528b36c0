"""What random actions earn, where a run begins with them: an epsilon-greedy agent does."""

import numpy as np

from runlens.arrays import median
from runlens.naming import words
from runlens.records import NamedTuple
from runlens.signals import Signals
from runlens.signals.noise import MEDIAN_LOSS
from runlens.wording import number

RANDOM = frozenset(("epsilon", "eps", "exploration"))  # words of the share of random actions
# of all actions at the start: PPO's clip range is called epsilon too, and is 0.1 to 0.3
RANDOM_FROM, MOSTLY = 0.5, 0.8
FEWEST = 8  # returns of which a median says something
ERRORS = 3.0  # standard errors: less is no difference, as elsewhere of rewards


class Start(NamedTuple):
    """The first returns of an agent, of random actions."""

    points: int
    level: float  # their median
    end: float  # the median of the last tenth
    error: float  # of their difference

    @property
    def words(self) -> str:
        """Say how the end compares with random actions."""
        gained = self.end - self.level
        beside = "no better than" if gained < ERRORS * self.error else "above"
        if gained < -ERRORS * self.error:
            beside = "below"
        return (
            f"The first {self.points} points are mostly of random actions, with a median of "
            f"{number(self.level, 3)}: the end is {beside} that."
        )


def shares(signals: Signals) -> dict[str, tuple[float, float]]:
    """Return the first and last value of columns that are a share of random actions that falls."""
    found = {}
    for name in signals.run.history.metrics:
        curve = signals.curve(name)
        if not RANDOM & set(words(name)) or len(curve) < FEWEST:
            continue
        first, last = float(curve.value[0]), float(curve.value[-1])
        if RANDOM_FROM <= first <= 1 and 0 <= last <= first / 2:
            found[name] = first, last
    return found


def of(signals: Signals) -> Start | None:
    """Return what random actions earned; None where the run does not tell."""
    reward = signals.curve("reward")
    for name, (first, _) in shares(signals).items() if signals.run.task == "rl" else ():
        share = signals.curve(name)
        random = reward.value[np.interp(reward.step, share.step, share.value) >= MOSTLY * first]
        last = reward.value[-max(FEWEST, len(reward) // 10) :]
        if FEWEST <= len(random) <= len(reward) - len(last):
            error = MEDIAN_LOSS * (random.var() / len(random) + last.var() / len(last)) ** 0.5
            return Start(len(random), float(median(random)), float(median(last)), float(error))
    return None
