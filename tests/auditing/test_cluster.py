"""The same work on a real Dask cluster on this machine: the same store, whatever becomes of it."""

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import runlens
from runlens.auditing import cluster
from runlens.auditing.engine import Progress
from runlens.auditing.plan import Chosen, planned
from runlens.auditing.work import Job
from runlens.errors import BadSettings
from tests.auditing import workers
from tests.auditing.trees import NIGHT, content, state, tree

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[Any]:
    """Start two workers, each with a nanny that starts it again."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as made:
        yield made


def test_a_worker_that_is_killed_half_way_changes_nothing(scheduler: Any, tmp_path: Path) -> None:
    """The store has what it has after an audit on this machine alone."""
    root = tree(tmp_path / "runs", 12)
    alone, there = tmp_path / "alone.db", tmp_path / "there.db"
    runlens.audit(root, store=alone, cache=False, jobs=2, now=NIGHT)
    lost = []

    def kill(progress: Progress) -> None:
        if progress.done == 4:
            with distributed.Client(scheduler) as client:
                lost.append(next(iter(client.run(os.getpid).values())))
            os.kill(lost[0], signal.SIGKILL)

    runlens.audit(
        root,
        store=there,
        cache=False,
        cluster=scheduler.scheduler_address,
        now=NIGHT,
        on_result=kill,
    )
    assert lost
    assert content(there) == content(alone)


def test_a_run_that_kills_workers_is_set_aside(tmp_path: Path) -> None:
    """Those that were beside it are judged after all."""
    root = tree(tmp_path / "runs", 5)
    state(root / "deadly")
    units = planned(str(root), Chosen({}, "")).changed
    found = list(cluster.results(units, Job(), "local:1", judge=workers.deadly))
    assert [Path(one.unit.place).name for one in found if one.unread] == ["deadly"]
    assert sum(len(one.rows) for one in found) == 5


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("local:none", "write local:4"),
        ("tcp://127.0.0.1:9", "no scheduler answers"),
        ("mesh://here", "no scheduler answers"),
    ],
)
def test_a_wrong_address_is_one_clear_line(
    address: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to write instead."""
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    audit = partial(runlens.audit, tree(tmp_path / "runs", 1), store=tmp_path / "audit.db")
    with pytest.raises(BadSettings, match=said):
        audit(cluster=address, cache=False)
