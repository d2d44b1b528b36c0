"""The noise between runs that are equal but for their seed."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from runlens.comparing.belief import Spread
from runlens.comparing.direction import better, is_held_out
from runlens.comparing.ends import end
from runlens.comparing.spread import measured
from runlens.history import FloatArray
from runlens.metrics import Better
from runlens.records import NamedTuple
from runlens.run import Problem, Run

Kind = Literal["last", "best"]

FEWEST = 2
BEARING = (
    "model_name", "learning_rate", "lr_scheduler_type", "warmup_steps", "warmup_ratio", "optim",
    "per_device_train_batch_size", "gradient_accumulation_steps", "num_processes", "max_steps",
    "num_train_epochs", "weight_decay", "max_grad_norm", "max_length", "lora_r", "beta",
)  # fmt: skip


class SeedNoise(NamedTuple):
    """Levels of repeats, equal but for their seed, by (metric, kind): an array a configuration."""

    siblings: int
    levels: Mapping[tuple[str, Kind], tuple[FloatArray, ...]]
    problems: tuple[Problem, ...] = ()

    def spread(self, metric: str, kind: Kind, before: Spread) -> Spread:
        """Return the deviation between repeats; `before` is what is known without them."""
        return measured(list(self.levels.get((metric, kind), ())), before)


def between(siblings: Sequence[Run]) -> SeedNoise:
    """Return what repeats reached, at least two of them.

    Runs whose settings differ in what bears on training are named in `problems`; they are counted
    all the same.
    """
    names = sorted({name for run in siblings for name in run.history.metrics})
    found: dict[tuple[str, Kind], tuple[FloatArray, ...]] = {}
    for metric in names:
        both = [reached(run, metric) for run in siblings]
        found[metric, "last"] = (np.array([one.last for one in both if one.last is not None]),)
        found[metric, "best"] = (np.array([one.best for one in both if one.best is not None]),)
    return SeedNoise(len(siblings), found, _unequal(siblings))


class Reached(NamedTuple):
    """Two levels of one metric of one run; None where it was not logged, `last` where it is NaN."""

    last: float | None = None
    best: float | None = None


def reached(run: Run, metric: str) -> Reached:
    """Return the last and the best level of a metric, as the rows of a comparison have them."""
    value = run.curve(metric).finite().value
    return Reached(last(run, metric), best(value, metric)) if len(value) else Reached()


def last(run: Run, metric: str) -> float | None:
    """Return the last level of a metric alone: of `reached` it costs the least."""
    curve = run.curve(metric)
    known = end(curve.finite().value, held_out=is_held_out(metric))
    return known.value if known and math.isfinite(curve.value[-1]) else None


def best(value: FloatArray, metric: str, towards: Better = "") -> float:
    """Return the best value of a held-out metric, of others the best mean of a twentieth."""
    sign = -1.0 if (towards or better(metric)) == "higher" else 1.0
    width = 1 if is_held_out(metric) else max(1, len(value) // 20)
    means = np.convolve(value, np.full(width, 1 / width), "valid")
    return sign * float((sign * means).min())


def _unequal(siblings: Sequence[Run]) -> tuple[Problem, ...]:
    problems = []
    if len(siblings) < FEWEST:
        text = f"{len(siblings)} repeat: the deviation between seeds needs {FEWEST} at least"
        problems.append(Problem("seeds", text))
    for key in BEARING:
        values = {str(run.setting(key)) for run in siblings if run.setting(key) is not None}
        if len(values) > 1:
            shown = " and ".join(sorted(values)[:2])
            problems.append(Problem("seeds", f"repeats differ in {key} ({shown}): no mere repeats"))
    return tuple(problems)
