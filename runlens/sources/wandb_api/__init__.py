"""Weights & Biases over its API, with the `wandb` package: runs that are on a server.

The history is read in full, never sampled. What the client does by the way is described in
`client`: it never asks for a key, gives up in bounded time, and writes only to a temporary
folder.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path

from runlens.errors import NothingReadable, SeveralRuns
from runlens.records import NamedTuple
from runlens.redaction import redacted
from runlens.run import Problem, Run
from runlens.sources.addresses import parsed
from runlens.sources.merging.merge import runs_of
from runlens.sources.wandb_api.as_reading import reading_of
from runlens.sources.wandb_api.client import ServerSilent, connected
from runlens.sources.wandb_api.fetching import BUDGET, download
from runlens.sources.wandb_api.listing import Listed, listed, looked_up

__all__ = [
    "BUDGET",
    "FRAMEWORK",
    "LOOKS_FOR",
    "NEEDS",
    "THREADS",
    "Fetched",
    "Listed",
    "LoggedNothing",
    "ServerSilent",
    "connected",
    "fetch",
    "fetch_all",
    "fetched",
    "listed",
    "looked_up",
    "read",
    "read_all",
]

LOOKS_FOR = "wandb:entity/project/run"
FRAMEWORK = "Weights & Biases over its API; a project, and the address of its page, too"
NEEDS = ("wandb",)
THREADS = 8  # runs that are fetched at once


class LoggedNothing(NothingReadable):
    """The server has the run, and no row and no line of it: another try gives no more."""

    run: Run | None = None  # with its settings


class Fetched(NamedTuple):
    """A place, and its run or why there is none.

    `complete` is False where the server has more than came: the run is worth another try.
    """

    place: str
    run: Run | NothingReadable
    complete: bool


def fetch(place: str | Path, *, budget_seconds: float = BUDGET) -> Run:
    """Read one run in full; what does not come within the budget is told as a problem.

    Raises:
        NothingReadable: no key, a wrong one, no such run, no answer, or nothing was logged.

    """
    return fetched(place, budget_seconds=budget_seconds)[0]


def fetched(
    place: str | Path, *, budget_seconds: float = BUDGET, kept: Path | None = None
) -> tuple[Run, bool]:
    """Read one run as `fetch` does, and say whether all of it came.

    `kept` is a file for the rows of a run that goes on: the next time only new ones are fetched.
    """
    where = parsed(place)
    if not where.run:
        raise NothingReadable(str(place), "is a project; name one of its runs")
    with connected() as client:
        got = download(client, where, budget_seconds, kept)
    reading = reading_of(got)
    (run,) = runs_of(Path(), str(where), [reading])
    if not len(run.history) and not run.log_tail:
        nothing = f"has logged nothing; W&B has it as {reading.hints.tracker_state}"
        if got.problems:
            raise NothingReadable(str(where), "; ".join(one.text for one in got.problems))
        error = LoggedNothing(str(where), nothing)
        error.run = run
        raise error
    return replace(run, name=redacted(reading.run_name or where.run)), got.complete


def fetch_all(
    places: Iterable[str], *, budget_seconds: float = BUDGET, threads: int = THREADS
) -> Iterator[Fetched]:
    """Read runs, several at once, and yield each when it is there; one broken run stops no other.

    No more than twice `threads` are held at a time; `places` is taken as it is needed.
    """
    rest = iter(places)
    pool = ThreadPoolExecutor(threads)
    under_way: set[Future[Fetched]] = set()
    with connected(), ExitStack() as stack:
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        while True:
            new = islice(rest, 2 * threads - len(under_way))
            under_way |= {pool.submit(_tried, place, budget_seconds) for place in new}
            if not under_way:
                return
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for one in done:
                yield one.result()


def _tried(place: str, budget_seconds: float) -> Fetched:
    try:
        return Fetched(place, *fetched(place, budget_seconds=budget_seconds))
    except NothingReadable as error:
        return Fetched(place, error, complete=False)


def read(place: str | Path) -> Run:
    """Read the one run at a place; raise SeveralRuns for a project that has more."""
    where = parsed(place)
    if not where.run:
        runs = listed(place)
        if len(runs) > 1:
            raise SeveralRuns(str(place), [one.id for one in runs])
    return read_all(place)[0]


def read_all(place: str | Path) -> list[Run]:
    """Read the run at a place, or all runs of a project, by name.

    Runs that could not be read are problems of the first one that could.
    """
    if parsed(place).run:
        return [fetch(place)]
    with connected():
        found = list(fetch_all([one.place for one in listed(place)]))
    runs = _distinctly_named([one.run for one in found if isinstance(one.run, Run)])
    lost = [one for one in found if not isinstance(one.run, Run)]
    if not runs:
        why = str(lost[0].run) if lost else "has no runs"
        raise NothingReadable(str(place), why, [(one.place, str(one.run)) for one in lost])
    problems = [Problem(one.place, str(one.run).removeprefix(f"{one.place}: ")) for one in lost]
    return [replace(runs[0], problems=(*runs[0].problems, *problems)), *runs[1:]]


def _distinctly_named(runs: list[Run]) -> list[Run]:
    """Sort runs by name; where several have the same, by their ids too."""
    count = Counter(run.name for run in runs)
    named = [replace(r, name=f"{r.name} ({r.id})") if count[r.name] > 1 else r for r in runs]
    return sorted(named, key=lambda run: run.name)
