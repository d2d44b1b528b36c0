"""What is done for one unit, wherever it is done: read it, judge it, keep a row of each run."""

import gc
import math
import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from runlens.auditing import rows, versions
from runlens.auditing.cache import Cache
from runlens.auditing.pages import Pages
from runlens.auditing.plan import About, Unit, told
from runlens.diagnosis import Diagnosis
from runlens.engine import Explained, explained
from runlens.errors import RunLensError, one_line
from runlens.nights import LOUD, FoundRow, RunRow, Unread
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.settings import Settings
from runlens.sources import read_all

COLLECTED = 25  # units after which memory that goes round in circles is given back
LONGEST = 200  # characters of what an unexpected error says
REPORT = "this is a fault of RunLens; please report it with the file"
DIED = frozenset({"failed", "crashed", "killed"})  # states of a tracker
FAILED_AT_START = "failed-at-start"  # the rule of runs that died before their first row
NOT_KEPT = "its history is not in the cache, and nothing is fetched for a page"


class Job(NamedTuple):
    """How units are judged; one for all units of a night, and sent with each of them."""

    settings: Settings = Settings()
    cache: str = ""  # folder of normalized histories; empty: none are kept
    pages: Pages | None = None  # of the runs with a fault


class Judged(NamedTuple):
    """What came of a unit: rows, or why nothing could be read."""

    unit: Unit
    rows: tuple[RunRow, ...] = ()
    unread: Unread | None = None
    cached: bool = False  # nothing was read
    memory: int = 0  # bytes that the process has
    silent: bool = False  # the server is at fault, or the key: others will fail as well
    aside: bool = False  # it is not to be tried before it changes: it killed its workers, ...


def judge(unit: Unit, job: Job) -> Judged:
    """Read a unit, from the cache where it is known, and judge its runs; never raises."""
    _tidy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries, about files of strangers
        try:
            runs, cached, whole = _runs(unit, job)
            made = tuple(_rows(unit, runs, job))
        except Exception as error:  # noqa: BLE001 - one broken run must not cost a night
            return failed(unit, error)._replace(memory=_memory())
    unit = unit if whole else unit.partly()
    return Judged(unit, made, cached=cached, memory=_memory())


def fetch(unit: Unit, job: Job) -> Unit | Judged:
    """Bring a remote unit into the cache, and return it for `judge`; a failure is the result.

    Where the server had more than came, its stamp says so: it is tried again.
    """
    from runlens.sources.wandb_api import fetched

    cache = _cache(job.cache)
    try:
        if _key(unit, job.settings) in cache:
            return unit
        run, complete = fetched(unit.place, kept=cache.beside(unit.place))
        unit = unit if complete else unit.partly()
        cache.save(_key(unit, job.settings), [run])
    except Exception as error:  # noqa: BLE001 - as above
        return failed(unit, error)
    return unit


def draw(unit: Unit, job: Job) -> Judged:
    """Make the pages of a unit that lack; a run on a server from the cache alone."""
    known = _cache(job.cache).load(_key(unit, job.settings)) if job.cache else None
    if known is None and unit.remote:
        return Judged(unit, unread=Unread(unit.place, NOT_KEPT))
    return judge(unit, job)


def failed(unit: Unit, error: Exception) -> Judged:
    """Return what becomes of a unit that could not be read.

    A run that died before its first row has a row of its own: that is the fault. One that logged
    nothing else is not tried before it changes.
    """
    from runlens.sources.wandb_api import LoggedNothing, ServerSilent

    if isinstance(error, LoggedNothing) and unit.about and unit.about.state in DIED:
        return Judged(unit, (_died(unit, unit.about, error.run),))
    unread = _why_not(unit, error)
    silent, aside = isinstance(error, ServerSilent), isinstance(error, LoggedNothing)
    return Judged(unit, unread=unread, silent=silent, aside=aside)


def _died(unit: Unit, about: About, run: Run | None) -> RunRow:
    """Return the row of a run that has no row: what it was given may tell why."""
    found = _failed_at_start(about)
    row = RunRow(
        key=unit.place,
        place=unit.place,
        name=about.name,
        project=unit.source,
        group=about.structure.named,
        job=about.structure.job,
        sweep=about.structure.sweep,
        state="crashed",
        health="warning",
        verdict=found.title,
        findings=(found,),
        started=None if math.isnan(about.created) else about.created,
        config=rows.settings(run) if run else {},
        environment=run.environment if run else {},
    )
    return _told(row, about)


def _failed_at_start(about: About) -> FoundRow:
    title = f"It {about.state} before it logged anything; its console may say why."
    return FoundRow(FAILED_AT_START, "warning", title, leads=True)


def _told(row: RunRow, about: About | None) -> RunRow:
    """Return a row with what the tracker says of the run."""
    if about is None:
        return row
    return replace(
        row, name=about.name or row.name, user=about.user, tags=about.tags, url=about.url
    )


def _runs(unit: Unit, job: Job) -> tuple[list[Run], bool, bool]:
    """Return the runs of a unit, whether they came from the cache, and whether all of it came."""
    if not job.cache:
        return _read(unit, job)
    cache, key = _cache(job.cache), _key(unit, job.settings)
    if (known := cache.load(key)) is not None:
        return known, True, True
    runs, _, whole = _read(unit, job)
    if whole:
        cache.save(key, runs)
    return runs, False, whole


def _read(unit: Unit, job: Job) -> tuple[list[Run], bool, bool]:
    if unit.remote:
        from runlens.sources import wandb_api

        kept = _cache(job.cache).beside(unit.place) if job.cache else None
        run, whole = wandb_api.fetched(unit.place, kept=kept)
        return [run], False, whole
    return read_all(unit.readable, columns=job.settings.columns, only=unit.parts), False, True


def _rows(unit: Unit, runs: list[Run], job: Job) -> Iterator[RunRow]:
    structure = unit.about.structure if unit.about else None
    for run, part in zip(runs, rows.parts(runs), strict=True):
        found = explained(run, job.settings)
        diagnosis = found.diagnosis
        row = rows.row(run, diagnosis, unit.place, unit.source, part=part, structure=structure)
        row = _told(replace(row, place=unit.readable), unit.about)
        row = _if_it_died(row, run, unit.about)
        if job.pages:
            job.pages.write(row, partial(_whole, found, row), job.settings)
        yield row


def _whole(found: Explained, row: RunRow) -> Diagnosis:
    """Return the whole diagnosis of a run, under the name that it has now."""
    return replace(found.complete(), run_name=row.name)


def _if_it_died(row: RunRow, run: Run, about: About | None) -> RunRow:
    """Return a row with the fault of a run that died before its first row, where none is named."""
    if about is None or about.state not in DIED or len(run.history) or row.health in LOUD:
        return row
    found = _failed_at_start(about)
    return replace(row, health="warning", verdict=found.title, findings=(found, *row.findings))


def _why_not(unit: Unit, error: Exception) -> Unread:
    if isinstance(error, RunLensError):
        return told(unit.readable, str(error))._replace(place=unit.place)
    if isinstance(error, MemoryError):
        return Unread(unit.place, "needs more memory than there is", "use fewer --jobs")
    said = one_line(f"{type(error).__name__}: {error}")[:LONGEST]
    return Unread(unit.place, said, REPORT)


def _key(unit: Unit, settings: Settings) -> str:
    stamp = unit.stamp if unit.part else unit.content
    parts = unit.source, unit.place, stamp, *unit.parts, versions.reading(settings)
    return "\0".join(parts)


@lru_cache
def _cache(folder: str) -> Cache:
    return Cache(Path(folder))


class _Count:
    units = 0


def _tidy() -> None:
    """Give back what goes round in circles now and then: to look all the time costs more."""
    _Count.units += 1
    if not gc.isenabled() and _Count.units % COLLECTED == 0:
        gc.collect()
        if _Count.units == COLLECTED:
            gc.freeze()  # modules: looked through each time, a collection takes thrice as long


def _memory() -> int:
    """Return the resident bytes of this process; 0 where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
