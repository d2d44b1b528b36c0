"""The stand-in as a program of its own, which benchmarks read from."""

import subprocess
import sys

import pytest

from runlens.sources import wandb_api
from tests.wandb_server.server import KEY


def test_a_project_of_synthetic_runs_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a latency, until its standard input is closed."""
    command = [sys.executable, "-m", "tests.wandb_server", "--runs", "3", "--rows", "40"]
    command += ["--latency", "0.05", "--variants", "2"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stdin is not None
        assert serving.stdout is not None
        monkeypatch.setenv("WANDB_BASE_URL", serving.stdout.readline().strip())
        monkeypatch.setenv("WANDB_API_KEY", KEY)
        runs = wandb_api.read_all("wandb:team/bench")
        serving.stdin.close()
        assert serving.wait(10) == 0
    assert {len(run.curve("train_loss")) for run in runs} == {40}
    assert [run.setting("seed") for run in runs] == [0, 1, 2]
