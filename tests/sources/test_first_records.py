"""Rows of a log, and texts of event files, that say how a training begins."""

import json
from pathlib import Path
from typing import Any

import pytest

from runlens import read
from runlens.sources.tables.first_records import settings_told
from runlens.sources.tensorboard.texts import settings_in


def test_a_first_row_of_settings(tmp_path: Path) -> None:
    """It is no record, and those behind it are what they were."""
    rows: list[dict[str, Any]] = [{"event": "start", "opt": "adam", "lr": 0.002, "bs": 64}]
    rows += [{"event": "log", "step": n, "loss": 2 / n} for n in range(1, 9)]
    (tmp_path / "events.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run = read(tmp_path)
    assert (run.number("learning_rate"), run.setting("optim")) == (0.002, "adam")
    assert len(run.curve("train_loss")) == 8


@pytest.mark.parametrize(
    "row",
    [
        {"event": "train", "lr": 0.002, "bs": 64},  # a record
        {"event": "config", "step": 9, "lr": 0.001, "bs": 64},  # set anew
        {"event": "start", "time": 3, "lr": 0.1},  # one setting
        {"lr": 0.002, "bs": 64},
    ],
)
def test_other_rows_are_records(row: dict[str, Any]) -> None:
    """Of another kind, of a step, of too little."""
    assert settings_told(row) == {}


def test_pairs_in_a_text_of_an_event_file() -> None:
    """Beside each other; a sentence with one sign holds none."""
    assert settings_in("args", "lr=0.001 net=mlp") == {"lr": 0.001, "net": "mlp"}
    assert settings_in("args", "the rate is lr=0.001") == {}
