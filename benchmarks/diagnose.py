"""CPU seconds of `runlens diagnose` for a 1,000-step run, page and imports included.

    python benchmarks/diagnose.py

Side by side in one run: a bare interpreter, `runlens --version`, and the diagnosis with its page
against the same work in a process that only imports numpy. Prints a Markdown table; best of five.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS, TIMES = 1_000, 5


def write_run(folder: Path) -> None:
    """Write a trainer_state.json of 1,000 logged steps that overfits, and its console log."""
    rng = random.Random(7)
    log: list[dict[str, float]] = []
    for step in range(1, STEPS + 1):
        fall = 0.4 + 1.8 * math.exp(-step / 250)
        row = {"step": step, "epoch": step / 250, "loss": fall * rng.gauss(1, 0.02)}
        row |= {
            "grad_norm": 0.8 * rng.lognormvariate(0, 0.2),
            "learning_rate": 2e-4 * (1 - step / STEPS),
        }
        log.append(row)
        if step % 50 == 0:
            worse = 1.1 + abs(step - 400) / 1_000
            log.append({"step": step, "epoch": step / 250, "eval_loss": worse})
    log.append({"step": STEPS, "train_loss": 0.9, "train_runtime": 600.0})
    state = {"log_history": log, "max_steps": STEPS, "global_step": STEPS, "num_train_epochs": 4}
    (folder / "trainer_state.json").write_text(json.dumps(state))
    lines = "".join(
        f"{{'loss': {row['loss']:.4f}, 'epoch': {row['epoch']:.3f}}}\n"
        for row in log
        if "loss" in row
    )
    (folder / "train.log").write_text(lines)


def cpu(command: list[str], folder: Path) -> float:
    """Return the least CPU seconds (user and system) of a command over a few runs."""
    best = math.inf
    for _ in range(TIMES):
        before = os.times()
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        after = os.times()
        spent = after.children_user + after.children_system
        best = min(best, spent - before.children_user - before.children_system)
    return best


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run = folder / "run"
        run.mkdir()
        write_run(run)
        python, cli = sys.executable, [sys.executable, "-m", "runlens"]
        rows = {
            "python -c pass": [python, "-c", "pass"],
            "python -c 'import numpy'": [python, "-c", "import numpy"],
            "runlens --version": [*cli, "--version"],
            "runlens diagnose RUN --no-html": [*cli, "diagnose", str(run), "--no-html"],
            "runlens diagnose RUN (page included)": [*cli, "diagnose", str(run)],
        }
        spent = {name: cpu(command, folder) for name, command in rows.items()}
        base = spent["python -c 'import numpy'"]
        print("| command | CPU s, best of 5 | against importing numpy |\n| --- | --- | --- |")
        for name, seconds in spent.items():
            print(f"| `{name}` | {seconds:.2f} | {seconds / base:.1f}x |")


if __name__ == "__main__":
    main()
