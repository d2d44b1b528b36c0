"""A part of a composite loss that is exactly zero in training, and not in evaluation."""

from runlens import fixes
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment
from runlens.metrics import spoken
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import capitalised, loss, step


def of(run: Run, signals: Signals, fewest: int) -> str:
    """Return the part that no training batch has, while each evaluation has it; "" for none."""
    for held_out in run.history.metrics:
        name = held_out.removeprefix("eval_")
        if not name.endswith("_loss") or name in {held_out, "train_loss"}:
            continue
        value, tested = signals.curve(name).value, signals.curve(held_out).value
        known = len(value) >= fewest and len(tested) >= fewest
        if known and not value.any() and tested.min() > 0:
            return name
    return ""


def finding(signals: Signals, part: str) -> Finding:
    """Build the finding of such a part."""
    curve, tested = signals.curve(part), signals.curve(f"eval_{part}")
    onset, name = float(curve.step[0]), spoken(part)
    return Finding(
        severity="warning",
        title=f"{capitalised(name)} was exactly 0 at all {len(curve):,} points from step "
        f"{step(onset)} on, while eval {name} ended at {loss(float(tested.value[-1]))}.",
        metric=part,
        onset=Moment(onset),
        evidence=(
            Evidence(f"{capitalised(name)} in training", 0.0, where=part),
            Evidence(f"Lowest eval {name}", float(tested.value.min()), where=f"eval_{part}"),
        ),
        seen="This part of the loss trained nothing.",
        fixes=(
            fixes.look(
                f"Print the targets that {name} is computed from, of one training batch",
                "there should be some, as evaluation has them",
            ),
        ),
        confidence=Confidence(0.95, "the values themselves are logged"),
        chart=Chart("curves", (part, f"eval_{part}")),
    )
