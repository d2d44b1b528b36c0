"""Outlier: one run ends far worse than its siblings.

What is seen
    Runs of one source, task, model and data end at levels close to each other; one ends far above
    in loss, in training and in evaluation alike, or far below in reward.
Why it matters
    No rule may see anything in that run alone: a learning rate that is far too high or too low
    can fall smoothly and end where no sibling does.
Looks alike
    A run that was shorter or longer than its siblings, or did not come to its end, is not
    compared. A run with a setting that none of its siblings has is an experiment: an info, with
    that setting named. A run in which a rule found a fault has its own finding.
Limits
    fewest: siblings needed, the run itself counted. z: distance from the median over the scale
    of the siblings (median absolute deviation of the logarithm): 3.5 is that of Iglewicz and
    Hoaglin (1993), How to detect and handle outliers; here with the bias for few values taken out
    of the scale. effect: it must end worse by this share of the usual level too, since the scale
    of few values is itself uncertain (simulated: benchmarks/crossrun.py). chance: at most this,
    by Student's t for one more run of the siblings, times all runs, any of which may lie far off
    (Bonferroni; Grubbs 1969); the median deviation alone is small now and then where runs scatter
    evenly. within: siblings did as many steps, up to this share.
Fixes
    Compare it with a sibling (`runlens compare`); repeat it with another seed before its settings
    are blamed.
"""

import math
import statistics
from collections.abc import Iterator

from msgspec import Struct

from runlens.crossrun.groups import named
from runlens.crossrun.rule import (
    JUDGED,
    CrossFinding,
    CrossRule,
    Place,
    Rows,
    alike_long,
    done,
    end,
    error,
    in_each_group,
    key_metrics,
    own_settings,
    said,
    scale,
    worse_by,
)
from runlens.metrics import spoken
from runlens.nights import RunRow
from runlens.run import RL_TASKS
from runlens.signals.student import student_limit
from runlens.wording import number, percent


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 5
    z: float = 3.5
    effect: float = 0.10
    chance: float = 0.01
    within: float = 0.20


def check(rows: Rows, limits: Limits, _now: float) -> tuple[CrossFinding, ...]:
    """Look at each group of runs that ended by themselves."""
    return in_each_group(rows, limits, _of_group)


def _of_group(place: Place, rows: list[RunRow], limits: Limits) -> Iterator[CrossFinding]:
    some = [row for row in rows if done(row) and row.health in JUDGED]
    some = alike_long(some, limits.within)
    wanted = 1 if place.task in RL_TASKS else 2  # a loss must be far off on both sides
    metrics = key_metrics(some, place.task)
    if len(some) < limits.fewest or len(metrics) < wanted:
        return
    far = {metric: _far(metric, some, limits) for metric in metrics}
    keys = [row for row in some if all(row.key in found for found in far.values())]
    if not keys:
        return
    metric = metrics[0]
    keys.sort(key=lambda row: (-far[metric][row.key], row.key))
    siblings = [row for row in some if row not in keys]
    own = {row.key: own_settings(row, siblings) for row in keys}
    for planned in (False, True):
        mine = [row for row in keys if bool(own[row.key]) == planned]
        if mine:
            yield _finding(place, mine, siblings, metric, far, own[mine[0].key], limits)


def _far(metric: str, rows: list[RunRow], limits: Limits) -> dict[str, float]:
    """Return the distances of the runs that end too far on the worse side, by key."""
    ends = [end(row, metric) for row in rows]
    as_log = min(ends) > 0
    level = [math.log(value) if as_log else value for value in ends]
    usual, middle = statistics.median(ends), statistics.median(level)
    errors = [error(row, metric) / (abs(value) or 1) for row, value in zip(rows, ends, strict=True)]
    spread = max(scale(level), statistics.median(errors) * (1 if as_log else abs(usual)))
    found = {}
    for row, value, at in zip(rows, ends, level, strict=True):
        z = abs(at - middle) / spread if spread > 0 else math.inf
        if worse_by(metric, value, usual) > limits.effect and z > limits.z:
            found[row.key] = z
    near = [at for row, at in zip(rows, level, strict=True) if row.key not in found]
    if len(near) < 2:  # noqa: PLR2004 - one value has no spread
        return {}
    sure = student_limit(len(near) - 1, 1 - 2 * limits.chance / len(rows))  # of both sides
    sure *= max(statistics.stdev(near), spread) * math.sqrt(1 + 1 / len(near))
    usual_level = statistics.fmean(near)
    kept = {row.key for row, at in zip(rows, level, strict=True) if abs(at - usual_level) > sure}
    return {key: z for key, z in found.items() if key in kept}


def _finding(
    place: Place,
    mine: list[RunRow],
    siblings: list[RunRow],
    metric: str,
    far: dict[str, dict[str, float]],
    own: list[str],
    limits: Limits,
) -> CrossFinding:
    first = mine[0]
    usual = statistics.median(end(row, metric) for row in siblings)
    worse = percent(worse_by(metric, end(first, metric), usual))
    planned = f" It alone has {named(own)} so." if own else ""
    z = ", ".join(f"{number(found[first.key], 2)} in {spoken(m)}" for m, found in far.items())
    many = f"{len(mine)} runs end" if len(mine) > 1 else f"{first.name} ends"
    return CrossFinding(
        "outlier",
        "info" if own else "warning",
        place.project,
        place.group,
        f"{many} far from {len(siblings)} siblings: {spoken(metric)} {said(metric, usual)} is usual"
        f" in {place.group}, {said(metric, end(first, metric))} is {worse} worse.",
        tuple(row.key for row in mine),
        f"{first.name}: {spoken(metric)} {said(metric, end(first, metric))}.",
        f"Distance over the spread of the siblings: {z} (limit {number(limits.z)}); worse by"
        f" {worse} (limit {percent(limits.effect)}).{planned}",
        about="planned" if own else "",
        standing=False,
    )


RULE = CrossRule(
    slug="outlier",
    title="A run far worse than its siblings",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
)
