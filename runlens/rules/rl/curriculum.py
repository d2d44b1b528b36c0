"""Whether the task itself got harder: a curriculum that is logged beside the reward."""

import numpy as np

from runlens.arrays import median
from runlens.naming import words
from runlens.run import Run
from runlens.wording import number, step

# ML-Agents logs `Lesson Number/...`, Isaac Lab `Curriculum/...`, own loops their difficulty
LEVELS = frozenset({"lesson", "curriculum", "difficulty"})
INTERVALS = 2.0  # of its log: a summary is written after what it sums


def harder(run: Run, first: float, last: float) -> str:
    """Say which level of the task rose between two steps, as a clause; empty for none."""
    for name in run.history.metrics:
        level = run.curve(name).finite()
        if not LEVELS & set(words(name)) or len(level) < 2:  # noqa: PLR2004 - one has no rise
            continue
        if (np.floor(level.value) != level.value).any():
            continue  # a mean over environments rises and falls with the policy
        rises = np.flatnonzero(np.diff(level.value) > 0) + 1
        slack = INTERVALS * float(median(np.diff(level.step)))
        near = [at for at in rises if first - slack <= level.step[at] <= last]
        if near:
            at = near[-1]
            went = f"from {number(level.value[at - 1])} to {number(level.value[at])}"
            return f"{name} went {went} at step {step(float(level.step[at]))}: a harder task"
    return ""
