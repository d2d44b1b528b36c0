"""Whether the rewards of two policies mean the same: one function, one scale, one environment.

The level of a reward is a choice of whoever wrote it. What names it in the settings, and its parts
where they are logged, must agree. Where nothing is recorded, the start tells: policies that have
learned nothing yet earn alike in one environment. Where the first rewards of one lie on the other
side of zero, far beyond the noise of both, it is another reward.
"""

import math
from collections.abc import Sequence

import numpy as np

from runlens.arrays import median
from runlens.comparing.canonical import Settings, paired
from runlens.comparing.difference import WITHIN
from runlens.comparison import Check
from runlens.history import FloatArray
from runlens.run import Run
from runlens.signals.noise import mad
from runlens.wording import number, times

WHAT = "Reward"
NAMED = (
    "reward_funcs", "reward_fn", "reward_function", "reward_type", "reward_weights", "reward_scale",
    "reward_scaling", "reward_shaping", "reward_model", "reward_model_path", "env", "env_id",
    "env_name", "environment", "task_name",
)  # fmt: skip
NOT_RECORDED = "reward function and environment are not recorded: not known to be equal"
# Untrained policies earn alike; three times is another scale. Chosen with one real pair in view (11
# times): so the value loss, which is in squared rewards, must say the same, or nothing is claimed.
APART = 3.0
MOST = 20  # points at the start beyond which a policy has learned
FIRST = 3  # points taken for the start
EARLY = 0.02  # share of the run within which they must lie
LATE = 0.1  # the same for one that is still where it began, and how little it may have gone


def reward(a: Run, b: Run, one: Settings, two: Settings) -> Check:
    """Check that two policies were given the same reward."""
    both = [pair for pair in paired(NAMED, one, two) if pair.a and pair.b]
    for pair in both:
        if pair.differs and pair.a and pair.b:
            why = f"{pair.key} is {pair.a.value} in A and {pair.b.value} in B"
            return Check(WHAT, False, why, hard=True)
    parts = _parts(a), _parts(b)
    if parts[0] and parts[1] and parts[0] != parts[1]:
        why = f"its parts are {', '.join(parts[0])} in A and {', '.join(parts[1])} in B"
        return Check(WHAT, False, why, hard=True)
    if both or (parts[0] and parts[0] == parts[1]):
        said = f"{both[0].key} is the same" if both else f"of {', '.join(parts[0])} in both"
        return Check(WHAT, True, said, hard=True)
    return _by_start(a, b)


def _parts(run: Run) -> Sequence[str]:
    names = run.history.metrics
    return sorted(name.partition(":")[2] for name in names if name.startswith("reward:"))


def _by_start(a: Run, b: Run) -> Check:
    if sides := _by_sides(a, b):
        return Check(WHAT, False, sides, hard=True)
    if a.task != "rl" or b.task != "rl":
        return Check(WHAT, None, NOT_RECORDED, hard=True)
    first, second = _start(a, "reward"), _start(b, "reward")
    if first is None or second is None or first * second <= 0:
        return Check(WHAT, None, NOT_RECORDED, hard=True)
    apart = max(second / first, first / second)
    if apart < APART:
        return Check(WHAT, None, NOT_RECORDED, hard=True)
    said = f"reward starts at {number(first)} in A and {number(second)} in B, {times(apart)}"
    values = [_start(run, "value_loss", within=LATE) for run in (a, b)]
    if not values[0] or not values[1]:
        return Check(WHAT, None, f"{said}; {NOT_RECORDED}", hard=True)
    larger = math.log(values[1] / values[0]) * math.log(second / first) > 0
    proves = larger and max(values[1] / values[0], values[0] / values[1]) > APART
    if not proves:
        return Check(WHAT, None, f"{said}; {NOT_RECORDED}", hard=True)
    return Check(WHAT, False, f"{said}, and the value loss agrees: another reward", hard=True)


def _by_sides(a: Run, b: Run) -> str:
    """Say that one policy begins with gains, the other with losses; empty where it may be chance.

    All first rewards of each lie on one side of zero, and their medians are five times the noise of
    both apart (`difference.WITHIN`).
    """
    first, second = _first(a), _first(b)
    if first is None or second is None or np.outer(np.sign(first), np.sign(second)).max() >= 0:
        return ""
    apart = abs(float(median(second) - median(first)))
    if apart <= WITHIN * math.hypot(mad(first), mad(second)):
        return ""
    ends = number(float(median(first))), number(float(median(second)))
    return f"reward starts at {ends[0]} in A and {ends[1]} in B: another reward or environment"


def _first(run: Run) -> FloatArray | None:
    """Return the first rewards, of shape (n,), n from 3 to 20; None where they come late."""
    curve = run.curve("reward").finite()
    if len(curve) < FIRST:
        return None
    early = curve.before(int(run.first_step + EARLY * max(run.last_step - run.first_step, 1)) + 1)
    return curve.value[: min(max(len(early), FIRST), MOST)] if len(early) else None


def _start(run: Run, metric: str, *, within: float = EARLY) -> float | None:
    """Return the median of the first points of a metric; None where they come late.

    Later, within the first tenth, where the reward still has ten times as far to go as it went in
    them: such a policy has learned nothing yet.
    """
    curve = run.curve(metric).finite()
    if len(curve) < FIRST:
        return None
    share = (curve.step[FIRST - 1] - run.first_step) / max(run.last_step - run.first_step, 1)
    early = share <= within or (share <= LATE and _at_the_bottom(run))
    return float(median(curve.value[:FIRST])) if early else None


def _at_the_bottom(run: Run) -> bool:
    """Whether nearly all of what a policy learns comes after its first points."""
    value = run.curve("reward").finite().value
    went = float(np.ptp(value[:FIRST]))
    return float(median(value[-FIRST:]) - median(value[:FIRST])) >= went / LATE
