"""Which places are on a W&B server, and what they name."""

from pathlib import Path

import pytest

from runlens.errors import NothingReadable
from runlens.sources.addresses import Place, is_on_server, parsed, server_of


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("wandb:team/llm", Place("team", "llm")),
        ("wandb:team/llm/abc", Place("team", "llm", "abc")),
        ("wandb:team/llm/runs/abc", Place("team", "llm", "abc")),
        ("https://wandb.ai/team/llm", Place("team", "llm", host="wandb.ai")),
        ("https://wandb.ai/team/llm/workspace?nw=x", Place("team", "llm", host="wandb.ai")),
        ("https://wandb.ai/team/llm/runs/abc", Place("team", "llm", "abc", "wandb.ai")),
        ("https://wandb.ai/team/llm/runs/abc/logs#1", Place("team", "llm", "abc", "wandb.ai")),
        ("https://wandb.ai/team/my%20llm/runs", Place("team", "my llm", host="wandb.ai")),
        (
            "https://forge.coreweave.com/wandb/team/llm/runs/abc",
            Place("team", "llm", "abc", "forge.coreweave.com"),
        ),
        (
            "http://ml.example:8080/team/llm/runs/abc/overview",
            Place("team", "llm", "abc", "ml.example:8080"),
        ),
        (Path("https://wandb.ai/team/llm"), Place("team", "llm", host="wandb.ai")),
    ],
)
def test_places_name_a_run_or_a_project(given: str | Path, meant: Place) -> None:
    """Written by hand or pasted from the browser."""
    assert is_on_server(given)
    assert parsed(given) == meant


@pytest.mark.parametrize(
    "given", ["wandb:", "wandb:team", "wandb:a/b/c/d", "https://wandb.ai/team"]
)
def test_what_names_no_project_is_one_clear_line(given: str) -> None:
    """What to write instead stands in it."""
    with pytest.raises(NothingReadable, match="write wandb:ENTITY/PROJECT/RUN"):
        parsed(given)


@pytest.mark.parametrize("given", [".", "wandb", "wandb/run-1", "runs/wandb:x", "-", Path("wandb")])
def test_paths_are_no_addresses(given: str | Path) -> None:
    """Nor is W&B's own folder."""
    assert not is_on_server(given)


def test_a_place_is_written_as_it_is_typed() -> None:
    """The host is the client's business."""
    assert str(Place("team", "llm", "abc", "wandb.ai")) == "wandb:team/llm/abc"
    assert str(Place("team", "llm")) == "wandb:team/llm"


def test_the_api_and_the_pages_are_of_one_server() -> None:
    """As the client's settings name it, and as the browser does."""
    assert server_of("https://api.wandb.ai") == "wandb.ai"
    assert server_of("https://api.forge.coreweave.com/") == "forge.coreweave.com"
    assert server_of("http://user@ml.example:8080") == "ml.example:8080"
