"""Zero loss: the training loss goes to almost zero and stays there.

What is seen
    The training loss lies at or below 0.02, and below 2 % of its start, up to the end of the
    run; or it is exactly 0.0 from the first point. Or a part of it is, which evaluations have; or
    each evaluation loss is, or loss and accuracy of whole epochs: there were no data. Or it fell
    to a fiftieth with the logged spread of embeddings: all inputs have the same.
Why it matters
    Language has an entropy: a loss of zero means that the answer stands in the input, that the
    labels are all masked, or that the training set is memorized. The number looks perfect
    and the model is not.
Looks alike
    A NaN that the logger shows as 0.0 comes with a gradient norm of NaN: hidden-nan. Preference
    and RL losses go to zero by construction and are not judged here. A task whose answers repeat
    most of the input (correcting a text, copying) has a floor near zero: it is reached slowly, the
    evaluation loss is as low, and scores of its answers are not full; it passes. A classifier on
    separable data reaches zero together with its evaluations: said as info. So is a test that
    overfits one or two batches on purpose, and memorizing where the evaluation loss rises: there
    the evaluation loss tells it, and better (hockey-stick). Zeros of a logger that rounds are
    those of a small loss.
Limits
    level and share: at most 0.02 and 2 % of the start. fewest and least_share: points at that level
    up to the end. near_zero: an evaluation loss at this level is low as well. as_zero: at this
    level nothing is left to learn: an answer of 100 tokens has 0.5 nats. perfect: evaluation
    accuracy that leaves nothing to learn. sanity_steps: so few steps an epoch are an
    overfit-one-batch test. by_heart: share of its start that the loss of a language task ends below
    after many_epochs passes or more without any evaluation: info. Measured: no false alarm on 6,000
    simulated healthy curves.
Fixes
    Masked: print the labels that are not -100. Leaked: look for the target in the prompt and
    for evaluation data in the training set. Memorized: evaluate, and stop where the evaluation
    loss is best; no duplicates, dropout 0.05, more data.
"""

from math import ceil

import numpy as np

from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Moment,
    Outcome,
    RuledOut,
)
from runlens.history import Curve
from runlens.rules.loss import causes_of_zero, dead_part, empty_rounds, one_embedding
from runlens.rules.loss.kind_of_zero import Limits, Zero, kind_of, of_unknown, reached, shown
from runlens.rules.relations import Relations
from runlens.rules.rule import LANGUAGE_TASKS, Rule, drawn, found, passed, unless, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.changes import last_false
from runlens.wording import capitalised, count, loss, number, step, too_few


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Ask whether the smooth loss stays at zero up to the end, and by what kind of zero."""
    curve = signals.curve("train_loss")
    evals = signals.curve("eval_loss").value
    rate = run.curve("learning_rate").value
    beside = [one for one in (evals, rate) if len(one) and not one.any()]  # zero as well
    twice = len(curve) > 1 or bool(beside)
    never = len(curve) > 0 and twice and not curve.value.any()  # whatever is trained: of no use
    if collapsed := one_embedding.finding(run, signals):
        return found(collapsed)
    outcome = _of_the_loss(run, signals, limits, never=never)
    part = "" if outcome.findings else dead_part.of(run, signals, limits.fewest)
    if part:
        return found(dead_part.finding(signals, part))
    empty = None if outcome.findings else empty_rounds.finding(run, signals)
    return found(empty) if empty else outcome


def _of_the_loss(run: Run, signals: Signals, limits: Limits, *, never: bool) -> Outcome:
    """Ask it of the whole training loss."""
    curve = signals.curve("train_loss")
    if len(curve) < limits.fewest and not never:
        return unmet(too_few(len(curve), "training loss", limits.fewest))
    at = 0 if never else _start_of_zero(signals, limits)
    needed = 0 if never else max(limits.fewest, ceil(limits.least_share * len(curve)))
    if len(curve) - at < needed:
        level = signals.levels("train_loss").end
        if (near := _by_heart(run, signals, limits)) is not None:
            bound = limits.by_heart * signals.levels("train_loss").start
            passes = f"{reached(run, signals, float(run.last_step)).epoch:.0f} epochs"
            heart = Zero(
                "rehearsed", "info", f"the run trained for {passes}, and no evaluation is logged"
            )
            return found(_finding(run, signals, curve, near, heart, bound))
        return passed(f"train loss ends at {loss(level)} (threshold {limits.level:g})")
    zero = kind_of(run, signals, curve, at, limits)
    if run.task == "other" and not isinstance(zero, str):
        zero = of_unknown(run, signals, zero, curve, at)
    if isinstance(zero, str):
        return passed(zero)
    finding = _finding(run, signals, curve, at, zero, limits.level)
    reason = _hidden(run, curve, at)
    return unless(("hidden-nan",), reason, finding) if reason else found(finding)


def _by_heart(run: Run, signals: Signals, limits: Limits) -> int | None:
    """Return from where a loss is near zero after many passes; None where that is not so."""
    epochs = reached(run, signals, float(run.last_step)).epoch
    if run.task not in LANGUAGE_TASKS or len(signals.curve("eval_loss")) or epochs is None:
        return None
    bound = limits.by_heart * signals.levels("train_loss").start
    low = signals.smooth("train_loss") <= bound
    at = last_false(low) + 1
    enough = bound > 0 and len(low) - at >= max(limits.fewest, limits.least_share * len(low))
    return at if enough and epochs >= limits.many_epochs else None


def _start_of_zero(signals: Signals, limits: Limits) -> int:
    """Return the index from which the loss lies at zero to the end; n where it does not.

    Of a cliff to exactly 0.0 the points themselves tell, and where all but the first row are that:
    the mean of an epoch may hold the few batches before. Else the smooth curve.
    """
    value = signals.curve("train_loss").value
    exact = last_false(value == 0) + 1
    cliff = exact <= 1 or value[exact - 1] > limits.level
    if cliff and len(value) - exact >= limits.fewest:
        return exact
    start = max(signals.levels("train_loss").start, float(value[0]))  # the first as logged counts
    shown = signals.smooth("train_loss")
    below = value.min() < -limits.level  # such a loss has no zero to reach
    if below or not (shown[-limits.fewest :] <= limits.share * abs(start)).all():
        return len(value)
    at = last_false(shown <= limits.level) + 1
    raw = np.flatnonzero(value[at:] <= limits.level)  # the smooth curve is early in a fall
    return at + int(raw[0]) if len(raw) else len(value)


def _hidden(run: Run, curve: Curve, at: int) -> str:
    """Say why zeros are a hidden NaN or cannot be told from one; empty where they are neither."""
    zeros = last_false(curve.value == 0) + 1
    if zeros == len(curve):
        return ""
    onset = int(curve.step[zeros])
    beside = [run.curve(name).after(onset).value for name in ("grad_norm", "eval_loss")]
    cliff = zeros == at and len(run.curve("train_loss").before(onset))
    lost = any(not np.isfinite(value).all() for value in beside)
    if lost or (cliff and not any(len(value) for value in beside)):
        return f"exactly 0.0 from step {step(onset)}, and no number beside it: see hidden-nan"
    return ""


def _finding(
    run: Run, signals: Signals, curve: Curve, at: int, zero: Zero, level: float
) -> Finding:
    onset = float(curve.step[at])
    return Finding(
        severity=zero.severity,
        title=" ".join(f"{capitalised(one)}." for one in (_title(curve, at), zero.why) if one),
        metric="train_loss",
        onset=Moment(onset),
        evidence=_evidence(signals, curve, at, zero, level),
        seen=causes_of_zero.seen(zero, run.task),
        harmless=zero.harmless,
        causes=causes_of_zero.causes(zero, run.task),
        fixes=causes_of_zero.cures(run, signals, zero, onset),
        ruled_out=_ruled_out(run, int(onset)) if zero.kind != "rehearsed" else (),
        confidence=_confidence(signals, len(curve) - at),
        chart=Chart("curves", tuple(m for m in ("train_loss", "eval_loss") if len(run.curve(m)))),
    )


def _title(curve: Curve, at: int) -> str:
    value, onset = curve.value, step(float(curve.step[at]))
    end = float(median(value[at:]))
    if len(curve) == 1:
        return f"Train loss was {number(end)} at its only point, step {onset}"
    if at == 0:
        return f"Train loss was {number(end)} at all {len(curve):,} points from step {onset} on"
    jumps = not value[at:].any()
    if jumps:
        return f"Train loss fell from {loss(value[at - 1])} to 0 at step {onset} and stayed there"
    fell = f"Train loss was down to {loss(value[at])} by step {onset}"
    return f"{fell}{shown(value, end)}"


def _evidence(
    signals: Signals, curve: Curve, at: int, zero: Zero, level: float
) -> tuple[Evidence, ...]:
    rows = [
        Evidence(
            "Median train loss since then",
            float(median(curve.value[at:])),
            level,
            "a small share of its start"
            if zero.kind == "rehearsed"
            else "no task with language in it has an entropy of zero",
            "train_loss",
            float(curve.step[-1]),
            above=False,
        ),
        Evidence("Points at that level", float(len(curve) - at)),
    ]
    norm = signals.curve("grad_norm").after(int(curve.step[at])).value
    if len(norm):
        middle = float(median(norm))
        rows.append(Evidence("Median gradient norm since then", middle, where="grad_norm"))
    return tuple(rows)


def _ruled_out(run: Run, onset: int) -> tuple[RuledOut, ...]:
    norm = run.curve("grad_norm").after(onset).value
    evals = run.curve("eval_loss").after(onset).value
    if len(norm) and norm.any():
        return (RuledOut("Hidden NaN", f"all {len(norm):,} gradient norms after it are numbers"),)
    if len(evals):
        return (RuledOut("Hidden NaN", f"eval loss is finite after it: {loss(float(evals[-1]))}"),)
    return ()


def _confidence(signals: Signals, points: int) -> Confidence:
    tested = len(signals.curve("eval_loss")) > 0
    value = (0.9 if tested else 0.7) * min(1.0, 0.7 + points / 100)
    told = "with evaluations" if tested else "without evaluations"
    return Confidence(round(value, 2), f"{count(points, 'point')} at that level, {told}")


BAD = (
    *empty_rounds.BAD,
    *one_embedding.BAD,
    drawn(
        "two rows of an unknown task",
        (0, 0),
        noise=0,
        task="other",
        severity="critical",
        train_loss="0:0 10:0",
    ),
    drawn(
        "one row, and an evaluation that is zero as well",
        (0, 0),
        noise=0,
        severity="critical",
        train_loss="0:0 1:0",
        eval_loss="0:0 1:0",
    ),
    drawn(
        "a part that only evaluations have",
        (0, 0),
        task="other",
        severity="warning",
        train_loss="0:9 600:2",
        box_loss="0:0 600:0",
        eval_box_loss="50:3.5 600:3.4",
    ),
    drawn(
        "an unknown task, from where guesses of 50 classes lie",
        (80, 100),
        noise=0,
        task="other",
        severity="info",
        train_loss="0:3.9 90:1e-4 300:1e-4",
    ),
    drawn(
        "exact zeros from the second row on, of an unknown task",
        (10, 10),
        noise=0,
        task="other",
        severity="critical",
        train_loss="0:0.03 10:0 900:0",
        grad_norm="0:1 10:0 900:0",
    ),
    drawn("from the second of eight points on", (10, 20), train_loss="0:2.4 10:1e-4 70:1e-4"),
    drawn(
        "target in the input",
        (50, 130),
        severity="critical",
        train_loss="0:2.5 60:0.1 120:0.005 600:0.003",
        grad_norm="0:2 120:0.05 600:0.03",
        eval_loss="50:0.1 150:0.005 600:0.004",
        steps_per_epoch=600,
    ),
    drawn(
        "memorised",
        (380, 480),
        severity="warning",
        train_loss="0:4.2 200:0.5 400:0.02 500:0.01 1000:0.003",
        grad_norm="0:2 1000:0.02",
        steps_per_epoch=50,
    ),
    drawn(
        "memorised, evaluation worse",
        (380, 480),
        severity="info",
        train_loss="0:4.2 200:0.5 400:0.02 500:0.01 1000:0.003",
        eval_loss="50:2 300:1.5 1000:2.4",
        steps_per_epoch=50,
    ),
    drawn(
        "masked from the start",
        (0, 0),
        severity="critical",
        train_loss="0:0 400:0",
        grad_norm="0:0 400:0",
    ),
    drawn(
        "masked from the middle",
        (300, 300),
        severity="critical",
        train_loss="0:4.2 290:3 300:0 600:0",
        grad_norm="0:1 290:1 300:0 600:0",
        eval_loss="50:4 300:3.1 600:3.1",
    ),
    drawn(
        "nearly memorised, never evaluated",
        severity="info",
        train_loss="0:3.4 200:1.5 500:0.3 700:0.1 1000:0.06",
        steps_per_epoch=50,
    ),
    drawn(
        "both at zero after epochs",
        (380, 480),
        severity="warning",
        train_loss="0:2.4 200:0.5 400:0.02 500:0.005 1000:0.001",
        eval_loss="50:0.8 200:0.1 400:0.006 1000:0.001",
        steps_per_epoch=150,
    ),
    drawn(
        "memorised, rounded to four digits",
        (380, 480),
        severity="warning",
        train_loss="0:4.2 200:0.5 400:0.02 500:0.0001 510:0 1000:0",
        grad_norm="0:2 500:0.01 1000:0.001",
        steps_per_epoch=50,
    ),
    drawn(
        "classes that separate slowly",
        severity="info",
        task="classification",
        train_loss="0:0.7 300:0.1 600:0.008 900:0.004",
        eval_loss="50:0.4 300:0.05 900:0.03",
        eval_accuracy="50:0.8 600:0.99 900:0.99",
        steps_per_epoch=100,
        noise={"train_loss": 0.02},
    ),
    drawn(
        "separable classes",
        severity="info",
        task="classification",
        train_loss="0:0.7 300:0.1 600:0.005 900:0.002",
        eval_accuracy="50:0.8 600:1 900:1",
        steps_per_epoch=100,
        noise={"train_loss": 0.02},
    ),
)
GOOD = (
    *empty_rounds.GOOD,
    *one_embedding.GOOD,
    drawn("an unknown task that comes to zero", noise=0, task="other", train_loss="0:1 90:0 300:0"),
    drawn("an error in its own unit", noise=0, task="other", train_loss="0:0.5 90:1e-4 300:1e-4"),
    drawn(
        "answers repeat the input",
        train_loss="0:1.2 100:0.3 1000:0.06 4000:0.02 5000:0.014 9000:0.011",
        eval_loss="500:0.04 2000:0.02 4000:0.014 9000:0.012 /500",
        eval_bleu="500:84.6 9000:86 /500",
        steps_per_epoch=1000,
        noise={"train_loss": 0.1},
    ),
    drawn("healthy", train_loss="0:2.2 300:1.3 900:0.9", eval_loss="50:2 900:1.1"),
    drawn(
        "low for structured text, after two epochs",
        train_loss="0:3.4 300:0.3 900:0.08",
        steps_per_epoch=450,
    ),
    drawn("low for structured text", train_loss="0:3.4 300:0.3 900:0.08"),
    drawn("small unit from the start", train_loss="0:0.02 900:0.01"),
    drawn(
        "hidden NaN",
        train_loss="0:2.2 400:1.2 410:0 900:0",
        grad_norm="0:1 400:1 410:nan 900:nan",
    ),
    drawn("comes back", train_loss="0:2.2 300:0.01 500:0.01 600:0.4 900:0.3"),
    drawn("a few points at the end", train_loss="0:2.2 860:0.5 880:0.01 900:0.001"),
)

RULE = Rule(
    slug="zero-loss",
    title="Zero loss",
    family="LOS",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(
        ever=("hockey-stick", "grad-zero", "not-learning", "eval-flat"), layer="data"
    ),
    needs=("train_loss",),
    tasks=LANGUAGE_TASKS | {"asr", "classification", "other"},
    bad=BAD,
    good=GOOD,
)
