"""Stages of one training, each of which keeps its rows in a list of its own."""

import json
from pathlib import Path
from typing import Any

import pytest

import runlens
from runlens.sources.tables.json_shapes import of_stages


def rows(first: int, **more: float) -> list[dict[str, Any]]:
    """Return three evaluations from an epoch on."""
    return [{"epoch": first + n, "avg_return": n / first, **more} for n in range(3)]


def stage(first: int, key: str = "evaluations") -> dict[str, Any]:
    """Return a stage beside whose list stand a name and a result."""
    return {"task": f"from {first}", "final": {"loss": 0.5}, key: rows(first)}


@pytest.mark.parametrize(
    "stages",
    [
        {"stage_1": stage(1), "stage_2": stage(4), "stage_3": stage(7)},
        {"stage_1": rows(1), "stage_2": rows(4), "stage_3": rows(7)},
    ],
)
def test_stages_that_count_on_are_one_training(tmp_path: Path, stages: Any) -> None:
    """All of their rows are read, not those of the first alone."""
    (tmp_path / "results.json").write_text(json.dumps({"seed": 1, "stages": stages}))
    (run,) = runlens.read_all(tmp_path / "results.json")
    assert len(run.curve("reward")) == 9
    assert run.last_step == 9


@pytest.mark.parametrize(
    "others",
    [
        {"seed_1": stage(1), "seed_2": stage(1)},  # each begins anew: trainings
        {"stage_1": stage(1), "stage_2": stage(2)},  # they overlap
        {"stage_1": stage(1), "stage_2": stage(4, "tests")},
        {"stage_1": rows(1), "stage_2": rows(4, size=2.0)},
        {"stage_1": rows(1), "stage_2": [{"round": 5, "avg_return": 2.0}]},
        {"stage_1": rows(1), "stage_2": [{"name": "x"}]},
        {"stage_1": rows(1), "stage_2": []},
        {"train": rows(1), "val": rows(4)},
        {"stage_1": rows(1), "best": 3},
    ],
)
def test_other_parts_are_no_stages(others: Any) -> None:
    """Trainings begin anew, data have the name of a split, and stages measure the same."""
    assert of_stages(others) == []
