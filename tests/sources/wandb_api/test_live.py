"""With a real account: set RUNLENS_WANDB_LIVE=1, be logged in, and name an entity of yours.

    RUNLENS_WANDB_LIVE=1 WANDB_ENTITY=me python -m pytest tests/sources/wandb_api/test_live.py

It logs one small run to the project ``runlens-live`` and deletes it. What the server answers
can be recorded apart from it: `python -m tests.wandb_server.recording`.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import runlens
from runlens.sources.wandb_api import listed

pytestmark = pytest.mark.skipif(
    os.environ.get("RUNLENS_WANDB_LIVE") != "1",
    reason="needs a W&B account: RUNLENS_WANDB_LIVE=1 and WANDB_ENTITY",
)
PROJECT = "runlens-live"
ROWS = 1_500  # more than the client samples


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Log a run with NaN, a gap and settings; delete it afterwards."""
    import wandb

    entity = os.environ["WANDB_ENTITY"]
    folder: Path = tmp_path_factory.mktemp("live")
    with wandb.init(entity=entity, project=PROJECT, dir=folder, config={"lr": 2e-4}) as run:
        for n in range(ROWS):
            run.log({"train/loss": np.nan if n == 700 else 1 / (n + 1)})
    wandb.teardown()
    yield f"wandb:{entity}/{PROJECT}/{run.id}"
    wandb.Api().run(f"{entity}/{PROJECT}/{run.id}").delete()


def test_the_real_server_gives_every_row(place: str) -> None:
    """As it was logged, once it is there."""
    for _ in range(30):
        found = runlens.read(place)
        if len(found.curve("train_loss")) == ROWS:
            break
        time.sleep(2)
    assert found.problems == ()
    assert np.flatnonzero(np.isnan(found.curve("train_loss").value)).tolist() == [700]
    assert found.setting("learning_rate") == 2e-4
    assert found.state.kind == "finished"


def test_the_real_server_lists_the_run(place: str) -> None:
    """With its count of rows."""
    (one,) = listed(place)
    assert (one.place, one.state, one.history_lines) == (place, "finished", ROWS)
