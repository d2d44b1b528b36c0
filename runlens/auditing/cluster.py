"""Judges units on a Dask cluster: the same work as `schedule`, past one machine.

Every worker must see the same files under the same paths, and have this RunLens. A unit may be
judged twice when a worker is lost: that gives the same rows, and the store keeps them once.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from importlib import import_module
from itertools import islice
from typing import Any

from runlens.auditing.plan import Unit
from runlens.auditing.schedule import KILLED, WHAT_TO_DO, Judge
from runlens.auditing.work import Job, Judged, judge
from runlens.errors import BadSettings, one_line
from runlens.extras import needed_by
from runlens.nights import Unread

LOCAL = "local:"  # and how many workers on this machine
AHEAD = 4  # units a thread of the cluster that are under way or wait for it
PATIENCE = 20  # seconds for the scheduler to answer
DELIVERY = 60.0  # seconds within which a result that is there has to come
ALLOWED = "distributed.scheduler.allowed-failures"
LOSSES = 2  # workers that may be lost under a unit before it is judged alone


def results(
    units: Iterable[Unit], job: Job, cluster: str, *, judge: Judge = judge
) -> Iterator[Judged]:
    """Judge units on a cluster, in the order in which they come to their end.

    Args:
        units: taken as there is room for them.
        job: how they are judged.
        cluster: ``tcp://host:8786``, the address of a scheduler, or ``local:4``.
        judge: what the workers do, a function of a module that they have.

    Raises:
        BadSettings: where there is no such cluster, or Dask is missing.

    """
    with ExitStack() as stack:
        client = _connected(cluster, stack)
        rest = iter(units)
        flight: dict[Any, Unit] = {}
        suspects: list[Unit] = []
        while True:
            room = AHEAD * max(1, sum(client.nthreads().values())) - len(flight)
            for unit in islice(rest, max(0, room)):
                flight[client.submit(judge, unit, job, pure=False)] = unit
            if not flight:
                break
            for future in list(_dask().wait(list(flight), return_when="FIRST_COMPLETED").done):
                unit = flight.pop(future)
                judged = _result(future, unit, DELIVERY)
                if judged.aside:
                    suspects.append(unit)
                else:
                    yield judged
        for unit in suspects:  # they may have been beside the guilty one
            yield _result(client.submit(judge, unit, job, pure=False), unit)


def _connected(cluster: str, stack: ExitStack) -> Any:  # noqa: ANN401 - Dask has no types
    dask = _dask()
    # under a local scheduler; one that runs elsewhere has its own
    stack.enter_context(_dask("dask.config").set({ALLOWED: LOSSES - 1}))
    if cluster.startswith(LOCAL):
        count = cluster.removeprefix(LOCAL)
        if not count.isdecimal() or not int(count):
            raise BadSettings(f"--cluster {cluster!r}: write local:4 for four workers")
        made = dask.LocalCluster(
            n_workers=int(count), threads_per_worker=1, processes=True, dashboard_address=":0"
        )
        return stack.enter_context(dask.Client(stack.enter_context(made)))
    try:
        return stack.enter_context(dask.Client(cluster, timeout=PATIENCE))
    except (OSError, ValueError) as error:
        why = one_line(str(error))
        raise BadSettings(
            f"--cluster {cluster}: no scheduler answers ({why}); start dask scheduler there"
        ) from None


def _dask(module: str = "distributed") -> Any:  # noqa: ANN401 - Dask has no types
    """Return a module of Dask; raise MissingPackage where it is not installed."""
    with needed_by("--cluster"):
        return import_module(module)


def _result(future: Any, unit: Unit, seconds: float | None = None) -> Judged:  # noqa: ANN401 - Dask has no types
    """Return what came of a unit; one under which workers were lost is set aside.

    So is one whose result was there and is not delivered in `seconds`: its worker died meanwhile.
    """
    try:
        judged: Judged = future.result(timeout=seconds)
    except (TimeoutError, _dask().KilledWorker):
        return Judged(unit, unread=Unread(unit.place, KILLED, WHAT_TO_DO), aside=True)
    except Exception as error:  # noqa: BLE001 - the cluster's own faults are of one unit
        why = one_line(f"the cluster gave no result: {type(error).__name__}: {error}")
        return Judged(unit, unread=Unread(unit.place, why[:300], "see the log of its workers"))
    return judged
