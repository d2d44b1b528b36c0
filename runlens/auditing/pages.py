"""Pages of the runs with a fault, beside the page of the audit: made once, kept while they hold.

The name of a file holds a digest of what the audit knows of the run: a run that did not change
has its page already, one that grew gets another, and pages of nobody any more are taken away.
"""

import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from runlens import cost
from runlens.auditing import rows
from runlens.diagnosis import HEALTHS, Diagnosis
from runlens.engine import diagnose
from runlens.nights import Audit, RunRow
from runlens.patterns import lazy_re
from runlens.run import Run
from runlens.settings import Settings
from runlens.sources import read_all
from runlens.version import __version__
from runlens.written import write_beside

FOLDER = "run-pages"  # beside the page of the audit
MOST = 500  # pages, of the worst runs
FEW = 4  # pages for which no process is worth its start
DIGITS, NAME = 12, 60  # of a file's name
LOUD = frozenset({"critical", "warning"})
OURS = lazy_re(rf"[\w.-]*-[0-9a-f]{{{DIGITS}}}\.html")

Render = Callable[[Diagnosis], str]


class _Place(NamedTuple):
    """Runs of one place that need a page, and the files that they get."""

    place: str
    files: Mapping[str, Path]  # by run key
    rows: tuple[RunRow, ...]


def with_pages(
    audit: Audit,
    folder: Path,
    render: Render,
    settings: Settings | None = None,
    jobs: int | None = None,
) -> Audit:
    """Return the audit with links to pages of its runs with a fault, which are made if missing.

    Args:
        audit: a night.
        folder: where the page of the audit goes; the others go to ``run-pages`` in it.
        render: makes the page of a diagnosis; a function of a module, for it is sent to processes.
        settings: with which the audit judged.
        jobs: processes; as many as there are cores where it is not given.

    A run that cannot be read again has no link; the audit loses nothing by it.

    """
    wanted = sorted((row for row in audit.runs if row.health in LOUD), key=_worst_first)[:MOST]
    home = folder / FOLDER
    files = {row.key: home / _file(row, settings or Settings()) for row in wanted}
    missing = _by_place([row for row in wanted if not files[row.key].exists()], files)
    if wanted:
        home.mkdir(parents=True, exist_ok=True)
    _make_all(missing, render, settings or Settings(), jobs)
    _tidy(home, {path.name for path in files.values()})
    made = {key: f"{FOLDER}/{quote(path.name)}" for key, path in files.items() if path.exists()}
    return replace(audit, pages={**audit.pages, **made})


def _worst_first(row: RunRow) -> tuple[object, ...]:
    return HEALTHS.index(row.health), -(cost.wasted(row) or 0.0), row.key


def _file(row: RunRow, settings: Settings) -> str:
    """Return the name of a run's page, another one whenever the page would be."""
    known = repr((__version__, settings, replace(row, config={}), sorted(row.config)))
    digest = sha256(known.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", row.name).strip(".-")[:NAME]
    return f"{safe or 'run'}-{digest}.html"


def _by_place(missing: Sequence[RunRow], files: Mapping[str, Path]) -> list[_Place]:
    """Return what is to be made, one entry a place: a place is read once."""
    found: dict[str, list[RunRow]] = defaultdict(list)
    for row in missing:
        found[row.place].append(row)
    return [
        _Place(place, {row.key: files[row.key] for row in some}, tuple(some))
        for place, some in found.items()
    ]


def _make_all(
    places: Sequence[_Place], render: Render, settings: Settings, jobs: int | None
) -> None:
    """Make the pages of all places, in processes where there are many."""
    if len(places) < FEW or jobs == 1:
        for one in places:
            _make(one, render, settings)
        return
    method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
    with ProcessPoolExecutor(jobs, mp_context=get_context(method)) as pool:
        for done in [pool.submit(_make, one, render, settings) for one in places]:
            with suppress(BrokenProcessPool):  # the pages that are there are linked
                done.result()


def _make(one: _Place, render: Render, settings: Settings) -> None:
    """Read a place again and write the pages of its runs; what fails has no page."""
    with warnings.catch_warnings(action="ignore"), suppress(Exception):
        runs = read_all(one.place, columns=settings.columns)
        named = list(zip(rows.parts(runs), runs, strict=True))
        for row in one.rows:
            run = _found(row, named)
            if run is not None:
                _write(one.files[row.key], render(diagnose(run, settings=settings)))


def _found(row: RunRow, named: Sequence[tuple[str, Run]]) -> Run | None:
    """Return the run of a row among those of its place; None where that is not plain."""
    same = [(part, run) for part, run in named if run.name == row.name]
    if len(same) > 1:
        same = [(part, run) for part, run in same if part and row.key.endswith(f"#{part}")]
    return same[0][1] if len(same) == 1 else None


def _write(path: Path, page: str) -> None:
    """Write a page whole or not at all: a killed night leaves no half of one."""
    write_beside(path, page.encode())


def _tidy(home: Path, kept: Collection[str]) -> None:
    """Take away pages of ours that belong to no run any more; other files stay."""
    with suppress(OSError):
        for path in home.iterdir():
            if path.name not in kept and OURS.fullmatch(path.name):
                path.unlink()
