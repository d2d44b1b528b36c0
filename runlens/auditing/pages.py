"""Pages of the runs with a fault, beside the page of the audit.

Each is made by the worker that judged its run, from the same history. The name of a file holds a
digest of what the audit knows of the run: a run that did not change has its page already, one that
grew gets another, and pages of nobody any more are taken away. Nothing is fetched for a page: where
one is missing (a new folder), it is made from the cache of histories, or from the run's own files.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from runlens import cost
from runlens.auditing import schema
from runlens.diagnosis import HEALTHS, Diagnosis
from runlens.nights import LOUD, Audit, RunRow
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.settings import Settings
from runlens.version import __version__
from runlens.written import write_beside

FOLDER = "run-pages"  # beside the page of the audit
MOST = 500  # pages, of the worst runs
DIGITS, NAME = 12, 60  # of a file's name
OURS = lazy_re(rf"[\w.-]*-[0-9a-f]{{{DIGITS}}}\.html")
# what a tracker says of a run besides its records: another tag makes no other page
BESIDES = {
    "config": {},
    "environment": {},
    "user": "",
    "url": "",
    "tags": (),
    "group": "",
    "job": "",
    "sweep": "",
}

Render = Callable[[Diagnosis], str]


class Pages(NamedTuple):
    """Where pages go, and what makes one: a function of a module, for it is sent to processes."""

    folder: str  # of the page of the audit
    render: Render

    @property
    def home(self) -> Path:
        """The folder of the runs' pages."""
        return Path(self.folder) / FOLDER

    def at(self, row: RunRow, settings: Settings) -> Path:
        """Return the file of a run's page, another one whenever the page would be."""
        plain = replace(row, **BESIDES)  # type: ignore[arg-type]
        known = repr(
            (__version__, replace(settings, routes=()), sorted(row.config))
        ) + schema.document(plain)
        digest = sha256(known.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
        safe = re.sub(r"[^A-Za-z0-9._-]+", "-", row.name).strip(".-")[:NAME]
        return self.home / f"{safe or 'run'}-{digest}.html"

    def write(self, row: RunRow, diagnosis: Callable[[], Diagnosis], settings: Settings) -> None:
        """Write the page of a run with a fault, whole or not at all; a failure is none of ours.

        Whoever links the pages sees that one is missing.
        """
        path = self.at(row, settings)
        if row.health not in LOUD or path.exists():
            return
        with suppress(Exception):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_beside(path, self.render(diagnosis()).encode())

    def missing(self, rows: Sequence[RunRow], settings: Settings) -> list[RunRow]:
        """Return the runs that should have a page and have none, the worst first."""
        return [row for row in shown(rows) if not self.at(row, settings).exists()]

    def linked(self, audit: Audit, settings: Settings) -> Audit:
        """Return the audit with links to the pages that are there; take the others away."""
        files = {row.key: self.at(row, settings) for row in shown(audit.runs)}
        _tidy(self.home, {path.name for path in files.values()})
        there = {key: path for key, path in files.items() if path.exists()}
        links = {key: f"{FOLDER}/{quote(path.name)}" for key, path in there.items()}
        faulty = sum(row.health in LOUD for row in audit.runs)
        return replace(audit, pages={**audit.pages, **links}, unpaged=faulty - len(links))


def shown(rows: Sequence[RunRow]) -> list[RunRow]:
    """Return the runs that have a page, the worst first."""
    return sorted((row for row in rows if row.health in LOUD), key=_worst_first)[:MOST]


def of_place(rows: Sequence[RunRow], places: Mapping[str, object]) -> list[str]:
    """Return the places in which these runs lie, each once; those of which nothing is known not."""
    keys = (key for row in rows for key in (row.key, row.key.rpartition("#")[0]))
    return list(dict.fromkeys(key for key in keys if key in places))


def _worst_first(row: RunRow) -> tuple[object, ...]:
    return HEALTHS.index(row.health), -(cost.wasted(row) or 0.0), row.key


def _tidy(home: Path, kept: Collection[str]) -> None:
    """Take away pages of ours that belong to no run any more; other files stay."""
    with suppress(OSError):
        for path in home.iterdir():
            if path.name not in kept and OURS.fullmatch(path.name):
                path.unlink()
