"""Accuracies that never rose, where no loss is logged: 0.094 at first, and 0.093 at the end."""

import numpy as np

from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, Outcome, RuledOut
from runlens.history import Curve
from runlens.rules.loss import surroundings
from runlens.rules.rule import found
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.noise import MEDIAN_LOSS, sigma
from runlens.signals.trend import ranked
from runlens.wording import count, percent, step

ACCURACIES = ("train_accuracy", "eval_accuracy")
FEWEST = 8  # of one curve: in random order the last of fewer is often no higher than the first
POOR = 0.2  # as of not-learning: a guess among five classes
FEW_CLASSES, ABOUT = np.array([2, 3, 4]), 0.02  # whose guess is above it; how near a guess lies
LEAST = 0.01  # one answer of a hundred: less is no gain
ERRORS = 2.0  # standard errors of the difference of both ends
ROSE = 0.05  # chance of a trend upwards


def outcome(run: Run, signals: Signals) -> Outcome | None:
    """Say that no accuracy of the run left its guess; None where one did or none can tell."""
    if len(signals.curve("train_loss")) or len(signals.curve("eval_loss")):
        return None
    curves = {name: signals.curve(name) for name in ACCURACIES if len(signals.curve(name))}
    if not curves or not all(_stays(curve) for curve in curves.values()):
        return None
    return found(_finding(run, curves))


def _stays(curve: Curve) -> bool:
    if len(curve) < FEWEST:
        return False
    value = held_out.as_share(curve.value)
    width = max(3, len(value) // 3)
    start, end = float(median(value[:width])), float(median(value[-width:]))
    ends = np.array([[start], [end]])
    guess = value.max() < POOR or np.abs(ends - 1 / FEW_CLASSES).max(axis=0).min() < ABOUT
    error = MEDIAN_LOSS * sigma(value) * (2 / width) ** 0.5
    tau, chance = ranked(value)
    rises = tau > 0 and chance < ROSE and end - start > LEAST
    return bool(guess) and not rises and end - start <= max(LEAST, ERRORS * error)


def _finding(run: Run, curves: dict[str, Curve]) -> Finding:
    name, curve = next(iter(curves.items()))
    value = held_out.as_share(curve.value)
    first, last = (float(median(part)) for part in (value[:3], value[-3:]))
    onset, word = float(curve.step[0]), name.replace("_", " ")
    beside = [other.replace("_", " ") for other in curves if other != name]
    also = f", and so did {beside[0]}" if beside else ""
    return Finding(
        severity="warning",
        title=f"{word.capitalize()} stayed at {percent(last)} from step {step(onset)} on{also}. It "
        f"was {percent(first)} at the start and no higher after {count(len(curve), 'value')}.",
        metric=name,
        onset=Moment(onset),
        evidence=(
            Evidence(f"Gain of {word} over the run", last - first, LEAST, "one of 100", name,
                     above=False),
            Evidence(f"Highest {word}", float(value.max()), where=name),
        ),
        seen="No loss is logged. An answer at random scores as much.",
        fixes=surroundings.first_checks(run),
        ruled_out=(RuledOut("A slow start", f"{count(len(curve), 'value')} without a rise"),),
        confidence=Confidence(round(min(0.9, 0.5 + 0.01 * len(curve)), 2),
                              count(len(curve), "value")),
        chart=Chart("curves", tuple(curves)),
    )  # fmt: skip
