"""The recorder of live answers, and the stand-in held to all that was recorded."""

from pathlib import Path
from typing import Any

import pytest

import runlens
from runlens.sources.wandb_api import listed
from tests.sources.wandb_api.conftest import environment
from tests.wandb_server import recording
from tests.wandb_server.recording import Exchange
from tests.wandb_server.server import KEY, Server

LIVE = Path(__file__).parents[1] / "sources" / "data" / "live"
PROJECT = "wandb:team/llm"


@pytest.fixture
def exchanges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Exchange]:
    """Record the stand-in itself: a listing, and a run that is read."""
    rows: list[dict[str, Any]] = [{"_step": at, "loss": 1 / (at + 1)} for at in range(30)]
    with Server() as server:
        server.put(
            "llm", "abc", rows, config={"lr": 2e-4}, console=["a line", "token=hunter2hunter"]
        )
        with recording.recorded(server.url) as (url, kept):
            for name, value in environment(server, tmp_path).items():
                monkeypatch.setenv(name, value)
            monkeypatch.setenv("WANDB_BASE_URL", url)
            assert [one.id for one in listed(PROJECT)] == ["abc"]
            assert len(runlens.read(f"{PROJECT}/abc").curve("train_loss")) == 30
    return kept


def test_what_is_read_is_recorded_without_key_and_people(
    exchanges: list[Exchange], tmp_path: Path
) -> None:
    """Queries and answers, as they come back from a file."""
    path = tmp_path / "live" / "one.json"
    recording.save(exchanges, path)
    assert recording.load(path) == exchanges
    assert {"Runs", "Run", "RunFullHistory"} <= {one.name for one in exchanges}
    text = path.read_text(encoding="utf-8")
    assert "a line" in text
    for secret in (KEY, "tester", "hunter2hunter"):
        assert secret not in text


def test_the_stand_in_answers_in_the_form_of_what_was_recorded(exchanges: list[Exchange]) -> None:
    """Of itself, and of each recording of the real server that lies here."""
    assert recording.held(exchanges) == []
    for path in sorted(LIVE.glob("*.json")):
        assert recording.held(recording.load(path)) == [], path.name


def test_another_form_is_told(exchanges: list[Exchange]) -> None:
    """A field that the stand-in lacks, and a value of another kind."""
    (at, listing) = next((at, one) for at, one in enumerate(exchanges) if one.name == "Runs")
    project = listing.answer["data"]["project"]
    node = project["runs"]["edges"][0]["node"] | {"historyLineCount": "30"}
    runs = project["runs"] | {"edges": [{"node": node}]}
    told = {"data": {"project": project | {"runs": runs, "isPublished": True}}}
    changed = [*exchanges[:at], listing._replace(answer=told), *exchanges[at + 1 :]]
    assert recording.held(changed) == [
        "Runs.data.project.isPublished is missing",
        "Runs.data.project.runs.edges[].node.historyLineCount is int, not str",
    ]
