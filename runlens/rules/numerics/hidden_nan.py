"""Hidden NaN: a NaN loss that the logger shows as 0.0.

What is seen
    The training loss drops from its usual level to exactly 0.0 from one point to the next and
    stays there, while the gradient norm is NaN or zero, or the evaluation loss NaN. Or it is
    exactly 0.0 here and there among losses far above zero: batches of NaN whose steps the
    optimizer skipped.
Why it matters
    The Trainer's logging_nan_inf_filter (on by default) puts the mean of the interval so far in
    the place of a NaN loss, and that mean is zero after each log. The run looks as if it had
    learned everything; its weights are NaN.
Looks alike
    A memorized training set falls to 0.0 gradually, its gradient norm stays a number that
    varies. Labels that are all masked give 0.0 from the first point with a gradient norm of
    zero, and finite evaluations. RL losses are zero where no group has an advantage: there only
    a gradient norm of NaN counts. A preference loss that saturates does not jump to 0.0. Zeros
    here and there are those of a small loss where the logger rounds, usual in a hinge or triplet
    loss (not judged), and of a batch whose labels are all masked: info without a second sign.
Limits
    fewest: points of exactly 0.0 at the end that count with a second sign. fewest_alone: without
    any second sign logged. level: the loss before them; the Trainer rounds to four digits, so the
    drop is at least a factor 1,000. frozen: bit-equal points with a NaN norm, for loggers that
    repeat the last value. scattered: zeros, each apart from the others, all other losses at `level`
    and 50 times the smallest difference between two of them; a norm that is not finite or a
    learning rate that stands still makes it critical.
Fixes
    logging_nan_inf_filter: false shows the NaN; then as for nan-loss, by what stood before it.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes, nan_causes
from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Fix,
    Mark,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import Curve
from runlens.knowledge import in_force
from runlens.rules.loss import empty_rounds
from runlens.rules.numerics import scattered_zeros
from runlens.rules.numerics.not_finite import last_finite, phase, spent, zero_tail
from runlens.rules.numerics.scattered_zeros import Scattered
from runlens.rules.numerics.second_signs import (
    Launch,
    Signs,
    launches,
    norm_turned_nan,
    signs_of,
)
from runlens.rules.relations import AFTER_NAN, Relations
from runlens.rules.rule import LANGUAGE_TASKS, RL_TASKS, Rule, drawn, found, passed
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import frozen_run
from runlens.wording import count, loss, step


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 1
    fewest_alone: int = 5
    level: float = 0.05
    frozen: int = 10
    scattered: int = 3


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look for a cliff to exactly zero, launch by launch."""
    reasons = []
    if empty_rounds.epochs(signals) is not None:
        return passed("loss and accuracy are exactly 0 in the same epochs: they had no data")
    for launch in launches(run):
        stretch = _stretch(launch, limits)
        if stretch is None:
            last = loss(float(launch.loss.value[-1]))
            reasons.append(f"train loss does not end in exact zeros: the last finite one is {last}")
        else:
            outcome = _judged(run, signals, launch, stretch, limits)
            if outcome.findings:
                return outcome
            reasons.append(outcome.reason)
        some = scattered_zeros.scattered(launch.loss, limits.scattered, limits.level)
        if some and _may_filter(run):
            return found(_scattered(run, signals, launch, some))
    return passed(reasons[-1] if reasons else "no value of train_loss is finite: see nan-loss")


def _stretch(launch: Launch, limits: Limits) -> int | None:
    """Return the index from which the loss is a constant that hides a NaN; None for none."""
    value = launch.loss.value
    tail = zero_tail(value)
    if len(value) - tail >= limits.fewest:
        return tail
    start, length = frozen_run(value)
    norm = launch.norm.after(int(launch.loss.step[start])).value
    lasts = start + length == len(value)
    if length >= limits.frozen and lasts and len(norm) and np.isnan(norm).all():
        return start
    return None


def _judged(run: Run, signals: Signals, launch: Launch, at: int, limits: Limits) -> Outcome:
    curve = launch.loss
    zeros = len(curve) - at
    onset = int(curve.step[at])
    signs = signs_of(run, launch, onset)
    if run.framework not in {*in_force.TRAINER_FRAMEWORKS, "unknown"} and not signs.nan:
        return passed(f"{zeros} losses of exactly 0.0, but {run.framework} filters no NaN")
    before = curve.value[max(0, at - 5) : at]
    cliff = len(before) > 0 and min(before[-1], float(median(before))) >= limits.level
    if run.task in RL_TASKS or not cliff:
        # no level to fall from, or one that means nothing: only a norm that turned NaN tells
        if not norm_turned_nan(launch, onset, at):
            return passed(f"{zeros} losses of exactly 0.0, without a cliff or a NaN gradient norm")
    elif not signs.nan and not signs.weak and len(launch.norm.after(onset)):
        return passed("the loss falls to exactly 0.0, but the gradient norm is finite and moves")
    return found(_finding(run, signals, launch, at, signs, limits))


def _may_filter(run: Run) -> bool:
    """Whether an exact zero of this loss may be a NaN, and can hardly be anything else."""
    known = run.task in LANGUAGE_TASKS | {"classification"}
    trainer = run.framework in {*in_force.TRAINER_FRAMEWORKS, "unknown"}
    return known and trainer and run.flag("logging_nan_inf_filter") is not False


def _scattered(run: Run, signals: Signals, launch: Launch, some: Scattered) -> Finding:
    curve = launch.loss
    onset = float(curve.step[some.first])
    others = curve.value[some.first :]
    told = scattered_zeros.signs(launch, signals.curve("learning_rate"), some)
    tree = nan_causes.of_nan(run, signals, int(onset), float(curve.step[0]))
    middle = loss(float(np.median(others[others != 0])))
    among = f"exactly 0 at {scattered_zeros.words(some)} among losses of {middle}"
    return Finding(
        severity=scattered_zeros.severity(told),
        title=f"From step {step(onset)} on the logged loss hides a NaN. Train loss was {among}"
        + (f", and {told[0]}." if told else ", and nothing else shows why."),
        metric="train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence("Losses of exactly 0", float(some.zeros), where="train_loss", step=onset),
            Evidence("Smallest other loss from there on", float(others[others != 0].min())),
            *(Evidence("Also seen", text) for text in told),
        ),
        seen="The logger writes 0 for a batch whose loss is NaN. No real loss drops to 0 for "
        "single points.",
        fixes=_fixes(run, tree.fixes, Signs(told, ())),
        ruled_out=(RuledOut("Small losses that are rounded", "all others are far above zero"),),
        confidence=Confidence(0.9 if told else 0.4, told[0] if told else "no second sign"),
        chart=Chart("zoom", tuple(m for m in ("train_loss", "grad_norm") if len(run.curve(m)))),
    )


def _onset(launch: Launch, at: int) -> int:
    """Return the first step that shows the NaN: the norm is of the step, the loss of the interval.

    A norm that turns NaN at the log before the zeros dates the onset to that log.
    """
    onset = int(launch.loss.step[at])
    if not at:
        return onset
    norm = launch.norm.after(int(launch.loss.step[at - 1]))
    return int(norm.step[0]) if len(norm) and np.isnan(norm.value[0]) else onset


def _finding(
    run: Run, signals: Signals, launch: Launch, at: int, signs: Signs, limits: Limits
) -> Finding:
    curve = launch.loss
    zeros, onset = len(curve) - at, _onset(launch, at)
    held = float(curve.value[at])
    severity, confidence = _severity(signs, zeros, limits)
    if not launch.last and severity == "critical":
        severity = "warning"  # a later launch went on from before
    told = (*signs.nan, *signs.weak)
    fell = f"fell from {loss(float(curve.value[at - 1]))} to" if at else "was"
    tree = nan_causes.of_nan(run, signals, onset, float(curve.step[0]))
    where = f" at step {step(onset)}" if signs.against else ""
    return Finding(
        severity=severity,
        title=(
            ""
            if signs.against
            else f"From step {step(curve.step[at])} on the logged loss hides a NaN. "
        )
        + f"Train loss {fell} {held:.4g}{where}"
        + (f" and stayed there for {count(zeros, 'point')}" if zeros > 1 else "")
        + (f", and {told[0]}." if told else "."),
        metric="train_loss",
        onset=Moment(float(onset)),
        evidence=_evidence(run, signals, curve, at, onset, told, limits),
        seen="No real loss drops to exactly 0 in one step. The logger wrote 0 for NaN."
        if not signs.against
        else "In a log, masked labels and a filtered NaN look the same. The finite evaluations "
        "suggest masked labels.",
        fixes=_fixes(run, tree.fixes, signs),
        ruled_out=(
            *tree.ruled_out,
            RuledOut("Memorized data", "the fall to zero took one point, not many"),
        ),
        confidence=confidence,
        chart=Chart(
            "zoom",
            tuple(name for name in ("train_loss", "grad_norm") if len(run.curve(name))),
            marks=(Mark(float(curve.step[at]), held, f"exactly {held:.4g}"),),
        ),
    )


def _fixes(run: Run, of_nan: tuple[Fix, ...], signs: Signs) -> tuple[Fix, ...]:
    """Show the NaN first, then fix it; where the weights are intact look at the labels."""
    why = "the filter shows a NaN loss as 0.0"
    shown = fixes.setting(run, "logging_nan_inf_filter", False, "Log NaN as NaN", why)
    if signs.against and not signs.nan:
        return fixes.look(
            "Count the labels that are not -100 in 20 samples", "every sample needs some"
        ), shown
    return (shown, *(fix for fix in of_nan if fix.setting != shown.setting))


def _evidence(
    run: Run,
    signals: Signals,
    curve: Curve,
    at: int,
    onset: int,
    told: tuple[str, ...],
    limits: Limits,
) -> tuple[Evidence, ...]:
    first = Evidence(
        "Consecutive losses of exactly 0 at the end",
        float(len(curve) - at),
        float(limits.fewest),
        "logging_nan_inf_filter writes 0.0 for an interval of NaN",
        "train_loss",
        float(curve.step[at]),
    )
    rows = [Evidence("Also seen", text) for text in told]
    if text := last_finite(curve, float(curve.step[at])):
        rows.append(Evidence("Last losses before that", text, where="train_loss"))
    if text := phase(signals, onset):
        rows.append(Evidence("Schedule at the onset", text, where="learning_rate"))
    rows.append(Evidence("Run after the onset", spent(run, curve, onset)))
    return (first, *rows[:5])


def _severity(signs: Signs, zeros: int, limits: Limits) -> tuple[Severity, Confidence]:
    if signs.nan:
        return "critical", Confidence(1.0, signs.nan[0])
    if signs.against:
        return "info", Confidence(0.3, signs.against)
    if signs.weak:
        return "critical", Confidence(0.8, signs.weak[0])
    if zeros >= limits.fewest_alone:
        return "critical", Confidence(0.7, f"{zeros} exact zeros after a cliff, no second sign")
    return "info", Confidence(0.4, f"only {zeros} exact zeros and no second sign logged")


HEALTHY = "0:2.2 300:1.3 900:0.9"
CLIFF = "0:2.2 400:1.2 410:0 900:0"
BAD = (
    drawn(
        "norm is NaN",
        (410, 410),
        severity="critical",
        train_loss=CLIFF,
        grad_norm="0:1 400:1 410:nan 900:nan",
    ),
    drawn(
        "norm turns NaN one log earlier",
        (400, 400),
        severity="critical",
        train_loss=CLIFF,
        grad_norm="0:1 390:1 400:nan 900:nan",
    ),
    drawn("nothing else logged", (410, 410), severity="critical", train_loss=CLIFF),
    drawn(
        "norm frozen at zero",
        (410, 410),
        severity="critical",
        train_loss=CLIFF,
        grad_norm="0:1 400:1 410:0 900:0",
    ),
    drawn(
        "evaluations stay finite",
        (410, 410),
        severity="info",
        train_loss=CLIFF,
        grad_norm="0:1 400:1 410:0 900:0",
        eval_loss="50:2 400:1.3 900:1.3",
    ),
    drawn(
        "here and there, and the schedule stands still",
        (410, 410),
        severity="critical",
        train_loss="0:9 400:8 410:0 420:9 430:0 440:5 450:0 460:15 470:0 480:8 490:0 500:9",
        learning_rate="0:2e-4 400:1e-4 500:1e-4",
    ),
    drawn(
        "here and there, and nothing else",
        (410, 410),
        severity="info",
        train_loss="0:2 400:1.5 410:0 420:1.5 500:1.5 510:0 520:1.5 600:1.4 610:0 620:1.4 900:1.3",
    ),
    drawn(
        "from the first point",
        (0, 0),
        severity="critical",
        train_loss="0:0 500:0",
        grad_norm="0:nan 500:nan",
    ),
    drawn(
        "frozen value",
        (500, 510),
        severity="critical",
        noise={"train_loss": 0.0, "grad_norm": 0.1},
        train_loss="0:2.2 500:1.1 900:1.1",
        grad_norm="0:1 490:1 500:nan 900:nan",
    ),
)
GOOD = (
    drawn(
        "every second epoch has no data",
        noise=0,
        task="classification",
        train_loss="0:0.5 10:0 20:0.4 30:0 40:0.35 50:0 60:0.3 70:0",
        train_accuracy="0:0.8 10:0 20:0.84 30:0 40:0.86 50:0 60:0.9 70:0",
    ),
    drawn(
        "a small loss, rounded",
        train_loss="0:2 300:0.02 400:0 410:0.01 420:0 430:0.02 440:0 450:0.01 900:0.01",
        learning_rate="0:1e-4 900:1e-4",
    ),
    drawn("comes back once", train_loss="0:2.2 400:1.2 410:0 420:1.2 430:0 440:1.2 900:1"),
    drawn("healthy", train_loss=HEALTHY, grad_norm="0:1 900:1"),
    drawn(
        "memorised and rounded",
        train_loss="0:2 300:0.02 400:0.001 450:0 900:0",
        grad_norm="0:1 300:0.05 900:0.004",
    ),
    drawn("masked from the start", train_loss="0:0 500:0", grad_norm="0:0 500:0"),
    drawn(
        "groups without advantage",
        task="grpo",
        train_loss="0:0.1 300:0.08 310:0 900:0",
        grad_norm="0:0.2 300:0.2 310:0 900:0",
    ),
    drawn("one zero at the end", train_loss="0:2.2 890:0.9 900:0", grad_norm="0:1 900:1"),
    drawn(
        "preference loss saturates",
        task="dpo",
        train_loss="0:0.69 300:0.1 500:0.01 600:0.0004 700:0 900:0",
        grad_norm="0:5 300:1 900:0.001",
    ),
)

RULE = Rule(
    slug="hidden-nan",
    title="NaN hidden by the logger",
    family="NUM",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=AFTER_NAN, layer="numbers"),
    needs=("train_loss",),
    bad=BAD,
    good=GOOD,
)
