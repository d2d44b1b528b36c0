"""The tables of a store, as a team may query them, and how a row becomes JSON and back.

`document` is the whole run or issue; the other columns, `findings` and `issue_runs` repeat what
one would ask for. `sources` tells how well each source is known, `units` what was read with which
stamp, what could not be read, and what is gone: its runs stay, and are shown nowhere.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Double,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
)
from sqlalchemy.types import TypeEngine

from runlens.nights import Ack, Change, FoundRow, Issue, Mark, RunRow, SparkRow

NULL_AT = 0xF0000  # a private plane of Unicode: it stands for what databases refuse
REFUSED = {0: NULL_AT} | {code: NULL_AT + code for code in range(0xD800, 0xE000)}
MEANT = {stored: code for code, stored in REFUSED.items()}
ODD = "$float"  # JSON has no NaN and no infinities: {"$float": "nan"}
GREATEST = 2**63 - 1


class Words(TypeDecorator[str]):
    """Any Python string, ordered by code points on every database.

    The null character, and lone surrogates (bytes of file names that are no UTF-8), are refused
    by databases: they are kept as characters of a private plane.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        """Ask PostgreSQL for the order of SQLite, whatever its locale."""
        postgres = dialect.name == "postgresql"
        return dialect.type_descriptor(Text(collation="C") if postgres else Text())

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Replace what databases refuse."""
        del dialect
        if value is None or (value.isascii() and "\0" not in value):
            return value
        return value.translate(REFUSED)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Give back what was replaced."""
        del dialect
        return value if value is None or value.isascii() else value.translate(MEANT)


METADATA = MetaData()

version = Table(
    "runlens_schema",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("runlens", Words, nullable=False),  # that wrote it
)

audits = Table(
    "audits",
    METADATA,
    Column("audit", Words, primary_key=True),  # a digest of its sources
    Column("sources", Words, nullable=False),  # a JSON list
)

sources = Table(
    "sources",
    METADATA,
    Column("source", Words, primary_key=True),
    Column("night", Integer, nullable=False),  # the last one that was closed
    Column("listed", Words, nullable=False),  # when it was last listed, ISO, UTC; empty: never
    Column("runs", Integer, nullable=False),  # places that were listed then
    Column("missing", Integer, nullable=False),  # known places that were not
    Column("tries", Integer, nullable=False),  # nights on end on which it could not be listed
    Column("tried", Integer, nullable=False),  # the last night on which that was tried
    Column("error", Words, nullable=False),
    Column("what_to_do", Words, nullable=False),
    Column("first", Integer, nullable=False),  # night on which it was first listed
)

nights = Table(
    "nights",
    METADATA,
    Column("audit", Words, primary_key=True),
    Column("night", Integer, primary_key=True, autoincrement=False),  # 1, 2, ... of this audit
    Column("date", Words, nullable=False),
    Column("open", Boolean, nullable=False),
    Column("read", Integer, nullable=False),
    Column("unchanged", Integer, nullable=False),
    Column("seconds", Double, nullable=False),
    # of the runs that were new or went on since the last night
    Column("ran", Integer, nullable=False, server_default="0"),
    Column("broke", Integer, nullable=False, server_default="0"),
    Column("issues", Integer, nullable=False, server_default="0"),  # open, from warning on
    Column("gpu_hours", Double, nullable=False, server_default="0"),
    Column("wasted", Double, nullable=False, server_default="0"),
)

units = Table(
    "units",
    METADATA,
    Column("source", Words, primary_key=True),
    Column("place", Words, primary_key=True),
    Column("stamp", Words, nullable=False),
    Column("judged_with", Words, nullable=False),
    Column("tries", Integer, nullable=False),  # nights on end on which it could not be read
    Column("error", Words, nullable=False),  # why not
    Column("what_to_do", Words, nullable=False),
    Column("set_aside", Boolean, nullable=False),
    Column("audit", Words, nullable=False),  # that tried it last
    Column("night", Integer, nullable=False),
    Column("fresh", Boolean, nullable=False),  # new or changed on that night
    # nights on which it was looked for by itself, and was not there
    Column("missed", Integer, nullable=False, server_default="0"),
    Column("missed_on", Integer, nullable=False, server_default="0"),  # the last of them
    Column("gone", Words, nullable=False, server_default=""),  # since when, ISO, UTC
)

runs = Table(
    "runs",
    METADATA,
    Column("source", Words, primary_key=True),
    Column("run_key", Words, primary_key=True),
    Column("unit", Words, nullable=False),  # place of its unit
    Column("place", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("run_group", Words, nullable=False),
    Column("job", Words, nullable=False),
    Column("sweep", Words, nullable=False),
    Column("task", Words, nullable=False),
    Column("framework", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("health", Words, nullable=False),
    Column("verdict", Words, nullable=False),
    Column("steps", BigInteger, nullable=False),
    Column("planned_steps", BigInteger),
    Column("started", Double),  # seconds since 1970
    Column("ended", Double),
    Column("gpus", Integer, nullable=False),
    Column("document", Text, nullable=False),  # JSON: all of the row
    Index("runs_of_unit", "unit", "source"),  # so, a search by key cannot take it for its own
)

findings = Table(
    "findings",
    METADATA,
    Column("source", Words, primary_key=True),
    Column("run_key", Words, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("rule", Words, nullable=False),
    Column("severity", Words, nullable=False),
    Column("title", Words, nullable=False),
    Column("metric", Words, nullable=False),
    Column("onset", Double),  # step
    Column("onset_time", Double),  # seconds since 1970
    Column("leads", Boolean, nullable=False),
    Column("fingerprint", Words, nullable=False),  # of its issue; empty before a night is closed
    Index("findings_of_rule", "rule"),
)

issues = Table(
    "issues",
    METADATA,
    Column("source", Words, primary_key=True),
    Column("fingerprint", Words, primary_key=True),
    Column("position", Integer, nullable=False),  # in the order in which a page shows them
    Column("rule", Words, nullable=False),
    Column("severity", Words, nullable=False),
    Column("run_group", Words, nullable=False),
    Column("title", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("detail", Words, nullable=False),
    Column("first_night", Integer, nullable=False),
    Column("last_night", Integer, nullable=False),
    Column("gpu_hours", Double, nullable=False),
    Column("money", Double),
    Column("document", Text, nullable=False),  # JSON: all of the issue
)

issue_runs = Table(
    "issue_runs",
    METADATA,
    Column("source", Words, primary_key=True),
    Column("fingerprint", Words, primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),  # the worst first
    Column("run_key", Words, nullable=False),
    Index("issues_by_run", "source", "run_key"),
)

issue_nights = Table(
    "issue_nights",
    METADATA,
    Column("source", Words, primary_key=True),
    Column("night", Integer, primary_key=True, autoincrement=False),
    Column("fingerprint", Words, primary_key=True),
    Column("state", Words, nullable=False),
    Column("detail", Words, nullable=False),
    Column("severity", Words, nullable=False),
    Column("runs", Integer, nullable=False),
    Column("gpu_hours", Double, nullable=False),
)

acknowledgements = Table(
    "acknowledgements",
    METADATA,
    Column("fingerprint", Words, primary_key=True),
    Column("at", Words, primary_key=True),  # ISO, UTC
    Column("by", Words, nullable=False),
    Column("until", Words, nullable=False),  # ISO, UTC
    Column("note", Words, nullable=False),
    Column("ended", Words, nullable=False),  # when its issue was resolved; empty: it was not
)

messages = Table(
    "messages",
    METADATA,
    Column("audit", Words, primary_key=True),
    Column("night", Integer, primary_key=True, autoincrement=False),
    Column("address", Words, primary_key=True),  # a digest: addresses are secrets
    Column("title", Words, nullable=False),
    Column("body", Words, nullable=False),
    Column("document", Text, nullable=False),  # JSON: fingerprints and runs that it tells of
    Column("made", Words, nullable=False),  # ISO, UTC
    Column("delivered", Words, nullable=False),  # ISO, UTC; empty: not yet
    Column("tries", Integer, nullable=False),
    Column("error", Words, nullable=False),
)

# views, as a team may ask them; their columns stay
UNREAD = (
    "CREATE VIEW {prefix}unread AS SELECT source, place, error AS why, what_to_do, tries,"
    " set_aside FROM {prefix}units WHERE error <> '' AND gone = ''"
)
OPEN_ISSUES = (
    "CREATE VIEW {prefix}open_issues AS SELECT source, fingerprint, rule, severity, run_group,"
    " title, state, detail, first_night, last_night, gpu_hours, money FROM {prefix}issues"
    " WHERE state <> 'resolved'"
)
FAULTY_RUNS = (
    "CREATE VIEW {prefix}faulty_runs AS SELECT r.source, r.run_key, r.name, r.run_group,"
    " r.health, r.verdict, r.steps, r.started, r.ended, r.gpus FROM {prefix}runs r"
    " JOIN {prefix}units u ON u.source = r.source AND u.place = r.unit"
    " WHERE u.gone = '' AND r.health IN ('critical', 'warning')"
)
NIGHT_TRENDS = (
    "CREATE VIEW {prefix}night_trends AS SELECT a.sources, n.night, n.date, n.ran, n.broke,"
    " n.issues, n.gpu_hours, n.wasted FROM {prefix}nights n"
    " JOIN {prefix}audits a ON a.audit = n.audit WHERE NOT n.open"
)
VIEWS = (UNREAD, OPEN_ISSUES, FAULTY_RUNS, NIGHT_TRENDS)

_SAME_ISSUE = (
    "fingerprint",
    "rule",
    "severity",
    "title",
    "state",
    "detail",
    "first_night",
    "last_night",
)
_SAME = ("place", "name", "job", "sweep", "task", "framework", "state", "health", "verdict")


def run_columns(source: str, unit: str, row: RunRow) -> dict[str, Any]:
    """Return a row as the columns of `runs`."""
    plan = row.planned_steps
    return {name: getattr(row, name) for name in _SAME} | {
        "source": source,
        "run_key": row.key,
        "unit": unit,
        "run_group": row.group,
        "steps": _whole(row.steps),
        "planned_steps": None if plan is None else _whole(plan),
        "started": number(row.started),
        "ended": number(row.ended),
        "gpus": min(_whole(row.gpus), 2**31 - 1),
        "document": document(row),
    }


def finding_columns(source: str, row: RunRow) -> list[dict[str, Any]]:
    """Return the findings of a row as the columns of `findings`."""
    return [
        one._asdict()
        | {
            "source": source,
            "run_key": row.key,
            "number": place,
            "onset": number(one.onset),
            "onset_time": number(one.onset_time),
            "fingerprint": "",
        }
        for place, one in enumerate(row.findings)
    ]


def number(value: float | None) -> float | None:
    """Return a number as a column holds it: None for NaN, which SQL has no word for."""
    return None if value is None or math.isnan(value) else float(value)


def _whole(value: int) -> int:
    return max(-GREATEST, min(int(value), GREATEST))


def issue_columns(issue: Issue) -> dict[str, Any]:
    """Return an issue as the columns of `issues`, but for its source and position."""
    return {name: getattr(issue, name) for name in _SAME_ISSUE} | {
        "run_group": issue.group,
        "gpu_hours": number(issue.gpu_hours) or 0.0,
        "money": number(issue.money),
        "document": document(issue),
    }


def document(one: RunRow | Issue) -> str:
    """Return all of a run or an issue as JSON."""
    plain = {name: _plain(getattr(one, name)) for name in one.__dataclass_fields__}
    try:
        return json.dumps(plain, allow_nan=False, default=_item)
    except ValueError:
        return json.dumps(_without_odd(plain), default=_item)


def row_of(text: str) -> RunRow:
    """Return the run of a document; fields that this RunLens does not know are left out."""
    plain = _loaded(text)
    plain["findings"] = tuple(FoundRow(**_of(FoundRow._fields, one)) for one in plain["findings"])
    spark = SparkRow(**_of(SparkRow._fields, plain["spark"]))
    plain["tags"] = tuple(plain.get("tags") or ())
    ran = plain.get("environment") or {}
    plain["environment"] = {name: tuple(some) for name, some in ran.items()}
    plain["spark"] = spark._replace(points=tuple(spark.points))
    return RunRow(**_of(RunRow.__dataclass_fields__, plain))


def issue_of(text: str) -> Issue:
    """Return the issue of a document; fields that this RunLens does not know are left out."""
    plain = _loaded(text)
    for name in ("runs", "tonight", "clean"):
        plain[name] = tuple(plain.get(name) or ())
    ack = plain.get("acknowledged")
    plain["acknowledged"] = Ack(**_of(Ack._fields, ack)) if ack else None
    plain["changes"] = tuple(Change(**one) for one in plain.get("changes") or ())
    marks = plain.get("accounted") or {}
    plain["accounted"] = {key: Mark(*mark) for key, mark in marks.items()}
    return Issue(**_of(Issue.__dataclass_fields__, plain))


def _loaded(text: str) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(text, object_hook=_odd if ODD in text else None)
    return plain


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field of any type
    """Return named tuples and mappings as dictionaries, so that JSON has their names."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return value._asdict() if hasattr(value, "_asdict") else [_plain(one) for one in value]
    return value


def _of(names: Any, plain: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a container
    return {name: value for name, value in plain.items() if name in names}


def _item(value: Any) -> Any:  # noqa: ANN401 - a number of numpy
    return value.item()


def _odd(plain: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON is of any type
    return float(plain[ODD]) if plain.keys() == {ODD} else plain


def _without_odd(value: Any) -> Any:  # noqa: ANN401 - JSON is of any type
    if isinstance(value, float) and not math.isfinite(value):
        return {ODD: str(float(value))}
    if isinstance(value, Mapping):
        return {name: _without_odd(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_odd(inner) for inner in value]
    return value
