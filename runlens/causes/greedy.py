"""Agents whose settings draw no action at random: only what is thought best is ever tried."""

from runlens.causes.hypothesis import SPEAKS, Sign
from runlens.causes.scene import Scene
from runlens.patterns import lazy_re

# the share of random actions, and where it begins, ends or stays; those of an optimizer, of a
# norm or of PPO's clip range are called otherwise, or are above 0
_SHARES = lazy_re(
    r"(?:(?:start|initial|init|final|end|min|max)_)?(?:eps|epsilon|exploration(?:_eps)?)"
    r"(?:_(?:start|initial|init|final|end|min|max|greedy|rate))?"
)


def never_random(scene: Scene) -> Sign | None:
    """Say that all shares of random actions in the settings are 0, and no reward ever came.

    A policy that draws its actions, and so has an entropy, tries others without them.
    """
    run = scene.run
    if run.task != "rl" or not scene.has("reward-flat", "reward-stuck-zero"):
        return None
    if len(scene.curve("entropy")):
        return None
    named = {key: run.number(key) for key in run.config if _SHARES.fullmatch(key.lower())}
    if not named or any(named.values()) or None in named.values():
        return None
    return Sign(
        f"{' and '.join(named)} {'is' if len(named) == 1 else 'are'} 0, so no action is random",
        SPEAKS,
        "No exploration",
        "Repeat the run with one random action in ten",
        falsifier="the reward stays as flat with one random action in ten",
    )
