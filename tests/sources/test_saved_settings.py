"""Settings that a program saved beside its curves."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from runlens import read

LOSSES = [round(2 / n, 4) for n in range(1, 13)]
SAID = {"lr": 0.01, "epochs": 12, "optimizer": "adam", "save": None, "sizes": [1, 2]}


def test_a_dict_of_settings_is_read(tmp_path: Path) -> None:
    """What they planned too; the curves are as they were."""
    (tmp_path / "results.pkl").write_bytes(pickle.dumps({"train_loss": LOSSES, "args": SAID}))
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == LOSSES
    assert (run.setting("learning_rate"), run.setting("optim")) == (0.01, "adam")
    assert run.state.planned_epochs == 12


@pytest.mark.parametrize(
    "beside",
    [
        {"lr": 0.01, "depth": 12},  # one that is known
        {"lr": 0.01, "epochs": 12, "best_val": 1.5, "val_acc": 0.5},  # a result
        0.5,
    ],
)
def test_other_dicts_beside_curves_are_none(tmp_path: Path, beside: Any) -> None:
    """What came out, and what is not known."""
    (tmp_path / "results.pkl").write_bytes(pickle.dumps({"train_loss": LOSSES, "best": beside}))
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == LOSSES
    assert not run.config
