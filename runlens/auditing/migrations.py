"""Brings the tables of a store to the schema that this RunLens writes.

A new store is made as `schema.METADATA` says. An older one goes through the migrations that it
lacks, all in one transaction. One that a newer RunLens wrote is refused, and so is a SQLite file
that is something else. Whoever changes `schema.py` appends the migration that does the same to a
store that exists.
"""

from collections.abc import Callable

from sqlalchemy import Connection, inspect, text
from sqlalchemy.schema import CreateSchema

from runlens.auditing import schema
from runlens.auditing.databases import Database
from runlens.auditing.version2 import issues_by_source
from runlens.errors import BadStore
from runlens.version import __version__

Migration = Callable[[Connection, str], None]  # the second: what stands before a table's name
MIGRATIONS: tuple[Migration, ...] = (issues_by_source,)  # from version 1 to 2, from 2 to 3, ...


def migrate(database: Database) -> None:
    """Make or complete the tables; raise BadStore where that cannot be done."""
    with database.reading() as connection:
        if _version(connection, database) == _newest():
            return
    with database.writing() as connection:  # another process may have been faster
        found = _version(connection, database)
        if not found:
            _create(connection, database)
        for migration in MIGRATIONS[found - 1 :] if found else ():
            migration(connection, _prefix(database))
        connection.execute(schema.version.delete())
        wrote = {"version": _newest(), "runlens": __version__}
        connection.execute(schema.version.insert(), wrote)


def _newest() -> int:
    return 1 + len(MIGRATIONS)


def _version(connection: Connection, database: Database) -> int:
    """Return the version of a store, 0 for an empty one."""
    inspector = inspect(connection)
    tables = inspector.get_table_names(schema=database.schema)
    if schema.version.name not in tables:
        if tables:
            raise BadStore(database.shown, "is a database of something else; name a new file")
        return 0
    found = connection.execute(schema.version.select()).one()
    if found.version > _newest():
        raise BadStore(
            database.shown,
            f"was written by RunLens {found.runlens} (schema {found.version}); this is"
            f" {__version__} (schema {_newest()}): upgrade it",
        )
    return int(found.version)


def _create(connection: Connection, database: Database) -> None:
    if database.schema and not inspect(connection).has_schema(database.schema):
        connection.execute(CreateSchema(database.schema))
    schema.METADATA.create_all(connection)
    for view in schema.VIEWS:
        connection.execute(text(view.format(prefix=_prefix(database))))


def _prefix(database: Database) -> str:
    return f"{database.schema}." if database.schema else ""
