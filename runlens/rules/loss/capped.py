"""A cross-entropy at the cap of its framework: the right answer has a probability of nothing.

Frameworks keep the logarithm finite: they cut the probability off at a smallest number, or the loss
at a largest. A loss that stands there to five digits needs no trend: a guess would be better. Nor
does one that is the share of wrong answers times that cap, row for row: each answer is then given
with certainty, right or wrong.
"""

from math import log

import numpy as np
from msgspec.structs import replace

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Cause, Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.history import BoolArray, Curve, FloatArray
from runlens.records import NamedTuple
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.changes import last_false
from runlens.signals.digits import behind_the_point
from runlens.wording import count, loss, number, percent, step

FLOAT32 = 1.1754943508e-38  # the least normal number: Caffe's softmax_loss_layer.cu
# smallest probabilities. 1e-20: Caffe's kLOG_THRESHOLD (loss_layer.hpp); 2.2e-16: scikit-learn from
# 1.2 on (log_loss, eps of float64); 1e-16: XGBoost (logloss, mlogloss); 1e-15: scikit-learn before,
# LightGBM (kEpsilon); 1e-12 (Paddle, Theano), 1e-10, 1e-8; 1e-7: Keras (epsilon), 1.19e-7: its
# distance from 1 in float32 (keras issue 15249), 2e-7: both added (tensorflow pull request 41595);
# e^-100: PyTorch's BCELoss, OpenNMT's perplexity
SMALLEST = (
    *(FLOAT32, 1e-20, 2.220446049250313e-16, 1e-16, 1e-15, 1e-12, 1e-10, 1e-8),
    *(1e-7, 1.1920928955e-7, 2e-7, float(np.exp(-100))),
)
ROUND = 1e-3  # a cap that near to a whole number may be a number of another kind
EXACT = 1e-5  # share of the cap: five digits. By luck one of the 12 caps is met by 1 loss in 4,000
FEWEST_ROUND = 4  # points that agree with it
PERCENT = 1.5  # accuracies above are logged in percent
# share of a loss that its accuracy leaves open: two such rows meet one of the caps by luck in
# 12 times (2e-3)^2 = 1 of 20,000 runs; with two digits of an accuracy of 0.5 it is ten times wider
OPEN, ACCURACIES = 1e-3, 2  # accuracies that must differ


class Capped(NamedTuple):
    """Where a loss stands."""

    first: int  # index of the first point at the cap, from which on all are
    level: float  # at the last point
    smallest: float  # probability
    wrong: float  # share of the answers that stand there, at the last point
    varies: bool = False  # that share does, and the loss with it


def of(train: Curve, signals: Signals) -> Capped | None:
    """Return the cap at which a training loss ends; None for none.

    It stands there from some point on to the end, all answers or always the same share of them; or
    it is the share of wrong answers times the cap at each of those points.
    """
    if not len(train) or signals.run.task == "regression" or not train.value[-1]:
        return None
    accuracy = _right(signals, "train_accuracy").value
    right = float(median(accuracy[len(accuracy) // 2 :])) if len(accuracy) else 0.0
    right = right if 0 < right < 1 else 0.0
    for smallest in SMALLEST:
        for wrong in {1.0, 1 - right}:
            level = -log(smallest) * wrong
            at = np.abs(train.value - level) <= EXACT * level
            first = last_false(at) + 1
            points = len(train) - first
            rounded = abs(level - round(level)) < ROUND
            least = FEWEST_ROUND if rounded else 1 if wrong == 1 else 2
            if level and points >= least:
                return Capped(first, level, smallest, wrong)
    return _by_share(train, signals)


def _by_share(train: Curve, signals: Signals) -> Capped | None:
    """Return the cap of which a loss is the share of wrong answers, whatever that share is."""
    right = _right(signals, "train_accuracy")
    evals, eval_right = signals.curve("eval_loss"), _right(signals, "eval_accuracy")
    if not np.array_equal(train.step, right.step):
        return None
    for smallest in SMALLEST:
        fits, tells = _share(train, right, -log(smallest))
        first = last_false(fits) + 1
        told = set(right.value[first:][tells[first:]].tolist())
        if told and np.array_equal(evals.step, eval_right.step):
            told |= set(eval_right.value[_share(evals, eval_right, -log(smallest))[1]].tolist())
        if len(told) >= ACCURACIES and tells[-1]:
            wrong = 1 - float(right.value[-1])
            varies = len(set(right.value[first:].tolist())) > 1
            return Capped(first, -log(smallest) * wrong, smallest, wrong, varies=varies)
    return None


def _share(curve: Curve, right: Curve, cap: float) -> tuple[BoolArray, BoolArray]:
    """Return where a loss is the share of wrong answers times a cap, and where that is no luck.

    As far as the digits tell with which both are written.
    """
    level = cap * (1 - right.value)
    rounding = cap * _last_digit(right.value) + _last_digit(curve.value)
    fits = np.abs(curve.value - level) <= rounding
    return fits, fits & (rounding <= OPEN * level)


def _last_digit(value: FloatArray) -> float:
    """Return half of the last written digit."""
    return 0.5 * 10.0 ** -behind_the_point(value)


def _right(signals: Signals, metric: str) -> Curve:
    """Return an accuracy as a share of 1."""
    curve = signals.curve(metric)
    unit = 100.0 if len(curve) and curve.value.max() > PERCENT else 1.0
    return replace(curve, value=np.round(curve.value / unit, 12))


def _title(train: Curve, one: Capped) -> str:
    points, since = len(train) - one.first, step(float(train.step[one.first]))
    least, last = number(one.smallest, 3), loss(float(train.value[-1]))
    if one.varies:
        return (
            f"Train loss is nothing but wrong answers at its cap from step {since} on: "
            f"{count(points, 'point')} in a row are (1 − accuracy) × −ln {least}, the last {last} "
            f"at {percent(one.wrong)} wrong."
        )
    share = "" if one.wrong == 1 else f" {percent(one.wrong)} of"
    largest = f"is{share} −ln {least}, the largest value that it can take"
    if points == 1:
        return f"Train loss reached its cap at step {since}: {last} {largest}."
    return (
        f"Train loss is stuck at its cap from step {since} on: {last} at {count(points, 'point')} "
        f"{largest}."
    )


def _seen(one: Capped) -> str:
    if one.smallest == FLOAT32:
        return (
            "The correct answer gets a probability of 0, or of NaN: on a GPU Caffe shows both as "
            "this value. Guessing would give a lower loss."
        )
    given = "Every wrong" if one.wrong < 1 else "The correct"
    what = "answer is given with certainty" if one.wrong < 1 else "answer gets a probability of 0"
    return (
        f"{given} {what}. Guessing would give a lower loss, but a probability that is cut off "
        "has no gradient to get back."
    )


def finding(run: Run, signals: Signals, train: Curve, one: Capped) -> Finding:
    """Tell it."""
    onset = float(train.step[one.first])
    points = len(train) - one.first
    return Finding(
        severity="critical" if points > 1 else "warning",  # of one batch alone
        title=_title(train, one),
        metric="train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence("Train loss", float(train.value[-1]), one.level, where="train_loss"),
            Evidence("Points at the cap", float(points), where="train_loss"),
        ),
        seen=_seen(one),
        causes=(
            Cause("Outputs that overflowed", "most likely", kind="rate-too-high"),
            Cause("Labels outside of the range of the outputs", "likely", kind="labels-wrong"),
            Cause("Inputs or first weights far too large", "likely", kind="code-error"),
        ),
        fixes=(
            fixes.look(
                "Print inputs, outputs and labels of one batch",
                "look for NaN, infinity or one class at 1.0, for inputs that are not scaled, and "
                "for labels that no output stands for; if the outputs are finite and differ from "
                "row to row, nothing overflowed",
            ),
            *fixes.learning_rate(run, signals, 0.1, "what overflowed does not come back"),
        ),
        ruled_out=(RuledOut("A hard task", "guessing alone has a lower loss"),),
        confidence=Confidence(0.95, "the digits agree at all points"),
        chart=Chart("curves", ("train_loss", "eval_loss"))
        if one.varies
        else Chart("limit", ("train_loss",), limit=one.level),
    )


BAD = (
    drawn(
        "the cap of float32, mid-run, two points",
        (1200, 1200),
        noise=0,
        task="other",
        severity="critical",
        train_loss="1200:87.3365 1210:87.3365",
    ),
    drawn(
        "all wrong answers at the cap of Keras",
        (0, 0),
        noise=0,
        task="classification",
        severity="critical",
        train_loss="0:14.5063 300:14.5063",
        train_accuracy="0:0.1 300:0.1",
    ),
    drawn(
        "the last of two points at the cap of float32",
        (10, 10),
        noise=0,
        task="other",
        severity="warning",
        train_loss="0:21.4058 10:87.3365",
    ),
    drawn(
        "the share of wrong answers times the cap of Keras, from the second point on",
        (10, 10),
        noise=0,
        task="classification",
        severity="critical",
        train_loss="0:8.12 10:9.6709 20:9.3127 30:8.9545 40:9.3127",
        train_accuracy="0:0.47 10:0.4 20:0.4222 30:0.4444 40:0.4222",
    ),
)
GOOD = (
    drawn(
        "loss and share of wrong answers go together, at no cap",
        noise=0,
        task="classification",
        train_loss="0:9 10:7.2 20:6 30:4.8 40:3.6",
        train_accuracy="0:0.4 10:0.52 20:0.6 30:0.68 40:0.76",
    ),
)
