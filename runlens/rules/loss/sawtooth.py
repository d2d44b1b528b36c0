"""Sawtooth: after warm-up training loss swings up and down again and again.

What is seen
    Teeth of about the same length, four or more, over a good part of the run, that are tall
    against the fall of the loss. Or it goes up and down in the same way in each epoch, as rows do
    that are never shuffled.
Why it matters
    Each tooth is an overshoot: part of every descent is undone by steps that are too large.
Looks alike
    A period of one epoch is the staircase of repeated samples or an unshuffled order. A learning
    rate that cycles moves the loss with it. Batches grouped by length, a round of data sets, or
    a period equal to that of evaluation or saving come from the loop, not from the optimizer:
    info. Two or three points a period are oscillation. Epoch steps are no teeth.
Limits
    level: median height of a tooth over the level of the loss, and fall: over the fall of the run;
    the larger decides. A height below small of what the loss falls or rises while it swings is
    info. covered: share of the run after warm-up that swings. same: deviation within which two
    periods are equal, coupled: correlation of loss and learning rate from which the
    schedule explains the teeth. jitter: share of a tooth by which whole numbers of periods may miss
    an epoch. Teeth are told from noise by how regular they are (`signals/shape/swings.py`): of
    autocorrelated noise 0.1 % turns as regularly.
Fixes
    Learning rate to a third (to a half where the loss still falls); twice the batch by
    accumulation.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import (
    Cause,
    Chart,
    Confidence,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import Curve
from runlens.records import NamedTuple
from runlens.rules.loss import same_order, surroundings
from runlens.rules.relations import Relations
from runlens.rules.rule import LOSS_TASKS, PREFERENCE_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import sigma_diff
from runlens.signals.onsets import first_tooth
from runlens.signals.shape import Point, Shape, Swing, confidence, shape_of
from runlens.signals.shape.swings import FEWEST_TURNS, detrended
from runlens.wording import loss, number, percent, step, times, too_few

FEWEST_CYCLES = FEWEST_TURNS // 2
FEWEST_POINTS = 3 * FEWEST_TURNS  # below which turning points cannot be told from noise


class Limits(Struct, frozen=True):
    """What may be tuned."""

    level: float = 0.06
    fall: float = 0.20
    small: float = 0.30
    covered: float = 0.3
    same: float = 0.08
    coupled: float = 0.6
    jitter: float = 0.08


class Teeth(NamedTuple):
    """What swings: a stretch of the training loss after warm-up; values in the unit of the loss."""

    first: Point
    last: Point
    swing: Swing
    level: float
    fall: float  # of the smooth course from first to last; below 0 where it rose
    noise: float  # of a point about the teeth
    chance: float


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look for teeth in the training loss after warm-up, and for what explains them."""
    if run.task == "other" and (reason := surroundings.no_level(run, signals)):
        return unmet(reason)
    if order := same_order.of(signals):
        return found(same_order.finding(run, order))
    train = surroundings.judged(signals)
    warm = signals.warmup
    first = warm.end if warm.present else train.step[len(train) // 10] if len(train) else 0
    late = train.after(int(first))
    if len(late) < FEWEST_POINTS:
        of = "after the first steps" if len(late) < len(train) else ""
        return unmet(too_few(len(late), "training loss", FEWEST_POINTS, of=of))
    teeth = _teeth(signals.shape("train_loss"), late) or _teeth(
        shape_of(late.step, late.value), late
    )
    if teeth is None and (order := same_order.of(signals, counted=False)):
        return found(same_order.finding(run, order))
    if teeth is None:
        return passed("training loss after warm-up does not swing regularly")
    height, period = teeth.swing.amplitude, teeth.swing.period
    levels = signals.levels("train_loss")
    needed = max(limits.fall * (levels.start - levels.end), limits.level * teeth.level)
    if height < needed:
        return passed(f"swings of {loss(height)} (threshold {loss(needed)})")
    share = (teeth.last.step - teeth.first.step) / max(int(late.step[-1] - late.step[0]), 1)
    if share < limits.covered:
        return passed(
            f"it swings over {percent(share)} of the run (threshold {percent(limits.covered)})"
        )
    if _is_epoch(signals, teeth.swing, limits):
        return passed(f"the period is an epoch of {step(signals.steps_per_epoch)} steps")
    explained = _explained(run, signals, late, period, limits)
    drifts = height < limits.small * abs(teeth.fall)
    severity: Severity = "info" if explained or drifts else "warning"
    onset = first_tooth(train, teeth.swing, float(teeth.first.step))
    return found(_finding(run, signals, teeth, onset, needed, explained, severity))


def _teeth(shape: Shape, late: Curve) -> Teeth | None:
    """Return the swing of a shape, as far as it lies after warm-up; None where it has none."""
    phases = [phase for phase in shape.phases if phase.swing]
    if not phases or phases[0].swing is None:
        return None
    first, last = phases[0].first, phases[-1].last
    first = max(first, Point(0, int(late.step[0]), float(late.value[0])), key=lambda p: p.step)
    fall = shape.level_at(first.step) - shape.level_at(last.step)
    inside = late.after(first.step).before(last.step + 1).value
    level = abs(float(median(inside))) if len(inside) else 0.0
    noise = sigma_diff(late.value)
    chance = min(phase.chance for phase in phases)
    return Teeth(first, last, phases[0].swing, level, fall, noise, chance)


def _is_epoch(signals: Signals, swing: Swing, limits: Limits) -> bool:
    """Whether the period is a whole number of epochs, or one as exactly as it is known."""
    per_epoch = signals.steps_per_epoch
    if not per_epoch:
        return False
    epochs = swing.period / per_epoch
    whole, error = round(epochs), swing.period_spread / swing.cycles**0.5
    room = max(limits.jitter, error) if whole == 1 else limits.jitter * whole
    return whole >= 1 and abs(epochs - whole) <= room


def _explained(run: Run, signals: Signals, late: Curve, period: float, limits: Limits) -> str:
    """Say what in the loop has the same period; empty where nothing has."""
    if run.flag("group_by_length") or run.setting("train_sampling_strategy") == "group_by_length":
        return "batches are grouped by length"
    for key, what in (("eval_steps", "evaluation"), ("save_steps", "saving")):
        every = run.number(key)
        if every and every > 1 and abs(period - every) <= limits.same * every:
            return f"{what} every {number(every)} steps has the same period"
    evals = signals.curve("eval_loss")
    between = float(median(np.diff(evals.step))) if len(evals) > 2 else 0.0  # noqa: PLR2004 - two gaps
    if between and abs(period - between) <= limits.same * between:
        return f"evaluation every {number(between)} steps has the same period"
    per_epoch = signals.steps_per_epoch
    if per_epoch:
        rounds = per_epoch / period
        if 2 <= round(rounds) <= 20 and abs(rounds - round(rounds)) <= limits.same / 4:  # noqa: PLR2004 - rounds of data in an epoch
            return f"{round(rounds)} swings fill an epoch exactly: an order of the data"
    rate = signals.curve("learning_rate")
    if len(rate) >= FEWEST_POINTS:
        moved = detrended(np.interp(late.step, rate.step, rate.value))
        swings = detrended(late.value)
        scale = float(moved.std()) * float(swings.std())
        if scale > 0 and float(moved.std()) > limits.level * float(rate.value.max()):
            coupled = float(np.mean(moved * swings)) / scale
            if abs(coupled) > limits.coupled:
                return f"the learning rate cycles with it (correlation {coupled:.2f})"
    return ""


def _drift(train: Curve, onset: float, period: float) -> str:
    """Say what the loss did beneath the teeth: its medians over the first and the last of them."""
    first, last = train.after(int(onset)), train.after(int(train.step[-1] - period) + 1)
    first = first.before(int(onset + period))
    if not len(first) or not len(last):
        return ""
    was, now = loss(float(median(first.value))), loss(float(median(last.value)))
    if was == now:
        return f"Apart from the swings, the loss stayed at {now}."
    way = "fell" if median(last.value) < median(first.value) else "rose"
    return (
        f"Apart from the swings, the loss {way} from {was} to {now} (medians of the first and the "
        f"last {number(period, 2)} steps)."
    )


def _finding(
    run: Run,
    signals: Signals,
    teeth: Teeth,
    onset: float,
    needed: float,
    explained: str,
    severity: Severity,
) -> Finding:
    height, period, cycles = teeth.swing.amplitude, teeth.swing.period, teeth.swing.cycles
    per_epoch = signals.steps_per_epoch
    out = [RuledOut("An epoch staircase", _against_epoch(signals, period))]
    if per_epoch and run.last_step < per_epoch:  # there was no boundary
        out = []
    if explained:
        out = [RuledOut("Steps that are too large", explained)]
    elif len(signals.curve("learning_rate")) and not signals.inputs.rate.departures:
        out.append(RuledOut("A cycle of the learning rate", "it does not move with the loss"))
    return Finding(
        severity=severity,
        title=f"Train loss swung up and down from step {step(onset)} on, about every "
        f"{number(period, 2)} steps. The median swing was {loss(height)}.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence(
                "Median height of a swing",
                height,
                needed,
                "a share of the level, or of the fall meanwhile",
                "train_loss",
            ),
            Evidence("Length of a swing, in steps", period, where="train_loss"),
            Evidence("Clear swings in a row", float(cycles), float(FEWEST_CYCLES), "show a period"),
        ),
        seen=_drift(surroundings.judged(signals), onset, period),
        causes=_causes(explained),
        fixes=_fixes(run, signals, explained, mild=severity == "info"),
        ruled_out=tuple(out),
        confidence=Confidence(
            round(confidence(height / max(needed, 1e-12), teeth.chance), 2),
            f"a swing is {times(height / max(needed, 1e-12))} the threshold, {cycles} of them",
        ),
        chart=Chart("curves", ("train_loss",)),
    )


def _against_epoch(signals: Signals, period: float) -> str:
    per_epoch = signals.steps_per_epoch
    if not per_epoch:
        return "not checked: the steps of an epoch are not recorded"
    return f"an epoch has {number(per_epoch)} steps, and a swing lasts {number(period, 3)} steps"


def _causes(explained: str) -> tuple[Cause, ...]:
    what = "Order of the data, or the training loop"
    return (Cause(what, "most likely", explained, kind="data-order"),) if explained else ()


def _fixes(run: Run, signals: Signals, explained: str, *, mild: bool) -> tuple[Fix, ...]:
    if explained:
        return (fixes.action("Shuffle the training data over whole epochs", explained),)
    doubled = fixes.more_accumulation(run, 2, "updates are then less noisy")
    factor = 1 / 2 if mild else 1 / 3
    rate = fixes.learning_rate(
        run, signals, factor, "a rate 2 to 5 times lower is usual against a sawtooth"
    )
    return (*rate, *doubled)


BAD = (
    *same_order.BAD,
    drawn(
        "regular teeth", (0, 500), severity="warning", train_loss="0:3 300:1.6 2000:1.4 ~0.4/150"
    ),
    drawn(
        "noisy teeth",
        (0, 500),
        0.06,
        severity="warning",
        train_loss="0:2.2 300:1.6 2000:1.5 ~0.3/200",
    ),
    drawn(
        "in step with evaluation",
        (0, 500),
        severity="info",
        config={"eval_steps": 150},
        train_loss="0:3 300:1.6 2000:1.4 ~0.4/150",
    ),
    drawn(
        "on a rise that is many times higher",
        (0, 500),
        0.005,
        severity="info",
        train_loss="0:1.2 300:1 2000:3 ~0.3/150",
    ),
)
GOOD = (
    *same_order.GOOD,
    drawn("smooth fall", train_loss="0:3 300:1.6 2000:1.2"),
    drawn("noise", noise=0.15, train_loss="0:3 300:1.6 2000:1.4"),
    drawn("ripple", train_loss="0:3 300:1.6 2000:1 ~0.03/150"),
    drawn(
        "one tooth an epoch",
        steps_per_epoch=150,
        train_loss="0:3 300:1.6 2000:1.4 ~0.4/150",
    ),
    drawn("three waves", train_loss="0:3 300:1.6 2000:1.4 ~0.4/700"),
)

RULE = Rule(
    slug="sawtooth",
    title="Sawtooth",
    family="LOS",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(absorbs=("oscillation",), layer="update"),
    needs=("train_loss",),
    tasks=LOSS_TASKS - PREFERENCE_TASKS,
    bad=BAD,
    good=GOOD,
)
