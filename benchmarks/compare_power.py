"""False verdicts and power of a comparison on simulated pairs.

    python benchmarks/compare_power.py [PAIRS]

Pairs of 30 to 1,500 points of the four families of power.py, noise of 1 to 20 % of the level with
AR(1) up to 0.9, a part of it shared by both (equal batches). Equal pairs differ by their noise
alone; `waking` pairs are one run until a third of it, and drift apart with their noise from there
on. Different pairs part by 5 to 20 % at 10 to 70 % of the run. Evaluations: 5 to 60 of them, noise
of 0.2 to 4 %. Prints a Markdown table; the seeds are fixed.
"""

import sys
from typing import NamedTuple

import numpy as np
from power import loss
from scipy.signal import lfilter

from runlens.comparing.measures import measures
from runlens.comparing.parting import partings
from runlens.history import FloatArray, History, columns
from runlens.run import Run

CALM = 0.05  # noise below which power is stated by itself


class Drawn(NamedTuple):
    """A pair of runs, and what is true of it."""

    a: Run
    b: Run
    noise: float  # relative
    onset: float  # where the second one parts, share of the run; 0 for equal pairs


def noise(rng: np.random.Generator, count: int, rho: float, shape: int) -> FloatArray:
    """Return AR(1) noise of unit scale: Gaussian, t(5), t(3) or lognormal."""
    draws = (
        rng.normal(size=count),
        rng.standard_t(5, count) / 1.29,
        rng.standard_t(3, count) / 1.73,
        (rng.lognormal(0, 0.5, count) - 1.133) / 0.604,
    )
    made: FloatArray = lfilter([np.sqrt(1 - rho**2)], [1, -rho], draws[shape])
    return made


def pair(seed: int, kind: str, metric: str) -> Drawn:
    """Draw a pair that logs one metric."""
    counts, scales = (
        ((5, 60), (0.002, 0.04)) if metric == "eval_loss" else ((30, 1500), (0.01, 0.2))
    )
    rng = np.random.default_rng(seed)
    count = int(np.exp(rng.uniform(*np.log(counts))))
    share = np.arange(1, count + 1) / count
    clean = loss(rng, int(rng.integers(4)), share)
    scale = float(np.exp(rng.uniform(*np.log(scales))))
    rho, shape = float(rng.choice([0.0, 0.3, 0.6, 0.9])), int(rng.integers(4))
    common, first, second = (noise(rng, count, rho, shape) for _ in range(3))
    alike = float(rng.choice([0.0, 0.5, 0.9]))
    own = np.sqrt(1 - alike**2)
    noise_a = alike * common + own * first
    noise_b = alike * common + own * second
    onset, other = 0.0, clean
    if kind == "waking":
        wakes = np.clip((share - rng.uniform(0.1, 0.5)) / 0.5, 0, 1)
        noise_b = noise_a + wakes * (noise_b - noise_a)
    if kind == "different":
        onset = float(rng.uniform(0.1, 0.7))
        size = float(rng.uniform(0.05, 0.2) * rng.choice([-1, 1]))
        over = float(rng.choice([0.02, 0.1, 0.25]))
        other = clean * (1 + size * np.clip((share - onset) / over, 0, 1))
    step = np.arange(1, count + 1) * 10
    runs = []
    for name, level, shake in (("A", clean, noise_a), ("B", other, noise_b)):
        value = np.round(np.maximum(level * (1 + scale * shake), 0.02 * level), 4)
        runs.append(
            Run(name, name, History({metric: columns(step, value)}, ("drawn",)), task="sft")
        )
    return Drawn(runs[0], runs[1], scale, onset)


def judged(drawn: Drawn, metric: str) -> tuple[bool, float | None]:
    """Return whether B is called better or worse, and at which share of the run it parts."""
    deciding = next(one for one in measures(drawn.a, drawn.b, "step") if one.decides)
    parting = next((p for p in partings(drawn.a, drawn.b, "step") if p.metric == metric), None)
    clear = parting.clear if parting else None
    return bool(deciding.favours), None if clear is None else clear / drawn.a.last_step


def row(name: str, kind: str, pairs: int, metric: str = "train_loss", first: int = 0) -> None:
    """Print one line: pairs, verdicts, partings, error of the onset."""
    drawn = [pair(first + seed, kind, metric) for seed in range(pairs)]
    if name.endswith("noise below 5 %"):
        drawn = [one for one in drawn if one.noise < CALM]
    said = [judged(one, metric) for one in drawn]
    verdicts = sum(different for different, _ in said) / len(said)
    parted = [(one.onset, at) for one, (_, at) in zip(drawn, said, strict=True) if at is not None]
    error = f"{100 * np.median([abs(at - true) for true, at in parted]):.1f}" if parted else "–"
    error = error if kind == "different" else "–"
    share = len(parted) / len(said)
    print(f"| {name} | {len(said):,} | {verdicts:.2%} | {share:.2%} | {error} |")


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 1_500
    print("| pairs | number | called different | said to part | onset error, median % of the run |")
    print("| --- | --- | --- | --- | --- |")
    row("equal", "equal", asked)
    row("one run until a third of it, then noise", "waking", asked, first=1_000_000)
    row("equal, evaluations", "equal", asked, "eval_loss", 2_000_000)
    row("different by 5 to 20 %", "different", asked, first=3_000_000)
    row("different by 5 to 20 %, noise below 5 %", "different", asked, first=3_000_000)
    row("different by 5 to 20 %, evaluations", "different", asked, "eval_loss", 4_000_000)
