"""Runs that the trackers' own SDKs write, here and now: the scripts are in `sdk`.

TensorBoard and W&B are always there; the others come with ``pip install -e '.[writers]'``.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from runlens import read
from runlens.run import Run
from runlens.sources import read_all
from tests.sources.sdk.logged import ODD, RESUMED, STEPS, loss

SCRIPTS = Path(__file__).parent / "sdk"
PATIENCE = 300  # seconds


def written(folder: Path, script: str, needs: str, *words: str, fails: bool = False) -> Path:
    """Let a script write into a folder and return it; skip where its SDK is not installed."""
    if find_spec(needs.partition(".")[0]) is None:
        pytest.skip(f"{needs} is not installed: pip install -e '.[writers]'")
    home = {"HOME": str(folder.parent / "home"), "WANDB_SILENT": "true", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, SCRIPTS / f"{script}.py", folder, *words],
        env=os.environ | home,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ("RuntimeError: boom" in done.stderr) == fails, done.stderr
    assert fails or done.returncode == 0, done.stderr
    return folder


def check_values(run: Run, nearly: float = 0.0) -> None:
    """Assert that all that was logged came back, up to a relative difference."""
    curve = run.curve("train_loss")
    assert curve.step.tolist() == list(STEPS)
    assert curve.value.tolist() == pytest.approx([loss(step) for step in STEPS], rel=nearly)
    odd = [ODD.get(step, 0.5) for step in STEPS]
    assert np.array_equal(run.curve("grad_norm").value, odd, equal_nan=True)
    assert run.curve("eval_loss:de").value.tolist() == [1.25] * len(STEPS)
    assert np.isfinite(curve.time).all()
    assert run.config["learning_rate"].value == 0.001
    assert [problem for problem in run.problems if "deleted" not in problem.text] == []


def check_resumed(run: Run) -> None:
    """Assert that a second launch that goes back is a segment of the same run."""
    assert [segment.first_step for segment in run.segments] == [0, RESUMED[0]]
    assert run.curve("train_loss").value[-1] == loss(RESUMED[-1], 1)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return an empty folder for a run."""
    (tmp_path / "home").mkdir()
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def test_tensorboard_writes_and_we_read(place: Path) -> None:
    """Scalars in both forms; text and hyperparameters are settings; media are passed over."""
    run = read(written(place, "tensorboard_events", "tensorboard"))
    check_values(run, nearly=1e-6)
    assert run.curve("tensor/loss").value.tolist() == run.curve("train_loss").value.tolist()
    assert run.config["bf16"].value is True
    assert not {"weights", "picture", "args"} & set(run.history.metrics)


def test_torch_writes_and_we_read(place: Path) -> None:
    """Its hyperparameters are in a second event file of the same run."""
    run = read(written(place, "torch_events", "torch"))
    check_values(run, nearly=1e-6)
    assert not {"weights", "picture", "args"} & set(run.history.metrics)


def test_wandb_writes_and_we_read(place: Path) -> None:
    """An offline run that ends with an exception."""
    run = read(written(place, "wandb_runs", "wandb", fails=True))
    check_values(run)
    assert run.config["beta"].value == 0.1
    assert run.state.kind == "crashed"
    assert run.state.exit_code == 1


def test_trackio_writes_and_we_read(place: Path) -> None:
    """Several runs in one database; how a run ended is not in it."""
    folder = written(place, "trackio_runs", "trackio", fails=True)
    runs = {run.name: run for run in read_all(folder)}
    assert runs.keys() == {"finished", "resumed", "counted", "crashed"}
    check_values(runs["finished"])
    check_resumed(runs["resumed"])
    assert runs["counted"].curve("train_loss").step.tolist() == [25, 50, 75]
    assert runs["crashed"].curve("train_loss").step.tolist() == list(STEPS[:2])
    assert runs["finished"].curve("gpu_util").value.tolist() == [50.0]


@pytest.mark.parametrize("store", ["sqlite", "file"])
def test_mlflow_writes_and_we_read(place: Path, store: str) -> None:
    """Its database and its folders of files say the same."""
    folder = written(place, "mlflow_runs", "mlflow", store, fails=True)
    runs = {str(run.config["run_name"].value): run for run in read_all(folder)}
    states = {name: run.state.kind for name, run in runs.items()}
    assert states == {
        "finished": "finished",
        "resumed": "finished",
        "killed": "killed",
        "alive": "running",
        "crashed": "crashed",
    }
    check_values(runs["finished"])
    check_resumed(runs["resumed"])
    assert runs["finished"].config["bf16"].value is True
    assert runs["finished"].curve("gpu_util").value.tolist() == [55.0]


def test_swanlab_writes_and_we_read(place: Path) -> None:
    """One run that finished, and one that an exception ended."""
    written(place, "swanlab_runs", "swanlab", "finished")
    written(place, "swanlab_runs", "swanlab", "crashed", fails=True)
    runs = {run.state.kind: run for run in read_all(place)}
    assert runs.keys() == {"finished", "crashed"}
    check_values(runs["finished"])
    assert runs["finished"].config["beta"].value == 0.1
    assert "RuntimeError: boom" in runs["crashed"].state.why
    assert runs["crashed"].curve("train_loss").step.tolist() == list(STEPS[:2])


def test_lightning_writes_and_we_read(place: Path) -> None:
    """Its CSV and its event file are one run; so are its settings."""
    run = read(written(place, "lightning_runs", "lightning"))
    assert run.framework == "lightning"
    assert run.curve("train_loss").step.tolist() == list(range(1, 32, 2))
    assert run.curve("eval_loss").step.tolist() == [15, 31]
    assert run.config["learning_rate"].value == 0.05
    assert {Path(source).suffix for source in run.sources} >= {".csv", ".yaml"}
    assert run.problems == ()
