"""A stand-in for the W&B server, and an environment that leads to it."""

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runlens.sources.wandb_api import connected
from tests.wandb_server.server import KEY, Server


@pytest.fixture(scope="session")
def standin() -> Iterator[Server]:
    """One server for all tests of a process."""
    with Server() as running:
        yield running


@pytest.fixture
def server(standin: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Empty the server, and lead the W&B client to it: with a key, a home, and less patience."""
    for kept in (standin.runs, standin.projects, standin.faults, standin.log, standin.asked):
        kept.clear()
    standin.overlap, standin.most, standin.between = False, sys.maxsize, None
    standin.largest, standin.quota = 0, None
    standin.lacks, standin.speed, standin.gateway = set(), math.inf, math.inf
    for name, value in environment(standin, tmp_path).items():
        monkeypatch.setenv(name, value)
    return standin


@pytest.fixture
def scanned(server: Server) -> Server:
    """Let the server give but ten samples of a history: all of it comes page by page."""
    server.most = 10
    return server


@pytest.fixture(scope="module")
def connection(standin: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Stay connected for all tests of a module: a connection takes half a second."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(standin, tmp_path_factory.mktemp("home")).items():
            patch.setenv(name, value)
        with connected():
            yield


def environment(server: Server, home: Path) -> dict[str, str]:
    """Return what the W&B client has to know to use the server and nothing of this machine."""
    return {
        "HOME": str(home),
        "NETRC": str(home / "netrc"),
        "WANDB_BASE_URL": server.url,
        "WANDB_API_KEY": KEY,
        "WANDB_X_GRAPHQL_RETRY_MAX": "3",
        "WANDB_X_GRAPHQL_RETRY_WAIT_MIN_SECONDS": "1",  # of less the client makes 5
        "WANDB_X_GRAPHQL_RETRY_WAIT_MAX_SECONDS": "1",
    }
