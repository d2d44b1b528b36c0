"""What is left of an audit that gets kill -9 at any moment: no process, and no folder for long."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from runlens.sources.wandb_api import connected
from tests.auditing.trees import tree
from tests.sources.wandb_api.conftest import environment
from tests.wandb_server.server import Server

ROOT = Path(__file__).parents[2]
MARK = "RUNLENS_TEST_MARK"
PATIENCE = 60.0  # seconds for the last process to see that its parent is gone
SCRIPT = """
import sys, runlens
from runlens.auditing.pages import Pages
from runlens.cli.audit import run_page
if __name__ == "__main__":
    store, site, *sources = sys.argv[1:]
    print("begun", flush=True)
    runlens.audit(*sources, store=store, cache=False, jobs=2, pages=Pages(site, run_page))
    print("ended", flush=True)
"""


def marked(mark: str) -> Iterator[psutil.Process]:
    """Yield the living processes that an audit started, however far down."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                yield process


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_left(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it lists, fetches, judges, or makes pages of runs of a folder and of a server."""
    root, script, temporary = tree(tmp_path / "runs", 30), tmp_path / "night.py", tmp_path / "tmp"
    script.write_text(SCRIPT, encoding="utf-8")
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    with Server() as server:
        server.fill("llm", runs=60, rows=300, faulty=30)
        for name, value in environment(server, tmp_path).items():
            monkeypatch.setenv(name, value)
        words = [tmp_path / "a.db", tmp_path / "site", root, "wandb:team/llm"]
        command = [sys.executable, str(script), *map(str, words)]
        own = dict(os.environ) | {MARK: str(tmp_path), "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, env=own, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            time.sleep(random.Random(seed).uniform(0.5, 6.0))
            process.kill()
        until = time.monotonic() + PATIENCE
        while (left := list(marked(str(tmp_path)))) and time.monotonic() < until:
            time.sleep(0.2)
        assert left == []
        with connected():
            pass
    assert list(temporary.glob("runlens-*")) == []
