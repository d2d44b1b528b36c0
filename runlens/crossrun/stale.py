"""Stale: the tracker says that a run is running, but it has long gone quiet.

What is seen
    The state is running, and no record has come for hours: neither of the training nor of the
    machine.
Why it matters
    It holds its GPUs, or its end was never noticed: nobody waits for it any more.
Looks alike
    A hang still has records of the machine, and is found in the run itself. A run that is logged
    offline is synced late. A record a day is no silence: the run must be quiet for longer than it
    usually is between two records of its history. A run without times cannot be judged.
Limits
    hours: since the last record. paces: and so many times the usual time a logged step takes,
    where the steps are few.
Fixes
    Look whether the job still runs; stop it and resume from the last checkpoint, or mark it as
    failed in the tracker.
"""

from collections import defaultdict

from msgspec import Struct

from runlens.crossrun.rule import CrossFinding, CrossRule, Rows
from runlens.nights import RunRow
from runlens.wording import count, duration, number

HOUR = 3600.0


class Limits(Struct, frozen=True):
    """What may be tuned."""

    hours: float = 6.0
    paces: float = 3.0


def check(rows: Rows, limits: Limits, now: float) -> tuple[CrossFinding, ...]:
    """Compare the last record of each running run with the time of the audit."""
    groups: dict[tuple[str, str], list[RunRow]] = defaultdict(list)
    for row in rows:
        if row.state == "running" and _quiet(row, now) > _limit(row, limits):
            groups[row.project, row.group or row.job].append(row)
    return tuple(
        _finding(project, group, some, limits, now)
        for (project, group), some in sorted(groups.items())
    )


def _quiet(row: RunRow, now: float) -> float:
    """Return the seconds since the last record; 0.0 where it is not known or in the future."""
    return 0.0 if row.ended is None else max(now - row.ended, 0.0)


def _limit(row: RunRow, limits: Limits) -> float:
    pace = (row.hours or 0.0) * HOUR / max(row.steps, 1)
    return max(limits.hours * HOUR, limits.paces * pace)


def _finding(
    project: str, group: str, rows: list[RunRow], limits: Limits, now: float
) -> CrossFinding:
    rows.sort(key=lambda row: (-_quiet(row, now), row.key))
    first = rows[0]
    return CrossFinding(
        "stale",
        "warning",
        project,
        group,
        f"{count(len(rows), 'run')} of {group or 'no known group'} said to be running, without a"
        " record for hours.",
        tuple(row.key for row in rows),
        f"{first.name}: last record {duration(_quiet(first, now))} ago.",
        f"No record for {duration(_quiet(first, now))} (limit {number(limits.hours)} hours).",
    )


RULE = CrossRule(
    slug="stale",
    title="A running run has gone silent",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
)
