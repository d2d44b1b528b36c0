"""One night: what changed is judged and stored run by run, then the issues of all runs.

Killed at any point and started again, a night goes on where it was: what is stored is not judged
again, and issues are made only when all is stored, in the transaction that closes the night.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from runlens import crossrun
from runlens.auditing import issues, schedule, versions
from runlens.auditing.plan import Chosen, Plan, Unit, named, planned, seconds
from runlens.auditing.store import Store
from runlens.auditing.work import Job, Judged
from runlens.errors import BadSettings
from runlens.nights import Audit, Issue, Night, RunRow
from runlens.settings import Settings
from runlens.sources.addresses import is_on_server
from runlens.wording import count

DATE = "%Y-%m-%dT%H:%M:%SZ"


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
    )
    began = time.monotonic()
    with Store(store) as opened:
        night = opened.open_night(asked.sources, moment.strftime(DATE))
        _judge_all(opened, night, asked, cache)
        rows = tuple(opened.runs(*asked.sources))
        made = _issues(opened, night, rows, asked)
        night = opened.close_night(night, made, round(time.monotonic() - began, 1))
        return Audit(
            night,
            verdict(made, rows),
            made,
            rows,
            opened.unread(*asked.sources),
            issues.expected_false_alarms(rows),
        )


def _judge_all(store: Store, night: Night, asked: _Asked, cache: str | Path | bool | None) -> None:
    """Judge what changed and store each result at once."""
    judged_with = versions.judging(asked.settings)
    plans = [_planned(store, source, asked, judged_with) for source in asked.sources]
    units = [unit for plan in plans for unit in plan.changed]
    unchanged = sum(plan.unchanged for plan in plans)
    asked.tell(Progress(0, len(units), unchanged))
    for plan in plans:
        store.forget(plan.source, plan.gone)
        for unread in plan.unread:
            lost = Judged(Unit(plan.source, unread.place, ""), unread=unread)
            store.put(night, [lost], judged_with)
            asked.tell(Progress(0, len(units), unchanged, lost))
    with ExitStack() as stack:
        job = Job(asked.settings, _cache(cache, units, stack))
        for done, judged in enumerate(_results(units, job, asked), 1):
            if judged.aside and judged.unread:
                store.set_aside(night, judged.unit, judged.unread)
            else:
                store.put(night, [judged], judged_with)
            asked.tell(Progress(done, len(units), unchanged, judged))


def _planned(store: Store, source: str, asked: _Asked, judged_with: str) -> Plan:
    known = store.known_stamps(source)
    chosen = Chosen(known, judged_with, asked.since, asked.filters, asked.settings)
    return planned(source, chosen)


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
        return stack.enter_context(TemporaryDirectory(prefix="runlens-")) if remote else ""
    if given is None or given is True:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return str(Path(home, "runlens", "histories"))
    return str(given)


def _issues(
    store: Store, night: Night, rows: tuple[RunRow, ...], asked: _Asked
) -> tuple[Issue, ...]:
    moment = datetime.strptime(night.date, DATE).replace(tzinfo=UTC).timestamp()
    found = crossrun.findings(rows, moment, asked.settings.cross_rules())
    crossed = [asked.settings.lowered_crossed(one) for one in found]
    price = asked.settings.gpu_hour_price
    known = store.known_issues(asked.sources)
    return issues.issues(rows, known, night, fresh=store.fresh(night), crossed=crossed, price=price)


def verdict(found: Iterable[Issue], rows: tuple[RunRow, ...]) -> str:
    """Return the night in one sentence: the largest of what is new, or that nothing is."""
    some = list(found)
    new = [issue for issue in some if issue.state in {"new", "back"}]
    if not new:
        ongoing = sum(issue.state == "ongoing" for issue in some)
        return f"Nothing new: {count(len(rows), 'run')} read, {count(ongoing, 'ongoing issue')}."
    worst = max(new, key=lambda issue: (-issue.loudness, issue.gpu_hours, len(issue.runs)))
    spent = f", {worst.gpu_hours:,.0f} GPU-hours after onset" if worst.gpu_hours >= 1 else ""
    return (
        f"{count(len(new), 'new issue')} since last night: the largest is {worst.rule} in"
        f" {count(len(worst.runs), 'run')} of {worst.group}{spent}."
    )
