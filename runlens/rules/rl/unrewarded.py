"""Whether any reward was ever seen: by the error of values, by lengths, by other rewards."""

from typing import Any

import numpy as np

from runlens.arrays import median
from runlens.diagnosis import Severity
from runlens.naming import words
from runlens.naming.vocabulary import STATISTICS
from runlens.rules.loss import chance
from runlens.rules.rule import Case, drawn
from runlens.run import Run, Setting, State
from runlens.signals import Signals
from runlens.wording import number

OF_SPREAD = frozenset(("std", "max", "min", "time", "timing"))
FEW = 5  # losses whose median tells, and lengths that are all the same
LENGTHS = frozenset(("len", "length", "lengths"))
OF_EPISODES = frozenset(("ep", "eps", "episode", "episodes"))


def ever(run: Run, signals: Signals, episodes: int, zero: float, frames: float) -> bool:
    """Whether so many episodes were played, by their count, and no reward was learned from.

    A log of every 20th episode says nothing of those between. Values do: had one reward above
    `zero` been among what they are learned from, the squared error would not be below its square.
    `frames`: the share of a plan that a sparse environment is given.
    """
    loss, share = signals.curve("train_loss").value, run.state.done_share
    if run.task != "rl" or not chance.by_epoch(run) or run.last_step < episodes:
        return False
    given = share is None or share >= frames
    return given and len(loss) >= FEW and bool(0 <= loss.min() <= median(loss) < zero**2)


def length(run: Run) -> int | None:
    """Return the one length that all episodes of an agent had, by its mean in every row; or None.

    A mean is at the highest of what it is of only if all are. Episodes of 1 step are another fault.
    """
    for name in run.history.metrics if run.task == "rl" else ():
        said = set(words(name)) - STATISTICS.keys()
        value = run.curve(name).finite().value
        if not LENGTHS & said or said - LENGTHS - OF_EPISODES - {"rollout"} or len(value) < FEW:
            continue
        if np.ptp(value) == 0 and value[0] > 1 and value[0] == int(value[0]):
            return int(value[0])
    return None


def full_length(run: Run) -> str:
    """Say that all episodes had one length, so that none ended by what was done in it; or ""."""
    steps = length(run)
    return f"Every logged episode ran for {number(steps)} steps." if steps else ""


def to_limit(run: Run, signals: Signals, episodes: int, zero: float, frames: float) -> bool:
    """Whether all episodes of a hundred updates ran to one length and taught the policy nothing.

    A log that begins before the end of one episode counts no frames but updates, and a policy that
    draws its actions plays an episode or more for each. Its entropy stays where it began. So many
    frames, or episodes of values that explore, are little: those have other limits.
    """
    entropy, steps, share = signals.curve("entropy").value, length(run), run.state.done_share
    first = float(signals.curve("reward").step[0])
    if steps is None or first >= steps or len(entropy) < FEW or run.last_step < episodes:
        return False
    still = float(np.ptp(entropy)) <= zero * float(entropy[0])
    return still and (share is None or share >= frames)


def other_reward(run: Run) -> str:
    """Return another reward that the run logs under a name of its own, if it is not constant."""
    names = (m for m in run.history.metrics if "reward" in m.lower())
    means = (m for m in names if not OF_SPREAD & set(words(m)))  # its highest, its seconds
    others = (m for m in means if not m.startswith(("reward", "eval")))
    return next((name for name in others if _moves(run, name)), "")


def _moves(run: Run, metric: str) -> bool:
    value = run.curve(metric).finite().value
    return len(value) > 1 and float(np.ptp(value)) > 0


def _each(every: int, last: int, loss: str) -> dict[str, Any]:
    """Draw returns of 0 of every so many episodes, and the squared error of values."""
    marks = f"/{every} {every}:0 {last}:0"
    state = State("unknown", done_steps=last, done_epochs=float(last))
    return {
        "reward": marks,
        "train_loss": f"/{every} {every}:7e-6 {last}:{loss}",
        "state": state,
    }


def _sparse(name: str, severity: Severity, length: str, entropy: str, last: int = 120) -> Case:
    """Draw returns of 0 of each tenth update, the length of its episodes, and the entropy."""
    return drawn(
        name,
        (10, 10),
        noise=0,
        task="rl",
        severity=severity,
        reward=f"/10 10:0 {last}:0",
        ep_len=f"/10 10:{length}",
        entropy=f"/10 10:{entropy}",
    )


def _greedy(name: str, severity: Severity, **config: Setting) -> Case:
    """Draw returns of 0 under settings of an agent that explores, or does not."""
    curve = "/200 200:0 3000:0"
    return drawn(
        name, (200, 200), noise=0, task="rl", severity=severity, config=config, reward=curve
    )


STILL = "1.3857 120:1.3863"
BAD = (
    _sparse("all episodes of 120 updates ran to their limit", "warning", "30 120:30", STILL),
    _sparse("all episodes of 90 updates did", "info", "30 90:30", "1.3857 90:1.3863", 90),
    _sparse("of 120 frames, or few episodes", "info", "8 120:8", STILL),
    _sparse("some ended early", "info", "30 60:28 120:30", STILL),
    _sparse("all ran to their limit, and the policy moves", "info", "30 120:30", "1.38 120:1.2"),
    _greedy("no action is random", "warning", epsilon_start=0.0, epsilon_end=0.0),
    _greedy("no action is random, and values begin at 0", "warning", epsilon=0.0, q_init=0.0),
    _greedy("no action is random, but values begin too high", "info", epsilon=0.0, q_init=5.0),
    _greedy("no action is random, but weights are noisy", "info", epsilon=0.0, noisy_net=True),
    _greedy("no action is random, but drawn by value", "info", epsilon=0.0, policy="boltzmann"),
    _greedy("no action is random at the end", "info", epsilon_start=1.0, epsilon_end=0.0),
    drawn(
        "each 20th of 300 episodes, and values without an error",
        (20, 20),
        noise=0,
        task="rl",
        severity="warning",
        **_each(20, 300, "5e-8"),
    ),
    drawn(
        "each 20th of 300 episodes, and values with an error",
        (20, 20),
        noise=0,
        task="rl",
        severity="info",
        **_each(20, 300, "5e-3"),
    ),
    drawn(
        "each 5th of 75 episodes, and values without an error",
        (5, 5),
        noise=0,
        task="rl",
        severity="info",
        **_each(5, 75, "5e-8"),
    ),
)
