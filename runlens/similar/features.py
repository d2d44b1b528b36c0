"""A run as some numbers that do not depend on scale: what its curves do, and how it ended.

Each group (one curve, the end, the task) has the same weight in the distance, whatever the number
of its features.
"""

import numpy as np

from runlens.history import BoolArray, Curve, FloatArray
from runlens.run import RL_TASKS, Run
from runlens.signals.shape import Shape
from runlens.signals.shape.data import EventKind, PhaseKind

CURVES = (
    "train_loss",
    "eval_loss",
    "grad_norm",
    "learning_rate",
    "reward",
    "reward_std",
    "entropy",
    "kl",
    "completion_length",
)
POINTS = 8  # of a curve, over its run
PHASES: tuple[PhaseKind, ...] = ("fall", "flat", "rise", "swing", "frozen", "gone")
EVENTS: tuple[EventKind, ...] = ("jump", "spike", "restart")
DECADES = 3.0  # of a curve's values that count as the widest
ENDS = ("finished", "running", "crashed", "killed", "stopped_early")
TASKS = ("grpo", "dpo", "classification", "gan-diffusion")
WIDTH = 1 + POINTS + len(PHASES) + len(EVENTS) + 4  # features of a curve


def features(run: Run) -> FloatArray:
    """Return all features, shape (n,); a curve that is not there is NaN but for its first."""
    curves = [_of_curve(run.curve(name), run.shape(name)) for name in CURVES]
    return np.concatenate([*curves, _of_end(run), _of_task(run)])


def groups() -> list[slice]:
    """Return where each group lies in the features."""
    ends = np.cumsum([WIDTH] * len(CURVES) + [len(ENDS) + 3, len(TASKS) + 1]).tolist()
    return [slice(first, last) for first, last in zip([0, *ends[:-1]], ends, strict=True)]


def _of_curve(curve: Curve, shape: Shape) -> FloatArray:
    if not len(curve):
        return np.concatenate([[0.0], np.full(WIDTH - 1, np.nan)])
    finite = np.isfinite(curve.value)
    whole = float(finite.mean())
    if not finite.any():
        return np.concatenate([[1.0], np.full(WIDTH - 2, np.nan), [whole]])
    step, value = curve.step[finite].astype(np.float64), curve.value[finite]
    low, high = np.percentile(value, [5, 95])
    span = float(high - low) or 1.0
    at = np.linspace(float(curve.step[0]), float(curve.step[-1]), POINTS)
    level = np.clip((np.interp(at, step, value) - low) / span, -0.5, 1.5)
    total = max(float(curve.step[-1] - curve.step[0]), 1.0)
    phases = [sum(p.last.step - p.first.step for p in shape.of_kind(k)) / total for k in PHASES]
    events = [np.log1p(len(shape.events_of(kind))) / 2 for kind in EVENTS]
    return np.array(
        [1.0, *level, *phases, *events, _decades(value), _rough(value, span), _few(value), whole]
    )


def _decades(value: FloatArray) -> float:
    """Return how many powers of ten the values span, 0 to 1."""
    size = np.abs(value[value != 0])
    return float(min(np.log10(size.max() / size.min()), DECADES) / DECADES) if len(size) else 0.0


def _rough(value: FloatArray, span: float) -> float:
    """Return how far neighbors lie apart, of the span."""
    return float(min(np.median(np.abs(np.diff(value))) / span, 1.0)) if len(value) > 1 else 0.0


def _few(value: FloatArray) -> float:
    return float(1 / np.sqrt(len(value)))


def _of_end(run: Run) -> FloatArray:
    share = run.state.done_share
    kinds = [float(run.state.kind == kind) for kind in ENDS]
    errors = sum(event.kind == "message" for event in run.events)
    resumes = sum(event.kind == "resume" for event in run.events)
    done = np.nan if share is None else min(share, 1.0)
    return np.array([*kinds, done, min(errors, 3) / 3, min(resumes, 3) / 3])


def _of_task(run: Run) -> FloatArray:
    return np.array([*(float(run.task == task) for task in TASKS), float(run.task in RL_TASKS)])


def distances(one: FloatArray, many: FloatArray) -> FloatArray:
    """Return the distance of a run from each of many, shape (m,): the root of a mean of squares.

    What one of two does not know is left out of its group; a curve that only one of them has
    differs in the feature that says so.

    Args:
        one: features, shape (n,).
        many: features, shape (m, n).

    """
    gaps = (many - one) ** 2
    known: BoolArray = np.isfinite(gaps)
    gaps = np.where(known, gaps, 0.0)
    means = [
        gaps[:, part].sum(axis=1) / np.maximum(known[:, part].sum(axis=1), 1) for part in groups()
    ]
    found: FloatArray = np.sqrt(np.mean(means, axis=0))
    return found
