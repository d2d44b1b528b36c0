"""Pickles of plain numbers; nothing in them is called."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens import read
from runlens.errors import NothingReadable
from runlens.sources import pickles

FALLING = [2 / n for n in range(1, 9)]


class Harmful:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Name what is called."""
        return os.system, ("touch harmed",)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", ["train_loss.txt", "train_loss.pkl"])
def test_a_list_is_called_after_its_file(tmp_path: Path, name: str, protocol: int) -> None:
    """A tuple is one too, and so is one number in a list."""
    path = tmp_path / name
    for saved in (FALLING, tuple(FALLING), [*FALLING, 1, 300, 70_000]):
        path.write_bytes(pickle.dumps(saved, protocol))
        assert read(path).curve("train_loss").value.tolist() == list(saved)
    path = tmp_path / "loss.txt"
    path.write_bytes(pickle.dumps([0.5], protocol))
    assert read(path).curve("train_loss").value.tolist() == [0.5]


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_history_of_keras(tmp_path: Path, protocol: int) -> None:
    """Lists by their names, of which one may stand under two."""
    history = {"loss": FALLING, "val_loss": FALLING[::-1], "val_accuracy": FALLING}
    path = tmp_path / "trainHistoryDict"
    path.write_bytes(pickle.dumps(history, protocol))
    run = read(path)
    assert run.curve("train_loss").value.tolist() == FALLING
    assert run.curve("eval_loss").value.tolist() == FALLING[::-1]
    assert len(run.curve("eval_accuracy")) == 8


@pytest.mark.parametrize(
    "value",
    [
        Harmful(),
        [Harmful()],
        np.array(FALLING),
        {"loss": [FALLING]},
        {"loss": "low"},
        [1 << 80],
        [None, True],
        [(1, 2, 3), (1, 2), (1,), (), (1, 2, 3, 4)],
        {"a": 1},
        {1.5},
    ],
)
def test_what_is_more_is_refused_in_a_line(
    tmp_path: Path, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never called."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train_loss.txt"
    path.write_bytes(pickle.dumps(value))
    with pytest.raises(NothingReadable) as said:
        read(path)
    assert "is a pickle of objects, which is not opened" in str(said.value)
    assert not (tmp_path / "harmed").exists()


def test_a_damaged_or_too_long_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it was cut; one list under many names is counted each time."""
    data = pickle.dumps({"loss": FALLING, "more": FALLING, "b": [1, None]})
    assert all(pickles.as_text(data[:end]) is None for end in range(len(data)))
    assert pickles.as_text(b"\x80\x02(0.") is None  # an opcode that is not known, behind a mark
    data = pickle.dumps({"loss": FALLING, "more": FALLING})
    assert pickles.as_text(data)
    monkeypatch.setattr(pickles, "MOST", 15)
    assert pickles.as_text(data) is None
    monkeypatch.setattr(pickles, "LARGEST", len(data) - 1)
    assert pickles.as_text(data) is None
