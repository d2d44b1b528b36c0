"""Gradient norms of single layers, where a run logs them beside the norm of all."""

import numpy as np

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Run

# as W&B, Lightning and own loops name them: grad_norm/<layer>, gradients/<layer>
_LAYER = lazy_re(r"(?:.*/)?(?:grad(?:ient)?_norms?|grad_2\.0_norm|gradients?)[/.](.+)")
WHOLE = frozenset({"total", "all", "global", "norm", "mean", "max", "median"})
FEWEST_LAYERS = 2


class Layer(NamedTuple):
    """A layer, the step that is told, and its gradient norm there."""

    name: str
    step: int
    norm: float
    layers: int  # how many are logged


def of_layers(run: Run) -> dict[str, str]:
    """Return metric -> layer of the norms of single layers; empty below two."""
    named = {m: found[1] for m in run.history.metrics if (found := _LAYER.fullmatch(m))}
    named = {metric: layer for metric, layer in named.items() if layer.lower() not in WHOLE}
    return named if len(named) >= FEWEST_LAYERS else {}


def largest(run: Run, at: float) -> Layer | None:
    """Return the layer with the largest norm at the last log up to a step."""
    named = of_layers(run)
    made = []
    for metric, layer in named.items():
        before = run.curve(metric).before(int(at) + 1).finite()
        if len(before):
            made.append(Layer(layer, int(before.step[-1]), float(before.value[-1]), len(named)))
    return max(made, key=lambda one: one.norm, default=None)


def first_lost(run: Run, at: float) -> Layer | None:
    """Return the layer whose norm is first no number, at or before the log after a step."""
    named = of_layers(run)
    made = []
    for metric, layer in named.items():
        curve = run.curve(metric)
        bad = np.flatnonzero(~np.isfinite(curve.value))
        if len(bad) and curve.step[bad[0]] <= at:
            made.append(
                Layer(layer, int(curve.step[bad[0]]), float(curve.value[bad[0]]), len(named))
            )
    return min(made, key=lambda one: one.step, default=None)
