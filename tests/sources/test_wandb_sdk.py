"""Runs that the installed W&B SDK writes, here and now, offline: what was logged comes back."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from runlens import read
from runlens.run import Run

SCRIPT = """
import math
import sys

import numpy as np
import wandb

run = wandb.init(
    project="llm",
    name="written",
    dir=sys.argv[1],
    mode="offline",
    config={"lr": 2e-4, "model": {"layers": 2}},
    settings=wandb.Settings(x_disable_stats=True),
)
run.define_metric("custom/*", step_metric="custom/step", summary="max")
run.define_metric("nested.*", summary="min,max")
for n in range(6):
    print("line", n)
    loss = {2: math.nan, 3: math.inf, 4: -math.inf}.get(n, 1 / (n + 1))
    run.log({
        "loss": loss,
        "grad_norm": np.float32("nan") if n == 5 else np.float32(n),
        "custom/x": n / 3,
        "custom/step": 100 * n,
        "nested": {"a": {"b": n}},
        "weights": wandb.Histogram([1.0, 2.0, 3.0]),
        "rows": wandb.Table(columns=["a"], data=[[n]]),
        "text": "a note",
        "none": None,
        "large": 10**20,
        "odd key \\u00fc/\\U0001f600": n,
    })
run.log({"late": 7.0}, step=50)
run.config.update({"late": 5})
run.summary["best"] = {"a": math.nan}
if sys.argv[2] != "finish":
    sys.exit(int(sys.argv[2]))
run.finish()
"""


def written(folder: Path, ending: str) -> Run:
    """Let the SDK write a run that ends so, and read it."""
    home = {"HOME": str(folder / "home"), "WANDB_SILENT": "true", "WANDB_DISABLE_GIT": "true"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, folder, ending],
        env=os.environ | home,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == (0 if ending == "finish" else int(ending)), done.stderr
    (log,) = folder.glob("wandb/offline-run-*/*.wandb")
    return read(log.parent)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Let it end with finish()."""
    return written(tmp_path_factory.mktemp("finished"), "finish")


def test_values(finished: Run) -> None:
    """NaN and infinities, levels, large integers and odd names; no media, text or null."""
    assert finished.curve("train_loss").step.tolist() == list(range(6))
    expected = [1, 1 / 2, math.nan, math.inf, -math.inf, 1 / 6]
    assert np.array_equal(finished.curve("train_loss").value, expected, equal_nan=True)
    norms = [0, 1, 2, 3, 4, math.nan]
    assert np.array_equal(finished.curve("grad_norm").value, norms, equal_nan=True)
    assert finished.curve("nested.a.b").value.tolist() == list(range(6))
    assert finished.curve("large").value.tolist() == [1e20] * 6
    assert len(finished.curve("odd key ü/\U0001f600")) == 6
    assert not {"weights", "rows", "text", "none"} & {
        name.partition(".")[0] for name in finished.history.metrics
    }


def test_steps(finished: Run) -> None:
    """A declared step metric counts for its metrics, W&B's own counter for the others."""
    assert finished.curve("custom/x").step.tolist() == [0, 100, 200, 300, 400, 500]
    assert finished.curve("late").step.tolist() == [50]


def test_directions(finished: Run) -> None:
    """A summary that keeps the greatest value says that more is better; both say nothing."""
    assert finished.directions == {"custom/x": "higher"}


def test_settings_console_and_end(finished: Run) -> None:
    """Settings with later updates, the console's lines, and that it came to its end."""
    settings = {key: known.value for key, known in finished.config.items()}
    assert (settings["learning_rate"], settings["model.layers"], settings["late"]) == (2e-4, 2, 5)
    assert "line 5" in finished.log_tail
    assert (finished.state.kind, finished.state.exit_code) == ("finished", 0)
    assert finished.problems == ()


def test_exit_code(tmp_path: Path) -> None:
    """A script that ends with a code of its own."""
    run = written(tmp_path, "3")
    assert (run.state.kind, run.state.exit_code) == ("crashed", 3)
    assert len(run.curve("train_loss")) == 6
