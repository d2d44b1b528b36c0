"""What the columns beside a reward that rises say of the policy, which no verdict should omit."""

import numpy as np

from runlens.arrays import median
from runlens.naming import words
from runlens.rules.rl import policy
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import longest_true, sigma_long, smooth
from runlens.wording import capitalised, number, step

FEWEST = 20  # updates: a tenth is two
WIDER = 3.0  # times its spread at first: a policy that learns narrows, as what it tries pays less
# of what had been gained, lost for a time; of it, what may be missing at the end that came back
LOST, BACK = 0.5, 0.2
CLEAR = 6.0  # noise scales, slow wandering among them, that a gain is above: the half of it is 3
LONGER = 0.02  # share of the points that it lasts at least
MANY = 100  # updates, of which that is two
OF_ACTIONS = ({"std"}, {"policy", "std"}, {"action", "std"}, {"actions", "std"})


def told(run: Run, signals: Signals) -> str:
    """Say of a classic policy that its critic is blind, or that it tries ever wilder actions."""
    if run.task != "rl":
        return ""
    wider = (_wider(signals, name) for name in run.history.metrics)
    said = (_for_a_time(signals), policy.blind_critic(signals), *wider)
    return ". ".join(capitalised(one) for one in said if one)


def _for_a_time(signals: Signals) -> str:
    """Say that half of the gain was lost for a time, and came back; "" where it was not.

    The longest such stretch is told, of a smooth course.
    """
    reward = signals.curve("reward")
    value = reward.value
    if len(value) < MANY:
        return ""
    level = smooth(value)
    best = np.maximum.accumulate(level)
    gain = best - level[0]
    low = (best - level >= LOST * gain) & (gain >= CLEAR * sigma_long(value))
    first, length = longest_true(low)
    if length < max(FEWEST // 4, LONGER * len(value)) or best[-1] - level[-1] > BACK * gain[-1]:
        return ""
    lowest = number(float(level[first : first + length].min()), 3)
    steps = step(int(reward.step[first])), step(int(reward.step[first + length - 1]))
    return f"from step {steps[0]} to {steps[1]} it had fallen to {lowest} (smoothed)"


def _wider(signals: Signals, name: str) -> str:
    """Say that the spread of the actions grew; "" where it did not, or is none of actions."""
    value = signals.curve(name).value
    if set(words(name)) - {"train"} not in OF_ACTIONS or len(value) < FEWEST:
        return ""
    tenth = len(value) // 10
    first, last = float(median(value[:tenth])), float(median(value[-tenth:]))
    if not 0 < WIDER * first <= last:
        return ""
    return f"the spread of its actions grew from {number(first, 3)} to {number(last, 3)}"
