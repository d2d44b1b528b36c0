"""The implicit reward of chosen answers: by log-probabilities and margin where it is not logged."""

from typing import Any

import numpy as np

from runlens.arrays import median
from runlens.history import FloatArray
from runlens.rules.rl import policy
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.trend import mann_kendall

ONE_LINE = 0.9  # correlation of a margin with what it is beta times of, in rounded batches
MOSTLY = -0.6  # Kendall's: four pairs of five in order
LEVEL = 0.05  # of the fall: how far the log-probability of the reference may seem to move
HEAD = 3  # first points: of 12 in any order all of the last half lie below them in 1 of 84


def of(run: Run, signals: Signals) -> FloatArray:
    """Return the implicit reward of the chosen where it is not logged, shape (n,); else empty.

    A margin is beta times how far the two log-probabilities parted, so both together tell beta. The
    policy began as its reference: what it lost before its first row is not counted.
    """
    margin, chosen, rejected = map(signals.curve, ("dpo_margin", "logp_chosen", "logp_rejected"))
    beta = run.number("beta")
    if len(chosen) < 2 or not np.array_equal(chosen.step, rejected.step):  # noqa: PLR2004 - of one nothing is a fall
        return np.empty(0)
    parted = chosen.value - rejected.value
    alike = np.array_equal(margin.step, chosen.step) and np.ptp(margin.value) * np.ptp(parted) > 0
    if alike and float(np.corrcoef(margin.value, parted)[0, 1]) >= ONE_LINE:
        beta = float(np.polyfit(parted, margin.value, 1)[0])
    return beta * (chosen.value - chosen.value[0]) if beta else np.empty(0)


def reference(run: Run, signals: Signals, first: float) -> float:
    """Return the log-probability of the chosen under the reference; `first` where none is told.

    An implicit reward is beta times how far the policy went from its reference, so what is left of
    each row without it is the start of the policy: most of a fall may lie before the first rows. Of
    another beta, or of pairs that differ as much as the policy moves, each row leaves another.
    """
    logp, reward = signals.curve("logp_chosen"), signals.curve("dpo_chosen")
    beta = run.number("beta")
    if len(logp) < HEAD or not np.array_equal(logp.step, reward.step):
        return first
    if not beta and np.ptp(logp.value) * np.ptp(reward.value) > 0:
        beta = float(np.polyfit(logp.value, reward.value, 1)[0])  # the slope of one on the other
    if not beta or beta < 0:
        return first
    start = logp.value - reward.value / beta
    moved = float(np.ptp(reward.value)) / beta
    return float(median(start)) if np.ptp(start) <= LEVEL * moved else first


def falls(reward: FloatArray) -> bool:
    """Whether a reward falls beyond chance: by its trend, or at first and then stays down.

    What falls at once has a long memory about a straight line, of which a trend makes little.
    """
    tau, p = mann_kendall(reward)
    down = bool(reward[len(reward) // 2 :].max() < reward[:HEAD].min())
    return tau < 0 and (p < policy.RISING_P or (tau <= MOSTLY and down))


def below(reward: FloatArray, limit: float) -> bool:
    """Whether each point of the last half lies below a limit: of 12, chance has so in 1 of 64.

    An implicit reward is counted from the reference, which is 0: what fell before the first rows,
    or within them, has no trend, and lies below it all the same.
    """
    return bool(reward[len(reward) // 2 :].max() < limit)


GONE: dict[str, Any] = {
    "train_loss": "0:0.54 240:0.03",
    "dpo_acc": "0:0.7 40:0.95 240:0.99",
    "dpo_margin": "0:0.55 240:4.1",
}
BAD = (
    drawn(
        "all of the fall lies within the first rows, and beta is not recorded",
        (0, 40),
        noise=0,
        task="dpo",
        severity="warning",
        logp_chosen="0:-3 10:-13 20:-24 30:-32 40:-34 230:-34 /10",
        dpo_chosen="0:-0.1 10:-1.1 20:-2.2 30:-3 40:-3.2 230:-3.2 /10",
        **GONE,
    ),
    drawn(
        "half of the fall from the reference lies before the first row",
        (10, 100),
        {"dpo_acc": 0.005},
        task="dpo",
        severity="warning",
        config={"beta": 0.1},
        logp_chosen="0:-40 60:-65 120:-72 240:-78",
        dpo_chosen="0:-1 60:-3.5 120:-4.2 240:-4.8",
        **GONE,
    ),
    drawn(
        "displaced, by both log-probabilities and the margin alone",
        (10, 100),
        0.005,
        task="dpo",
        severity="warning",
        train_loss="0:0.69 240:0.1",
        dpo_acc="0:0.5 40:0.95 240:0.99",
        logp_chosen="0:-20 100:-45 240:-61",
        logp_rejected="0:-20 100:-93 240:-126",
        dpo_margin="0:0 100:4.8 240:6.5",
    ),
)
GOOD = (
    drawn(
        "below the reference from the first rows on, by a small share of long answers",
        noise=0,
        task="dpo",
        logp_chosen="0:-301 10:-311 20:-322 30:-330 40:-332 230:-332 /10",
        dpo_chosen="0:-0.1 10:-1.1 20:-2.2 30:-3 40:-3.2 230:-3.2 /10",
        **GONE,
    ),
    drawn(
        "a small share of long answers, counted from the reference",
        noise={"dpo_acc": 0.005},
        task="dpo",
        config={"beta": 0.1},
        logp_chosen="0:-310 60:-335 120:-342 240:-348",
        dpo_chosen="0:-1 60:-3.5 120:-4.2 240:-4.8",
        **GONE,
    ),
    drawn(
        "log-probabilities that fall, with a margin of something else",
        noise=0.005,
        task="reward-model",
        train_loss="0:0.69 240:0.1",
        dpo_acc="0:0.5 40:0.95 240:0.99",
        logp_chosen="0:-20 100:-45 240:-61",
        logp_rejected="0:-20 100:-93 240:-126",
        dpo_margin="0:1 100:-2 160:5 240:1.2",
    ),
    drawn(
        "both log-probabilities, of which the chosen one stays",
        noise=0.005,
        task="dpo",
        train_loss="0:0.69 240:0.1",
        dpo_acc="0:0.5 40:0.95 240:0.99",
        logp_chosen="0:-20 240:-22",
        logp_rejected="0:-20 100:-60 240:-85",
        dpo_margin="0:0 100:4 240:6.3",
    ),
)
