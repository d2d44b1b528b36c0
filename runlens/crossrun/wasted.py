"""Wasted compute: GPU-hours that gave nothing.

What is seen
    Runs of a group went on for long after something had broken, or after their best evaluation;
    or several of them crashed within minutes in one night.
Why it matters
    It is the part of the bill that an early stop, a check at the start or a first batch on a small
    machine would have saved.
Looks alike
    Findings after which the result still stands (a slower run, a spike that came back) cost
    nothing. An evaluation that only wavers about its best is no waste: it must end worse by more
    than its noise. A run without times has no known cost: it is counted apart, never as zero. One
    crash at the start is a typing error.
Limits
    runs: of a group, at least; what a single run wasted stands with its finding. hours: GPU-hours
    of these runs. share: of all GPU-hours of the group. minutes: a crash within so many. crashes:
    of one group in a night. night: so many hours.
Fixes
    Stop at the best evaluation (early stopping, load_best_model_at_end); stop at NaN; run one step
    on a small machine before the queue is filled.
"""

from collections.abc import Iterator

from msgspec import Struct

from runlens import cost
from runlens.crossrun.rule import (
    CrossFinding,
    CrossRule,
    Place,
    Rows,
    by_start,
    together,
)
from runlens.nights import RunRow
from runlens.wording import count, number, percent

HOUR, MINUTE = 3600.0, 60.0
BROKEN = frozenset({"crashed", "killed"})


class Limits(Struct, frozen=True):
    """What may be tuned."""

    runs: int = 2
    hours: float = 1.0
    share: float = 0.10
    minutes: float = 5.0
    crashes: int = 3
    night: float = 12.0


def check(rows: Rows, limits: Limits, _now: float) -> tuple[CrossFinding, ...]:
    """Add up the hours of each group, and count the crashes at the start."""
    return tuple(
        finding
        for place, some in together(rows).items()
        for finding in (*_hours(place, some, limits), *_crashes(place, some, limits))
    )


def _hours(place: Place, rows: list[RunRow], limits: Limits) -> Iterator[CrossFinding]:
    known = {row.key: cost.wasted(row) for row in rows}
    spent = {key: hours or 0.0 for key, hours in known.items()}
    concerned = [row for row in rows if spent[row.key] > 0 or known[row.key] is None]
    lost, whole = sum(spent.values()), cost.spent(rows)
    if len(concerned) < limits.runs:
        return
    if lost < limits.hours or lost < limits.share * whole.gpu_hours:
        return
    concerned.sort(key=lambda row: (-spent[row.key], row.key))
    worst = concerned[0]
    past = cost.past_best(worst) >= spent[worst.key]
    after = "its best evaluation" if past else "the fault"
    untimed = sum(row.hours is None for row in concerned)
    unknown = f" The hours of {untimed} more are not known." if untimed else ""
    yield CrossFinding(
        "wasted",
        "info",
        place.project,
        place.group,
        f"{number(lost, 3)} of {number(whole.gpu_hours, 3)} GPU-hours of {place.group} were spent"
        " after something had gone wrong or the best evaluation was passed.",
        tuple(row.key for row in concerned),
        f"{worst.name}: {number(spent[worst.key], 3)} GPU-hours after {after}.",
        f"{percent(lost / whole.gpu_hours)} of the hours (limit {percent(limits.share)}), in"
        f" {count(len(concerned) - untimed, 'run')}.{unknown}",
        lost,
        untimed,
        about="hours",
        standing=False,
    )


def _crashes(place: Place, rows: list[RunRow], limits: Limits) -> Iterator[CrossFinding]:
    """Look for crashes within minutes that come in a row, in the latest night that has them."""
    early = [
        row
        for row in by_start(rows)
        if row.state in BROKEN and row.hours is not None and row.hours * 60 < limits.minutes
    ]
    nights: list[list[RunRow]] = []
    for row in early:
        fits = nights and (row.started or 0) - (nights[-1][0].started or 0) <= limits.night * HOUR
        if fits:
            nights[-1].append(row)
        else:
            nights.append([row])
    many = [night for night in nights if len(night) >= limits.crashes]
    if not many:
        return
    last = many[-1][::-1]
    hours = cost.spent(last)
    yield CrossFinding(
        "wasted",
        "info",
        place.project,
        place.group,
        f"{len(last)} runs of {place.group} crashed within {number(limits.minutes)} minutes,"
        " one after the other.",
        tuple(row.key for row in last),
        f"{last[0].name}: {last[0].verdict}",
        f"{len(last)} crashes within {number(limits.night)} hours (limit {limits.crashes}).",
        hours.gpu_hours,
        hours.untimed,
        about="crashes",
        standing=False,
    )


RULE = CrossRule(
    slug="wasted",
    title="Wasted GPU-hours",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
)
