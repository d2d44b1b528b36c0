"""The Trainer callback: a report at the end of a training, and never its end."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import runlens
from runlens import engine
from runlens.integrations import transformers as integration
from tests.cli.places import a_run, history
from tests.integrations.trainers import (
    Arguments,
    State,
    TrainerCallback,
    train,
    transformers_installed,
)
from tests.test_house import loaded_by


@pytest.fixture
def callback() -> Iterator[Any]:
    """Return a callback as it is made where transformers is installed."""
    with transformers_installed():
        vars(integration).pop("RunLensCallback", None)
        yield integration.RunLensCallback()
    vars(integration).pop("RunLensCallback", None)


def test_the_page_lies_beside_the_run_when_its_training_ended(
    callback: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the verdict and the place on stderr; stdout belongs to the training."""
    train(callback, Arguments(str(tmp_path / "out" / "my-run")), State())
    page = tmp_path / "out" / "runlens-my-run.html"
    said = capsys.readouterr()
    verdict = runlens.diagnose(tmp_path / "out" / "my-run").verdict.sentence
    assert f"my-run: {verdict}" in page.read_text(encoding="utf-8")
    assert said.err == f"RunLens: {verdict}\nRunLens: report in {page}\n"
    assert said.out == ""


def test_what_was_logged_after_the_last_checkpoint_is_judged(callback: Any, tmp_path: Path) -> None:
    """The folder alone ends at its checkpoint; the Trainer knows the rest, and its settings."""
    saved = a_run(tmp_path / "run" / "checkpoint-90")
    (saved / "trainer_state.json").write_text(json.dumps(history(rows=10)), encoding="utf-8")
    train(callback, Arguments(str(tmp_path / "run"), {"weight_decay": 0.25}), State())
    run = runlens.read(tmp_path / "run")
    assert run.last_step == 290
    assert run.number("weight_decay") == 0.25


def test_the_page_goes_where_it_is_asked_for(callback: Any, tmp_path: Path) -> None:
    """Folders on the way are made."""
    wanted = tmp_path / "pages" / "a.html"
    train(type(callback)(report=wanted), Arguments(str(tmp_path / "run")), State())
    assert wanted.stat().st_size > 10_000


def test_of_several_runs_in_the_folder_the_one_that_ended_is_told(
    callback: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An older run below the output folder is no reason to stay silent."""
    a_run(tmp_path / "run" / "older", seed=5)
    train(callback, Arguments(str(tmp_path / "run")), State(history(seed=1)))
    assert "report in" in capsys.readouterr().err
    assert len(runlens.sources.read_all(tmp_path / "run")) == 2


def test_only_the_first_process_writes(callback: Any, tmp_path: Path) -> None:
    """Eight ranks are one run."""
    train(callback, Arguments(str(tmp_path / "run")), State(is_world_process_zero=False))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [RuntimeError("boom"), MemoryError(), RecursionError()])
def test_no_failure_reaches_the_training(
    callback: Any,
    tmp_path: Path,
    error: Exception,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One warning says what failed."""
    monkeypatch.setattr(engine, "diagnose", mock.Mock(side_effect=error))
    train(callback, Arguments(str(tmp_path / "run")), State())
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage().startswith(f"RunLens wrote no report: {type(error).__name__}")


def test_a_training_that_logged_nothing_ends_with_a_warning(
    callback: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """`max_steps=0`, or logging switched off."""
    train(callback, Arguments(str(tmp_path / "run")), State({"log_history": []}))
    assert "RunLens wrote no report: NothingReadable" in caplog.text


def test_a_folder_that_cannot_be_written_ends_with_a_warning(
    callback: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A file lies where the folder should be."""
    (tmp_path / "run").write_text("", encoding="utf-8")
    train(callback, Arguments(str(tmp_path / "run")), State())
    assert "RunLens wrote no report: FileExistsError" in caplog.text


def test_the_callback_is_one_of_transformers(callback: Any) -> None:
    """Every event that the Trainer calls is there."""
    assert isinstance(callback, TrainerCallback)
    assert import_module("runlens.integrations.transformers").RunLensCallback is type(callback)


def test_transformers_is_imported_when_the_callback_is_asked_for() -> None:
    """The module itself loads neither transformers nor numpy."""
    loaded = loaded_by("import runlens.integrations.transformers")
    assert not loaded.intersection({"transformers", "torch", "numpy"})


def test_without_transformers_the_error_names_it() -> None:
    """As for any library that is not installed."""
    with mock.patch.dict(sys.modules, {"transformers": None}), pytest.raises(ImportError) as raised:
        _ = integration.RunLensCallback
    assert "transformers" in str(raised.value)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    """`from ... import RunlensCallback` fails as usual."""
    with pytest.raises(AttributeError, match="RunlensCallback"):
        _ = integration.RunlensCallback
