"""Faults drawn onto simulated healthy runs, each with the step at which it begins.

The sizes are those that people act on: a divergence that ends half as high again or more, a spike
of 2.5 to 8 times, an evaluation that rises by 10 to 60 %, a norm that climbs 15 to 1,000 times.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from runlens.history import Columns, Curve, FloatArray, History, columns
from runlens.run import Run, Task

Metrics = dict[str, Columns]


class Drawn(NamedTuple):
    """The curves of a faulty run and where the fault begins, as a share of the run."""

    metrics: Metrics
    onset: float
    task: Task | None = None  # None: as the healthy run


Draw = Callable[[np.random.Generator, Run], Drawn]


def planted(draw: Draw, seed: int, run: Run) -> tuple[Run, float]:
    """Return a run with the fault on it, and the step at which that begins."""
    metrics, onset, task = draw(np.random.default_rng([seed, 7]), run)
    kept = {name: _columns(run.curve(name)) for name in run.history.metrics}
    faulty = replace(run, history=History(kept | metrics, ("drawn",)), task=task or run.task)
    return faulty, onset * run.last_step


def _columns(curve: Curve) -> Columns:
    return columns(curve.step, curve.value, curve.epoch, curve.time)


def _changed(run: Run, name: str, factor: FloatArray) -> Metrics:
    curve = run.curve(name)
    return {name: columns(curve.step, curve.value * factor, curve.epoch, curve.time)}


def _share(run: Run, name: str) -> FloatArray:
    """Return how much of the run is done at each point of a metric."""
    share: FloatArray = run.curve(name).step / run.last_step
    return share


def _since(share: FloatArray, onset: float) -> FloatArray:
    """Return 0 before the onset, then up to 1 at the end."""
    return np.clip((share - onset) / (1 - onset), 0, 1)


def ramp(rng: np.random.Generator, run: Run) -> Drawn:
    """Let the model worsen from mid-run on: its losses climb to 1.8 to 4 times their level."""
    onset, size = rng.uniform(0.3, 0.7), rng.uniform(0.8, 3)
    worse: Metrics = {}
    for name in _losses(run):
        worse |= _changed(run, name, 1 + size * _since(_share(run, name), onset))
    return Drawn(worse, onset)


def jump(rng: np.random.Generator, run: Run) -> Drawn:
    """Let the model break: its losses leap to 1.8 to 4 times their level and stay."""
    onset, size = rng.uniform(0.3, 0.7), rng.uniform(1.8, 4)
    worse: Metrics = {}
    for name in _losses(run):
        worse |= _changed(run, name, np.where(_share(run, name) >= onset, size, 1.0))
    return Drawn(worse, onset)


def _losses(run: Run) -> list[str]:
    """Return the losses of a run: what is held out is of the same model."""
    return [name for name in ("train_loss", "eval_loss") if name in run.history.metrics]


def spike(rng: np.random.Generator, run: Run) -> Drawn:
    """Lift 1 to 5 points of train loss by 2.5 to 8 times."""
    share = _share(run, "train_loss")
    first = int(rng.uniform(0.3, 0.8) * len(share))
    factor = np.ones(len(share))
    factor[first : first + int(rng.integers(1, 6))] = rng.uniform(2.5, 8)
    return Drawn(_changed(run, "train_loss", factor), float(share[first]))


def flat(rng: np.random.Generator, run: Run) -> Drawn:
    """Hold train loss at its first level, evaluation with it."""
    made: Metrics = {}
    first = float(run.curve("train_loss").value[0])
    for name, noise in (("train_loss", rng.uniform(0.01, 0.06)), ("eval_loss", 0.01)):
        curve = run.curve(name)
        value = first * rng.normal(1, noise, len(curve))
        made[name] = columns(curve.step, value, curve.epoch, curve.time)
    return Drawn(made, 0.0)


def swings(rng: np.random.Generator, run: Run) -> Drawn:
    """Lay a regular swing of 25 to 60 % of the level over train loss."""
    share = _share(run, "train_loss")
    period, height = rng.uniform(0.05, 0.12), rng.uniform(0.25, 0.6)
    wave = (share / period) % 1.0
    return Drawn(_changed(run, "train_loss", 1 + height * wave * (share > 0.1)), 0.1)


def overfit(rng: np.random.Generator, run: Run) -> Drawn:
    """Let evaluation rise by 10 to 60 % from mid-run on."""
    onset = rng.uniform(0.3, 0.6)
    rise = 1 + rng.uniform(0.1, 0.6) * _since(_share(run, "eval_loss"), onset)
    return Drawn(_changed(run, "eval_loss", rise), onset)


def climb(rng: np.random.Generator, run: Run) -> Drawn:
    """Let the gradient norm climb by 15 to 1,000 times from mid-run on."""
    onset = rng.uniform(0.3, 0.7)
    power = np.log(rng.uniform(15, 1000)) * _since(_share(run, "grad_norm"), onset)
    return Drawn(_changed(run, "grad_norm", np.exp(power)), onset)


def clipped(rng: np.random.Generator, run: Run) -> Drawn:
    """Put the gradient norm at 15 to 60 times the clipping limit all along."""
    norm = run.curve("grad_norm").value
    factor = np.full(len(norm), rng.uniform(15, 60) / float(np.median(norm)))
    return Drawn(_changed(run, "grad_norm", factor), 0.0)


def _policy(rng: np.random.Generator, run: Run, **curves: FloatArray) -> Metrics:
    step = run.curve("train_loss").step
    return {
        name: columns(step, value * rng.normal(1, 0.08, len(step)))
        for name, value in curves.items()
    }


def entropy(rng: np.random.Generator, run: Run) -> Drawn:
    """Let a policy's entropy fall below 3 % of its start from mid-run on."""
    onset, share = rng.uniform(0.2, 0.6), _share(run, "train_loss")
    fall = np.exp(np.log(rng.uniform(0.002, 0.02)) * np.clip((share - onset) / 0.15, 0, 1))
    return Drawn(_policy(rng, run, entropy=0.4 * fall, reward=0.2 + 0.2 * share), onset, "grpo")


def collapse(rng: np.random.Generator, run: Run) -> Drawn:
    """Let a reward that rose fall to a fifth for good."""
    onset, share = rng.uniform(0.4, 0.7), _share(run, "train_loss")
    reward = 0.2 + 0.6 * np.minimum(share / onset, 1)
    reward = reward * (1 - 0.8 * np.clip((share - onset) / 0.1, 0, 1))
    return Drawn(_policy(rng, run, reward=reward, entropy=0.4 - 0.1 * share), onset, "grpo")


def idle(rng: np.random.Generator, run: Run) -> Drawn:
    """Let a reward go nowhere."""
    step = run.curve("train_loss").step
    reward = columns(step, 0.3 + 0.05 * rng.normal(size=len(step)))
    return Drawn({"reward": reward}, 0.0, "grpo")


def slower(rng: np.random.Generator, run: Run) -> Drawn:
    """Let tokens per second drop by 55 to 85 % from mid-run on."""
    onset, step = rng.uniform(0.4, 0.7), run.curve("train_loss").step
    level = np.where(step / run.last_step >= onset, rng.uniform(0.15, 0.45), 1.0)
    speed = columns(step, 3000 * level * rng.normal(1, 0.04, len(step)))
    return Drawn({"throughput_tokens": speed}, onset)


def leak(rng: np.random.Generator, run: Run) -> Drawn:
    """Let memory grow by 20 to 80 % over the run."""
    step = run.curve("train_loss").step
    grown = 20 * (1 + rng.uniform(0.2, 0.8) * step / run.last_step)
    return Drawn({"gpu_mem": columns(step, grown * rng.normal(1, 0.005, len(step)))}, 0.0)


# what must be found: the rule, or another that says the same of these curves
FAULTS: dict[str, tuple[tuple[str, ...], Draw]] = {
    "divergence: ramp": (("divergence",), ramp),
    "divergence: jump": (("divergence",), jump),
    "loss-spike": (("loss-spike",), spike),
    "not-learning": (("not-learning", "stuck-at-chance", "plateau"), flat),
    "sawtooth": (("sawtooth",), swings),
    "hockey-stick": (("hockey-stick",), overfit),
    "grad-explosion": (("grad-explosion",), climb),
    "clip-saturation": (("clip-saturation",), clipped),
    "entropy-collapse": (("entropy-collapse",), entropy),
    "reward-collapse": (("reward-collapse",), collapse),
    "reward-flat": (("reward-flat",), idle),
    "throughput-drop": (("throughput-drop",), slower),
    "memory-growth": (("memory-growth",), leak),
}
