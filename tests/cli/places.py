"""Small runs on disk, and the command line run on them."""

import hashlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner, Result

from runlens.cli import main

FIXTURES = Path(__file__).parents[2] / "fixtures"
SICK = FIXTURES / "divergence"
WELL = FIXTURES / "healthy-grpo"


def lens(*args: str | Path, **env: str) -> Result:
    """Run the command line in this process; what it raises is raised."""
    known = {"COLUMNS": "80", "TERM": "xterm"} | env
    return runner().invoke(main, [str(arg) for arg in args], env=known, catch_exceptions=False)


def runner() -> CliRunner:
    """Return a runner that keeps stderr apart, as click does by itself from 8.2 on."""
    made: Any = CliRunner
    joins = "mix_stderr" in inspect.signature(CliRunner).parameters
    found: CliRunner = made(mix_stderr=False) if joins else made()
    return found


def shell(
    *args: str | Path, cwd: Path | None = None, **env: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own, as a shell does."""
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    return subprocess.run(
        [sys.executable, "-m", "runlens", *map(str, args)],
        capture_output=True,
        check=False,
        timeout=60,
        cwd=cwd,
        env=inherited | {"COLUMNS": "80"} | env,
    )


def history(
    seed: int = 0, rows: int = 30, more: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return a trainer_state.json of a run that learns; another seed is another run."""
    rng = np.random.default_rng(seed)
    log = [
        {
            "step": 10 * at,
            "epoch": at / 10,
            "loss": round(3 - 0.05 * at + 0.02 * rng.normal(), 4),
            "grad_norm": round(0.5 + 0.1 * rng.random(), 4),
            "learning_rate": 1e-4,
            **(more or {}),
        }
        for at in range(1, rows)
    ]
    last = 10 * (rows - 1)
    return {
        "log_history": log,
        "global_step": last,
        "max_steps": last,
        "num_train_epochs": 3,
    }


def a_run(folder: Path, seed: int = 0, more: Mapping[str, float] | None = None) -> Path:
    """Write a run into a folder and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trainer_state.json").write_text(json.dumps(history(seed, more=more)))
    return folder


def digest(folder: Path) -> dict[str, str]:
    """Return what lies below a folder: names, times, and hashes of the contents."""
    return {
        str(path): f"{path.lstat().st_mtime_ns} "
        + (hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "")
        for path in sorted(folder.rglob("*"))
    }
