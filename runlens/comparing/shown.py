"""What a page of a comparison draws: the curves of all runs on one axis, and the other axes."""

from collections.abc import Sequence
from typing import get_args

import numpy as np

from runlens.comparing.align import along, at_steps, unit_of
from runlens.comparing.direction import better, is_held_out
from runlens.comparison import Align, Knots, Unit
from runlens.diagnosis import ThinCurve
from runlens.history import Curve, thinned
from runlens.metrics import NAMES, base
from runlens.run import Run

MOST_POINTS = 1_000  # of a curve on the page: twenty runs must stay below its budget
MOST_CURVES = 24
SHOWN = (
    "train_loss",
    "eval_loss",
    "reward",
    "eval_accuracy",
    "eval_wer",
    "grad_norm",
    "learning_rate",
    "kl",
    "entropy",
    "len_mean",
    "dpo_acc",
    "dpo_margin",
    "throughput_tokens",
    "throughput_steps",
)
KNOTS = 33  # places at which two axes are known; between them one is a line of the other
STRAIGHT = 1e-3  # of the axis: what bends by less is one line


def curves(runs: Sequence[Run], kind: Align) -> dict[str, tuple[ThinCurve | None, ...]]:
    """Return the curves that a page shows, each thinned, on the common axis."""
    logged = [name for run in runs for name in run.history.metrics]
    names = [name for name in SHOWN if name in logged]
    names += sorted({name for name in logged if base(name) in SHOWN} - set(names))
    names += sorted({name for name in logged if better(name) or is_held_out(name)} - set(names))
    shown = names[:MOST_CURVES]
    return {name: tuple(_thin(run, name, kind, runs) for run in runs) for name in shown}


def axes(runs: Sequence[Run], kind: Align) -> dict[Unit, tuple[Knots, ...]]:
    """Return, for each other axis that all runs know, where places of this axis lie on it."""
    own = unit_of(runs, kind) or "step"
    units = [unit_of(runs, other) for other in get_args(Align)]
    return {
        unit: tuple(_knots(run, own, unit) for run in runs)
        for unit in units
        if unit is not None and unit != own
    }


def _knots(run: Run, own: Unit, other: Unit) -> Knots:
    steps = np.linspace(run.first_step, run.last_step, KNOTS).astype(np.int64)
    here, there = at_steps(run, steps, own), at_steps(run, steps, other)
    line = np.interp(here, here[[0, -1]], there[[0, -1]])
    if np.abs(there - line).max() <= STRAIGHT * abs(there[-1] - there[0]):
        here, there = here[[0, -1]], there[[0, -1]]
    return tuple(here.tolist()), tuple(there.tolist())


def _thin(run: Run, name: str, kind: Align, beside: Sequence[Run]) -> ThinCurve | None:
    at, curve = (
        (run.curve(name).step.astype(float), run.curve(name))
        if kind == "step"
        else along(run, name, kind, beside)
    )
    if not len(curve):
        return None
    index = Curve(np.arange(len(curve)), curve.value, curve.epoch, curve.time)
    kept = thinned(index, most=MOST_POINTS)
    unit = NAMES[base(name)].unit if base(name) in NAMES else ""
    return ThinCurve(
        tuple(at[kept.step].tolist()), tuple(kept.value.tolist()), points=len(curve), unit=unit
    )
