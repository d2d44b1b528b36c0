"""A history in one JSON text."""

import json
from pathlib import Path
from typing import Any

import pytest

from runlens.sources.reading import SourceReading
from runlens.sources.tables import jsonl_log


def written(folder: Path, whole: Any, name: str = "history.json") -> SourceReading:
    """Write a file, look whether it is found in its folder, and read it."""
    (folder / name).write_text(whole if isinstance(whole, str) else json.dumps(whole))
    found = jsonl_log.find(folder, {folder: [name]})
    assert found or not isinstance(whole, list)
    return jsonl_log.read(folder / name)


def test_a_list_of_epochs(tmp_path: Path) -> None:
    """Each is a row; what stands in it is named by its path."""
    epochs = [{"epoch": n, "train_loss": 1 / n, "val": {"auc": 0.5, "all": [1]}} for n in (1, 2, 3)]
    read = written(tmp_path, epochs)
    assert read.series["train_loss"].step.tolist() == [1, 2, 3]
    assert set(read.series) == {"train_loss", "val/auc"}


def test_lists_of_numbers(tmp_path: Path) -> None:
    """Keras' History.history; a list of another length is of other steps, a number of none."""
    lists = {"loss": [3, 2, 1], "val_loss": [3, 2, 2], "best": 1, "times": [0.1, 0.2]}
    read = written(tmp_path, lists, "cnn_history_1.json")
    assert read.series["loss"].value.tolist() == [3, 2, 1]
    assert set(read.series) == {"loss", "val_loss"}
    assert read.steps_inferred


@pytest.mark.parametrize(
    "whole",
    [
        {"visited": ["a", "b", "c"], "count": [1, 2, 3]},  # of a browser
        {"loss": 0.5, "epochs": 3},  # a summary
        {"loss": [0.5]},
        "[1, 2, 3]",
        "[]",
        "no JSON",
    ],
)
def test_other_files_of_the_name_are_no_logs(tmp_path: Path, whole: Any) -> None:
    """They are not found in a folder."""
    path = tmp_path / "history.json"
    path.write_text(whole if isinstance(whole, str) else json.dumps(whole))
    assert jsonl_log.find(tmp_path, {tmp_path: ["history.json"]}) == []


def test_rows_of_lines_under_the_same_name(tmp_path: Path) -> None:
    """A history.json that is JSON Lines all the same."""
    lines = "".join(json.dumps({"step": n, "loss": 1 / n}) + "\n" for n in (1, 2, 3))
    (tmp_path / "history.json").write_text(lines)
    assert len(jsonl_log.read(tmp_path / "history.json").series["loss"].step) == 3
