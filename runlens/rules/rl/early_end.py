"""Updates that end at a KL limit: whether a run has one, and what to set where it has none."""

import numpy as np

from runlens import fixes
from runlens.diagnosis import Fix
from runlens.naming import words
from runlens.run import Run

TARGET_KL = 0.02
PASSES = {"n", "epoch"}  # words of how often an update goes over its batch: ``train/n_epochs``


def in_force(run: Run) -> bool:
    """Whether updates end early already: they make fewer passes at some times than at others."""
    for name in run.history.metrics:
        value = run.curve(name).finite().value
        if set(words(name)) - {"train"} == PASSES and len(value) > 1:
            return bool((value % 1 == 0).all() and np.ptp(value) > 0)
    return False


def target_kl(run: Run) -> tuple[Fix, ...]:
    """End an agent's update at a KL limit; nothing where that is done and comes too late."""
    if run.task != "rl" or in_force(run):
        return ()
    what = "End an update early once its KL passes a limit"
    return (fixes.setting(run, "target_kl", TARGET_KL, what, "usual is 0.01 to 0.03"),)
