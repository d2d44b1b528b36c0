"""One night: what changed is judged and stored run by run, then the issues of all runs.

Killed at any point and started again, a night goes on where it was: what is stored is not judged
again, and issues are made only when all is stored, in the transaction that closes the night.
"""

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from runlens import crossrun
from runlens.auditing import issues, schedule, versions
from runlens.auditing.issues import Tonight
from runlens.auditing.known import Listing, Outgoing
from runlens.auditing.ledger import ledger
from runlens.auditing.pages import Pages, of_place
from runlens.auditing.plan import Chosen, Plan, Unit, named, planned, seconds
from runlens.auditing.sights import SHRANK, fingerprint, shrunk
from runlens.auditing.store import Store
from runlens.auditing.telling import last_night, trend, verdict
from runlens.auditing.work import Job, Judged, draw
from runlens.errors import BadSettings
from runlens.nights import DATE, Audit, Issue, Night, SourceState
from runlens.records import NamedTuple
from runlens.settings import Settings
from runlens.sources.addresses import is_on_server

FEW = 4  # pages for which no process is worth its start


class Progress(NamedTuple):
    """How far a night is. `judged` is what came last; None where the night was only planned."""

    done: int
    total: int
    unchanged: int
    judged: Judged | None = None


@dataclass(frozen=True)
class _Asked:
    """What an audit was asked for."""

    sources: tuple[str, ...]
    since: float | None  # seconds since 1970
    filters: Mapping[str, Any]
    settings: Settings
    jobs: int | None
    cluster: str | None
    tell: Callable[[Progress], None]
    pages: Pages | None = None


def audit(
    *sources: str | Path,
    store: str | Path,
    since: str | None = None,
    filters: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    settings: Settings | None = None,
    now: datetime | None = None,
    cache: str | Path | bool | None = None,
    on_result: Callable[[Progress], None] | None = None,
    messages: Callable[[Audit], Sequence[Outgoing]] | None = None,
    pages: Pages | None = None,
) -> Audit:
    """Read, judge and compare all runs of some sources that changed since the last night.

    Args:
        sources: folders, files, ``wandb:entity/project`` or the address of a project's page.
        store: what is kept from night to night: a file, or ``postgresql://user@host/database``.
        since: only runs that changed in the last ``24h``, ``90m``, ``7d``; the others stay as
            they are known.
        filters: of W&B as its API takes them; for folders ``{"name": "exp-*"}``.
        jobs: processes; as many as there are cores where it is not given.
        cluster: a Dask cluster instead: ``tcp://host:8786``, or ``local:4``.
        settings: which rules, how loud, with which limits; all as they come where none is given.
        now: the time of the night; the clock's where it is not given.
        cache: folder of normalized histories; the user's cache folder where it is not given, none
            with False.
        on_result: called with each result, and once before the first.
        messages: makes what is to be told of the night; it is stored in the transaction that
            closes the night, and waits there until `auditing.delivery` has delivered it.
        pages: where the pages of the runs with a fault go, and what makes them; none without.

    Raises:
        RunLensError: a store that cannot be used, a wrong option. What cannot be read is listed
            in `Audit.unread` and raises nothing.

    """
    if not sources:
        raise BadSettings("no source; name a folder, a file or wandb:entity/project")
    moment = now or datetime.now(UTC)
    known = tuple(dict.fromkeys(named(source) for source in sources))
    if set(filters or ()) - {"name"} and not all(is_on_server(source) for source in known):
        raise BadSettings("folders are filtered by name alone: --filter name=GLOB")
    asked = _Asked(
        known,
        moment.timestamp() - seconds(since) if since else None,
        filters or {},
        settings or Settings(),
        jobs,
        cluster,
        on_result or (lambda _: None),
        pages,
    )
    began = time.monotonic()
    with Store(store) as opened:
        night = opened.open_night(asked.sources, moment.strftime(DATE))
        with ExitStack() as stack:
            work = _Work(opened, night, asked, _planned(opened, night, asked))
            job = Job(asked.settings, _cache(cache, work.units, stack), pages)
            before = [one.listed for one in opened.source_states(night) if one.listed]
            work.judge(job)
            found = _night(opened, night, asked, work.whole)
            found = found._replace(audit=replace(found.audit, since=min(before, default="")))
            told = messages(found.audit) if messages else ()
            spent = round(time.monotonic() - began, 1)
            today = found.audit.trend[-1]
            closed = opened.close_night(night, found.issues, spent, told, today)
            made = replace(found.audit, night=closed)
            return work.linked(made, job) if pages else made


def _whole(listing: Listing) -> bool:
    """Whether all that a source holds was listed: else silence means nothing."""
    state = SourceState(listing.source, runs=listing.runs, missing=listing.missing)
    return listing.full and not listing.unread and not state.shrunk


@dataclass(frozen=True)
class _Work:
    """What a night does before its issues are made."""

    store: Store
    night: Night
    asked: _Asked
    plans: Sequence[Plan]

    @property
    def units(self) -> list[Unit]:
        """What is to be judged."""
        return [unit for plan in self.plans for unit in plan.changed]

    @property
    def whole(self) -> set[str]:
        """The sources of which all was listed."""
        return {plan.source for plan in self.plans if _whole(plan.listing)}

    def judge(self, job: Job) -> None:
        """Judge what changed and store each result at once."""
        judged_with = versions.judging(self.asked.settings)
        units, tell = self.units, self.asked.tell
        unchanged = sum(plan.unchanged for plan in self.plans)
        tell(Progress(0, len(units), unchanged))
        for plan in self.plans:
            for lost in _take(self.store, self.night, plan, judged_with):
                tell(Progress(0, len(units), unchanged, lost))
        for done, judged in enumerate(_results(units, job, self.asked), 1):
            if judged.aside and judged.unread:
                self.store.set_aside(self.night, judged.unit, judged.unread)
            else:
                self.store.put(self.night, [judged], judged_with)
            tell(Progress(done, len(units), unchanged, judged))

    def linked(self, audit: Audit, job: Job) -> Audit:
        """Return the audit with links to the pages of its runs with a fault.

        Those that lack were not judged tonight: they are drawn now.
        """
        if job.pages is None:
            return audit
        known = {place: unit for plan in self.plans for place, unit in plan.units.items()}
        places = of_place(job.pages.missing(audit.runs, job.settings), known)
        lack = [known[place] for place in places]
        if len(lack) < FEW:
            for unit in lack:
                draw(unit, job)
        else:
            for _ in schedule.results(lack, job, self.asked.jobs, judge=draw, fetching=False):
                pass
        return job.pages.linked(audit, job.settings)


def _take(store: Store, night: Night, plan: Plan, judged_with: str) -> Iterator[Judged]:
    """Store what a listing says by itself; hand out what could not be read."""
    listing = plan.listing
    store.listed(night, listing)
    if listing.unread:
        yield Judged(Unit(plan.source, plan.source, ""), unread=listing.unread)
        return
    store.forget(plan.source, plan.moved)
    store.found_again(plan.source, plan.again)
    if plan.accepted or _whole(listing):
        store.miss(night, plan.source, plan.missed)
    for unread in plan.unread:
        lost = Judged(Unit(plan.source, unread.place, ""), unread=unread)
        store.put(night, [lost], judged_with)
        yield lost


def _planned(store: Store, night: Night, asked: _Asked) -> list[Plan]:
    """Return what is to be done for each source."""
    judged_with = versions.judging(asked.settings)
    acks = store.acks(asked.sources)
    plans = []
    for source in asked.sources:
        known = store.known_stamps(source)
        if not (known or asked.cluster):
            schedule.prepare()  # all of a new source is judged: workers begin while it is listed
        chosen = Chosen(
            known, judged_with, asked.since, night.number, asked.filters, asked.settings
        )
        plan = planned(source, chosen)
        plan.accepted = fingerprint(SHRANK, source, source) in acks
        plans.append(plan)
    return plans


def _results(units: Iterable[Unit], job: Job, asked: _Asked) -> Iterator[Judged]:
    if asked.cluster:
        from runlens.auditing import cluster

        return cluster.results(units, job, asked.cluster)
    return schedule.results(units, job, asked.jobs)


def _cache(
    given: str | Path | bool | None,
    units: Iterable[Unit],
    stack: ExitStack,
) -> str:
    """Return the folder of histories; a passing one where none is kept but runs are fetched."""
    if given is False:
        remote = any(unit.remote for unit in units)
        return stack.enter_context(_passing()) if remote else ""
    if given is None or given is True:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return str(Path(home, "runlens", "histories"))
    return str(given)


def _passing() -> TemporaryDirectory[str]:
    """Return a folder that goes with this process, or with the next that connects to a server."""
    from runlens.sources.wandb_api.client import HOME

    return TemporaryDirectory(prefix=f"{HOME}{os.getpid()}-")


class _Night(NamedTuple):
    """What a night gives, and all issues that are to be stored."""

    audit: Audit
    issues: tuple[Issue, ...]


def _night(store: Store, night: Night, asked: _Asked, listed: Collection[str]) -> _Night:
    """Return the issues of all runs, and what is told of the night."""
    moment = datetime.strptime(night.date, DATE).replace(tzinfo=UTC).timestamp()
    rows = tuple(store.runs(*asked.sources))
    found = crossrun.findings(rows, moment, asked.settings.cross_rules())
    crossed = [asked.settings.lowered_crossed(one) for one in found]
    states = store.source_states(night)
    lost = {
        fingerprint(SHRANK, one.source, one.source): shrunk(one) for one in states if one.shrunk
    }
    tonight = Tonight(
        night,
        store.fresh(night),
        listed,
        store.acks(asked.sources),
        asked.settings.gpu_hour_price,
    )
    known = store.known_issues(asked.sources)
    made = issues.issues(rows, known, tonight, crossed, lost)
    told = tuple(one for one in made if one.open or one.changed == night.number)
    last = last_night(told, rows, tonight)
    audit = Audit(
        night,
        verdict(told, rows, states),
        told,
        rows,
        store.unread(*asked.sources),
        issues.expected_false_alarms(rows),
        sources=states,
        ledger=ledger(rows, set(last["ended"]), tonight.price),
        gpu_hour_price=tonight.price,
        **last,
    )
    trends = (*store.trends(asked.sources), trend(audit))
    return _Night(replace(audit, trend=trends), made)
