"""Agents that draw a share of their actions at random: what goes wrong as that share ends."""

from itertools import pairwise

import numpy as np

from runlens.arrays import median
from runlens.causes.hypothesis import SPEAKS, Sign
from runlens.causes.scene import Scene
from runlens.history import FloatArray
from runlens.metrics import spoken
from runlens.signals.shape.chance import above
from runlens.wording import number, percent

FEWEST = 8  # points of random actions of which levels can be compared
NO_RANDOM = 1e-3  # of the actions; 0.01 to 0.1 are kept as a rule
RARE = 0.1  # of the actions: where the share ends as a rule (Mnih et al. 2015)
PARTS = 4  # by that share, each of a lower reward than the one before: 1 order of 24
CHANCE = 1 / 24  # the same, where points are too few for levels
HALF = 0.5  # of the share at the start; of the run


def never_random(scene: Scene) -> Sign | None:
    """Say that all shares of random actions in the settings are 0, and no reward ever came.

    A policy that draws its actions, and so has an entropy, tries others without them.
    """
    from runlens.rules.rl import random_start  # of agents alone

    if not scene.has("reward-flat", "reward-stuck-zero") or len(scene.curve("entropy")):
        return None
    named = random_start.none_at_all(scene.run)
    if not named:
        return None
    return Sign(
        f"{' and '.join(named)} {'is' if len(named) == 1 else 'are'} 0, so no action is random",
        SPEAKS,
        "No exploration",
        "Repeat the run with one random action in ten",
        falsifier="the reward stays as flat with one random action in ten",
    )


def worse_than_random(scene: Scene) -> Sign | None:
    """Say that the reward falls with the share of random actions: what was learned is worse.

    Of an epsilon-greedy policy: it begins by acting at random (Mnih et al. 2015 go from 1 to 0.1),
    so the first rewards are those of random actions.
    """
    if scene.run.task != "rl" or not scene.has("reward-collapse", "reward-flat"):
        return None
    from runlens.rules.rl.random_start import shares  # of agents alone

    reward = scene.curve("reward")
    for name, (first, last) in shares(scene.signals).items() if len(reward) >= FEWEST else ():
        share = scene.curve(name)
        drawn = np.interp(reward.step, share.step, share.value)
        levels = _levels(reward.value, drawn, first)
        if not levels:
            continue
        early, late = levels
        said = f"reward went from {number(early, 3)} to {number(late, 3)} (medians) as {name} fell "
        said += f"from {number(first, 3)} to {number(last, 3)}: the fewer actions were drawn at "
        return Sign(
            f"{said}random, the lower the reward",
            SPEAKS,
            "A learned policy that is worse than random actions",
            "Score the policy without random actions, and random actions alone, over 20 episodes",
            falsifier="the policy without random actions earns as much as random actions do",
        )
    return None


def _levels(reward: FloatArray, drawn: FloatArray, first: float) -> tuple[float, float] | None:
    """Return the reward of random actions and that of the end, if it falls with their share.

    Of few points these are compared in pairs: those of half the random actions or more with all
    later ones.
    """
    from runlens.rules.rl.random_start import MOSTLY  # of agents alone

    random = reward[drawn >= MOSTLY * first]
    if len(random) >= FEWEST:
        by_share = reward[np.argsort(-drawn, kind="stable")]
        levels = [float(median(part)) for part in np.array_split(by_share, PARTS)]
        if not all(more > less for more, less in pairwise(levels)):
            return None
        late = reward[-max(FEWEST, len(reward) // 10) :]
        return float(median(random)), float(median(late))
    many = drawn >= HALF * first
    high, low = reward[many], reward[~many]
    if not len(low) or above(low, high) > CHANCE:
        return None
    return float(median(high)), float(median(low))


def random_ended(scene: Scene) -> Sign | None:
    """Say that actions were no longer random, or hardly ever, and the reward never rose.

    A policy that learned meanwhile has a reward that rises; one that had been trained before may
    stand at its best, so this is usual, and no proof. Where one action in ten or less is random
    for most of the run, no reward may have come before: then nothing can have been learned by
    then, and what follows repeats it. Where many are random throughout, they did not help either.
    """
    if scene.run.task != "rl" or not scene.has("reward-flat", "reward-stuck-zero"):
        return None
    from runlens.rules.rl.random_start import columns  # of agents alone

    unpaid = scene.has("reward-stuck-zero") and not scene.curve("reward").value.any()
    for name in columns(scene.run):
        value = scene.curve(name).value
        if len(value) < FEWEST:
            continue
        said = ""
        if 0 <= value.max() <= NO_RANDOM:
            said = f"{spoken(name)} was {number(float(value[0]), 2)} at the first of {len(value)} "
            said += "points and never higher, so the agent hardly tried another action"
        few = value <= RARE
        if unpaid and value[0] > RARE and few[-1] and few.mean() >= HALF:
            said = f"{spoken(name)} was at most {number(float(value[few].max()), 2)} at "
            said += f"{percent(float(few.mean()))} of its {len(value)} points, and no reward "
            said += "had come before"
        if said:
            return Sign(
                said,
                SPEAKS,
                "Exploration that ended too soon",
                f"Repeat the run with {spoken(name)} at {_more(value)} or more throughout",
                falsifier="the reward stays as flat with that many random actions",
            )
    return None


def _more(value: FloatArray) -> str:
    """Return a share to try: one action in twenty, or three times the most that was kept."""
    return "0.05" if value.max() <= NO_RANDOM else f"{3 * RARE:.1f}"
