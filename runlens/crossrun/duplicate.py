"""Duplicate: the same run, with the same settings and the same seed, was done twice.

What is seen
    Two runs or more of one group with equal settings and equal seeds came to their end within a
    day, with as many steps.
Why it matters
    The second one told nothing new, unless it was meant to show how far equal runs part.
Looks alike
    A rerun after a crash is no duplicate: only runs that came to their end count. A job that runs
    each night on purpose starts a day apart. The same directory copied has the same times: that is
    one run. Code may differ where its version is not recorded.
Limits
    settings: so many must be recorded, or equal settings say little. hours: started within so many
    hours of each other.
Fixes
    Change the seed, or look up the first run before starting the second one.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from runlens import cost
from runlens.crossrun.groups import seeds, signature
from runlens.crossrun.rule import (
    CrossFinding,
    CrossRule,
    Place,
    Rows,
    by_start,
    done,
    in_each_group,
)
from runlens.nights import RunRow
from runlens.wording import count, duration, number

HOUR = 3600.0


class Limits(Struct, frozen=True):
    """What may be tuned."""

    settings: int = 8
    hours: float = 20.0


def check(rows: Rows, limits: Limits, _now: float) -> tuple[CrossFinding, ...]:
    """Look for equal settings and seeds within each group."""
    return in_each_group(rows, limits, _of_group)


def _of_group(place: Place, rows: list[RunRow], limits: Limits) -> Iterator[CrossFinding]:
    alike: dict[tuple[object, ...], list[RunRow]] = defaultdict(list)
    for row in by_start(rows):
        if done(row) and (own := seeds(row.config)):
            alike[own, row.steps].append(row)
    pairs = [pair for some in alike.values() for pair in _repeated(some, limits)]
    if not pairs:
        return
    pairs.sort(key=lambda pair: (-(cost.gpu_hours(pair[1]) or 0.0), pair[1].key))
    first, again = pairs[0]
    hours = cost.spent(later for _, later in pairs)
    apart = duration((again.started or 0.0) - (first.started or 0.0))
    settings = len(signature(again.config))
    yield CrossFinding(
        "duplicate",
        "info",
        place.project,
        place.group,
        f"{count(len(pairs), 'run')} of {place.group} repeated another one with equal settings and"
        " seed.",
        tuple(later.key for _, later in pairs),
        f"{again.name} repeats {first.name}, started {apart} before.",
        f"{settings} recorded settings and the seed are equal (at least {limits.settings}), started"
        f" within {apart} (limit {number(limits.hours)} hours).",
        hours.gpu_hours,
        hours.untimed,
        standing=False,
    )


def _repeated(rows: list[RunRow], limits: Limits) -> Iterator[tuple[RunRow, RunRow]]:
    """Return (run, its repetition) among runs with one seed and as many steps."""
    equal: dict[frozenset[object], list[RunRow]] = defaultdict(list)
    for row in rows if len(rows) > 1 else ():
        equal[signature(row.config)].append(row)
    for recipe, some in equal.items():
        if len(recipe) >= limits.settings:
            yield from _again(some, limits)


def _again(rows: list[RunRow], limits: Limits) -> Iterator[tuple[RunRow, RunRow]]:
    """Return (run, its repetition) of runs in the order of their start."""
    for first, later in pairwise(rows):
        apart = (later.started or 0.0) - (first.started or 0.0)
        copied = apart == 0 and later.ended == first.ended
        if apart <= limits.hours * HOUR and not copied:
            yield first, later


RULE = CrossRule(
    slug="duplicate",
    title="Duplicate runs",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
)
