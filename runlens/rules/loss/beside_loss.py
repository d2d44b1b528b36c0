"""What accuracies, held-out data and preference pairs say beside a training loss."""

import numpy as np

from runlens.arrays import median
from runlens.diagnosis import Cause, Chart, Evidence, Finding, Moment, Outcome, RuledOut
from runlens.history import Curve
from runlens.metrics import quality
from runlens.records import NamedTuple
from runlens.rules.loss import flat_accuracy, surroundings, untrained
from runlens.rules.loss.chance import HALF
from runlens.rules.rule import PREFERENCE_TASKS
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.noise import sigma_long
from runlens.wording import loss, number, percent, step

ACCURACIES = ("eval_accuracy", "token_accuracy", "train_accuracy")
__all__ = ["Bounds", "Flat", "alone", "finding", "learned", "scores", "stayed"]

SURE = 0.01  # two-sided p of a trend
PERCENT = 2.0  # accuracies above this are written in percent
LEAST = 0.01  # one answer of a hundred: less is no gain, however little there was before
SHOWN = 0.01  # shares below it are not told in percent, where all would be 0.0 %


def alone(run: Run, signals: Signals) -> Outcome | None:
    """Say what too few losses, or none, leave without a doubt: accuracies, or a level."""
    return flat_accuracy.outcome(run, signals) or untrained.outcome(run, signals)


def learned(run: Run, signals: Signals) -> str:
    """Say what got better although the loss did not: another part of the loss hides it.

    Held-out data, or margin and accuracy of preference pairs.
    """
    if learns := held_out.improving(run, signals, run.first_step):
        return f"{learns}: another part of the loss hides it"
    if run.task not in PREFERENCE_TASKS:
        return ""
    trends = [signals.trend(name) for name in ("dpo_margin", "dpo_acc")]
    rises, right = (trend.tau > 0 and trend.p < SURE for trend in trends)
    if not rises or not (right or _above_a_coin(signals)):
        return ""
    margin = signals.levels("dpo_margin")
    return (
        f"the margin of the pairs rose from {number(margin.start, 3)} to {number(margin.end, 3)} "
        f"{'and their accuracy with it' if right else 'beside an accuracy above a half'}: the rest "
        "of the loss hides it"
    )


def _above_a_coin(signals: Signals) -> bool:
    """Whether each accuracy of the pairs lies above a half: a coin's do so once in 2**points."""
    rows = (signals.curve(name).value for name in ("dpo_acc", "train_accuracy"))
    known = held_out.as_share(next((one for one in rows if len(one)), np.zeros(1)))
    return bool((known > HALF).all()) and 0.5 ** len(known) < SURE


class Bounds(NamedTuple):
    """The limits of the rule that are needed here; explained on its page."""

    fewest: int
    poor: float
    gain: float
    epochs: float
    left: float


class Flat(NamedTuple):
    """An accuracy that stayed."""

    metric: str
    start: float
    end: float
    best: float
    needed: float  # gain that counts
    epochs: float


def stayed(run: Run, signals: Signals, train: Curve, limits: Bounds) -> Flat | None:
    """Return the accuracy that stayed at a poor start; None where any rose, or none can tell."""
    per = signals.steps_per_epoch
    epochs = (run.last_step - run.first_step) / per if per else 0.0
    ends = [float(median(part)) for part in (train.value[:3], train.value[-3:])]
    if epochs < limits.epochs or ends[1] < limits.left * ends[0]:
        return None
    told: Flat | None = None
    for metric in (*ACCURACIES, *scores(run)):
        curve = signals.curve(metric)
        if not len(curve):
            continue
        flat = _flat(metric, curve, epochs, limits)
        if flat is None or flat.end - flat.start > flat.needed:
            return None
        told = told or (flat if flat.end > 0 and flat.best < limits.poor else None)
    return told


def scores(run: Run) -> list[str]:
    """Return the evaluation's scores in shares of right answers: F1, mAP, exact match."""
    return [
        metric
        for metric in run.history.metrics
        if metric not in ACCURACIES
        and (kind := quality(metric))
        and kind.sign > 0
        and not kind.by_token
    ]


def _flat(metric: str, curve: Curve, epochs: float, limits: Bounds) -> Flat | None:
    if len(curve) < limits.fewest:
        return None
    value = curve.value / (100.0 if curve.value.max() > PERCENT else 1.0)
    first, last = max(3, len(value) // 10), len(value) // 3
    start, end = float(median(value[:first])), float(median(value[-last:]))
    least = LEAST if metric in ACCURACIES else 0.0
    needed = max(limits.gain * start, least, 2 * sigma_long(value) / first**0.5)
    return Flat(metric, start, end, float(value.max()), needed, epochs)


def _share(value: float) -> str:
    return percent(value) if value >= SHOWN else number(value, 2)


def finding(run: Run, train: Curve, flat: Flat, limits: Bounds) -> Finding:
    """Tell of it."""
    start, end = (float(median(part)) for part in (train.value[:3], train.value[-3:]))
    name = flat.metric.replace("_", " ")
    onset = float(train.step[0])
    return Finding(
        severity="warning",
        title=f"{name.capitalize()} stayed at {_share(flat.end)} from step {step(onset)} on. It "
        f"was {_share(flat.start)} at the start and no higher after {flat.epochs:.0f} epochs, "
        f"while train loss went from {loss(start)} to {loss(end)}.",
        metric=flat.metric,
        onset=Moment(onset),
        evidence=(
            Evidence(
                f"Gain of {name} over the run",
                flat.end - flat.start,
                flat.needed,
                f"{percent(limits.gain)} of its start, or its noise",
                flat.metric,
                float(run.last_step),
                above=False,
            ),
            Evidence("Train loss at the end over that at the start", end / start, unit="%"),
            Evidence("Passes over the training data", flat.epochs),
        ),
        seen="The model learns how frequent each answer is, but not which one belongs to which "
        "input.",
        causes=(
            Cause(
                "The input does not reach the output: mask, wiring or padding",
                "most likely",
                kind="code-error",
            ),
            Cause("Learning rate too low", "possible", kind="rate-too-low"),
        ),
        fixes=surroundings.first_checks(run),
        ruled_out=(RuledOut("A run too short to tell", f"{flat.epochs:.0f} epochs"),),
        confidence=surroundings.confidence(
            2 - max(flat.end - flat.start, 0.0) / flat.needed, len(train), 1, 2, "the missing gain"
        ),
        chart=Chart("curves", ("train_loss", flat.metric)),
    )
