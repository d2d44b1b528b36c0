"""The statements that a store is made of: each takes a connection and is part of a transaction."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Row,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from runlens.auditing import schema
from runlens.auditing.known import Judgement, Stamped
from runlens.auditing.schema import findings, issue_nights, issue_runs, issues, nights, runs, units
from runlens.nights import Issue, Night, Unread

Columns = dict[str, Any]  # one row, by column
MOST_PLACES = 500  # in one question

_DELETE_RUNS = tuple(
    delete(table).where(table.c.source == bindparam("s"), table.c.run_key == bindparam("k"))
    for table in (findings, runs)
)
_DELETE_UNITS = delete(units).where(
    units.c.source == bindparam("s"), units.c.place == bindparam("u")
)


def audit_of(sources: Sequence[str]) -> str:
    """Return what names an audit of these sources in the tables."""
    return sha256(listed(sources).encode()).hexdigest()[:16]


def listed(sources: Sequence[str]) -> str:
    """Return the sources of an audit as the table has them."""
    return json.dumps(sorted(set(sources)))


def where(table: Table, **values: str | int) -> ColumnElement[bool]:
    """Return the condition that columns of a table have these values."""
    return and_(*(table.c[name] == value for name, value in values.items()))


def of(table: Table, **values: str | int) -> Select[Any]:
    """Return the rows of a table whose columns have these values."""
    return select(table).where(where(table, **values))


def night_of(row: Row[Any], sources: Sequence[str]) -> Night:
    """Return a row of `nights`."""
    return Night(row.night, row.date, tuple(sources), row.read, row.unchanged, row.seconds)


def open_night(connection: Connection, sources: Sequence[str], date: str) -> Row[Any]:
    """Return the open night of an audit, or a new one."""
    audit = audit_of(sources)
    if not connection.execute(of(schema.audits, audit=audit)).all():
        connection.execute(insert(schema.audits), {"audit": audit, "sources": listed(sources)})
    newest = of(nights, audit=audit).order_by(nights.c.night.desc()).limit(1)
    last = connection.execute(newest).one_or_none()
    if last and last.open:
        return last
    row = {"audit": audit, "night": last.night + 1 if last else 1, "date": date, "open": True}
    connection.execute(insert(nights), row | {"read": 0, "unchanged": 0, "seconds": 0.0})
    return connection.execute(newest).one()


def unit_columns(
    connection: Connection,
    night: Night,
    unit: Stamped,
    unread: Unread | None,
    judged_with: str,
) -> Columns:
    """Return a unit as the columns of `units`; a failure is counted once a night."""
    known = of(units, source=unit.source, place=unit.place)
    before = connection.execute(known).one_or_none()
    tonight = (audit_of(night.sources), night.number)
    again = before is not None and (before.audit, before.night) == tonight
    fresh = unit.fresh or (before is not None and again and bool(before.fresh))
    row = {
        "source": unit.source,
        "place": unit.place,
        "stamp": unit.stamp,
        "judged_with": judged_with,
        "tries": 0,
        "error": "",
        "what_to_do": "",
        "set_aside": False,
        "audit": audit_of(night.sources),
        "night": night.number,
        "fresh": fresh,
    }
    if not unread:
        return row
    tries = before.tries if before else 0
    return row | {
        "judged_with": "",
        "tries": tries if again and tries else tries + 1,
        "error": unread.why or "nothing could be read",
        "what_to_do": unread.what_to_do,
    }


def put_units(connection: Connection, rows: Sequence[Columns]) -> None:
    """Insert or replace units."""
    if rows:
        gone = [{"s": row["source"], "u": row["place"]} for row in rows]
        _delete(connection, [_DELETE_UNITS], gone)
        connection.execute(insert(units), rows)


def put_rows(connection: Connection, judged: Sequence[Judgement]) -> None:
    """Insert or replace the runs of units, with their findings."""
    new, found = [], []
    places: dict[str, list[str]] = {}
    for one in judged:
        source, place = one.unit.source, one.unit.place
        places.setdefault(source, []).append(place)
        new += [schema.run_columns(source, place, row) for row in one.rows]
        found += [columns for row in one.rows for columns in schema.finding_columns(source, row)]
    for source, mine in places.items():
        _delete_runs(connection, source, mine)
    # a run may have moved here from a unit that is not among these
    _delete(connection, _DELETE_RUNS, [{"s": row["source"], "k": row["run_key"]} for row in new])
    if new:
        connection.execute(insert(runs), new)
    if found:
        connection.execute(insert(findings), found)


def forget(connection: Connection, source: str, places: Sequence[str]) -> None:
    """Delete units with all that was known of them."""
    _delete_runs(connection, source, places)
    _delete(connection, [_DELETE_UNITS], [{"s": source, "u": place} for place in places])


def _delete_runs(connection: Connection, source: str, places: Sequence[str]) -> None:
    """Delete the runs of these units: first asked, then by key, which no planner can get wrong."""
    for start in range(0, len(places), MOST_PLACES):
        some = places[start : start + MOST_PLACES]
        mine = and_(runs.c.source == source, runs.c.unit.in_(some))
        keys = connection.scalars(select(runs.c.run_key).where(mine)).all()
        _delete(connection, _DELETE_RUNS, [{"s": source, "k": key} for key in keys])


def _delete(connection: Connection, kinds: Sequence[Delete], which: Sequence[Columns]) -> None:
    for kind in kinds if which else ():
        connection.execute(kind, which)


def put_issues(connection: Connection, audit: str, night: int, given: Sequence[Issue]) -> None:
    """Insert or replace issues, their runs, and how this night saw them."""
    connection.execute(delete(issue_nights).where(where(issue_nights, audit=audit, night=night)))
    if not given:
        return
    names = [{"a": audit, "f": issue.fingerprint} for issue in given]
    for table in (issues, issue_runs):
        mine = and_(table.c.audit == bindparam("a"), table.c.fingerprint == bindparam("f"))
        connection.execute(delete(table).where(mine), names)
    connection.execute(
        insert(issues), [_issue(audit, place, issue) for place, issue in enumerate(given)]
    )
    links = [
        {"audit": audit, "fingerprint": issue.fingerprint, "position": place, "run_key": key}
        for issue in given
        for place, key in enumerate(issue.runs)
    ]
    if links:
        connection.execute(insert(issue_runs), links)
    connection.execute(insert(issue_nights), [_seen(audit, night, issue) for issue in given])


def _issue(audit: str, position: int, issue: Issue) -> Columns:
    return schema.issue_columns(issue) | {"audit": audit, "position": position}


def _seen(audit: str, night: int, issue: Issue) -> Columns:
    names = ("fingerprint", "state", "severity", "gpu_hours")
    row = {name: getattr(issue, name) for name in names}
    return row | {"audit": audit, "night": night, "runs": len(issue.runs)}


def name_findings(connection: Connection, audit: str, sources: Sequence[str]) -> None:
    """Write into the findings the fingerprint of the issue that they belong to."""
    fingerprint = (
        select(func.coalesce(func.min(issues.c.fingerprint), ""))
        .join(
            issue_runs,
            and_(
                issue_runs.c.audit == issues.c.audit,
                issue_runs.c.fingerprint == issues.c.fingerprint,
            ),
        )
        .where(
            issues.c.audit == audit,
            issues.c.rule == findings.c.rule,
            issue_runs.c.run_key == findings.c.run_key,
        )
        .scalar_subquery()
    )
    mine = and_(
        findings.c.source == bindparam("s"),
        findings.c.fingerprint.is_distinct_from(fingerprint),
    )
    connection.execute(
        update(findings).where(mine).values(fingerprint=fingerprint),
        [{"s": source} for source in sources],
    )


def fresh(connection: Connection, audit: str, night: int) -> set[str]:
    """Return the keys of the runs whose units were new or had changed on a night."""
    same = and_(units.c.source == runs.c.source, units.c.place == runs.c.unit)
    mine = where(units, audit=audit, night=night, fresh=True, tries=0)
    return set(connection.execute(select(runs.c.run_key).join(units, same).where(mine)).scalars())


def counted(
    connection: Connection, audit: str, night: int, sources: Sequence[str]
) -> tuple[int, int]:
    """Return how many runs were read on a night, and how many there are."""
    same = and_(units.c.source == runs.c.source, units.c.place == runs.c.unit)
    read = where(units, audit=audit, night=night, tries=0)
    total, new = 0, 0
    for source in sources:
        chosen = select(func.count()).select_from(runs).where(runs.c.source == source)
        total += connection.execute(chosen).scalar_one()
        chosen = select(func.count()).select_from(runs.join(units, same))
        new += connection.execute(chosen.where(runs.c.source == source, read)).scalar_one()
    return new, total


def close(connection: Connection, audit: str, night: int, values: Mapping[str, float]) -> None:
    """Close a night with its numbers."""
    mine = where(nights, audit=audit, night=night)
    connection.execute(update(nights).where(mine).values(open=False, **values))
