"""Learning rate zero: the rate is zero for a large part of a run that is still meant to learn.

What is seen
    The learning rate is exactly zero, or a millionth of its usual value, on a long stretch;
    loss is flat there. Where no range is usual, one that is never above 1e-8 counts too.
Why it matters
    At rate zero no weight moves: every step of the stretch was paid for nothing.
Looks alike
    The first point of a warm-up and the last points of a decay are zero by design. A log that
    rounds to few digits shows a small rate as zero: then loss still falls, or the rate fell in
    steps of which the next would be below half of the last digit. A second parameter
    group may still learn. A rate of zero for a few fp16 steps follows skipped updates: once it is
    over, it counts against the plan and not against what was logged so far.
Limits
    fewest: points of the learning rate. zero: at or below this,
    the rate counts as zero. share: of the points that may be zero. tail: the last points of a
    decay, as a share of the run, are left out. most: beyond this share of zeros the finding is
    critical, as it is where loss is flat there (flat: it falls less than this share). rounded:
    with a peak of fewer units of the last digit than this the log may have rounded.
Fixes
    Build the schedule for the steps that are run: max_steps, num_train_epochs, and the total
    steps handed to the scheduler are one number; count devices and accumulation only once.
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
from runlens.metrics import base
from runlens.rules.loss import surroundings
from runlens.rules.loss.falls import begins_late
from runlens.rules.relations import Relations
from runlens.rules.rule import LANGUAGE_TASKS, Rule, drawn, found, passed, unmet
from runlens.rules.schedule import shrinking
from runlens.run import Run, State
from runlens.signals import Signals, held_out
from runlens.signals.noise import longest_true
from runlens.usual_rates import ALMOST_NOTHING
from runlens.wording import loss, moved, percent, step, too_few
from runlens.wording import rate as as_rate

USUAL_ADAM = 1e-3  # the default of PyTorch's and Keras' Adam
PRINT = "Print the learning rate of the optimizer at the start of the run"
NEAR_RATIO = 0.03  # a planned total this close to a whole multiple of the zero step is one


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 4
    zero: float = 1e-12
    share: float = 0.20
    tail: float = 0.02
    most: float = 0.50
    flat: float = 0.05
    rounded: float = 20.0


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look for the longest stretch without a learning rate."""
    rate = signals.curve("learning_rate")
    if len(rate) < limits.fewest:
        return unmet(too_few(len(rate), "learning rate", limits.fewest))
    tiny = surroundings.almost_zero(run, signals)
    dead = rate.value <= (ALMOST_NOTHING if tiny else limits.zero)
    share = float(dead.mean())
    first, length = longest_true(dead)
    over = first + length < len(rate)  # of a plan that goes on it is a small part
    whole = max(run.last_step, run.state.planned_steps or 0 if over else 0, 1)
    covered = (int(rate.step[first + length - 1]) - int(rate.step[first])) / whole
    if share <= limits.share or (covered <= limits.tail and rate.value.any()):
        return passed(
            f"{percent(share)} of the points are zero (threshold {percent(limits.share)}); "
            f"the lowest is {as_rate(float(rate.value.min()))}"
        )
    if other := _elsewhere(run, signals, rate):
        return passed(other)
    stretch = rate.at(slice(first, first + length))
    fell = _fall(signals, stretch)
    if small := _below_last_digit(rate, first):
        return passed(f"the rate fell in steps; the next, {as_rate(small)}, is logged as 0")
    still = held_out.same(signals, stretch)
    if not tiny and _rounds(rate, limits) and not still and (fell is None or fell > limits.flat):
        if fell is None and not rate.value.any() and _never_fell(signals):
            return found(_finding(run, signals, stretch, share, fell, limits, as_logged=True))
        return passed("the log rounds the rate to few digits and loss still falls")
    return found(_finding(run, signals, stretch, share, fell, limits))


def _never_fell(signals: Signals) -> bool:
    """Whether no training loss is below the first, of the few that are logged."""
    train = signals.curve("train_loss").value
    return len(train) > 1 and bool(train.min() >= train[0])


def _elsewhere(run: Run, signals: Signals, rate: Curve) -> str:
    """Say why a rate of zero is none: another group has one, or the log shows no digit of it."""
    names = [m for m in run.history.metrics if base(m) == "learning_rate" and m != base(m)]
    other = next((m for m in names if (signals.curve(m).value > 0).mean() > 0.5), "")  # noqa: PLR2004 - most
    late = begins_late(rate) if not rate.value.any() else 0.0
    hidden = f"epoch {late:.0f} alone is logged: the rate may be too small to show" if late else ""
    return f"{other} is not zero: another parameter group learns" if other else hidden


def _rounds(rate: Curve, limits: Limits) -> bool:
    """Whether all rates are few multiples of one unit, as ``%.4f`` prints them."""
    positive = rate.value[rate.value > 0]
    if not len(positive):
        return True
    units = positive / positive.min()
    return bool(units.max() <= limits.rounded and (np.abs(units - np.round(units)) < 1e-6).all())  # noqa: PLR2004 - float error


def _below_last_digit(rate: Curve, first: int) -> float:
    """Return the rate that follows where a rate fell in steps, if the log rounds it to 0; else 0.

    The steps are those of StepLR: each level is held, and a constant share of the one before.
    """
    before = rate.value[:first]
    before = before[before > 0]
    levels = np.split(before, np.flatnonzero(np.diff(before)) + 1)
    if len(levels) < 2 or min(map(len, levels[-2:])) <= 1:  # noqa: PLR2004 - one above the other
        return 0.0
    above, last = (float(level[0]) for level in levels[-2:])
    units = rate.value / last
    whole = bool((np.abs(units - np.round(units)) < 1e-6).all())  # noqa: PLR2004 - float error
    share = last / above
    return last * share if round(share, 6) < 0.5 and whole else 0.0  # noqa: PLR2004 - half a digit


def _fall(signals: Signals, stretch: Curve) -> float | None:
    """Return how far train loss fell in the stretch, as a share of its level; None if unknown."""
    train = signals.curve("train_loss")
    inside = train.after(int(stretch.step[0])).before(int(stretch.step[-1]) + 1).value
    if len(inside) < 6:  # noqa: PLR2004 - two medians of three
        return None
    width = max(3, len(inside) // 5)
    before = float(median(inside[:width]))
    return (before - float(median(inside[-width:]))) / max(abs(before), 1e-12)


def _finding(
    run: Run,
    signals: Signals,
    stretch: Curve,
    share: float,
    fell: float | None,
    limits: Limits,
    *,
    as_logged: bool = False,
) -> Finding:
    """Tell it; `as_logged`: more digits might show a rate that is not 0."""
    onset, last = float(stretch.step[0]), float(stretch.step[-1])
    rate = signals.curve("learning_rate")
    peak = float(rate.value.max())
    flat = fell is not None and fell < limits.flat
    loud: Severity = "critical" if share > limits.most or flat else "warning"
    severity: Severity = "info" if as_logged else loud
    until = "to the end" if last >= rate.step[-1] else f"to step {step(last)}"
    evidence = [
        Evidence(
            "Points at a learning rate of zero",
            share,
            limits.share,
            "the last points of a decay are far fewer",
            "learning_rate",
            onset,
            unit="%",
        ),
        Evidence("Peak learning rate", peak, where="learning_rate"),
        Evidence("Steps at rate zero", last - onset, where="learning_rate", step=onset),
    ]
    if fell is not None:
        evidence.append(Evidence("Fall of train loss there", fell, where="train_loss", unit="%"))
    zero = f"below {limits.zero:g}" if stretch.value.any() else "zero" + " as logged" * as_logged
    after = f", after a peak of {as_rate(peak)}" if peak > 0 else ""
    if surroundings.almost_zero(run, signals):
        zero, after = f"{as_rate(float(stretch.value.max()))} at most", ""
    return Finding(
        severity=severity,
        title=f"The learning rate was {zero} from step {step(onset)} {until}{after}.",
        metric="learning_rate",
        onset=Moment(onset),
        end=None if last >= rate.step[-1] else Moment(last),
        evidence=tuple(evidence),
        seen=_seen(signals, stretch, fell),
        causes=() if as_logged else _causes(run, signals, stretch, peak),
        fixes=(fixes.look(PRINT),) if as_logged else _fixes(run, signals, onset, peak),
        ruled_out=(
            RuledOut(
                "A schedule that ends at 0 as planned", f"it lasts {step(last - onset)} steps"
            ),
            RuledOut("Zero rate in one parameter group only", "no other rate is logged above zero"),
        ),
        confidence=Confidence(
            0.95 if flat else 0.8,
            "loss is flat at rate zero" if flat else "what loss did there is not decisive",
        ),
        chart=Chart("curves", ("learning_rate", "train_loss"), marks=()),
    )


def _seen(signals: Signals, stretch: Curve, fell: float | None) -> str:
    text = f"It stayed there for {step(float(stretch.step[-1] - stretch.step[0]))} steps."
    if fell is None:
        return text
    end = loss(signals.levels("train_loss").end)
    return f"{text} Train loss {moved(-fell, percent)} meanwhile and ended at a median of {end}."


def _causes(run: Run, signals: Signals, stretch: Curve, peak: float) -> tuple[Cause, ...]:
    onset = float(stretch.step[0])
    planned = float(run.state.planned_steps or 0)
    configured = run.number("learning_rate")
    if surroundings.almost_zero(run, signals):
        why = f"it was {as_rate(peak)} at most"
        what = "Learning rate at the floor of its schedule, or given in another unit"
        return (Cause(what, "most likely", why, kind="rate-zero"),)
    if peak <= 0 or onset <= run.first_step:
        why = (
            f"learning_rate is {configured:g}"
            if configured is not None
            else "the rate is 0 at the start"
        )
        what = "Learning rate set to zero, or scheduler.step() never called"
        return (Cause(what, "most likely", why, kind="rate-zero"),)
    made: list[Cause] = []
    resumed = [e.step for e in run.events_of("resume") if e.step is not None]
    if any(abs(at - onset) <= 0.02 * max(run.last_step, 1) for at in resumed):
        why = f"resumed at step {step(onset)}"
        made.append(
            Cause("Resumed with a schedule that had ended", "most likely", why, kind="resume-state")
        )
    shrinks = shrinking.cause(signals.inputs.rate)
    multiple = planned / onset if onset and not shrinks else 0.0
    whole = multiple >= 2 - NEAR_RATIO and abs(multiple - round(multiple)) < NEAR_RATIO * multiple
    why = f"the rate was zero by step {step(onset)}"
    why += f" of {step(planned)} planned" if planned else f" of {step(run.last_step)}"
    made.append(
        shrinks
        or Cause(
            "Schedule built for too few steps",
            "likely" if made else "most likely",
            why,
            kind="rate-zero",
        )
    )
    if whole:
        why = f"the plan is {round(multiple)} times the length of the schedule"
        made.append(
            Cause("Devices or accumulation steps counted twice", "likely", why, kind="rate-zero")
        )
    return tuple(made)


def _fixes(run: Run, signals: Signals, onset: float, peak: float) -> tuple[Fix, ...]:
    if surroundings.almost_zero(run, signals):
        again = f"Restart at a usual rate: {USUAL_ADAM:g} for Adam on a new model"
        return (fixes.look(PRINT), fixes.action(again, cost="one run", kind="restart"))
    counted = any("were numbered" in one.text for one in run.problems)  # an update is no row
    planned = run.state.planned_steps or (0 if counted else run.last_step)
    kept = fixes.checkpoint_before(run, onset)
    if peak <= 0 and run.task not in LANGUAGE_TASKS:
        usual = f"{as_rate(USUAL_ADAM)} is usual for Adam on a new model"
        return (fixes.action(f"Set a learning rate above 0: {usual}", cost="settings only"),)
    if peak <= 0:
        return (
            Fix(
                "Set a learning rate",
                "learning_rate",
                run.number("learning_rate"),
                2e-5,
                "2e-5 is the default of TRL for SFT",
            ),
        )
    where = f"Restart from {kept[1]}" if kept else "Restart"
    every = f"all {step(planned)} steps" if planned else "all updates of the run"
    whole = fixes.action(f"Build the schedule for {every}", cost="settings only")
    return (
        *(shrinking.slower(run, signals.inputs.rate) or (whole,)),
        fixes.action(
            f"{where} with the whole schedule",
            "the steps at rate zero changed nothing",
            "one run",
            kind="restart",
        ),
    )


BAD = (
    drawn(
        "zero as logged in the few rows of an excerpt",
        (2910, 2910),
        noise=0,
        severity="info",
        train_loss="/10 2910:0.57 2920:0.58 2940:0.58",
        learning_rate="/10 2910:0 2940:0",
    ),
    drawn(
        "schedule too short",
        (160, 200),
        severity="critical",
        train_loss="0:6 170:4.7 400:4.7",
        learning_rate="0:0 20:1e-3 170:0 400:0",
        noise={"train_loss": 0.01},
    ),
    drawn(
        "zero all along",
        (0, 0),
        severity="critical",
        train_loss="0:2.3 600:2.3",
        learning_rate="0:0 600:0",
        config={"learning_rate": 0.0},
    ),
    drawn(
        "halved, halved again, and then zero",
        (400, 420),
        severity="critical",
        train_loss="0:3 200:1 600:1",
        learning_rate="0:4e-4 190:4e-4 200:2e-4 390:2e-4 400:0 1200:0",
    ),
    drawn("late, loss not logged", (650, 700), learning_rate="0:1e-4 670:0 1000:0"),
)
GOOD = (
    drawn(
        "few digits of a small rate, and the loss falls",
        noise=0,
        train_loss="/10 10:0.61 20:0.6 30:0.58 40:0.57",
        learning_rate="/10 10:0 40:0",
    ),
    drawn("linear to zero", train_loss="0:2 600:1", learning_rate="0:0 50:1e-4 600:0"),
    drawn("constant", train_loss="0:2 600:1", learning_rate="0:1e-4 600:1e-4"),
    drawn(
        "updates skipped at the start of a long plan",
        train_loss="0:3 120:2.7",
        learning_rate="0:0 30:0 40:2e-6 120:6e-6",
        state=State("unknown", planned_steps=1820),
    ),
    drawn("short zero tail", train_loss="0:2 600:1", learning_rate="0:1e-4 540:0 600:0"),
    drawn(
        "a tenth every 200 steps, printed with five digits",
        train_loss="0:3 200:1 1200:1",
        learning_rate="0:1e-3 190:1e-3 200:1e-4 390:1e-4 400:1e-5 590:1e-5 600:0 1200:0",
    ),
    drawn(
        "the same behind a warm-up, which is printed with five digits too",
        train_loss="0:3 200:1 1200:1",
        learning_rate="0:0 10:1e-5 20:2e-5 30:3e-5 40:4e-5 50:5e-5 60:6e-5 70:7e-5 80:8e-5 90:9e-5 "
        "100:1e-4 390:1e-4 400:1e-5 590:1e-5 600:0 1200:0",
    ),
    drawn(
        "rounded by the log",
        train_loss="0:3 600:1",
        learning_rate="0:1e-4 200:1e-4 210:0 600:0",
    ),
)

RULE = Rule(
    slug="lr-zero",
    title="Zero learning rate",
    family="LRS",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(
        ever=("not-learning", "plateau", "reward-flat", "stopped-early"), layer="input"
    ),
    needs=("learning_rate",),
    bad=BAD,
    good=GOOD,
)
