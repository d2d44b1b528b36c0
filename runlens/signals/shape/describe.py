"""A shape in a sentence: every number as logged, with its step."""

from runlens.signals.shape.data import Event, Phase, Point
from runlens.wording import loss, percent, step

VERBS = {"fall": "falls", "rise": "rises", "flat": "is flat", "swing": "swings"}


def sentence(phases: tuple[Phase, ...], events: tuple[Event, ...], points: int) -> str:
    """Return what the phases say: ``falls from 3.92 (step 0) to 2.75 (step 90), then ...``."""
    if not phases:
        return "no point" if not points else f"{points} points: too few for a shape"
    whole = max(phases[-1].last.step - phases[0].first.step, 1)
    texts = [
        _of(phase, phase.steps / whole, last=phase is phases[-1], alone=len(phases) == 1)
        for phase in phases
    ]
    told = ", then ".join(texts)
    if events:
        told += "; " + ", ".join(_event(event) for event in events[:3])
        told += f" and {len(events) - 3} more" if len(events) > 3 else ""  # noqa: PLR2004 - three
    return told


def at(point: Point) -> str:
    """Return ``3.92 (step 0)``."""
    return f"{loss(point.value)} (step {step(point.step)})"


def _of(phase: Phase, share: float, *, last: bool, alone: bool) -> str:
    part = "" if alone else f" ({percent(share)} of the run)"
    until = "to the end" if last else f"to step {step(phase.last.step)}"
    if phase.kind == "gone":
        return f"is NaN or infinite from step {step(phase.first.step)} {until}"
    if phase.kind == "frozen":
        return f"is exactly {loss(phase.first.value)} {until}{part}"
    if phase.kind == "flat":
        return f"is flat at about {loss(phase.level)} {until}{part}"
    if phase.kind == "swing" and phase.swing is not None:
        swing = phase.swing
        return (
            f"swings {swing.cycles} times by about {loss(swing.amplitude)}, "
            f"every {step(round(swing.period))} steps, {until}{part}"
        )
    begin, end = _ends(phase)
    to_and_fro = f", swinging by about {loss(phase.swing.amplitude)}" if phase.swing else ""
    return f"{VERBS[phase.kind]} from {at(begin)} to {at(end)}{to_and_fro}"


def _ends(phase: Phase) -> tuple[Point, Point]:
    """Return the points that show a rise or a fall: its ends, else its lowest and its highest.

    Single points scatter about the line: the first of a rise may lie above the last.
    """
    way = 1 if phase.kind == "rise" else -1
    if way * (phase.last.value - phase.first.value) >= 0:
        return phase.first, phase.last
    ends = phase.lowest, phase.highest
    return ends if phase.kind == "rise" else (ends[1], ends[0])


def _event(event: Event) -> str:
    where = f"between step {step(event.before.step)} and {step(event.after.step)}"
    if event.kind == "spike":
        return f"a spike to {at(event.peak)}"
    return f"a {event.kind} from {loss(event.before.value)} to {loss(event.after.value)} {where}"
