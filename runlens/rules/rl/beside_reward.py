"""What the columns beside a reward that rises say of the policy, which no verdict should omit."""

from runlens.arrays import median
from runlens.naming import words
from runlens.rules.rl import policy
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import capitalised, number

FEWEST = 20  # updates: a tenth is two
WIDER = 3.0  # times its spread at first: a policy that learns narrows, as what it tries pays less
OF_ACTIONS = ({"std"}, {"policy", "std"}, {"action", "std"}, {"actions", "std"})


def told(run: Run, signals: Signals) -> str:
    """Say of a classic policy that its critic is blind, or that it tries ever wilder actions."""
    if run.task != "rl":
        return ""
    wider = (_wider(signals, name) for name in run.history.metrics)
    return ". ".join(capitalised(one) for one in (policy.blind_critic(signals), *wider) if one)


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
