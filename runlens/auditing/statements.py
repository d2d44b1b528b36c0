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
    Update,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    select,
    update,
)

from runlens.auditing import schema
from runlens.auditing.known import Judgement, Listing, Stamped
from runlens.auditing.schema import (
    findings,
    issue_nights,
    issue_runs,
    issues,
    nights,
    runs,
    sources,
    units,
)
from runlens.nights import Issue, Night, Trend, Unread

Columns = dict[str, Any]  # one row, by column
MOST_PLACES = 500  # in one question
GONE_AFTER = 2  # nights on which a place was looked for by itself, and was not there

_DELETE_RUNS = tuple(
    delete(table).where(table.c.source == bindparam("s"), table.c.run_key == bindparam("k"))
    for table in (findings, runs)
)
_DELETE_UNITS = delete(units).where(
    units.c.source == bindparam("s"), units.c.place == bindparam("u")
)


def audit_of(asked: Sequence[str]) -> str:
    """Return what names an audit of these sources in the tables."""
    return sha256(listed(asked).encode()).hexdigest()[:16]


def listed(asked: Sequence[str]) -> str:
    """Return the sources of an audit as the table has them."""
    return json.dumps(sorted(set(asked)))


def where(table: Table, **values: str | int) -> ColumnElement[bool]:
    """Return the condition that columns of a table have these values."""
    return and_(*(table.c[name] == value for name, value in values.items()))


def of(table: Table, **values: str | int) -> Select[Any]:
    """Return the rows of a table whose columns have these values."""
    return select(table).where(where(table, **values))


def night_of(row: Row[Any], asked: Sequence[str]) -> Night:
    """Return a row of `nights`."""
    return Night(row.night, row.date, tuple(asked), row.read, row.unchanged, row.seconds)


def open_night(connection: Connection, asked: Sequence[str], date: str) -> Row[Any]:
    """Return the open night of an audit, or a new one.

    Nights of all audits that share a source are counted together, so that of two nights of a
    source the later one has the higher number.
    """
    audit = audit_of(asked)
    if not connection.execute(of(schema.audits, audit=audit)).all():
        connection.execute(insert(schema.audits), {"audit": audit, "sources": listed(asked)})
    newest = of(nights, audit=audit).order_by(nights.c.night.desc()).limit(1)
    last = connection.execute(newest).one_or_none()
    before = select(func.max(sources.c.night)).where(sources.c.source.in_(asked))
    taken = connection.execute(before).scalar() or 0
    if last and last.open and last.night > taken:
        return last
    number = 1 + max(taken, last.night if last else 0)
    if last and last.open:  # another audit was faster
        mine = where(nights, audit=audit, night=last.night)
        connection.execute(update(nights).where(mine).values(night=number))
        return connection.execute(newest).one()
    row = {"audit": audit, "night": number, "date": date, "open": True}
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
    again = before is not None and before.night == night.number
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
        "missed": 0,
        "missed_on": 0,
        "gone": "",
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
        _each(connection, [_DELETE_UNITS], gone)
        connection.execute(insert(units), rows)


def put_rows(connection: Connection, judged: Sequence[Judgement]) -> None:
    """Insert or replace the runs of units, with their findings.

    Where not all of a run came, and less than is known, what is known stays.
    """
    new, found = [], []
    places: dict[str, list[str]] = {}
    for one in judged:
        if one.unit.part and _is_less(connection, one):
            continue
        source, place = one.unit.source, one.unit.place
        places.setdefault(source, []).append(place)
        new += [schema.run_columns(source, place, row) for row in one.rows]
        found += [columns for row in one.rows for columns in schema.finding_columns(source, row)]
    for source, mine in places.items():
        _delete_runs(connection, source, mine)
    # a run may have moved here from a unit that is not among these
    _each(connection, _DELETE_RUNS, [{"s": row["source"], "k": row["run_key"]} for row in new])
    if new:
        connection.execute(insert(runs), new)
    if found:
        connection.execute(insert(findings), found)


def _is_less(connection: Connection, judged: Judgement) -> bool:
    """Whether a unit shows less of its runs than is known of them."""
    mine = where(runs, source=judged.unit.source, unit=judged.unit.place)
    known = connection.execute(select(func.max(runs.c.steps)).where(mine)).scalar()
    return known is not None and known > max((row.steps for row in judged.rows), default=-1)


def forget(connection: Connection, source: str, places: Sequence[str]) -> None:
    """Delete units with all that was known of them."""
    _delete_runs(connection, source, places)
    _each(connection, [_DELETE_UNITS], [{"s": source, "u": place} for place in places])


def _delete_runs(connection: Connection, source: str, places: Sequence[str]) -> None:
    """Delete the runs of these units: first asked, then by key, which no planner can get wrong."""
    for start in range(0, len(places), MOST_PLACES):
        some = places[start : start + MOST_PLACES]
        mine = and_(runs.c.source == source, runs.c.unit.in_(some))
        keys = connection.scalars(select(runs.c.run_key).where(mine)).all()
        _each(connection, _DELETE_RUNS, [{"s": source, "k": key} for key in keys])


def _each(
    connection: Connection, kinds: Sequence[Delete | Update], which: Sequence[Columns]
) -> None:
    for kind in kinds if which else ():
        connection.execute(kind, which)


def put_issues(
    connection: Connection, asked: Sequence[str], night: int, given: Sequence[Issue]
) -> None:
    """Insert or replace issues, their runs, and how this night saw them."""
    for source in asked:
        connection.execute(
            delete(issue_nights).where(where(issue_nights, source=source, night=night))
        )
    if not given:
        return
    names = [{"s": issue.source, "f": issue.fingerprint} for issue in given]
    for table in (issues, issue_runs):
        mine = and_(table.c.source == bindparam("s"), table.c.fingerprint == bindparam("f"))
        connection.execute(delete(table).where(mine), names)
    rows = [
        schema.issue_columns(issue) | {"source": issue.source, "position": place}
        for place, issue in enumerate(given)
    ]
    connection.execute(insert(issues), rows)
    links = [
        {"source": one.source, "fingerprint": one.fingerprint, "position": place, "run_key": key}
        for one in given
        for place, key in enumerate(one.runs)
    ]
    if links:
        connection.execute(insert(issue_runs), links)
    told = [_seen(night, one) for one in given if one.open or one.changed in {0, night}]
    if told:
        connection.execute(insert(issue_nights), told)


def _seen(night: int, issue: Issue) -> Columns:
    names = ("source", "fingerprint", "state", "detail", "severity", "gpu_hours")
    row = {name: getattr(issue, name) for name in names}
    return row | {"night": night, "runs": len(issue.runs)}


def name_findings(connection: Connection, asked: Sequence[str]) -> None:
    """Write into the findings the fingerprint of the issue that they belong to."""
    fingerprint = (
        select(func.coalesce(func.min(issues.c.fingerprint), ""))
        .join(
            issue_runs,
            and_(
                issue_runs.c.source == issues.c.source,
                issue_runs.c.fingerprint == issues.c.fingerprint,
            ),
        )
        .where(
            issues.c.source == findings.c.source,
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
        [{"s": source} for source in asked],
    )


def fresh(connection: Connection, source: str) -> set[str]:
    """Return the keys of the runs that are new or changed since the last closed night."""
    same = and_(units.c.source == runs.c.source, units.c.place == runs.c.unit)
    closed = select(sources.c.night).where(sources.c.source == source).scalar_subquery()
    mine = and_(
        where(units, source=source, fresh=True, tries=0, gone=""),
        units.c.night > func.coalesce(closed, 0),
    )
    return set(connection.execute(select(runs.c.run_key).join(units, same).where(mine)).scalars())


def miss(connection: Connection, night: Night, source: str, places: Sequence[str]) -> None:
    """Count that places were looked for by themselves and were not there; once a night."""
    mine = and_(
        units.c.source == bindparam("s"),
        units.c.place == bindparam("u"),
        units.c.missed_on != night.number,
        units.c.gone == "",
    )
    changed = (
        update(units)
        .where(mine)
        .values(
            missed=units.c.missed + 1,
            missed_on=night.number,
            gone=case((units.c.missed + 1 >= GONE_AFTER, night.date), else_=""),
        )
    )
    _each(connection, [changed], [{"s": source, "u": place} for place in places])


def found_again(connection: Connection, source: str, places: Sequence[str]) -> None:
    """Take back that places were missing, or gone."""
    mine = and_(units.c.source == bindparam("s"), units.c.place == bindparam("u"))
    changed = update(units).where(mine).values(missed=0, missed_on=0, gone="")
    _each(connection, [changed], [{"s": source, "u": place} for place in places])


def put_listing(connection: Connection, night: Night, one: Listing) -> None:
    """Keep how well a source was listed; a failure is counted once a night."""
    before = connection.execute(of(sources, source=one.source)).one_or_none()
    kept = before._asdict() if before else blank_source(one.source)
    unread = one.unread
    if unread:
        again = kept["tried"] == night.number and kept["tries"] > 0
        kept |= {"tries": kept["tries"] + (not again), "tried": night.number}
        kept |= {"error": unread.why or "cannot be listed", "what_to_do": unread.what_to_do}
    else:
        kept |= {"tries": 0, "tried": night.number, "error": "", "what_to_do": ""}
        kept |= {"first": kept["first"] or night.number}
    if one.full and not unread:
        kept |= {"listed": night.date, "runs": one.runs, "missing": one.missing}
    connection.execute(delete(sources).where(where(sources, source=one.source)))
    connection.execute(insert(sources), kept)


def blank_source(source: str) -> Columns:
    """Return a source that was never listed."""
    row: Columns = dict.fromkeys(("night", "runs", "missing", "tries", "tried", "first"), 0)
    return row | {"source": source, "listed": "", "error": "", "what_to_do": ""}


def close_sources(connection: Connection, asked: Sequence[str], night: int) -> None:
    """Keep that a night of these sources was closed."""
    for source in asked:
        if not connection.execute(of(sources, source=source)).all():
            connection.execute(insert(sources), blank_source(source))
        mine = where(sources, source=source)
        connection.execute(update(sources).where(mine).values(night=night))


def counted(connection: Connection, night: int, asked: Sequence[str]) -> tuple[int, int]:
    """Return how many runs were read on a night, and how many there are."""
    same = and_(units.c.source == runs.c.source, units.c.place == runs.c.unit)
    total, new = 0, 0
    for source in asked:
        chosen = select(func.count()).select_from(runs.join(units, same))
        there = where(units, source=source, gone="")
        total += connection.execute(chosen.where(there)).scalar_one()
        read = where(units, source=source, gone="", night=night, tries=0)
        new += connection.execute(chosen.where(read)).scalar_one()
    return new, total


def trend_columns(trend: Trend) -> dict[str, float]:
    """Return what a night was as the columns of `nights`."""
    plain = trend._asdict()
    return {name: plain[name] for name in ("ran", "broke", "issues", "gpu_hours", "wasted")}


def close(connection: Connection, audit: str, night: int, values: Mapping[str, float]) -> None:
    """Close a night with its numbers."""
    mine = where(nights, audit=audit, night=night)
    connection.execute(update(nights).where(mine).values(open=False, **values))
