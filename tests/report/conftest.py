"""Starts a browser for the tests that need one."""

from collections.abc import Iterator

import pytest

from tests.report.browser import Browser, executable, running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return a running Chromium; skip where none is installed."""
    if executable() is None:
        pytest.skip("no Chromium on PATH; install chromium to run the browser tests")
    with running() as started:
        yield started
