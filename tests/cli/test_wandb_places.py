"""Runs on a W&B server on the command line: places are no paths there."""

import json
from pathlib import Path

import pytest

from tests.cli.places import lens
from tests.sources.wandb_api.conftest import server, standin  # noqa: F401 - fixtures
from tests.wandb_server.server import Server

ROWS = [{"_step": n, "loss": 1 / (n + 1)} for n in range(200)]


@pytest.fixture(autouse=True)
def here(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Stand in an empty folder, with a run on the server."""
    server.put("llm", "abc", ROWS, display_name="lucky sun")
    monkeypatch.chdir(tmp_path)


def test_a_run_is_diagnosed_and_its_page_is_written_here(tmp_path: Path) -> None:
    """Named by the run; no folder is made of the place."""
    done = lens("diagnose", "wandb:team/llm/abc")
    assert done.exit_code == 0
    assert "lucky sun" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["runlens-lucky-sun.html"]


def test_the_address_of_a_page_is_a_place(server: Server) -> None:  # noqa: F811
    """As the browser shows it."""
    done = lens("diagnose", f"{server.url}/team/llm/runs/abc/overview", "--format", "json")
    assert json.loads(done.stdout)["run"]["id"] == "abc"


def test_what_cannot_be_read_is_exit_code_3(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one line, and an object for machines."""
    monkeypatch.delenv("WANDB_API_KEY")
    done = lens("diagnose", "wandb:team/llm/abc", "--format", "json")
    assert done.exit_code == 3
    assert done.stderr.startswith("runlens: wandb:team/llm/abc: no W&B key for 127.0.0.1")
    assert json.loads(done.stdout)["verdict"]["health"] == "unknown"


def test_sources_lists_the_runs_of_a_project() -> None:
    """Without reading them."""
    done = lens("sources", "wandb:team/llm")
    assert done.stdout == "wandb_api  wandb:team/llm/abc\n"


def test_a_run_is_exported(tmp_path: Path) -> None:
    """As any other."""
    assert lens("export", "wandb:team/llm/abc", "-o", "run.csv").exit_code == 0
    assert len((tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()) == 201


def test_runs_of_a_project_that_meet_a_filter_are_ranked(server: Server) -> None:  # noqa: F811
    """Those alone; without one that does it is a line and exit code 3."""
    for name, level in (("low", 0.5), ("high", 1.5)):
        rows = [{"_step": n, "loss": level + 1 / (n + 1)} for n in range(60)]
        server.put("llm", name, rows, display_name=name, tags=["nightly"])
    done = lens("compare", "wandb:team/llm?tags=nightly", "--format", "json")
    assert done.exit_code == 0
    assert [row["run"] for row in json.loads(done.stdout)["runs"]] == ["low", "high"]
    none = lens("compare", "wandb:team/llm?tags=weekly")
    assert (none.exit_code, "no run of the project meets the filter" in none.stderr) == (3, True)
