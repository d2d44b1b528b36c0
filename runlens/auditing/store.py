"""What an audit keeps from night to night: units, runs, findings, issues and nights, in SQL.

Each method is one transaction, and doing it twice is doing it once: an audit that is killed at
any point and started again leaves the store of an undisturbed one.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import select

from runlens.auditing import schema, statements
from runlens.auditing.databases import opened
from runlens.auditing.known import IssueNight, Judgement, Known, Stamped
from runlens.auditing.migrations import migrate
from runlens.auditing.schema import issue_nights, issues, nights, runs, units
from runlens.auditing.statements import audit_of, night_of, of, unit_columns
from runlens.errors import BadStore
from runlens.nights import Issue, Night, RunRow, Unread

PAGE = 500  # rows fetched at a time
SHOWN_SOURCES = 3  # in a message


class Store:
    """The store of an audit: `with Store("audit.db") as store: ...`."""

    def __init__(self, place: str | Path) -> None:
        """Open or make a store at a file path or at `postgresql://user@host/database`.

        Raises:
            BadStore: in one line, where it cannot be used.

        """
        self._database = opened(place)
        self._locked = ""  # the audit that this process holds
        try:
            migrate(self._database)
        except BaseException:
            self._database.close()
            raise

    @property
    def shown(self) -> str:
        """Its name without password."""
        return self._database.shown

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about where it lies."""
        return self._database.notes

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; a night that is open stays open, to be continued."""
        self._database.close()

    def open_night(self, sources: Sequence[str], date: str) -> Night:
        """Begin a night of these sources, or continue the one that was never closed.

        Nobody else may audit the same sources in this store until the night or the store is
        closed, or this process ends, however it ends.

        Args:
            sources: what is audited; their order means nothing.
            date: of a night that begins, ISO, UTC. One that is continued keeps its own.

        Raises:
            BadStore: where another audit of the same sources is at work.

        """
        audit = audit_of(sources)
        self._lock(audit, sources)
        with self._database.writing() as connection:
            return night_of(statements.open_night(connection, sources, date), sources)

    def nights(self, sources: Sequence[str]) -> tuple[Night, ...]:
        """Return all nights of these sources, the first first."""
        chosen = of(nights, audit=audit_of(sources)).order_by(nights.c.night)
        with self._database.reading() as connection:
            return tuple(night_of(row, sources) for row in connection.execute(chosen))

    def known_stamps(self, source: str) -> dict[str, Known]:
        """Return what is known of the units of a source, by place."""
        table = units.c
        chosen = select(
            table.place, table.stamp, table.judged_with, table.tries, table.set_aside
        ).where(table.source == source)
        with self._database.reading() as connection:
            return {place: Known(*rest) for place, *rest in connection.execute(chosen)}

    def put(self, night: Night, judged: Iterable[Judgement], judged_with: str) -> None:
        """Keep what came of these units, all of them or, if it fails, none.

        Of a unit that could not be read, what was known before stays; `tries` counts the nights
        on end on which that was so.

        Args:
            night: as `open_night` gave it.
            judged: a unit with its rows, or with why nothing could be read. Of one unit given
                twice, the last counts.
            judged_with: version of the rules and the limits.

        """
        last = {(one.unit.source, one.unit.place): one for one in judged}
        chosen = [last[name] for name in sorted(last)]
        with self._database.writing() as connection:
            statements.put_rows(connection, [one for one in chosen if not one.unread])
            rows = [
                unit_columns(connection, night, one.unit, one.unread, judged_with) for one in chosen
            ]
            statements.put_units(connection, rows)

    def set_aside(self, night: Night, unit: Stamped, unread: Unread) -> None:
        """Keep that a unit kills its workers: it is not to be tried before its stamp changes."""
        with self._database.writing() as connection:
            row = unit_columns(connection, night, unit, unread, "")
            statements.put_units(connection, [row | {"set_aside": True}])

    def forget(self, source: str, places: Iterable[str]) -> None:
        """Take units that are gone, and their runs, out of the store."""
        with self._database.writing() as connection:
            statements.forget(connection, source, list(places))

    def runs(self, *sources: str) -> Iterator[RunRow]:
        """Hand out the rows of all runs of these sources, by source and key, some at a time."""
        page = select(runs.c.run_key, runs.c.document).order_by(runs.c.run_key).limit(PAGE)
        for source in dict.fromkeys(sources):
            last: str | None = None
            while True:
                chosen = page.where(runs.c.source == source)
                chosen = chosen if last is None else chosen.where(runs.c.run_key > last)
                with self._database.reading() as connection:
                    rows = connection.execute(chosen).all()
                yield from (schema.row_of(row.document) for row in rows)
                if len(rows) < PAGE:
                    break
                last = rows[-1].run_key

    def fresh(self, night: Night) -> set[str]:
        """Return the keys of the runs that are new or grew on a night."""
        with self._database.reading() as connection:
            return statements.fresh(connection, audit_of(night.sources), night.number)

    def unread(self, *sources: str) -> tuple[Unread, ...]:
        """Return what could not be read when it was last tried, by source and place."""
        table = units.c
        chosen = select(table.place, table.error, table.what_to_do, table.tries)
        chosen = chosen.where(table.error != "").order_by(table.place)
        with self._database.reading() as connection:
            return tuple(
                Unread(*row)
                for source in dict.fromkeys(sources)
                for row in connection.execute(chosen.where(table.source == source))
            )

    def known_issues(self, sources: Sequence[str]) -> tuple[Issue, ...]:
        """Return all issues that these sources ever had, in the order last given."""
        audit = audit_of(sources)
        chosen = select(issues.c.document).where(issues.c.audit == audit)
        chosen = chosen.order_by(issues.c.position, issues.c.fingerprint)
        with self._database.reading() as connection:
            return tuple(schema.issue_of(text) for text in connection.scalars(chosen))

    def issue_nights(self, sources: Sequence[str]) -> tuple[IssueNight, ...]:
        """Return which night saw which issue in which state, by night."""
        table = issue_nights.c
        chosen = select(*(table[name] for name in IssueNight._fields))
        chosen = chosen.where(table.audit == audit_of(sources))
        chosen = chosen.order_by(table.night, table.fingerprint)
        with self._database.reading() as connection:
            return tuple(IssueNight(*row) for row in connection.execute(chosen))

    def close_night(self, night: Night, given: Sequence[Issue], seconds: float = 0.0) -> Night:
        """Keep the issues of a night and close it; return it with what was read on it.

        Issues that are not among `given` stay as they were known.
        """
        audit = audit_of(night.sources)
        with self._database.writing() as connection:
            statements.put_issues(connection, audit, night.number, given)
            sources = sorted(set(night.sources))
            statements.name_findings(connection, audit, sources)
            read, total = statements.counted(connection, audit, night.number, sources)
            numbers = {"read": read, "unchanged": total - read, "seconds": seconds}
            statements.close(connection, audit, night.number, numbers)
        if self._locked == audit:
            self._locked = ""
            self._database.unlock()
        return night._replace(read=read, unchanged=total - read, seconds=seconds)

    def _lock(self, audit: str, sources: Sequence[str]) -> None:
        if self._locked == audit:
            return
        if self._locked:
            raise BadStore(self.shown, "one night at a time: close the open one first")
        if not self._database.lock(audit):
            names = sorted(set(sources))
            more = ", ..." if len(names) > SHOWN_SOURCES else ""
            shown = ", ".join(names[:SHOWN_SOURCES]) + more
            raise BadStore(
                self.shown, f"another audit of {shown} is at work; wait until it has ended"
            )
        self._locked = audit
