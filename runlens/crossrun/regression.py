"""Regression: the latest runs of a job end worse than its last good ones.

What is seen
    A job is run again and again; its key metric (evaluation loss, else training loss; reward for
    reinforcement learning) ended at one level, and from one run on ends at a worse one.
Why it matters
    Code, data or versions changed between the last good run and the first bad one, and nobody
    looked: each run is healthy by itself.
Looks alike
    Runs of a sweep differ on purpose. A single bad run after which the job was good again is an
    outlier. A run of other length is not compared. Small differences between equal settings are
    normal, kernels are not deterministic: limits are in the spread of the good runs.
Limits
    good: so many good runs before the first bad one are the yardstick. times: worse than their
    median by more than so many of their scale (median absolute deviation, its bias for few values
    taken out; the standard errors of the ends where those are larger, or half of how far up to 30
    good runs that followed each other lie apart). With five good ones the usual 3 alarms on one
    healthy run in 17, 6 on one in 55, and 12 on one in 200 (normal scatter).
    sure: hence two runs in a row must be beyond, or one by so many times the limit. effect: and
    by this share of the level. within: same number of steps, up to this share. Measured on
    simulated projects by benchmarks/crossrun.py.
Fixes
    Look at the settings and versions that differ from the last good run; where none does, bisect
    the code and the data between the two.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

import numpy as np
from msgspec import Struct

from runlens.crossrun.groups import deltas, named
from runlens.crossrun.rule import (
    JUDGED,
    CrossFinding,
    CrossRule,
    Place,
    Rows,
    by_start,
    done,
    end,
    error,
    in_each_group,
    key_metrics,
    said,
    scale,
    worse_by,
)
from runlens.metrics import spoken
from runlens.nights import RunRow
from runlens.signals.noise import sigma_diff
from runlens.wording import count, number, percent

LONGEST = 30  # good runs that tell how far one lies from the next
WELL_KNOWN = 0.5  # of that scale half as many times suffice: 3 instead of 6


class Limits(Struct, frozen=True):
    """What may be tuned."""

    good: int = 5
    times: float = 6.0
    effect: float = 0.02
    sure: float = 2.0
    within: float = 0.20


def check(rows: Rows, limits: Limits, _now: float) -> tuple[CrossFinding, ...]:
    """Go through each job in the order of time."""
    return in_each_group(rows, limits, _of_group)


def _of_group(place: Place, rows: list[RunRow], limits: Limits) -> Iterator[CrossFinding]:
    jobs: dict[str, list[RunRow]] = defaultdict(list)
    for row in by_start(rows):
        if row.job and not row.sweep and done(row) and row.health in JUDGED:
            jobs[row.job].append(row)
    for job, some in sorted(jobs.items()):
        metric = next(iter(key_metrics(some, place.task)), None)
        if metric and (finding := _of_job(place, job, some, metric, limits)):
            yield finding


def _of_job(
    place: Place, job: str, rows: list[RunRow], metric: str, limits: Limits
) -> CrossFinding | None:
    """Walk from run to run: a worse one is no yardstick for those after it."""
    good: list[RunRow] = []
    bad: list[RunRow] = []
    for row in rows:
        last = _yardstick(good, row, limits)
        if len(last) >= limits.good and _worse(row, last, metric, limits):
            bad.append(row)
        else:
            good.append(row)
            bad = []
    if not bad:
        return None
    last = _yardstick(good, bad[0], limits)
    if len(bad) == 1 and not _worse(bad[0], last, metric, limits, limits.sure):
        return None
    return _finding(place, job, bad, last, metric, limits)


def _yardstick(good: list[RunRow], row: RunRow, limits: Limits) -> list[RunRow]:
    """Return the good runs of the same length, the latest last."""
    within = limits.within * max(row.steps, 1)
    alike = (one for one in reversed(good) if abs(one.steps - row.steps) <= within)
    return list(islice(alike, LONGEST))[::-1]


def _limit(row: RunRow, before: list[RunRow], metric: str, limits: Limits) -> tuple[float, float]:
    """Return the usual level, and by which share of it a run may be worse.

    Five runs may lie close by chance. How far a run lies from the next is known from more of them,
    and does not grow where the level once changed.
    """
    last = before[-limits.good :]
    ends = [end(one, metric) for one in last]
    usual = statistics.median(ends)
    own = statistics.median(error(one, metric) for one in [*last, row])
    apart = sigma_diff(np.array([end(one, metric) for one in before]))
    spread = max(scale(ends), WELL_KNOWN * apart, own)
    share = limits.times * spread / abs(usual) if usual else 0.0
    return usual, max(share, limits.effect)


def _worse(
    row: RunRow, last: list[RunRow], metric: str, limits: Limits, beyond: float = 1.0
) -> bool:
    usual, share = _limit(row, last, metric, limits)
    return worse_by(metric, end(row, metric), usual) > beyond * share


def _finding(
    place: Place, job: str, bad: list[RunRow], last: list[RunRow], metric: str, limits: Limits
) -> CrossFinding:
    first, before = bad[0], last[-1]
    usual, share = _limit(first, last, metric, limits)
    worse = percent(worse_by(metric, end(first, metric), usual))
    differing = deltas(before.config, first.config)
    changed = (
        f"Changed since {before.name}: {named(differing)}."
        if differing
        else f"No recorded setting changed since {before.name}: bisect code, data and versions."
    )
    latest = sorted(bad, key=lambda row: -worse_by(metric, end(row, metric), usual))
    return CrossFinding(
        "regression",
        "warning",
        place.project,
        place.group,
        f"{job} got worse with {first.name}: {spoken(metric)} {said(metric, end(first, metric))}"
        f" against {said(metric, usual)} before, in {count(len(bad), 'run')} since.",
        tuple(row.key for row in latest),
        f"{latest[0].name}: {spoken(metric)} {said(metric, end(latest[0], metric))}.",
        f"Worse by {worse} than the median of the last {number(limits.good)} good runs (limit"
        f" {percent(share)}). {changed}",
        about=job,
    )


RULE = CrossRule(
    slug="regression",
    title="New runs worse than the last good ones",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
)
