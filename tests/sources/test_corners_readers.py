"""Corners of readers and of what they share that no other test reaches."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

from runlens.run import Configured, Task
from runlens.sources import tensorboard
from runlens.sources.console.messages import MESSAGES
from runlens.sources.json_salvage import MOST_HOLES, salvaged
from runlens.sources.merging.task import typed
from runlens.sources.stores import mlflow_dir
from runlens.sources.tensorboard import tags as event_tags
from runlens.sources.tensorboard.records import Damage, Records, windows
from runlens.sources.tensorboard.scalars import Points
from tests.sources.writers import events, losses


def points(*steps: int) -> Points:
    """Return points of a tag at these steps."""
    at = np.array(steps, np.int64)
    return Points(at, at, at.astype(np.float64), at.astype(np.float64))


def test_a_curve_that_is_called_like_the_closing_row_is_kept() -> None:
    """``train/train_loss`` at other steps than train_runtime is logged by the run itself."""
    tags = {
        "train/train_runtime": points(9),
        "train/train_loss": points(1, 2, 9),
        "train/train_samples_per_second": points(9),
    }
    assert event_tags.drop_closing_row(tags)
    assert list(tags) == ["train/train_loss"]


def test_an_event_file_whose_disk_fails_keeps_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says that the rest could not be read."""
    path = events(tmp_path, losses(1))

    def failing(handle: BinaryIO, size: int, damage: Damage) -> Iterator[Records]:
        yield from windows(handle, size, damage)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(tensorboard, "windows", failing)
    reading = tensorboard.read(path)
    assert len(reading.series["train/loss"].step) == 40
    assert [p.text for p in reading.problems] == ["cannot be read to its end (Input/output error)"]


def test_salvage_takes_what_stands_behind_a_last_comma() -> None:
    """It is no JSON, but nothing is lost by it."""
    found = salvaged(b'{"max_steps": 9, "log_history": [{"step": 1}], }', "log_history")
    assert (found.values, found.rows, found.lost) == ({"max_steps": 9}, [{"step": 1}], 0)


def test_salvage_gives_a_file_of_holes_up() -> None:
    """What came before is kept."""
    rows = '{"step": 1}, ' + '{"step": 1 x}, ' * (MOST_HOLES + 5)
    found = salvaged(f'{{"log_history": [{rows} {{"step": 2}}]}}'.encode(), "log_history")
    assert found.rows == [{"step": 1}]
    assert found.lost > 0


def test_a_message_shows_its_row_and_class() -> None:
    """So that a failing test names it."""
    assert repr(MESSAGES[0]) == f"<message {MESSAGES[0].row} {MESSAGES[0].kind}>"


def test_parameters_of_mlflow_that_are_too_many_or_unreadable_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty file is no parameter; the first ones of very many are kept."""
    run = tmp_path / "0" / "abc"
    for part in ("params", "metrics"):
        (run / part).mkdir(parents=True)
    (run / "meta.yaml").write_text("run_id: abc\nstatus: 3\n")
    (run / "metrics" / "loss").write_text("1700000000000 0.5 1\n")
    for name, text in (("a", "1"), ("b", ""), ("c", "3"), ("d", "4")):
        (run / "params" / name).write_text(text)
    assert {"a", "c", "d"} <= mlflow_dir.read(run).config.keys()
    assert "b" not in mlflow_dir.read(run).config
    monkeypatch.setattr(mlflow_dir, "MAX_LEAVES", 3)
    assert "d" not in mlflow_dir.read(run).config


TASKS: tuple[tuple[Task, set[str], dict[str, str | int], str], ...] = (
    ("other", {"lr"}, {"rl": "someday"}, ""),
    ("rl", {"train_loss"}, {}, "ml-agents"),
    ("rl", {"reward", "len_mean", "train_loss"}, {}, ""),
    ("grpo", {"reward", "len_mean", "completion_length"}, {}, ""),
    ("ppo", {"kl_step", "len_mean"}, {}, ""),
    ("rl", {"reward"}, {}, ""),
    ("rl", {"episode_length"}, {}, ""),
    ("regression", {"train_loss"}, {"architectures": "MyRegressor", "model_type": "regress"}, ""),
    ("sft", {"train_loss"}, {}, "nanogpt"),
    ("pretrain", {"train_loss"}, {}, "megatron"),
)


@pytest.mark.parametrize(("task", "names", "config", "framework"), TASKS)
def test_the_task_is_told_by_little(
    task: Task, names: set[str], config: dict[str, str | int], framework: str
) -> None:
    """By a metric, a framework or a word in the settings; else it is not known."""
    settings = {key: Configured(value, "config.json") for key, value in config.items()}
    assert typed(names, 1.0, settings, framework, names, [])[0] == task
