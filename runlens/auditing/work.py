"""What is done for one unit, wherever it is done: read it, judge it, keep a row of each run."""

import gc
import os
import warnings
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from runlens.auditing import rows, versions
from runlens.auditing.cache import Cache
from runlens.auditing.plan import Unit, told
from runlens.engine import diagnose
from runlens.errors import RunLensError, one_line
from runlens.nights import RunRow, Unread
from runlens.run import Run
from runlens.settings import Settings
from runlens.sources import read_all

COLLECTED = 25  # units after which memory that goes round in circles is given back
PARTIAL = ""  # stamp of a run of which not all came; no place has it
LONGEST = 200  # characters of what an unexpected error says
REPORT = "this is a fault of RunLens; please report it with the file"


class Job(NamedTuple):
    """How units are judged; one for all units of a night, and sent with each of them."""

    settings: Settings = Settings()
    cache: str = ""  # folder of normalized histories; empty: none are kept


class Judged(NamedTuple):
    """What came of a unit: rows, or why nothing could be read."""

    unit: Unit
    rows: tuple[RunRow, ...] = ()
    unread: Unread | None = None
    cached: bool = False  # nothing was read
    memory: int = 0  # bytes that the process has
    aside: bool = False  # it killed its workers


def judge(unit: Unit, job: Job) -> Judged:
    """Read a unit, from the cache where it is known, and judge its runs; never raises."""
    _tidy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries, about files of strangers
        try:
            runs, cached = _runs(unit, job)
            made = tuple(_rows(unit, runs, job.settings))
        except Exception as error:  # noqa: BLE001 - one broken run must not cost a night
            return Judged(unit, unread=_why_not(unit, error), memory=_memory())
    return Judged(unit, made, cached=cached, memory=_memory())


def fetch(unit: Unit, job: Job) -> Unit | Judged:
    """Bring a remote unit into the cache, and return it for `judge`; a failure is the result.

    Where the server had more than came, the unit loses its stamp: it is tried again.
    """
    from runlens.sources.wandb_api import fetched

    cache = _cache(job.cache)
    try:
        if _key(unit, job.settings) in cache:
            return unit
        run, complete = fetched(unit.place)
        unit = unit if complete else unit._replace(stamp=PARTIAL)
        cache.save(_key(unit, job.settings), [run])
    except Exception as error:  # noqa: BLE001 - as above
        return Judged(unit, unread=_why_not(unit, error))
    return unit


def _runs(unit: Unit, job: Job) -> tuple[list[Run], bool]:
    """Return the runs of a unit, and whether they came from the cache."""
    if not job.cache:
        return _read(unit, job.settings), False
    cache, key = _cache(job.cache), _key(unit, job.settings)
    if (known := cache.load(key)) is not None:
        return known, True
    runs = _read(unit, job.settings)
    cache.save(key, runs)
    return runs, False


def _read(unit: Unit, settings: Settings) -> list[Run]:
    if unit.remote:
        from runlens.sources import wandb_api

        return [wandb_api.fetch(unit.place)]
    return read_all(unit.readable, columns=settings.columns, only=unit.parts)


def _rows(unit: Unit, runs: list[Run], settings: Settings) -> list[RunRow]:
    made = []
    for run, part in zip(runs, rows.parts(runs), strict=True):
        diagnosis = diagnose(run, settings=settings)
        row = rows.row(run, diagnosis, unit.place, unit.source, part=part)
        made.append(replace(row, place=unit.readable))
    return made


def _why_not(unit: Unit, error: Exception) -> Unread:
    if isinstance(error, RunLensError):
        return told(unit.readable, str(error))._replace(place=unit.place)
    if isinstance(error, MemoryError):
        return Unread(unit.place, "needs more memory than there is", "use fewer --jobs")
    said = one_line(f"{type(error).__name__}: {error}")[:LONGEST]
    return Unread(unit.place, said, REPORT)


def _key(unit: Unit, settings: Settings) -> str:
    parts = unit.source, unit.place, unit.stamp, *unit.parts, versions.reading(settings)
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


def _memory() -> int:
    """Return the resident bytes of this process; 0 where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
