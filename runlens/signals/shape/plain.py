"""A shape as plain data, for reports and JSON."""

from typing import Any, NamedTuple

from runlens.signals.shape.data import Event, Phase, Point
from runlens.signals.shape.shape import Shape


class CurveShape(NamedTuple):
    """What a curve does, in a sentence and in parts; without its points."""

    text: str
    scale: str
    phases: tuple[Phase, ...]
    events: tuple[Event, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return its part of the JSON contract."""
        return {
            "text": self.text,
            "scale": self.scale,
            "phases": [_phase(phase) for phase in self.phases],
            "events": [_event(event) for event in self.events],
        }


def plain(shape: Shape) -> CurveShape:
    """Return a shape without its points."""
    return CurveShape(shape.describe(), shape.scale, shape.phases, shape.events)


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
