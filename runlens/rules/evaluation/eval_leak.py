"""Evaluation leak: evaluation loss falls far below training loss, or both vanish together.

What is seen
    Evaluation loss begins beside training loss and then falls away below it; or training learns
    its set over several epochs and evaluation loss goes to the same near-zero level. Or accuracy
    is 1 at each evaluation while training loss stays far from 0, or has a tenth of the errors of
    training from the first evaluation on. Or both losses are one number at each point, or
    the evaluation has as many rows as training and comes down with each epoch that memorizes them.
    Or held-out text takes less than 0.3 bits per character, of a model that began from nothing.
Why it matters
    The evaluation rows are in the training set. Its numbers promise a quality that the model
    does not have, and overfitting cannot be seen any more.
Looks alike
    Dropout, augmentation and label smoothing raise training loss: by a share that stays the same,
    5 to 40 %, more in vision. A training loss summed over accumulation steps, an easier evaluation
    set or another mask lie apart by one factor from the first look on. A mean over an epoch lags
    behind. Evaluation loss that is low at the first evaluation and then comes down slowly, with
    training loss, is at the floor of a task whose answers repeat their input. A task that can be
    solved exactly goes to zero on both sets without a leak: info.
Limits
    fewest: evaluations needed, taken from the last two thirds of the run. low: evaluation loss
    below this share of training loss. tau: the ratio must fall with a
    Kendall below its negative: a constant factor is no leak. begins:
    the onset is the first evaluation from which on the ratio stays below. gone: training loss
    below this share of its start counts as memorized, after epochs passes;
    beside: evaluation loss within this share of it; slow: an evaluation loss of
    which more than this share, and than as_zero, of its first look is
    left at the end, was not memorized later on. Weakly grounded.
Fixes
    Hash the rows of both sets and drop the overlap; split by source before any augmentation.
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
    Mark,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import Curve, FloatArray
from runlens.rules.evaluation import perfect, same_rows, too_low
from runlens.rules.evaluation.sets import counted_as, evaluations, spoken, train_level, worst_set
from runlens.rules.relations import Relations
from runlens.rules.rule import LANGUAGE_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.changes import last_false
from runlens.signals.trend import kendall
from runlens.wording import loss, number, percent, step, times, too_few

MANY_TIMES = 2.0  # from here on a ratio reads better as times than as percent
LIKE_ONE_FACTOR = 0.15  # a ratio this close to 1 / accumulation steps is that factor


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 3
    low: float = 0.60
    tau: float = 0.60
    begins: float = 0.75
    gone: float = 0.10
    epochs: float = 2.0
    beside: float = 0.25
    slow: float = 0.1
    as_zero: float = 0.002


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Follow the ratio of each evaluation loss to training loss; look for perfect scores."""
    outcome = worst_set(run, lambda metric: _judge(run, signals, metric, limits))
    if outcome.status != "found" and (finding := perfect.of(run, signals, limits.fewest)):
        return found(finding)
    if outcome.status != "found" and (finding := too_low.of(run, signals, limits.fewest)):
        return found(finding)
    return outcome


def _judge(run: Run, signals: Signals, metric: str, limits: Limits) -> Outcome:
    evals = evaluations(signals, metric)
    if finding := same_rows.of(signals, metric, evals) or same_rows.as_many(signals, metric, evals):
        return found(finding)
    train = train_level(signals, evals.step.astype(float))
    usable = np.isfinite(train) & (train > 0) & (evals.value >= 0)
    evals, train = evals.at(usable), train[usable]
    if len(evals) < limits.fewest:
        return unmet(
            too_few(
                len(evals), counted_as(run, metric), limits.fewest, of="with a training loss nearby"
            )
        )
    if _by_heart(run, signals, evals, train, limits):
        return found(_vanished(signals, metric, evals, train))
    ratio = evals.value / train
    end = float(median(ratio[-3:]))
    if end < limits.low and len(evals.after(run.last_step // 3)) >= limits.fewest:
        return _below(run, metric, evals, train, ratio, limits)
    return passed(
        f"eval loss ends at {f'{percent(end)} of' if end < MANY_TIMES else times(end)} train loss "
        f"(threshold {percent(limits.low)})"
    )


def _below(
    run: Run, metric: str, evals: Curve, train: FloatArray, ratio: FloatArray, limits: Limits
) -> Outcome:
    first, end = _ends(ratio)
    steps = run.number("gradient_accumulation_steps") or 1.0
    if steps > 1 and abs(end * steps - 1) < LIKE_ONE_FACTOR:
        return passed(
            f"eval loss is {percent(end)} of train loss: 1 of {steps:g} accumulated steps"
        )
    if kendall(ratio) > -limits.tau:
        return passed(
            f"eval loss was {percent(first)} of train loss at first and {percent(end)} at the end: "
            "one factor, no leak"
        )
    return found(_fallen(run, metric, evals, float(train[-1]), ratio, limits))


def _fallen(
    run: Run, metric: str, evals: Curve, level: float, ratio: FloatArray, limits: Limits
) -> Finding:
    """Tell of an evaluation loss that fell away below the training loss, which ended at `level`."""
    # augmentation and dropout widen the ratio as well; text is seldom augmented
    severity: Severity = "warning" if run.task in LANGUAGE_TASKS else "info"
    first, end = _ends(ratio)
    at = min(last_false(ratio < limits.begins) + 1, len(ratio) - 1)
    onset, final = float(evals.step[at]), float(evals.value[-1])
    return Finding(
        severity=severity,
        harmless=severity == "info",
        title=f"{spoken(metric).capitalize()} was far below train loss from step {step(onset)} on. "
        f"It ended at {loss(final)}, and smoothed train loss at {loss(level)}.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence(
                "Eval loss as a share of train loss",
                end,
                limits.low,
                "dropout explains 60 to 95 %",
                metric,
                float(evals.step[-1]),
                above=False,
                unit="%",
            ),
            Evidence("That share at the first evaluations", first, where=metric, unit="%"),
            Evidence("Eval loss at the end", final, where=metric, step=float(evals.step[-1])),
            Evidence("Train loss at the end", level, where="train_loss"),
        ),
        seen=f"The ratio of eval to train loss fell from {percent(first)} (median of the first 2 "
        f"evaluations) to {percent(end)} (median of the last 3). A model does not learn unseen "
        "rows faster than seen ones.",
        causes=(
            Cause(
                "Evaluation rows are in the training set, more than once",
                "most likely",
                f"eval loss ended at {percent(end)} of train loss",
                kind="leak",
            ),
        ),
        fixes=_fixes(),
        ruled_out=(
            RuledOut("A constant factor (accumulation, masking, easier rows)", "the ratio moved"),
        ),
        confidence=_confidence(len(evals), limits.low / max(end, 1e-9)),
        chart=_chart(metric, onset, float(evals.value[at])),
    )


def _ends(ratio: FloatArray) -> tuple[float, float]:
    """Return the ratio at the first evaluations and at the last."""
    return float(median(ratio[:2])), float(median(ratio[-3:]))


def _by_heart(run: Run, signals: Signals, evals: Curve, train: FloatArray, limits: Limits) -> bool:
    """Whether training went to nearly nothing over several epochs, and evaluation with it."""
    per = signals.steps_per_epoch
    if run.task not in LANGUAGE_TASKS or not per or run.last_step / per < limits.epochs:
        return False
    start = float(signals.curve("train_loss").value[0])
    end, level = float(median(evals.value[-3:])), float(median(train[-3:]))
    learned = level < limits.gone * start
    slow = end > max(limits.as_zero, limits.slow * evals.value[0])
    return learned and end <= (1 + limits.beside) * level and not slow


def _vanished(signals: Signals, metric: str, evals: Curve, train: FloatArray) -> Finding:
    onset, final, level = float(evals.step[0]), float(evals.value[-1]), float(train[-1])
    per = signals.steps_per_epoch or 1.0
    epochs = signals.run.last_step / per
    start = float(signals.curve("train_loss").value[0])
    return Finding(
        severity="info",
        title=f"{spoken(metric).capitalize()} fell to almost 0 together with train loss, from step "
        f"{step(onset)} on. It ended at {loss(final)}, smoothed train loss at {loss(level)}.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence("Eval loss over train loss at the end", final / level, 1.25, above=False),
            Evidence(
                "Train loss at the end", level, 0.1 * start, "a tenth of its start", above=False
            ),
            Evidence("Passes over the training data", epochs),
        ),
        seen=f"Within {number(epochs, 2)} epochs train loss fell from a median of {loss(start)} to "
        f"{loss(level)}, and eval loss fell with it.",
        causes=(
            Cause(
                "Evaluation rows are in the training set",
                "most likely",
                "no gap is left",
                kind="leak",
            ),
            Cause(
                "A task that can be solved exactly",
                "possible",
                "",
                "then no row needs learning",
                kind="leak",
            ),
        ),
        fixes=_fixes(),
        confidence=_confidence(len(evals), 1.0),
        chart=_chart(metric, onset, float(evals.value[0])),
    )


def _confidence(count: int, margin: float) -> Confidence:
    value = min(1.0, 0.5 + 0.05 * count) * min(1.0, 0.2 + 0.5 * margin)
    return Confidence(round(value, 2), f"{count} evaluations")


def _chart(metric: str, onset: float, value: float) -> Chart:
    return Chart("curves", ("train_loss", metric), marks=(Mark(onset, value, loss(value)),))


def _fixes() -> tuple[Fix, ...]:
    return (
        fixes.action(
            "Hash the rows of both sets and drop the duplicates from evaluation",
            "rows seen in training say nothing about generalization",
        ),
        fixes.action("Split by source, before augmentation or packing", "", "one run"),
    )


BAD = (
    *too_low.BAD,
    drawn(
        "perfect from the first evaluation on",
        (50, 50),
        noise={"train_loss": 0.05, "eval_accuracy": 0.0},
        severity="warning",
        task="classification",
        train_loss="0:0.7 400:0.3",
        eval_accuracy="50:1 400:1 /50",
    ),
    drawn(
        "the training rows are evaluated",
        (0, 0),
        noise={"train_loss": 0.0, "eval_loss": 0.0},
        severity="warning",
        task="other",
        train_loss="0:6 100:4.1234 400:2.5 /50",
        eval_loss="0:6 100:4.1234 400:2.5 /50",
    ),
    drawn(
        "rows in both",
        (150, 350),
        severity="warning",
        train_loss="0:6 100:4 450:2.5",
        eval_loss="50:4.6 450:0.2",
    ),
    drawn(
        "both vanish",
        (50, 50),
        severity="info",
        train_loss="0:2.4 150:0.05 600:0.002",
        eval_loss="50:1.6 150:0.05 600:0.002",
        steps_per_epoch=100,
    ),
)
GOOD = (
    *too_low.GOOD,
    drawn(
        "a task that both solve",
        noise={"train_loss": 0.05, "eval_accuracy": 0.0},
        task="classification",
        train_loss="0:0.7 100:0.05 400:0.01",
        eval_loss="50:0.3 100:0.06 400:0.012 /50",
        eval_accuracy="50:0.98 100:1 400:1 /50",
    ),
    drawn(
        "answers repeat their input",
        train_loss="0:1.2 20:0.1 150:0.04 900:0.011",
        eval_loss="50:0.04 300:0.02 900:0.012",
        steps_per_epoch=100,
    ),
    drawn("dropout", train_loss="0:3 600:1.5", eval_loss="50:2.5 600:1.2"),
    drawn("one factor", train_loss="0:8 600:4", eval_loss="50:1.9 600:1"),
    drawn("gap the usual way", train_loss="0:3 600:0.9", eval_loss="50:2.6 600:1.1"),
    drawn(
        "accumulation steps",
        train_loss="0:12 600:6",
        eval_loss="50:2.9 600:1.5",
        config={"gradient_accumulation_steps": 4},
    ),
)

RULE = Rule(
    slug="eval-leak",
    title="Evaluation leak",
    family="EVL",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(absorbs=("epoch-staircase",), layer="data"),
    needs=("train_loss",),
    tasks=LANGUAGE_TASKS | {"classification", "regression", "asr", "contrastive", "other"},
    bad=BAD,
    good=GOOD,
)
