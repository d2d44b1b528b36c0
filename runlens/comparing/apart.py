"""One run that ends far from others of the same settings: a seed that went wrong."""

import math
import statistics
from collections.abc import Sequence

from runlens.metrics import Better, spoken
from runlens.run import Problem, Run
from runlens.signals.student import student_limit
from runlens.wording import count, number

CHANCE = 0.01  # that any of the runs lies so far off, as of crossrun's outlier
WITHIN = 0.20  # of the middle run's steps: levels compare then, as there
EFFECT = 0.10  # it must be worse by this share of the usual level too, as there


def far_off(values: Sequence[float], better: Better) -> list[int]:
    """Return which values lie farther on the worse side than repeats of the others would.

    Each is held against the others by Student's t for one more of them (Grubbs 1969), its chance
    divided by their number (Bonferroni); on the logarithm where all are positive.

    >>> far_off([0.050, 0.044, 65.4, 0.046], "lower")
    [2]
    """
    level = [math.log(one) for one in values] if min(values) > 0 else list(values)
    sign, found = 1.0 if better == "lower" else -1.0, []
    for at, value in enumerate(level):
        others = [*level[:at], *level[at + 1 :]]
        if len(others) < 2:  # noqa: PLR2004 - one value has no spread
            return []
        limit = student_limit(len(others) - 1, 1 - 2 * CHANCE / len(level))
        limit *= statistics.stdev(others) * math.sqrt(1 + 1 / len(others))
        usual = statistics.median([*values[:at], *values[at + 1 :]])
        worse = sign * (values[at] - usual) > EFFECT * abs(usual)
        if worse and sign * (value - statistics.fmean(others)) > limit:
            found.append(at)
    return found


def told(
    runs: Sequence[Run], reached: Sequence[float | None], metric: str, better: Better
) -> tuple[Problem, ...]:
    """Return a line for each run that ends far from the others of its settings and length."""
    middle = statistics.median(run.last_step for run in runs)
    ended = [
        (run.name, value)
        for run, value in zip(runs, reached, strict=True)
        if value is not None and abs(run.last_step - middle) <= WITHIN * middle
    ]
    names, values = [name for name, _ in ended], [value for _, value in ended]
    far = far_off(values, better) if values else []
    near = [value for at, value in enumerate(values) if at not in far]
    theirs = f"{number(min(near), 3)} to {number(max(near), 3)}" if near else ""
    said = f"it ends far from {count(len(near), 'sibling')}: {spoken(metric)}"
    return tuple(
        Problem(names[at], f"{said} {number(values[at], 3)}, theirs {theirs}") for at in far
    )
