"""Gives the tests a store on each database."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.auditing import postgres


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Return the URL of a running PostgreSQL; skip where none is installed."""
    if postgres.programs() is None:
        missing = "no PostgreSQL; install postgresql to run the tests of the store on it"
        if os.environ.get("RUNLENS_NEEDS_POSTGRES"):  # as in CI: a skipped check is no check
            pytest.fail(missing)
        pytest.skip(missing)
    with postgres.running() as url:
        yield url


@pytest.fixture
def emptied(server: str) -> Iterator[str]:
    """Return the URL of a server without a store; what a test left there goes."""
    import psycopg

    yield server
    with psycopg.connect(server) as connection:
        connection.execute("DROP SCHEMA IF EXISTS runlens CASCADE")


@pytest.fixture(params=["sqlite", "postgresql"])
def store_at(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where an empty store may be made: a path, then a URL."""
    if request.param == "sqlite":
        return str(tmp_path / "audit.db")
    return str(request.getfixturevalue("emptied"))
