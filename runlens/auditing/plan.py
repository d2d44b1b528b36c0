"""What a night has to do: the places of each source that changed since they were judged."""

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from runlens.auditing.known import Known, Listing
from runlens.auditing.places import Place, places
from runlens.auditing.tree import Folder, printed, scanned
from runlens.crossrun.groups import Structure
from runlens.errors import BadSettings, RunLensError
from runlens.nights import Unread
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.settings import Settings
from runlens.sources import kinds_among
from runlens.sources.addresses import PREFIX, is_on_server, parsed

if TYPE_CHECKING:
    from runlens.sources.wandb_api import Listed

ABOUT, PARTLY = " | ", " ~"  # between the parts of a stamp
MOST_TRIES = 3  # nights on end on which a run is fetched again of which not all came
AGAIN = 7  # nights after which it is fetched again all the same: the rest may come late
CLOSED, OPEN_IT = "no permission to look there", "try chmod +rx, or another user"
ROW_COST = 100  # bytes that one row of a W&B run counts for
_SPAN = lazy_re(r"(\d+(?:\.\d+)?)\s*([mhdw])")
_SECONDS = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


class About(NamedTuple):
    """What a tracker says of a run besides its records."""

    name: str = ""
    structure: Structure = Structure()
    state: str = ""
    user: str = ""
    tags: tuple[str, ...] = ()
    url: str = ""
    created: float = math.nan  # seconds since 1970
    heartbeat: float = math.nan


class Unit(NamedTuple):
    """A place that is read on its own: one run, as a rule."""

    source: str
    place: str  # names it
    stamp: str  # of its content, and of what is said about it
    folder: str = ""  # what is read, where that is not the place itself
    parts: tuple[str, ...] = ()  # names of what is read in the folder; empty: all
    cost: float = 0.0  # about the bytes to read
    fresh: bool = True  # new or changed; else it is only judged anew
    about: About | None = None
    tried: int = 0  # nights on which not all of this content came

    @property
    def content(self) -> str:
        """What tells whether its records are the same."""
        return content(self.stamp)

    @property
    def part(self) -> bool:
        """Whether not all of it came."""
        return PARTLY in self.stamp

    def partly(self) -> "Unit":
        """Return it as one of which not all came: it is tried again, on so many nights."""
        return self._replace(stamp=f"{self.stamp}{PARTLY}{self.tried + 1}")

    @property
    def remote(self) -> bool:
        """Whether it has to be fetched."""
        return self.place.startswith(PREFIX)

    @property
    def readable(self) -> str:
        """What `runlens diagnose` takes."""
        return self.folder or self.place


@dataclass
class Plan:
    """What is to be done for one source."""

    source: str
    changed: list[Unit] = field(default_factory=list)
    units: dict[str, Unit] = field(default_factory=dict)  # all that were listed, by place
    unchanged: int = 0
    present: int = 0  # places that were listed
    missed: list[str] = field(default_factory=list)  # places that are known, and not there
    again: list[str] = field(default_factory=list)  # places that were missing, and are there
    moved: list[str] = field(default_factory=list)  # places that are parts of others now
    unread: list[Unread] = field(default_factory=list)  # of what could not be looked into
    failed: Unread | None = None  # why the source could not be listed
    accepted: bool = False  # somebody knows that more than half of the source is missing
    full: bool = True  # all that the source holds was asked for

    @property
    def listing(self) -> Listing:
        """How well the source was listed."""
        return Listing(self.source, self.full, self.present, len(self.missed), self.failed)


class Chosen(NamedTuple):
    """Which units are asked for, and what is known of them."""

    known: Mapping[str, Known]
    judged_with: str
    since: float | None = None  # seconds since 1970
    night: int = 0  # its number
    filters: Mapping[str, Any] = {}
    settings: Settings = Settings()

    def is_due(self, unit: Unit) -> bool:
        """Whether a unit is to be judged: new, changed, not read, or judged by other rules."""
        before = self.known.get(unit.place)
        if before is None or before.stamp.partition(PARTLY)[0] != unit.stamp:
            return True
        tried = self.tried(unit)
        if tried and (tried < MOST_TRIES or self.night - before.night >= AGAIN):
            return True
        if before.set_aside:
            return False
        return before.tries > 0 or before.judged_with != self.judged_with

    def is_fresh(self, unit: Unit) -> bool:
        """Whether its content was not judged before."""
        before = self.known.get(unit.place)
        return before is None or content(before.stamp) != unit.content or before.tries > 0

    def tried(self, unit: Unit) -> int:
        """Return on how many nights not all of its content came."""
        before = self.known.get(unit.place)
        stamp, _, times = before.stamp.partition(PARTLY) if before else ("", "", "")
        return int(times) if stamp == unit.stamp and times.isdecimal() else 0

    def is_back(self, place: str) -> bool:
        """Whether a place was missing before."""
        before = self.known.get(place)
        return before is not None and (before.missed > 0 or before.gone)


def named(source: str | Path) -> str:
    """Return a source as the store knows it; raise BadSettings for what is none."""
    text = str(source)
    if is_on_server(text):
        return str(parsed(text))
    if not text.strip() or text == "-":
        raise BadSettings(
            f"{text!r} is not a source; name a folder, a file or wandb:entity/project"
        )
    return os.path.normpath(text)


def seconds(since: str) -> float:
    """Return the seconds of ``24h``, ``90m``, ``7d``, ``2w``; raise BadSettings for others."""
    found = _SPAN.fullmatch(since.strip())
    if not found:
        raise BadSettings(f"--since {since!r} is not a duration; write 90m, 24h, 7d or 2w")
    return float(found[1]) * _SECONDS[found[2]]


def planned(source: str, chosen: Chosen) -> Plan:
    """Return what is to be done for a source; what cannot be listed is told, not raised."""
    plan = Plan(source)
    make: Callable[[Plan, Chosen], None] = _remote if source.startswith(PREFIX) else _local
    try:
        make(plan, chosen)
    except RunLensError as error:
        plan.failed = told(source, str(error))
    plan.changed.sort(key=lambda unit: (-unit.cost, unit.place))  # the dearest must not come last
    return plan


def told(place: str, message: str) -> Unread:
    """Take the line of an error apart: why, and what to do about it."""
    why, _, what_to_do = message.removeprefix(f"{place}: ").partition("; ")
    return Unread(place, why, what_to_do or f"see what was found: runlens sources {place}")


def _local(plan: Plan, chosen: Chosen) -> None:
    if not os.path.isdir(plan.source):  # noqa: PTH112 - a Path forgets the user's own spelling
        _file(plan, chosen)
        return
    root = scanned(plan.source)
    if root.closed:
        plan.failed = Unread(plan.source, CLOSED, OPEN_IT)
        return
    found = places(root, partial(kinds_among, columns=chosen.settings.columns))
    closed = [folder.path for folder in root.walk() if folder.closed]
    plan.unread += [Unread(path, CLOSED, OPEN_IT) for path in closed]
    for place in found:
        _take(plan, chosen, place, root)
    present = {place.name for place in found}
    plan.present = len(present)
    unseen = tuple(f"{path}/" for path in closed)
    absent = [
        place
        for place in chosen.known
        if place not in present and not f"{place}/".startswith(unseen)
    ]
    _part(plan, chosen, absent, present)
    if not found and not closed and not plan.missed:
        what = "point at a folder that holds runs"
        plan.unread.append(Unread(plan.source, "holds no run in a known format", what))


def _part(plan: Plan, chosen: Chosen, absent: Iterable[str], present: Collection[str]) -> None:
    """Tell what is missing from what lies in another place now, and from what was never read."""
    absent = list(absent)
    if not absent:  # as on most nights: of many places it takes long
        return
    above = {str(folder) for place in present for folder in PurePath(place).parents}
    for place in absent:
        inside = any(str(folder) in present for folder in PurePath(place).parents)
        unread = not chosen.known[place].stamp and chosen.known[place].tries > 0
        if inside or place in above or unread:
            plan.moved.append(place)
        elif not chosen.known[place].gone:
            plan.missed.append(place)


def _file(plan: Plan, chosen: Chosen) -> None:
    try:
        about = Path(plan.source).stat()
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        why = "it does not exist" if missing else f"it cannot be read ({error.strerror or error})"
        plan.failed = Unread(plan.source, why, "check the path, or mount what holds it")
        return
    plan.present = 1
    stamp = f"{about.st_size}-{about.st_mtime_ns}"
    _add(plan, chosen, Unit(plan.source, plan.source, stamp, cost=about.st_size))


def _take(plan: Plan, chosen: Chosen, place: Place, root: Folder) -> None:
    known = printed(place.folders, place.files, root.path)
    inside = os.path.relpath(place.name, root.path)
    old = chosen.since is not None and known.changed < chosen.since
    unit = Unit(
        plan.source,
        place.name,
        known.stamp,
        folder="" if place.whole else place.folder.path,
        parts=place.parts,
        cost=known.cost,
    )
    if old or not _meets(inside, place.folder.name, chosen.filters):
        plan.unchanged += 1
        plan.again += [unit.place] if chosen.is_back(unit.place) else []
    else:
        _add(plan, chosen, unit)


def _meets(inside: str, name: str, filters: Mapping[str, Any]) -> bool:
    """Whether a place has the name asked for: its folder, or its path below the source."""
    glob = str(filters.get("name", "*"))
    return fnmatchcase(name, glob) or fnmatchcase(inside, glob)


def _add(plan: Plan, chosen: Chosen, unit: Unit) -> None:
    plan.units[unit.place] = unit
    if chosen.is_back(unit.place):
        plan.again.append(unit.place)
    if chosen.is_due(unit):
        tried = chosen.tried(unit)
        plan.changed.append(unit._replace(fresh=chosen.is_fresh(unit), tried=tried))
    else:
        plan.unchanged += 1


def _remote(plan: Plan, chosen: Chosen) -> None:
    from runlens.sources.wandb_api import listed, looked_up

    plan.full = chosen.since is None and not chosen.filters  # else others are absent too
    found = {run.place: run for run in listed(plan.source, chosen.since, chosen.filters)}
    absent = [place for place in chosen.known if place not in found] if plan.full else []
    wanted = [place for place in absent if not chosen.known[place].gone]
    found |= {run.place: run for run in looked_up(plan.source, wanted)}
    plan.present = len(found)
    for run in found.values():
        _add(plan, chosen, _of_listed(plan.source, run))
    _part(plan, chosen, [place for place in absent if place not in found], ())


def _of_listed(source: str, run: "Listed") -> Unit:
    about = About(
        run.name,
        Structure(run.group, run.job_type, run.sweep),
        run.state,
        run.user,
        run.tags,
        run.url,
        run.created,
        run.heartbeat,
    )
    said = repr((run.name, run.group, run.job_type, run.sweep, run.user, run.tags))
    digest = sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    stamp = f"{run.state} {run.heartbeat} {run.history_lines}{ABOUT}{digest}"
    return Unit(source, run.place, stamp, cost=ROW_COST * run.history_lines, about=about)


def content(stamp: str) -> str:
    """Return the part of a stamp that tells whether the records are the same."""
    return stamp.partition(PARTLY)[0].partition(ABOUT)[0]
