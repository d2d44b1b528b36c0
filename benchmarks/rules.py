"""CPU time of all rules on runs of 1,000 to 1,000,000 points.

    python benchmarks/rules.py

The runs are drawn: a fine-tuning with its losses, norms, rates, speeds and evaluations, and a GRPO
run with what TRL logs. Reading and reporting are not counted, nor are imports: another run is
judged before. Best of three runs (one of 1,000,000 points). Prints a Markdown table with the time
per 1,000 points beside it, which shows how the cost grows.
"""

import time

import numpy as np

from runlens.engine import examine
from runlens.history import Columns, FloatArray, History, columns
from runlens.rules import RULES
from runlens.run import Run, State, Task
from runlens.signals import Signals

SIZES = (1_000, 10_000, 100_000, 1_000_000)
TASKS: tuple[Task, ...] = ("sft", "grpo")
LARGEST_REPEATED = 100_000
EVALUATIONS = 40


def draw(points: int, task: Task, seed: int) -> Run:
    """Return a healthy run with that many points of each metric."""
    rng = np.random.default_rng(seed)
    step = np.arange(1, points + 1)
    done = step / points
    time_ = 1.7e9 + 0.5 * step

    def rows(value: FloatArray, noise: float = 0.0) -> Columns:
        return columns(step, value * (1 + noise * rng.normal(size=points)), 3 * done, time_)

    flat = np.ones(points)
    metrics = {
        "train_loss": rows(0.8 + 1.6 * np.exp(-done / 0.1), 0.05),
        "grad_norm": rows(0.8 * np.exp(0.3 * rng.normal(size=points))),
        "learning_rate": rows(2e-4 * np.minimum(done / 0.05, 1 - done)),
        "throughput_tokens": rows(3000 * flat, 0.03),
        "gpu_mem": rows(20 * flat),
        "token_accuracy": rows(0.5 + 0.1 * done, 0.02),
    }
    held_out = step[:: max(1, points // EVALUATIONS)]
    metrics["eval_loss"] = columns(held_out, 1 + 1.4 * np.exp(-held_out / points / 0.1))
    if task == "grpo":
        levels = {"reward": 0.2 + 0.5 * done, "entropy": 0.4 - 0.1 * done, "kl": 0.01 + 0.1 * done}
        levels |= {"len_mean": 200 + 50 * done, "reward_std": 0.2 * flat, "clip_ratio": 0.01 * flat}
        levels |= {"frac_zero_std": 0.1 * flat, "len_clipped": 0.05 * flat, "logp_diff": flat / 100}
        metrics |= {name: rows(value, 0.1) for name, value in levels.items()}
    state = State("finished", planned_steps=points, done_steps=points)
    return Run(task, task, History(metrics), state=state, framework="transformers", task=task)


def judged(run: Run) -> float:
    """Return the CPU seconds that all rules together take."""
    before = time.process_time()
    signals = Signals(run)
    for rule in RULES:
        outcome = examine(rule, run, signals)
        assert outcome.status != "error", outcome.reason
    return time.process_time() - before


def main() -> None:
    """Measure and print."""
    print(f"| task | points of a metric | CPU ms, all {len(RULES)} rules | ms per 1,000 points |")
    print("| --- | --- | --- | --- |")
    for task in TASKS:
        for points in SIZES:
            runs = 1 if points > LARGEST_REPEATED else 3
            if runs > 1:
                judged(draw(points, task, seed=0))
            spent = 1e3 * min(judged(draw(points, task, seed=n)) for n in range(1, runs + 1))
            print(f"| {task} | {points:,} | {spent:,.0f} | {spent / points * 1_000:.2f} |")


if __name__ == "__main__":
    main()
