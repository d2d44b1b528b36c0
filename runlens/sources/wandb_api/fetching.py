"""All that the server has of a run, within a budget of time: what came until then is kept."""

import json
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from runlens.errors import NothingReadable
from runlens.run import Problem
from runlens.sources.addresses import Place
from runlens.sources.wandb_api.client import Client, said
from runlens.sources.wandb_api.rows import Collected

BUDGET = 300.0  # seconds for a run
ROWS = 10_000  # in one answer, about: 4 MB of 10 metrics
CONSOLE = 1_000  # last lines of the console
SYSTEM = 100_000  # records of system metrics: one each 15 seconds for 17 days
SPAN = 1_000  # least number of steps that are asked for at once
QUERY = """
query Run($entity: String!, $project: String!, $name: String!) {
    project(name: $project, entityName: $entity) {
        run(name: $name) {
            id name displayName state projectId sweepName group jobType tags commit
            createdAt heartbeatAt historyLineCount historyKeys
            config summaryMetrics systemMetrics
        }
    }
}
"""


@dataclass
class Download:
    """One run as it comes."""

    place: Place
    run: Any = None  # the client's, with settings, summary, state
    own: Mapping[str, Any] = field(default_factory=dict)  # W&B's own part of the settings
    rows: Collected = field(default_factory=Collected)
    console: list[str] = field(default_factory=list)
    system: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    error: Exception | None = None
    stopped: bool = False

    @property
    def counted(self) -> int:
        """How many rows the server says the run has."""
        return int(self.run.history_line_count or 0)

    @property
    def complete(self) -> bool:
        """Whether all came that the server has."""
        return not self.problems and self.rows.count >= self.counted

    @property
    def keys(self) -> dict[str, Any]:
        """What the server knows of the history's keys: ``keys`` by name, ``lastStep``."""
        return self.run.history_keys or {}


def download(client: Client, place: Place, budget: float) -> Download:
    """Return what came of a run within `budget` seconds; raise NothingReadable if nothing did."""
    api = client.api(place)
    got = Download(place)
    # a thread of its own: of some answers the client waits for as long as it takes
    worker = threading.Thread(target=_work, args=(api, got), name=str(place), daemon=True)
    worker.start()
    worker.join(budget)
    if worker.is_alive():
        got.stopped = True
        text = f"not all of it came within {budget:g} seconds; what came until then was read"
        got.problems.append(Problem(str(place), text, "what would have come later"))
    else:
        client.free(api)
    if got.error is not None:
        raise client.refusal(place, got.error)
    if got.run is None:
        why = f"no answer from {client.host} within {budget:g} seconds; try again later"
        raise NothingReadable(str(place), why)
    return got


def _work(api: Any, got: Download) -> None:  # noqa: ANN401 - the package has no types
    try:
        _start(api, got)
    except Exception as error:  # noqa: BLE001 - told by who waits
        got.error = error
        return
    _take(got, "the console", _console)
    _take(got, "the history", _history)
    _take(got, "the system metrics", _system)


def _start(api: Any, got: Download) -> None:  # noqa: ANN401 - the package has no types
    """Ask for the run itself, by a question of our own: the client's fails where nobody owns it."""
    from wandb.apis.public import Run

    place = got.place
    names = {"entity": place.entity, "project": place.project, "name": place.run}
    service = api._service_api  # noqa: SLF001 - no other way
    found = ((service.execute_graphql(QUERY, names) or {}).get("project") or {}).get("run")
    if found is None:
        raise LookupError(f"could not find run {place.run}")
    own = json.loads(found.get("config") or "{}").get("_wandb")
    value = own.get("value") if isinstance(own, Mapping) else None
    got.own = value if isinstance(value, Mapping) else {}
    got.run = Run(service, *place[:3], found, include_sweeps=False, lazy=False)


def _take(got: Download, what: str, part: Callable[[Download], None]) -> None:
    """Take one part; without it the others are read all the same."""
    if got.stopped:
        return
    try:
        part(got)
    except Exception as error:  # noqa: BLE001 - the network's, the server's, the client's
        text = f"{what} did not come, or not all of it: {said(error)}"
        got.problems.append(Problem(str(got.place), text, what))


def _console(got: Download) -> None:
    got.console = [line.content for line in got.run.console_logs(last=CONSOLE)]


def _history(got: Download) -> None:
    """Read all rows: a short run's at once, else page by page."""
    if 0 < got.counted <= ROWS and _took_at_once(got):
        return
    _scan(got)
    if got.counted and not got.rows.count:  # the server does not know the last step
        for row in got.run.history(samples=got.counted, pandas=False):
            got.rows.add(row)


def _took_at_once(got: Download) -> bool:
    """Take all rows in one request of samples, where that gives all: a third of the work.

    Fewer rows than were asked for, and no fewer than are counted: nothing was left out.
    """
    most = 2 * got.counted + SPAN  # a run that goes on may have more rows than were counted
    try:
        rows = got.run.history(samples=most, pandas=False)
    except Exception:  # noqa: BLE001 - the other way may work
        return False
    if len(rows) >= most or len({row.get("_step") for row in rows}) < got.counted:
        return False
    for row in rows:
        got.rows.add(row)
    return True


def _scan(got: Download) -> None:
    """Read page by page. A page is a span of steps, which may lie far apart."""
    steps = int(got.keys.get("lastStep") or 0) + 1
    span = max(SPAN, math.ceil(ROWS * steps / max(got.counted, 1)))
    for row in got.run.scan_history(page_size=span, use_cache=False):
        if got.stopped:
            return
        got.rows.add(row)


def _system(got: Download) -> None:
    got.system = got.run.history(stream="system", samples=SYSTEM, pandas=False)
