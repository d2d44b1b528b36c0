"""What holds a policy near its reference: the weight of the KL term."""

import numpy as np

from runlens.arrays import median
from runlens.causes.hypothesis import HINT, SPEAKS, STRONG, Hypothesis, Sign, Signs
from runlens.causes.patterns import POLICY, PREFERENCE
from runlens.causes.scene import Scene
from runlens.wording import number

FEWEST = 8
MOST_GAINED = 0.5  # of that range: what falls back by half was thrown after all
WEAK_BETA = 5e-3  # 0.001 to 0.1 is usual
HELD_BY_KL = PREFERENCE | {  # what a policy does that moves away from its reference
    *("kl-blow-up", "entropy-collapse", "reward-collapse", "reward-hacking"),
    *("length-growth", "length-collapse", "entropy-high", "ebft-diversity"),
}


def _weak_kl(scene: Scene) -> Signs:
    beta = scene.run.number("beta")
    if beta is None or scene.run.task == "dpo":
        return
    if beta < WEAK_BETA:
        if scene.lead.rule not in HELD_BY_KL:
            return
        weight = SPEAKS if scene.has("kl-blow-up") else HINT
        if beta == 0 and scene.has("kl-blow-up") and (rose := _earned(scene)):
            # steps that are too large earn less: what earns more goes where it is paid to go
            yield Sign(f"beta is 0, so no KL term restrains the policy, and {rose}", STRONG)
            return
        held = "no KL term restrains" if beta == 0 else "the KL term hardly restrains"
        yield Sign(f"beta is {beta:g}, so {held} the policy", weight)
    elif scene.has("reward-flat") and beta > 0.1:  # noqa: PLR2004 - 0.001 to 0.1 is usual
        yield Sign(f"beta is {beta:g}, which keeps the policy very close to its reference", SPEAKS)


def _earned(scene: Scene) -> str:
    """Say that the reward stands far above its first values; empty where it does not."""
    reward = scene.curve("reward").value
    if len(reward) < FEWEST:
        return ""
    tenth = max(1, len(reward) // 10)
    first, last = float(median(reward[:tenth])), float(median(reward[-tenth:]))
    if last - first < MOST_GAINED * float(np.ptp(reward)) or first >= last:
        return ""
    return f"reward rose from {number(first, 3)} to {number(last, 3)}"


KL = Hypothesis(
    "kl-weight",
    "KL weight too low",
    POLICY | PREFERENCE,
    _weak_kl,
    "the same happens at ten times the weight",
    "Repeat the run with beta at 0.04",
)
