"""From version 1 of a store to version 2: issues belong to their source; places may be gone."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Integer, MetaData, Table, Text, select, text
from sqlalchemy.schema import DropTable

from runlens.auditing import schema
from runlens.auditing.schema import Words
from runlens.nights import ANY_STEP, Issue, Mark

LONG_AGO = 14  # nights; what was resolved before needs no second look
NEW_COLUMNS = (
    ("units", "missed INTEGER DEFAULT 0"),
    ("units", "missed_on INTEGER DEFAULT 0"),
    ("units", "gone TEXT DEFAULT ''"),
    ("nights", "ran INTEGER DEFAULT 0"),
    ("nights", "broke INTEGER DEFAULT 0"),
    ("nights", "issues INTEGER DEFAULT 0"),
    ("nights", "gpu_hours DOUBLE PRECISION DEFAULT 0"),
    ("nights", "wasted DOUBLE PRECISION DEFAULT 0"),
)

# what is asked of the tables of version 1
_OLD = MetaData()
_audits = Table("audits", _OLD, Column("audit", Words), Column("sources", Words))
_nights = Table(
    "nights",
    _OLD,
    Column("audit", Words),
    Column("night", Integer),
    Column("date", Words),
    Column("open", Boolean),
)
_runs = Table("runs", _OLD, Column("source", Words), Column("run_key", Words))
_issues = Table(
    "issues", _OLD, Column("audit", Words), Column("position", Integer), Column("document", Text)
)
_links = Table("issue_runs", _OLD)
_seen = Table(
    "issue_nights",
    _OLD,
    *(Column(one.name, one.type) for one in schema.issue_nights.c if one.name != "detail"),
)
_SEEN = [one for one in _seen.c if one.name != "source"]


def issues_by_source(connection: Connection, prefix: str) -> None:
    """Migrate.

    An issue that two audits had is kept once, the open one before the resolved one. One that was
    resolved lately accounts for no run, so that it opens again where one still shows it: version 1
    lost some that way.
    """
    for table, column in NEW_COLUMNS:
        connection.execute(text(f"ALTER TABLE {prefix}{table} ADD COLUMN {column} NOT NULL"))
    connection.execute(text(f"DROP VIEW {prefix}unread"))
    old = _old_issues(connection)
    seen = [dict(row) for row in connection.execute(select(*_SEEN)).mappings()]
    for old_table in (_seen, _links, _issues):
        connection.execute(DropTable(old_table))
    schema.METADATA.create_all(connection)
    _take_issues(connection, old)
    for one in {(row["night"], row["fingerprint"]): row for row in seen}.values():
        if one["fingerprint"] in old:
            row = one | {"source": old[one["fingerprint"]].source, "detail": ""}
            connection.execute(schema.issue_nights.insert(), row)
    _take_sources(connection)
    for view in schema.VIEWS:
        connection.execute(text(view.format(prefix=prefix)))


def _old_issues(connection: Connection) -> dict[str, Issue]:
    """Return the issues of version 1 with their source, by fingerprint."""
    home = {key: source for source, key in connection.execute(select(*_runs.c))}
    asked = select(_audits.c.sources, _issues.c.document)
    asked = asked.join(_audits, _audits.c.audit == _issues.c.audit)
    found = []
    for sources, document in connection.execute(asked.order_by(_issues.c.position.desc())):
        issue = schema.issue_of(document)
        lies = [home[key] for key in issue.runs if key in home]
        found.append(replace(issue, source=lies[0] if lies else json.loads(sources)[0]))
    return {issue.fingerprint: issue for issue in sorted(found, key=lambda one: one.open)}


def _take_issues(connection: Connection, old: Mapping[str, Issue]) -> None:
    last = max((issue.last_night for issue in old.values()), default=0)
    for position, issue in enumerate(old.values()):
        long_ago = not issue.open and last - issue.last_night > LONG_AGO
        accounted = dict.fromkeys(issue.runs, Mark(ANY_STEP, 0)) if long_ago else {}
        new = replace(issue, accounted=accounted, changed=issue.last_night)
        row = schema.issue_columns(new) | {"source": issue.source, "position": position}
        connection.execute(schema.issues.insert(), row)
        for number, key in enumerate(issue.runs):
            link: dict[str, Any] = {"source": issue.source, "fingerprint": issue.fingerprint}
            link |= {"position": number, "run_key": key}
            connection.execute(schema.issue_runs.insert(), link)


def _take_sources(connection: Connection) -> None:
    asked = select(_audits.c.sources, _nights.c.night, _nights.c.date)
    asked = asked.join(_audits, _audits.c.audit == _nights.c.audit).where(~_nights.c.open)
    newest: dict[str, tuple[int, str]] = {}
    for sources, night, date in connection.execute(asked.order_by(_nights.c.night)):
        newest |= dict.fromkeys(json.loads(sources), (night, date))
    for source, (night, date) in newest.items():
        row: dict[str, Any] = dict.fromkeys(("runs", "missing", "tries", "tried"), 0)
        row |= {"source": source, "night": night, "listed": date, "first": 1}
        connection.execute(schema.sources.insert(), row | {"error": "", "what_to_do": ""})
