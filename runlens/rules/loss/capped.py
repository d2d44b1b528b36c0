"""A cross-entropy at the cap of its framework: the right answer has a probability of nothing.

Frameworks keep the logarithm finite: they cut the probability off at a smallest number, or the loss
at a largest. A loss that stands there to five digits needs no trend: a guess would be better.
"""

from math import log

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Cause, Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.history import Curve
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import count, loss, number, percent, step

# smallest probabilities: the least float32 (Caffe), 1e-15 (scikit-learn up to 1.2), 1e-12 (Paddle,
# Theano), 1e-10, 1e-8, 1e-7 (Keras); e^-100 (PyTorch's BCELoss, OpenNMT's perplexity)
SMALLEST = (1.1754943508e-38, 1e-15, 1e-12, 1e-10, 1e-8, 1e-7, float(np.exp(-100)))
ROUND = 1e-3  # a cap that near to a whole number may be a number of another kind
EXACT = 1e-5  # share of the cap: five digits
FEWEST, FEWEST_ROUND = 2, 4  # points that agree with it
PERCENT = 1.5  # accuracies above are logged in percent


class Capped(NamedTuple):
    """Where a loss stands."""

    first: int  # index of the first point at the cap
    level: float
    smallest: float  # probability
    wrong: float  # share of the answers that stand there


def of(train: Curve, signals: Signals) -> Capped | None:
    """Return the cap at which the second half of a training loss stands; None for none."""
    half = train.value[len(train) // 2 :]
    if len(half) < 1 or not half.all():
        return None
    accuracy = signals.curve("train_accuracy").value
    right = float(median(accuracy[len(accuracy) // 2 :])) if len(accuracy) else 0.0
    right /= 100.0 if right > PERCENT else 1.0
    for smallest in SMALLEST:
        for wrong in {1.0, 1 - right}:
            level = -log(smallest) * wrong
            at = np.abs(train.value - level) <= EXACT * level
            least = FEWEST_ROUND if abs(level - round(level)) < ROUND else FEWEST
            if level and at[len(train) // 2 :].all() and at.sum() >= least:
                return Capped(int(np.argmax(at)), level, smallest, wrong)
    return None


def finding(run: Run, signals: Signals, train: Curve, one: Capped) -> Finding:
    """Tell it."""
    onset = float(train.step[one.first])
    points = len(train) - one.first
    share = "" if one.wrong == 1 else f" {percent(one.wrong)} of"
    return Finding(
        severity="critical",
        title=f"Train loss is stuck at its cap from step {step(onset)} on: {loss(one.level)} at "
        f"{count(points, 'point')} is{share} −ln {number(one.smallest, 3)}, the largest "
        "value that it can take.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence("Train loss", float(train.value[-1]), one.level, where="train_loss"),
            Evidence("Points at the cap", float(points), where="train_loss"),
        ),
        seen="The correct answer gets a probability of 0. Guessing would give a lower loss, but "
        "there is no gradient to get back.",
        causes=(
            Cause("Outputs that overflowed", "most likely", kind="rate-too-high"),
            Cause("Labels outside of the range of the outputs", "likely", kind="labels-wrong"),
        ),
        fixes=(
            fixes.look(
                "Print outputs and labels of one batch",
                "NaN, infinity, or one class at 1.0; labels that no output stands for",
            ),
            *fixes.learning_rate(run, signals, 0.1, "what overflowed does not come back"),
        ),
        ruled_out=(RuledOut("A hard task", "guessing alone has a lower loss"),),
        confidence=Confidence(0.95, "five digits agree at all points"),
        chart=Chart("limit", ("train_loss",), limit=one.level),
    )
