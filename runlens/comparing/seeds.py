"""The noise between runs that are equal but for their seed."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from runlens.metrics import NAMES, Better, base
from runlens.patterns import lazy_re
from runlens.run import Problem, Run
from runlens.signals.noise import levels

Kind = Literal["last", "best"]

FEWEST = 3
# two-sided 95.45 % quantile of Student's t (what "two standard deviations" covers in a normal
# distribution) by the number of siblings: with three of them, their deviation itself is a guess
LIMITS = {
    3: 4.53,
    4: 3.31,
    5: 2.87,
    6: 2.65,
    7: 2.52,
    8: 2.43,
    9: 2.37,
    10: 2.32,
    15: 2.20,
    20: 2.14,
}
BEARING = (
    "model_name", "learning_rate", "lr_scheduler_type", "warmup_steps", "warmup_ratio", "optim",
    "per_device_train_batch_size", "gradient_accumulation_steps", "num_processes", "max_steps",
    "num_train_epochs", "weight_decay", "max_grad_norm", "max_length", "lora_r", "beta",
)  # fmt: skip
_SCORES = lazy_re(
    r"(?:_|^)(?:accuracy|acc|f1|bleu|rouge\w*|precision|recall|auc|map\d*|mcc|pearson\w*|"
    r"spearman\w*|exact_match|em|r2|reward|score|ndcg|miou|iou|dice|psnr|ssim)(?:_|$)"
)


class SeedNoise(NamedTuple):
    """Standard deviations of levels between runs equal but for their seed, by (metric, kind)."""

    siblings: int
    deviations: Mapping[tuple[str, Kind], float]
    problems: tuple[Problem, ...] = ()

    @property
    def limit(self) -> float:
        """How many times the noise of a difference is clear: Student's t at 95.45 %."""
        return LIMITS[max((known for known in LIMITS if known <= self.siblings), default=FEWEST)]

    def of(self, metric: str, kind: Kind) -> float | None:
        """Return the deviation of one run's level; None where it is not known."""
        return self.deviations.get((metric, kind))


def between(siblings: Sequence[Run]) -> SeedNoise:
    """Return the noise between runs equal but for their seed, from at least three of them.

    None of it is known from fewer: two runs give a deviation that is wrong by a factor of three in
    one case of four, and a limit of 14 times it would be needed. Runs whose settings differ in
    what bears on training are named in `problems`; they are counted all the same.
    """
    names = sorted({name for run in siblings for name in run.history.metrics})
    found: dict[tuple[str, Kind], float] = {}
    counts = []
    for metric in (name for name in names if base(name) in NAMES or name.startswith("eval_")):
        both = [reached(run, metric) for run in siblings]
        of: dict[Kind, list[float]] = {
            "last": [one.last for one in both if one.last is not None],
            "best": [one.best for one in both if one.best is not None],
        }
        known = {kind: values for kind, values in of.items() if len(values) >= FEWEST}
        found |= {(metric, kind): float(np.std(values, ddof=1)) for kind, values in known.items()}
        counts += [len(values) for values in known.values()]
    return SeedNoise(min(counts, default=len(siblings)), found, _unequal(siblings))


class Reached(NamedTuple):
    """Two levels of one metric of one run; None where it was not logged, `last` where it is NaN."""

    last: float | None = None
    best: float | None = None


def reached(run: Run, metric: str) -> Reached:
    """Return the last and the best level of a metric.

    Of an evaluation its last value and its best one; of a training curve the median of the last
    10 % and the best of the smooth curve (signals.noise.levels).
    """
    curve = run.curve(metric)
    value = curve.finite().value
    if not len(value):
        return Reached()
    sign = -1.0 if better(metric) == "higher" else 1.0
    if metric.startswith("eval_"):
        last, best = float(value[-1]), sign * float((sign * value).min())
    else:
        known = levels(sign * value)
        last, best = sign * known.end, sign * known.best
    return Reached(last if math.isfinite(curve.value[-1]) else None, best)


def better(metric: str) -> Better:
    """Return which direction of a metric is better; scores by the usual names are known as well."""
    known = NAMES.get(base(metric))
    if known is not None:
        return known.better
    if not metric.startswith("eval_"):
        return "higher" if base(metric) == "reward" else ""
    if base(metric).endswith(("loss", "wer", "cer", "perplexity", "ppl", "mse", "mae", "rmse")):
        return "lower"
    return "higher" if _SCORES.search(metric) else ""


def _unequal(siblings: Sequence[Run]) -> tuple[Problem, ...]:
    problems = []
    if len(siblings) < FEWEST:
        text = f"{len(siblings)} repeats: the noise between seeds needs {FEWEST}"
        problems.append(Problem("seeds", text))
    for key in BEARING:
        values = {str(run.setting(key)) for run in siblings if run.setting(key) is not None}
        if len(values) > 1:
            shown = " and ".join(sorted(values)[:2])
            problems.append(Problem("seeds", f"repeats differ in {key} ({shown}): no mere repeats"))
    return tuple(problems)
