"""Seed variance: runs that are equal but for their seed end far apart.

What is seen
    Three runs or more with the same settings and different seeds; their results scatter far more
    than the noise within each of them.
Why it matters
    A setting that is better by less than this scatter is not better: one run a setting decides
    nothing. A large scatter is a fault of its own: random numbers, shuffles or ranks that are not
    under control, or a training at the edge of stability.
Looks alike
    Small differences between equal runs are expected, with equal seeds too: kernels, the order of
    sums over ranks and compiled graphs are not deterministic. A run that broke is no sample of
    the scatter. A setting that was not recorded may differ: the fewer settings are known, the less
    is said.
Limits
    fewest: runs with different seeds. times: scatter (standard deviation of the end levels) over
    the standard error within a run. effect: and scatter as a share of the level: ends are known
    so well that any two seeds differ beyond their noise. settings: so many must be recorded.
    within: same number of steps, up to this share.
Fixes
    Seed Python, NumPy, torch and the data loader's workers; make shuffles deterministic; look
    whether ranks are in step. Compare settings over seeds, not single runs.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterator

from msgspec import Struct

from runlens.crossrun.groups import seeds, signature
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
    said,
    worse_by,
)
from runlens.metrics import spoken
from runlens.nights import RunRow
from runlens.wording import number, percent, times


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 3
    times: float = 3.0
    effect: float = 0.05
    settings: int = 3
    within: float = 0.05


def check(rows: Rows, limits: Limits, _now: float) -> tuple[CrossFinding, ...]:
    """Look at runs with the same recipe."""
    return in_each_group(rows, limits, _of_group)


def _of_group(place: Place, rows: list[RunRow], limits: Limits) -> Iterator[CrossFinding]:
    alike: dict[frozenset[object], list[RunRow]] = defaultdict(list)
    for row in rows:
        if done(row) and row.health in JUDGED:
            alike[signature(row.config)].append(row)
    known = [some for recipe, some in alike.items() if len(recipe) >= limits.settings]
    found = [_of_recipe(place, some, limits) for some in known]
    widest = max((one for one in found if one), key=lambda one: one[0], default=None)
    if widest:
        yield widest[1]


def _of_recipe(
    place: Place, rows: list[RunRow], limits: Limits
) -> tuple[float, CrossFinding] | None:
    """Return (scatter as a share of the level, finding) of runs with one recipe."""
    by_seed = {seeds(row.config): row for row in alike_long(rows, limits.within)}
    some = [row for seed, row in by_seed.items() if seed]
    metric = next(iter(key_metrics(some, place.task)), None)
    if len(some) < limits.fewest or metric is None:
        return None
    ends = [end(row, metric) for row in some]
    within = statistics.median(error(row, metric) for row in some)
    between, middle = statistics.stdev(ends), statistics.median(ends)
    share = between / abs(middle) if middle else 0.0
    ratio = between / within if within > 0 else 0.0
    if ratio <= limits.times or share <= limits.effect:
        return None
    some.sort(key=lambda row: (-worse_by(metric, end(row, metric), middle), row.key))
    low, high = said(metric, min(ends)), said(metric, max(ends))
    return share, CrossFinding(
        "seed-variance",
        "info",
        place.project,
        place.group,
        f"{len(some)} runs of {place.group} that differ in the seed alone end at {spoken(metric)}"
        f" {low} to {high}: a scatter of {percent(share)}.",
        tuple(row.key for row in some),
        f"{some[0].name}: {spoken(metric)} {said(metric, end(some[0], metric))}.",
        f"Scatter between seeds {percent(share)} of the level (limit {percent(limits.effect)}),"
        f" {times(ratio)} the error within a run (limit {number(limits.times)}). Differences below"
        f" {percent(2 * share)} between two settings say nothing with one run each. Check that"
        " Python, NumPy, torch and loader workers are seeded and shuffles deterministic.",
    )


RULE = CrossRule(
    slug="seed-variance",
    title="Large variance between seeds",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
)
