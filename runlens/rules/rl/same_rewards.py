"""A stretch in which every reward is one and the same, below what the policy had earned before.

Episodes of a policy that tries anything differ. Where many in a row do not, each went the same
way: the policy takes one action whatever it sees, or the environment hands out a default.
"""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment
from runlens.history import Curve, FloatArray
from runlens.records import NamedTuple
from runlens.rules.rl import policy
from runlens.wording import number, percent, step

LASTING = 0.2  # of the points: as much of a run without spread is told of groups of completions
CHANCE = 1e-3  # that points in any order have such a stretch: as for a fall of the reward
FEWEST = 3  # points before it that are another level


class Stretch(NamedTuple):
    """The longest stretch of one value."""

    first: int
    last: int  # index of its last point
    level: float
    before: float  # the median reward up to it

    @property
    def points(self) -> int:
        """How many points it has."""
        return self.last - self.first + 1


def stretch(value: FloatArray) -> Stretch | None:
    """Return the longest stretch of one reward if it lasts, lies low, and is no chance.

    Rewards of 0 and 1 repeat themselves: the chance is that of their share. What is equal from the
    first point on has not begun to learn. Zeros up to the end may be rows that nobody filled.
    """
    parts = np.split(np.arange(len(value)), np.flatnonzero(np.diff(value)) + 1)
    longest = max(parts, key=len)
    first, last, level = int(longest[0]), int(longest[-1]), float(value[longest[0]])
    long = len(longest) >= LASTING * len(value)
    if first < FEWEST or not long or (level == 0 and last == len(value) - 1):
        return None
    share = float(np.mean(value == level))
    before = float(median(value[:first]))
    if level >= before or len(value) * share ** len(longest) > CHANCE:
        return None
    return Stretch(first, last, level, before)


def finding(reward: Curve, found: Stretch) -> Finding:
    """Tell of a stretch of one reward; loud where the run ends in it."""
    onset, until = float(reward.step[found.first]), float(reward.step[found.last])
    lasts = found.last == len(reward) - 1
    level, before = number(found.level, 6), number(found.before, 4)
    back = float(median(reward.value[found.last + 1 :])) if not lasts else found.level
    after = "" if lasts else f", and {number(back, 4)} after it"
    return Finding(
        severity="warning" if lasts else "info",
        title=f"Reward was {level} at each of {found.points:,} points from step {step(onset)} to "
        f"step {step(until)}. Its median was {before} before{after}.",
        heading=policy.ONE_REWARD,
        metric="reward",
        onset=Moment(onset),
        evidence=(
            Evidence("Points with one and the same reward", float(found.points), where="reward"),
            Evidence("Reward at these points", found.level, where="reward"),
            Evidence("Median reward before", found.before, where="reward"),
        ),
        seen="Either the policy did the same in each of these episodes, or their reward is a "
        "default that does not depend on what it did.",
        fixes=(
            fixes.look(
                f"Print the actions and the rewards of one episode from step {step(onset)} on",
                "one action at every step is a policy that has settled; actions that differ point "
                "to the environment",
            ),
        ),
        confidence=Confidence(0.9, f"{percent(found.points / len(reward))} of the points"),
        chart=Chart("curves", ("reward",)),
    )
