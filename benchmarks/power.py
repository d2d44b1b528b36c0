"""False alarms and power of the rules on simulated runs.

    python benchmarks/power.py [RUNS]

Curves of 30 to 1,500 points, four families (chat fine-tuning, power law, classification, weak
fall), multiplicative noise (Gaussian, t(5), t(3), lognormal) with AR(1) up to 0.9, values rounded
to four digits, an evaluation curve that falls along, lognormal gradient norms that drift, warm-up
and cosine. `calm` has noise of 1 to 6 % of the level, `harsh` of 1 to 25 %. The
faults of faults.py are drawn onto calm runs of 40 points and more. Prints two Markdown tables; the
seeds are fixed.
"""

import itertools
import sys
from collections import Counter

import numpy as np
from faults import FAULTS, planted

from runlens.engine import diagnose
from runlens.history import FloatArray, History, columns
from runlens.run import Configured, Run, State, Task

FAMILIES: tuple[Task, ...] = ("sft", "pretrain", "classification", "sft")
CALM, HARSH = 0.06, 0.25
QUIET = {"clip-saturation"}  # told as an info while the loss falls, as it does here
FEWEST = 40  # points of a run in which a fault is planted


def noise(rng: np.random.Generator, count: int) -> FloatArray:
    """Return AR(1) noise of unit scale with one of four shapes."""
    rho = rng.choice([0.0, 0.3, 0.6, 0.9])
    draws = (
        rng.normal(size=count),
        rng.standard_t(5, count) / 1.29,
        rng.standard_t(3, count) / 1.73,
        (rng.lognormal(0, 0.5, count) - 1.133) / 0.604,
    )
    shocks = draws[rng.integers(len(draws))]
    made = np.empty(count)
    before = 0.0
    for at, shock in enumerate(shocks):
        before = rho * before + np.sqrt(1 - rho**2) * shock
        made[at] = before
    return made


def loss(rng: np.random.Generator, family: int, share: FloatArray) -> FloatArray:
    """Return a falling loss without noise; `share` of the run is done at each point."""
    if family == 0:
        return rng.uniform(0.3, 2) + rng.uniform(0.2, 1.5) * np.exp(-share / rng.uniform(0.02, 0.6))
    if family == 1:
        return rng.uniform(2, 3.5) + rng.uniform(4, 8) * (1 + 200 * share) ** -rng.uniform(0.3, 1)
    if family == 2:
        return rng.uniform(0.02, 0.3) + 1.2 * np.exp(-share / rng.uniform(0.05, 0.4))
    level = rng.uniform(0.8, 2)
    return level * (1 + rng.uniform(0.05, 0.3) * np.exp(-share / rng.uniform(0.1, 0.6)))


def healthy(seed: int, most: float) -> Run:
    """Draw a healthy run; the noise is at most `most` of the level."""
    rng = np.random.default_rng(seed)
    count, every = (
        int(np.exp(rng.uniform(np.log(30), np.log(1500)))),
        int(rng.choice([1, 5, 10, 50])),
    )
    share = np.arange(1, count + 1) / count
    family = int(rng.integers(4))
    clean = loss(rng, family, share)
    scale = np.exp(rng.uniform(np.log(0.01), np.log(most)))
    value = np.maximum(clean * (1 + scale * noise(rng, count)), 1e-3)
    step, warm = np.arange(1, count + 1) * every, max(1, count // 20)
    decay = 0.5 * (
        1 + np.cos(np.pi * np.clip((np.arange(count) - warm) / max(1, count - warm), 0, 1))
    )
    rate = 2e-4 * np.where(np.arange(count) < warm, (np.arange(count) + 1) / warm, decay)
    norm = np.exp(np.log(rng.uniform(0.2, 1.1)) + rng.uniform(-1, 0.7) * share)
    norm = norm * np.exp(rng.uniform(0.05, 0.6) * noise(rng, count))
    norm[:warm] *= rng.uniform(1, 6)
    epoch = share * rng.choice([1, 2, 3])
    at = np.unique(np.linspace(count // 8, count - 1, int(rng.integers(4, 25))).astype(int))
    held_out = (
        clean[at] * rng.uniform(1, 1.1) * (1 + rng.uniform(0.002, 0.03) * rng.normal(size=len(at)))
    )
    metrics = {
        "train_loss": columns(step, np.round(value, 4), epoch),
        "learning_rate": columns(step, rate, epoch),
        "grad_norm": columns(step, np.round(norm, 4), epoch),
        "eval_loss": columns(step[at], np.round(held_out, 4), epoch[at]),
    }
    done = int(step[-1])
    known = {"max_grad_norm": 1.0, "learning_rate": 2e-4, "vocab_size": 32_000}
    return Run(
        id=str(seed),
        name=str(seed),
        history=History(metrics, ("drawn",)),
        config={k: Configured(v, "drawn") for k, v in known.items()} if seed % 2 else {},
        state=State("finished", "drawn", "certain", done_steps=done, planned_steps=done),
        framework="transformers",
        task=FAMILIES[family],
    )


def false_alarms(runs: int) -> None:
    """Draw healthy runs and count those with a loud finding."""
    print("| noise | runs | runs with a loud finding | by rule |\n| --- | --- | --- | --- |")
    for name, most in (("calm", CALM), ("harsh", HARSH)):
        alarmed, rules = 0, Counter[str]()
        for seed in range(runs):
            loud = {f.rule for f in diagnose(healthy(seed, most)).findings if f.severity != "info"}
            alarmed += bool(loud)
            rules.update(loud)
        said = ", ".join(f"{rule} {count}" for rule, count in rules.most_common())
        print(f"| {name} | {runs:,} | {alarmed} ({alarmed / runs:.1%}) | {said or 'none'} |")


def power(runs: int) -> None:
    """Plant each fault in calm runs; count those found, and how far from its beginning."""
    print("| fault | runs | found | onset error, median % of the run |\n| --- | --- | --- | --- |")
    for name, (rules, draw) in FAULTS.items():
        errors: list[float] = []
        drawn = (healthy(seed, CALM) for seed in itertools.count(1_000_000))
        long = (run for run in drawn if len(run.curve("train_loss")) >= FEWEST)
        for seed, run in enumerate(itertools.islice(long, runs)):
            faulty, onset = planted(draw, seed, run)
            said = [
                f
                for f in diagnose(faulty).findings
                if f.rule in rules and (f.severity != "info" or f.rule in QUIET)
            ]
            if said:
                errors.append(abs((said[0].onset.step or 0.0) - onset) / run.last_step)
        middle = f"{100 * float(np.median(errors)):.1f}" if errors else "–"
        print(f"| {name} | {runs:,} | {len(errors) / runs:.1%} | {middle} |")


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    false_alarms(asked)
    print()
    power(max(asked // 10, 1))
