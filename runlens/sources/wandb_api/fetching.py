"""All that the server has of a run, within a budget of time: what came until then is kept."""

import json
import math
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runlens.errors import NothingReadable
from runlens.patterns import lazy_re
from runlens.run import Problem
from runlens.sources.addresses import Place
from runlens.sources.wandb_api.client import Client, said
from runlens.sources.wandb_api.rows import Collected

BUDGET = 300.0  # seconds for a run
ROWS = 10_000  # in one answer, at most: 4 MB of 10 metrics
ANSWER = 8_000_000  # bytes of one answer, about: eight threads of them stay below 1 GB as objects
NUMBER = 24  # bytes of a number with its punctuation
FEW = 1_000  # rows, of which fewer are not worth keeping: they come in one request
CONSOLE = 1_000  # last lines of the console
SYSTEM = 100_000  # records of system metrics: one each 15 seconds for 17 days
SPAN = 1_000  # least number of steps that are asked for at once, of a run of usual width
HALVINGS = 6  # of the steps that are asked for at once, where the server does not answer
UNKNOWN = lazy_re(r"cannot query field|unknown (?:argument|type|field)", re.IGNORECASE)
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
    client: Client
    kept: Path | None = None  # where rows are kept of a run that goes on
    run: Any = None  # the client's, with settings, summary, state
    own: Mapping[str, Any] = field(default_factory=dict)  # W&B's own part of the settings
    rows: Collected = field(default_factory=Collected)
    console: list[str] = field(default_factory=list)
    system: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    begin: int | None = None  # step of the last row that was kept, until it came again
    error: Exception | None = None
    stopped: bool = False
    lacking: bool = False  # a part did not come that another try may bring

    @property
    def counted(self) -> int:
        """How many rows the server says the run has."""
        return int(self.run.history_line_count or 0)

    @property
    def complete(self) -> bool:
        """Whether all came that the server has."""
        return not (self.stopped or self.lacking) and self.rows.count >= self.counted

    @property
    def keys(self) -> dict[str, Any]:
        """What the server knows of the history's keys: ``keys`` by name, ``lastStep``."""
        return self.run.history_keys or {}


class RewoundError(Exception):
    """The rows that were kept are not those of the run any more."""


def download(client: Client, place: Place, budget: float, kept: Path | None = None) -> Download:
    """Return what came of a run within `budget` seconds; raise NothingReadable if nothing did.

    Args:
        client: the connection.
        place: the run.
        budget: seconds.
        kept: a file for the rows of a run that goes on, or of which not all came: those that it
            holds are not fetched again.

    """
    api = client.api(place)
    got = Download(place, client, kept)
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
    if kept:
        _keep(got, kept)
    return got


def _keep(got: Download, kept: Path) -> None:
    """Keep the rows where more may come."""
    if got.rows.count >= FEW and (got.run.state == "running" or not got.complete):
        got.rows.keep(kept)
    else:
        kept.unlink(missing_ok=True)


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
    """Take one part; without it the others are read all the same.

    A field that an older server does not know will not come on another night either.
    """
    if got.stopped:
        return
    try:
        part(got)
    except Exception as error:  # noqa: BLE001 - the network's, the server's, the client's
        got.lacking |= not UNKNOWN.search(str(error))
        text = f"{what} did not come, or not all of it: {said(error)}"
        got.problems.append(Problem(str(got.place), text, what))


def _console(got: Download) -> None:
    got.console = [line.content for line in got.run.console_logs(last=CONSOLE)]


def _history(got: Download) -> None:
    """Read all rows, but those that are kept: a short run's at once, else page by page."""
    if got.kept and got.kept.exists() and _went_on(got, got.kept):
        return
    if 0 < got.counted <= _room(got) and got.client.whole.fits and _took_at_once(got):
        return
    _scan(got)
    if got.counted and not got.rows.count:  # the server does not know the last step
        for row in got.run.history(samples=got.counted, pandas=False):
            got.rows.add(row)


def _went_on(got: Download, kept: Path) -> bool:
    """Take the rows behind those that are kept; False where all have to be fetched.

    The last of the kept rows is fetched again: where it is another one, the run was rewound.
    """
    rows = Collected.kept(kept)
    if rows.last_step is None or rows.count > got.counted:
        return False
    got.rows, got.begin = rows, rows.last_step
    with suppress(RewoundError):
        _scan(got)
        if got.stopped or got.rows.count >= got.counted:
            return True
    got.rows, got.begin = Collected(), None
    return False


def _took_at_once(got: Download) -> bool:
    """Take all rows in one request of samples, where that gives all: a third of the work.

    Fewer rows than were asked for, and no fewer than are counted: nothing was left out.
    """
    most = 2 * got.counted + SPAN  # a run that goes on may have more rows than were counted
    try:
        rows = got.run.history(samples=most, pandas=False)
    except Exception:  # noqa: BLE001 - the other way may work
        got.client.whole.failed()
        return False
    got.client.whole.answered()
    if len(rows) >= most or len({row.get("_step") for row in rows}) < got.counted:
        return False
    for row in rows:
        got.rows.add(row)
    return True


def _room(got: Download) -> int:
    """Return how many rows an answer should have at most, by the width of a row."""
    names = got.keys.get("keys") or {}
    width = sum(len(name) + NUMBER for name in names)
    return max(1, min(ROWS, ANSWER // max(width, 1)))


def _scan(got: Download) -> None:
    """Read page by page. A page is a span of steps, which may lie far apart.

    Where the server does not give a page, half of it is asked for, from the last row on: of wide
    rows a gateway gives up before they are there.
    """
    steps = int(got.keys.get("lastStep") or 0) + 1
    room = _room(got)
    least = SPAN if room == ROWS else 1
    span = max(least, math.ceil(room * steps / max(got.counted, 1)))
    for _ in range(HALVINGS):
        try:
            _pages(got, span)
        except RewoundError:
            raise
        except Exception:
            if span == 1 or (got.rows.count and got.rows.last_step is None):
                raise
            span = max(1, span // 2)
        else:
            return
    _pages(got, span)


def _pages(got: Download, span: int) -> None:
    """Take the rows from the last one on; that again where it was kept, to see that it is there."""
    begin = 0 if got.rows.last_step is None else got.rows.last_step + 1
    begin = begin if got.begin is None else got.begin
    for row in got.run.scan_history(page_size=span, min_step=begin, use_cache=False):
        if got.stopped:
            return
        if got.begin is None:
            got.rows.add(row)
        elif got.rows.ends_with(row):
            got.begin = None
        else:
            raise RewoundError
    if got.begin is not None:
        raise RewoundError


def _system(got: Download) -> None:
    got.system = got.run.history(stream="system", samples=SYSTEM, pandas=False)
