"""Whether any reward was ever seen: by the error of values, and by rewards of other names."""

from typing import Any

import numpy as np

from runlens.arrays import median
from runlens.naming import words
from runlens.rules.loss import chance
from runlens.rules.rule import drawn
from runlens.run import Run, State
from runlens.signals import Signals

OF_SPREAD = frozenset(("std", "max", "min", "time", "timing"))
FEW = 5  # losses whose median tells


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


BAD = (
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
