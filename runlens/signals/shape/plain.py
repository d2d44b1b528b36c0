"""A shape as plain data, for reports and JSON."""

from typing import Any

from runlens.run import Run
from runlens.signals.shape.data import Event, Phase, Point
from runlens.signals.shape.shape import Shape

SHOWN = (  # curves whose shape every diagnosis says
    "train_loss",
    "eval_loss",
    "reward",
    "eval_accuracy",
    "grad_norm",
    "learning_rate",
    "entropy",
    "kl",
    "len_mean",
)


def main_shapes(run: Run) -> dict[str, dict[str, Any]]:
    """Return the shapes of the main curves of a run that have one, by metric."""
    return {name: plain(shape) for name in SHOWN if (shape := run.shape(name))}


def plain(shape: Shape) -> dict[str, Any]:
    """Return the sentence, phases and events of a shape as in the JSON contract."""
    return {
        "text": shape.describe(),
        "scale": shape.scale,
        "phases": [_phase(phase) for phase in shape.phases],
        "events": [_event(event) for event in shape.events],
    }


def _point(point: Point) -> dict[str, Any] | None:
    return {"step": point.step, "value": point.value} if point.index >= 0 else None


def _phase(phase: Phase) -> dict[str, Any]:
    effect, swing = phase.effect, phase.swing
    return {
        "kind": phase.kind,
        "first": _point(phase.first),
        "last": _point(phase.last),
        "lowest": _point(phase.lowest),
        "highest": _point(phase.highest),
        "median": phase.level,
        "change": {"of_level": effect.level, "of_range": effect.range, "of_noise": effect.noise},
        "chance": phase.chance,
        "swing": swing
        and {"period": swing.period, "amplitude": swing.amplitude, "cycles": swing.cycles},
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "kind": event.kind,
        "before": _point(event.before),
        "after": _point(event.after),
        "peak": _point(event.peak),
        "recovers": event.recovers,
    }
