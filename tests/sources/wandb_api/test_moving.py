"""A project that changes between any two requests of a night: in the end all is known as it is.

Runs go on, break, are renamed, rewound, deleted or made while a night lists and fetches them.
Three quiet nights later each run of the server is known with its last row, its name and its fault,
and each fault belongs to an open issue. `RUNLENS_PROJECTS=200` draws so many projects.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import runlens
import runlens.sources.wandb_api.listing
from runlens.auditing import schedule
from runlens.auditing.plan import Unit
from runlens.auditing.work import Job, Judged, fetch, judge
from runlens.nights import Audit
from tests.wandb_server.server import Server
from tests.wandb_server.stored import StoredRun

pytestmark = pytest.mark.usefixtures("connection")
PROJECT = "wandb:team/llm"
RUNS = 5
LATEST = 30  # request of the moving night at which something may happen


def rows(begin: int, count: int, loss: object = 1.0) -> list[dict[str, Any]]:
    """Return some rows from a step on."""
    return [
        {"_step": at, "_timestamp": 1.7e9 + at, "loss": loss} for at in range(begin, begin + count)
    ]


def goes_on(run: StoredRun) -> None:
    """Log ten rows more."""
    run.log(rows(_next(run), 10))


def breaks(run: StoredRun) -> None:
    """Log NaN from here on."""
    run.log(rows(_next(run), 30, "NaN"))


def is_rewound(run: StoredRun) -> None:
    """Give up the last rows, and go on from there."""
    run.log(rows(20, 15), rewind=20)


def is_renamed(run: StoredRun) -> None:
    """Get another name, and other tags."""
    run.display_name, run.tags = f"{run.display_name}-new", ["moved"]


def loses_its_user(run: StoredRun) -> None:
    """Who logged it has left, and the sweep is gone."""
    run.nobody, run.sweep_name = True, None


def is_deleted(run: StoredRun) -> None:
    """And with it all that it logged; one of a project, else the project shrinks."""
    known = run.server.runs
    if len(known) >= RUNS:
        known.pop((run.owner, run.within, run.name), None)


def has_a_successor(run: StoredRun) -> None:
    """Another run begins."""
    name = f"{run.name}-2"
    run.server.put("llm", name, rows(0, 30), created=run.began + 1, sweep_name="s")


def ends(run: StoredRun) -> None:
    """Crash."""
    run.last_state, run.beat = "crashed", run.beat + 1


CHANGES: tuple[Callable[[StoredRun], None], ...] = (
    goes_on,
    breaks,
    is_rewound,
    is_renamed,
    loses_its_user,
    is_deleted,
    has_a_successor,
    ends,
)
Plot = list[tuple[int, int, Callable[[StoredRun], None]]]  # request, run, what happens
PLOTS = st.lists(
    st.tuples(st.integers(1, LATEST), st.integers(0, RUNS - 1), st.sampled_from(CHANGES)),
    min_size=1,
    max_size=8,
)


def _next(run: StoredRun) -> int:
    return max(run.rows.steps, default=-1) + 1


def one_by_one(units: Sequence[Unit], job: Job, jobs: int | None) -> Iterator[Judged]:
    """Fetch and judge in this process, where requests come in one order."""
    del jobs
    for unit in units:
        got = fetch(unit, job)
        yield got if isinstance(got, Judged) else judge(got, job)


def night(folder: Path) -> Audit:
    """Audit the project."""
    with patch.object(schedule, "results", one_by_one):
        return runlens.audit(PROJECT, store=folder / "a.db", cache=folder / "cache")


@settings(
    max_examples=int(os.environ.get("RUNLENS_PROJECTS", "6")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],  # a project takes seconds
)
@given(plot=PLOTS, first=st.booleans())
def test_a_project_that_moves_is_known_in_the_end(server: Server, plot: Plot, first: bool) -> None:
    """Whether it moves on the first night or on a later one."""
    server.runs.clear()
    made = [
        server.put("llm", f"r{at}", rows(0, 40), created=1.7e9 + at, display_name=f"n{at}")
        for at in range(RUNS)
    ]
    breaks(made[0])
    asked = 0

    def between(_: str) -> None:
        nonlocal asked
        asked += 1
        with server.lock:
            for at, which, change in plot:
                if at == asked and (made[which].owner, "llm", made[which].name) in server.runs:
                    change(made[which])

    with (
        tempfile.TemporaryDirectory() as name,
        patch.object(runlens.sources.wandb_api.listing, "PAGE", 2),
    ):
        folder = Path(name)
        if not first:
            night(folder)
        server.between = between
        night(folder)
        server.between = None
        for _ in range(3):
            found = night(folder)
    _is_known(server, found)


def _is_known(server: Server, found: Audit) -> None:
    known = {row.key: row for row in found.runs}
    truth = {f"{PROJECT}/{run.name}": run for run in server.runs.values()}
    assert known.keys() == truth.keys()
    assert (found.unread, found.unlisted) == ((), ())
    loud = {key for issue in found.issues if issue.open for key in issue.runs}
    for key, run in truth.items():
        row, steps = known[key], run.rows.steps
        assert (row.name, row.tags) == (run.display_name, tuple(run.tags))
        assert row.steps == max(steps)
        broken = any(one["loss"] == "NaN" for one in run.rows.rows)
        assert any(one.rule == "nan-loss" for one in row.findings) == broken
        assert (key in loud) == (row.health in {"critical", "warning"})
