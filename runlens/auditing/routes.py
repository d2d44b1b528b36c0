"""Who is told of what: one message a team, of its own runs alone."""

import os
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from runlens.auditing.ledger import ledger
from runlens.nights import Audit, Issue, RunRow
from runlens.settings import Route

VARIABLE = "$"  # an address that begins so is the name of a variable of the environment


def address(route: Route) -> str:
    """Return the address of a route; empty where its variable is not set."""
    given = route.notify
    return os.environ.get(given[1:], "") if given.startswith(VARIABLE) else given


def addresses(routes: Sequence[Route]) -> list[str]:
    """Return the addresses of all routes that have one."""
    return [known for known in map(address, routes) if known]


def of_route(audit: Audit, route: Route) -> Audit:
    """Return what of a night a team is told: its runs, their issues, and what was not read."""
    rows = tuple(row for row in audit.runs if _is_theirs(row, route))
    keys = {row.key for row in rows}
    issues = [_cut(issue, keys) for issue in audit.issues if not issue.runs or _has(issue, keys)]
    broke, finished, quiet, ended = (
        tuple(key for key in some if key in keys)
        for some in (audit.broke, audit.finished, audit.went_quiet, audit.ended)
    )
    return replace(
        audit,
        runs=rows,
        issues=tuple(issues),
        broke=broke,
        finished=finished,
        went_quiet=quiet,
        ended=ended,
        ran=len({*broke, *finished, *ended}),
        ledger=ledger(rows, set(ended), audit.gpu_hour_price),
    )


def _is_theirs(row: RunRow, route: Route) -> bool:
    asked = (
        (route.users, (row.user,)),
        (route.tags, row.tags),
        (route.places, (row.key, row.group)),
    )
    return any(
        fnmatchcase(value, pattern) for patterns, values in asked for pattern in patterns
        for value in values if value
    )  # fmt: skip


def _has(issue: Issue, keys: set[str]) -> bool:
    return any(key in keys for key in issue.runs)


def _cut(issue: Issue, keys: set[str]) -> Issue:
    """Return an issue with the runs of a team alone; news of others is none of theirs."""
    tonight = tuple(key for key in issue.tonight if key in keys)
    runs = tuple(key for key in issue.runs if key in keys)
    grew = issue.detail == "growing" and not tonight and not issue.graver_than
    return replace(issue, runs=runs, tonight=tonight, detail="" if grew else issue.detail)
