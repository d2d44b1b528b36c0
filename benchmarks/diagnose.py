"""CPU seconds and memory of `runlens diagnose`, from its start-up to runs of a million steps.

    python benchmarks/diagnose.py [--times 9] [--steps 1000 100000]

All commands take turns in one run, beside a process that only imports numpy: the ratio to that is
what carries over to other machines. User and system time of the whole process, imports and page
included, medians. Two tables in Markdown: runs of 100 to 1,000,000 logged steps and a console log
of which half is prose, then where the time of the shortest goes.
"""

import argparse
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

STEPS = (100, 1_000, 10_000, 100_000, 1_000_000)
WITH_LOG = 10_000  # steps up to which a console log lies beside the trainer state
FEW = 3  # rounds of what takes seconds
LONG = 1_000_000  # steps
PROSE = 20_000  # records of the console log with prose
WORDS = "loading the tokenizer of a model from cache with attention disabled and data in shards"
IMPORTED = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\w+)(?:\.(\w+))?")
BASE = "python -c 'import numpy'"


class Spent(NamedTuple):
    """What one process took."""

    cpu: float  # seconds, user and system
    memory: float  # most resident, MB


def rows(steps: int) -> Iterator[dict[str, float]]:
    """Draw the log of a run that overfits, numbers as the Trainer rounds them."""
    rng = random.Random(7)
    per_epoch = steps / 4
    for step in range(1, steps + 1):
        fall = 0.4 + 1.8 * math.exp(-4 * step / steps)
        yield {
            "step": step,
            "epoch": round(step / per_epoch, 4),
            "loss": round(fall * rng.gauss(1, 0.02), 4),
            "grad_norm": round(0.8 * rng.lognormvariate(0, 0.2), 6),
            "learning_rate": 2e-4 * (1 - step / steps),
        }
        if step % max(1, steps // 20) == 0:
            worse = 1.1 + abs(step / steps - 0.4)
            yield {"step": step, "epoch": round(step / per_epoch, 4), "eval_loss": worse}
    yield {"step": steps, "train_loss": 0.9, "train_runtime": 600.0}


def write_run(folder: Path, steps: int) -> None:
    """Write a trainer state, and the console log of a run that is not too long for one."""
    folder.mkdir()
    log = list(rows(steps))
    state = {"log_history": log, "max_steps": steps, "global_step": steps, "num_train_epochs": 4}
    (folder / "trainer_state.json").write_text(json.dumps(state))
    if steps <= WITH_LOG:
        lines = (f"{{'loss': {r['loss']}, 'epoch': {r['epoch']}}}\n" for r in log if "loss" in r)
        (folder / "train.log").write_text("".join(lines))


def write_prose(path: Path) -> None:
    """Write a console log of which every record has a bar and two lines of words beside it."""
    rng, words = random.Random(7), WORDS.split()
    with path.open("w") as file:
        for row in rows(PROSE):
            if "loss" in row:
                said = (" ".join(rng.choices(words, k=12)) for _ in range(2))
                done = f"{100 * row['step'] // PROSE:3d}%|####      | {row['step']:.0f}/{PROSE}"
                file.write(f"{done} [10:00<20:00, 2.00it/s]\n")
                file.write(f"{{'loss': {row['loss']}, 'epoch': {row['epoch']}}}\n")
                file.writelines(f"INFO: {line}\n" for line in said)


def spent(command: list[str], folder: Path) -> Spent:
    """Run a command and return what it took."""
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def imports(folder: Path, place: str) -> dict[str, float]:
    """Return the milliseconds that a diagnosis spends importing each package, most first."""
    command = [sys.executable, "-X", "importtime", "-m", "runlens", "diagnose", place]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stderr
    shares: dict[str, float] = {}
    for micro, package, inner in IMPORTED.findall(told):
        name = f"runlens.{inner}" if package == "runlens" and inner else package
        shares[name] = shares.get(name, 0) + int(micro) / 1e3
    return dict(sorted(shares.items(), key=lambda one: -one[1]))


def commands(folder: Path, steps: list[int]) -> dict[str, list[str]]:
    """Write the runs and return what is measured, by name."""
    python, diagnose = sys.executable, [sys.executable, "-m", "runlens", "diagnose"]
    (folder / "none.toml").write_text('select = ["nan-loss"]\n')
    known = {
        "python -c pass": [python, "-c", "pass"],
        BASE: [python, "-c", "import numpy"],
        "runlens --version": [python, "-m", "runlens", "--version"],
    }
    for count in steps:
        # in a process of its own: a child's memory counts from what its parent had
        writer = get_context("spawn").Process(
            target=write_run, args=(folder / f"run-{count}", count)
        )
        writer.start()
        writer.join()
        known[f"diagnose, {count:,} steps"] = [*diagnose, f"run-{count}"]
    first = f"run-{steps[0]}"
    known["the shortest, text alone"] = [*diagnose, "--no-html", first]
    known["the shortest, text alone, one rule"] = [
        *diagnose, "--no-html", "--config", "none.toml", first,
    ]  # fmt: skip
    write_prose(folder / "prose.log")
    known[f"diagnose, a log of {PROSE:,} records, half of it prose"] = [*diagnose, "prose.log"]
    return known


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--times", type=int, default=9)
    arguments.add_argument("--steps", type=int, nargs="+", default=STEPS)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        known = commands(folder, list(asked.steps))
        taken: dict[str, list[Spent]] = {name: [] for name in known}
        for number in range(asked.times):
            for name, command in known.items():
                if f"{LONG:,}" not in name or number < FEW:
                    taken[name].append(spent(command, folder))
        base = statistics.median(one.cpu for one in taken[BASE])
        print(
            "| command | CPU s | against importing numpy | memory, MB |\n| --- | --- | --- | --- |"
        )
        for name, some in taken.items():
            cpu = statistics.median(one.cpu for one in some)
            memory = max(one.memory for one in some)
            print(f"| `{name}` | {cpu:.2f} | {cpu / base:.1f}x | {memory:.0f} |")
        shares = imports(folder, f"run-{asked.steps[0]}")
    total = sum(shares.values())
    print(f"\n| imported by the shortest | ms of {total:.0f} | share |\n| --- | --- | --- |")
    for name, milli in list(shares.items())[:12]:
        print(f"| `{name}` | {milli:.0f} | {milli / total:.0%} |")


if __name__ == "__main__":
    main()
