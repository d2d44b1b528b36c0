"""Starts a browser for the tests that need one."""

import os
from collections.abc import Iterator

import pytest

from tests.report.browser import Browser, executable, running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return a running Chromium; skip where none is installed."""
    if executable() is None:
        missing = "no Chromium on PATH; install chromium to run the browser tests"
        if os.environ.get("RUNLENS_NEEDS_BROWSER"):  # as in CI: a skipped check is no check
            pytest.fail(missing)
        pytest.skip(missing)
    with running() as started:
        yield started
