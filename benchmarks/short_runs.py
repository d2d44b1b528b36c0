"""Faults in runs of 4 to 20 points: how many are found, and how many healthy ones are alarmed.

    python benchmarks/short_runs.py [RUNS] [SEED] [--misses]

Of RUNS drawn runs (400 by default) a third is healthy, and looks like a fault: a late start, a
noisy end, a curriculum step that falls again, evaluations that scatter about their best, a policy
that grows surer while its reward rises. The faults are drawn with an effect of at least four times
the noise. A fault counts as found where a finding of any severity above info names one of its
rules. Nothing was fitted to seeds from 1,000 on.
"""

import sys
from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np

from runlens.engine import diagnose
from runlens.history import FloatArray, History, columns
from runlens.run import Configured, Run, Setting, State, Task

Curves = dict[str, FloatArray]
RUNS, NOISE = 400, (0.005, 0.05)


class Draw:
    """One short run: its points, its noise, what was planted."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Choose length, spacing and noise."""
        self.rng = rng
        self.count = int(rng.integers(4, 21))
        self.every = int(rng.choice([1, 5, 10, 50, 100]))
        self.scale = float(np.exp(rng.uniform(*np.log(NOISE))))
        self.task: Task = "sft"
        self.config: dict[str, Setting] = {}

    @property
    def share(self) -> FloatArray:
        """How much of the run is done at each point, 0 to 1."""
        return np.linspace(0.0, 1.0, self.count)

    def shaken(self, clean: FloatArray) -> FloatArray:
        """Lay multiplicative noise over a curve."""
        return clean * (1 + self.scale * self.rng.normal(size=len(clean)))

    def fall(self, start: float = 2.4, end: float = 0.9) -> FloatArray:
        """Return a healthy fall."""
        rate = self.rng.uniform(1.5, 6)
        clean: FloatArray = end + (start - end) * np.exp(-rate * self.share)
        return clean

    def after(self, least: int = 1) -> int:
        """Return the index at which something begins: after `least` points, two before the end."""
        return int(self.rng.integers(least, max(least + 1, self.count - 2)))


def healthy_fall(run: Draw) -> Curves:
    """Draw a loss that falls, evaluations that fall along."""
    clean = run.fall()
    return {"train_loss": run.shaken(clean), "eval_loss": run.shaken(1.1 * clean)}


def curriculum(run: Draw) -> Curves:
    """Draw a step up to a harder stage, and a fall from there."""
    clean, at = run.fall(), run.after(2)
    clean[at:] += 0.5 * clean[0] * np.exp(-3 * np.arange(run.count - at) / max(run.count - at, 1))
    return {"train_loss": run.shaken(clean)} if run.count >= at + 4 else healthy_fall(run)


def noisy_best(run: Draw) -> Curves:
    """Draw evaluations that reach their floor and scatter about it."""
    clean = 1.0 + 0.8 * np.exp(-6 * run.share)
    return {"train_loss": run.shaken(run.fall()), "eval_loss": run.shaken(clean)}


def late_start(run: Draw) -> Curves:
    """Draw a loss that rests during warm-up and then falls."""
    clean = 2.4 - 1.4 / (1 + np.exp(-12 * (run.share - 0.4)))
    return {"train_loss": run.shaken(clean), "learning_rate": 2e-4 * np.minimum(1, run.share + 0.1)}


def surer_policy(run: Draw) -> Curves:
    """Draw a reward that rises while the entropy falls to half."""
    run.task = "grpo"
    reward = 0.2 + 0.6 * run.share + 0.05 * run.rng.normal(size=run.count)
    return {"reward": reward, "entropy": run.shaken(1.2 - 0.6 * run.share)}


def ramp(run: Draw) -> Curves:
    """Draw a loss that climbs from its best to above its start."""
    clean, at = run.fall(), run.after(1)
    size = run.rng.uniform(1.5, 20)
    clean[at:] = clean[at] * (1 + size * np.linspace(0, 1, run.count - at))
    return {"train_loss": run.shaken(clean)}


def jump(run: Draw) -> Curves:
    """Draw a loss that leaps above its start and stays."""
    clean, at = run.fall(), run.after(1)
    clean[at:] = clean[0] * run.rng.uniform(1.5, 8)
    return {"train_loss": run.shaken(clean)}


def overfit(run: Draw) -> Curves:
    """Draw evaluations that turn while the training loss falls on."""
    at = run.after(1)
    clean = 1.8 - 0.7 * np.linspace(0, 1, at + 1)
    rise = clean[-1] * run.rng.uniform(0.25, 1.0)
    rest = clean[-1] + rise * np.linspace(0, 1, run.count - at)[1:]
    return {
        "train_loss": run.shaken(run.fall(2.2, 0.15)),
        "eval_loss": run.shaken(np.r_[clean, rest]),
    }


def flat_at_chance(run: Draw) -> Curves:
    """Draw a loss that stays at ln of the classes."""
    run.task = "classification"
    classes = int(run.rng.choice([2, 5, 10, 100]))
    run.config = {"num_labels": classes}
    loss = np.log(classes) * (1 + 0.003 * run.rng.normal(size=run.count))
    accuracy = 1 / classes + 0.01 / classes * run.rng.normal(size=run.count)
    return {"train_loss": loss, "eval_accuracy": accuracy}


def zeros(run: Draw) -> Curves:
    """Draw a loss that is exactly zero from a point on."""
    clean, at = run.shaken(run.fall()), int(run.rng.integers(0, run.count // 2))
    clean[at:] = 0.0
    return {"train_loss": clean}


def not_a_number(run: Draw) -> Curves:
    """Draw a loss that becomes NaN."""
    clean = run.shaken(run.fall())
    clean[run.after(1) :] = np.nan
    return {"train_loss": clean}


def lost_reward(run: Draw) -> Curves:
    """Draw a reward that rises and falls to nothing."""
    run.task = "ppo"
    at = max(2, run.count // 2)
    up = np.linspace(0.3, 0.8, at)
    clean = np.r_[up, np.linspace(0.8, 0.02, run.count - at)]
    return {"reward": clean + 0.03 * run.rng.normal(size=run.count)}


def lost_entropy(run: Draw) -> Curves:
    """Draw an entropy that falls to nothing while the reward stays."""
    run.task = "grpo"
    entropy = 1.2 * np.exp(-run.rng.uniform(6, 12) * run.share)
    return {
        "reward": 0.3 + 0.03 * run.rng.normal(size=run.count),
        "entropy": run.shaken(entropy),
    }


def huge_norm(run: Draw) -> Curves:
    """Draw a gradient norm that grows by orders of magnitude while the loss rises."""
    clean, at = run.fall(), run.after(1)
    norm = np.ones(run.count)
    norm[at:] = np.geomspace(10, 1e5, run.count - at)
    clean[at:] = clean[at] * np.geomspace(1, 6, run.count - at)
    return {"train_loss": run.shaken(clean), "grad_norm": run.shaken(norm)}


def clipped(run: Draw) -> Curves:
    """Draw a clip limit a hundredth of the norm, and a loss that hardly moves."""
    run.config = {"max_grad_norm": 0.05}
    clean = 2.4 - 0.05 * run.share
    return {"train_loss": run.shaken(clean), "grad_norm": run.shaken(np.full(run.count, 5.0))}


HEALTHY: tuple[Callable[[Draw], Curves], ...] = (
    healthy_fall,
    curriculum,
    noisy_best,
    late_start,
    surer_policy,
)
LOST = frozenset({"divergence", "loss-spike", "warmup-shock", "grad-explosion"})
FAULTY: Mapping[Callable[[Draw], Curves], frozenset[str]] = {
    ramp: LOST,
    jump: LOST,
    overfit: frozenset({"hockey-stick", "eval-gap"}),
    flat_at_chance: frozenset({"stuck-at-chance", "not-learning", "plateau"}),
    zeros: frozenset({"zero-loss", "hidden-nan"}),
    not_a_number: frozenset({"nan-loss"}),
    lost_reward: frozenset({"reward-collapse"}),
    lost_entropy: frozenset({"entropy-collapse"}),
    huge_norm: LOST,
    clipped: frozenset({"clip-saturation", "not-learning"}),
}


def made(seed: int) -> tuple[Run, str, frozenset[str]]:
    """Draw a run; return it, the name of what was drawn, and the rules that may name it."""
    rng = np.random.default_rng([seed, 23])
    run = Draw(rng)
    faults = list(FAULTY)
    kind = HEALTHY[seed % len(HEALTHY)] if seed % 3 == 0 else faults[seed % len(faults)]
    curves = kind(run)
    step = np.arange(1, run.count + 1) * run.every
    metrics = {name: columns(step, np.round(value, 5)) for name, value in curves.items()}
    return (
        Run(
            id=str(seed),
            name=str(seed),
            history=History(metrics, ("drawn",)),
            config={key: Configured(value, "drawn") for key, value in run.config.items()},
            state=State("unknown", "drawn", "guess"),
            framework="unknown",
            task=run.task,
        ),
        kind.__name__,
        FAULTY.get(kind, frozenset()),
    )


def main(runs: int, first: int, *, misses: bool) -> None:
    """Print found of drawn by fault, and the healthy runs alarmed."""
    drawn, hits, alarms = Counter[str](), Counter[str](), 0
    for seed in range(first, first + runs):
        run, kind, wanted = made(seed)
        loud = {one.rule for one in diagnose(run).findings if one.severity != "info"}
        drawn[kind] += 1
        hit = bool(loud & wanted) if wanted else bool(loud)
        hits[kind] += hit
        alarms += not wanted and hit
        if misses and hit != bool(wanted):
            name = "train_loss" if "train_loss" in run.history.metrics else "reward"
            print(seed, kind, sorted(loud), np.round(run.curve(name).value, 3))
    print("| drawn | runs | found |\n| --- | --- | --- |")
    for kind in sorted(drawn):
        print(f"| {kind} | {drawn[kind]} | {hits[kind] / drawn[kind]:.0%} |")
    faults = {kind.__name__ for kind in FAULTY}
    total = sum(drawn[kind] for kind in faults)
    print(f"\nfound: {sum(hits[kind] for kind in faults)} of {total} faults")
    print(f"healthy alarmed: {alarms} of {runs - total}")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(
        numbers[0] if numbers else RUNS,
        numbers[1] if len(numbers) > 1 else 0,
        misses="--misses" in sys.argv,
    )
