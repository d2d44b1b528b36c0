"""How far a policy may go that gives answers its reference gives too, by the entropy it began with.

The entropy of a sequence at the start is that of the reference: the mean of −log p of its own
answers. A policy that came to give one of these alone is about so many nats away. One that is many
times as far gives answers that its reference hardly ever would.
"""

from runlens.rules.rule import drawn
from runlens.signals import Signals

TIMES = 10.0  # as far: under the reference an answer is rarer than its own by e to nine such


def distance(signals: Signals) -> float:
    """Return the KL of a sequence above which answers are foreign to the reference; inf: unknown.

    Both are summed over the tokens of a sequence, so its length is no matter.
    """
    entropy = signals.curve("entropy_seq").value
    return TIMES * float(entropy[0]) if len(entropy) and entropy[0] > 0 else float("inf")


BAD = (
    drawn(
        "of a sequence",
        (200, 460),
        task="ppo",
        severity="critical",
        kl_seq="0:0.5 300:3 450:90 900:120",
    ),
    drawn(
        "answers that the reference never gives, from the first third on",
        (20, 40),
        0.0,
        task="ppo",
        severity="critical",
        kl_seq="0:0 10:5.97 20:38.3 30:53.7 150:53.8",
        entropy_seq="0:2 10:1.75 20:0.66 30:0.6 150:0.6",
    ),
)
GOOD = (
    drawn("summed over tokens", task="ppo", kl_seq="0:0.5 900:14"),
    drawn(
        "long sequences, which are as uncertain",
        task="ppo",
        kl_seq="0:0 10:6 20:38 30:60 150:64",
        entropy_seq="0:90 30:80 150:70",
    ),
    drawn("their entropy is not logged", task="ppo", kl_seq="0:0 10:6 20:38 30:60 150:64"),
)
