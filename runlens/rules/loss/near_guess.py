"""A classifier that came down to a guess, and stands there: as many are right as its loss admits.

Who gives k answers equal chances has a loss of ln k and is right in 1 of k cases, exp(-loss). A
model that tells its inputs apart is right far oftener than exp(-loss) (Jensen). A bad start lies
above ln k: to come down from it is no learning. Of few classes, where a fifth right is no poor
score, the loss of training is ln k itself, and no later evaluation knows more. Or it began there,
as the outputs of an untrained model do, training creeps along and no evaluation comes to know more.
"""

from math import exp, log
from typing import Any

import numpy as np

from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Moment,
    RuledOut,
)
from runlens.rules.loss import surroundings
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.wording import count, loss, percent

PAIRS = (("train_loss", "train_accuracy"), ("eval_loss", "eval_accuracy"))
FEWEST = 10  # rows of an epoch, in whose second half nothing is learned any more
# times exp(-loss): the commonest of unequal classes has more than an equal share; of ten classes a
# model has as much at 2.2, a twentieth below a guess
OFTENER = 1.5
POOR = 0.2  # as of not-learning: from there on the share of the commonest class may be as much
SHARE, LEARNED = 0.01, 1.2  # of ln k, and times exp(-loss): as of stuck-at-chance
MOST = 10  # classes: of more the logarithms lie so close that some loss is near one
WORSE = 0.05  # of ln k: what starts no higher came down from nowhere
ABOUT = 0.01  # of ln k: where untrained outputs of a few classes begin
CONSTANT = 0.97  # of ln k, as of not-learning: what is learned from the inputs lies below
STILL = 0.01  # of its level: a loss that falls by more in the second half is learning


def finding(run: Run, signals: Signals) -> Finding | None:
    """Return the finding of a loss and an accuracy that are both a guess's, in both data."""
    if run.task != "classification":
        return None
    few = _of_few(signals)
    # training rows come to be right by memory, where evaluations do not
    limits = (OFTENER, LEARNED if few else OFTENER)
    few = few or _of_start(signals)
    told = [_at(signals, *pair, few, most) for pair, most in zip(PAIRS, limits, strict=True)]
    if None in told:
        return None
    (level, right), (held, tested) = (one for one in told if one)
    classes, train = few or round(exp(held)), signals.curve("train_loss")
    onset, first = float(train.step[0]), float(train.value[0])
    came = "came down to" if first > (1 + WORSE) * log(classes) else "never got beyond"
    return Finding(
        severity="warning",
        title=f"The model {came} a guess and learned no more. Train loss stands at "
        f"{loss(level)} and eval loss at {loss(held)}, and {percent(tested)} of the answers are "
        f"right (medians of the second half): a guess among {classes} has {percent(1 / classes)}.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence("Train accuracy over exp(-loss)", right / exp(-level), limits[0],
                     "more is of a model that tells inputs apart", "train_accuracy", above=False),
            Evidence("Eval accuracy over exp(-loss)", tested / exp(-held), limits[1],
                     "more is of a model that tells inputs apart", "eval_accuracy", above=False),
        ),
        seen=f"Train loss began at {loss(first)}.",
        fixes=surroundings.first_checks(run),
        ruled_out=(RuledOut("Slow learning", "neither loss falls in the second half"),),
        confidence=Confidence(0.8, count(len(train), "epoch")),
        chart=Chart("curves", ("train_loss", "eval_loss")),
    )  # fmt: skip


def _of_few(signals: Signals) -> int:
    """Return of how many classes training loss is ln, where no evaluation knows more; else 0.

    A loss that still creeps down memorizes its rows where that of the evaluation does not.
    """
    train, evals = signals.curve("train_loss").value, signals.curve("eval_loss").value
    if not len(train) or not len(evals):
        return 0
    level = float(median(train[len(train) // 2 :]))
    classes = round(exp(level)) if level < log(MOST) else 0
    if classes < 2 or abs(level - log(classes)) > SHARE * log(classes):  # noqa: PLR2004 - no choice
        return 0
    return classes if evals[len(evals) // 2 :].min() >= log(classes) else 0


def _of_start(signals: Signals) -> int:
    """Return of how many classes the first loss is ln, where no evaluation leaves it; else 0.

    The shares of unequal classes alone lower a loss a little, and some training rows are
    memorized; but where something is learned from the inputs, evaluations get better with it: their
    accuracy is higher in the second half than in the first.
    """
    train, evals = signals.curve("train_loss").value, signals.curve("eval_loss").value
    right = held_out.as_share(signals.curve("eval_accuracy").value)
    if not len(train) or len(evals) < FEWEST or len(right) < FEWEST or train[0] >= log(MOST):
        return 0
    classes = round(exp(train[0]))
    if classes < 3 or abs(train[0] - log(classes)) > ABOUT * log(classes):  # noqa: PLR2004 - a coin is told elsewhere
        return 0
    first, last = np.array_split(right, 2)
    gained = float(last.max()) > float(first.max()) or float(median(last)) > float(median(first))
    low = CONSTANT * log(classes) <= evals.min() and right.max() <= OFTENER / classes
    return 0 if gained or not low else classes


def _at(
    signals: Signals, metric: str, score: str, few: int, often: float
) -> tuple[float, float] | None:
    """Return level and accuracy of the second half, where they are a guess's; else None."""
    value, right = signals.curve(metric).value, held_out.as_share(signals.curve(score).value)
    if len(value) < FEWEST or len(right) < FEWEST:
        return None
    half, known = value[len(value) // 2 :], float(median(right[len(right) // 2 :]))
    level, part = float(median(half)), max(1, len(half) // 3)
    fell = float(median(half[:part]) - median(half[-part:]))
    most = often * exp(-level) if few else min(often * exp(-level), POOR)
    guessed = 0 < known <= most
    return (level, known) if guessed and fell <= STILL * level else None


OF_FIVE: dict[str, Any] = {"noise": 0, "task": "classification"}
SIX: dict[str, Any] = {
    "train_loss": "/1 0:1.796 1:1.758 2:1.741 4:1.726 10:1.711",
    "train_accuracy": "/1 0:0.178 1:0.228 4:0.242 10:0.261",
}
BAD = (
    drawn(
        "began at ln 6, and no evaluation leaves it: labels of other rows",
        (0, 0),
        severity="warning",
        eval_loss="/1 0:1.783 1:1.764 3:1.755 10:1.753",
        eval_accuracy="/1 0:0.22 1:0.24 10:0.2",
        **SIX,
        **OF_FIVE,
    ),
    drawn(
        "about ln 6, some training rows are memorized, and evaluation is at a guess",
        (0, 0),
        severity="warning",
        train_loss="/1 0:1.841 1:1.814 3:1.798 7:1.784 13:1.7725",
        train_accuracy="/1 0:0.155 3:0.175 13:0.226",
        eval_loss="/1 0:1.806 3:1.796 5:1.795 13:1.799",
        eval_accuracy="/1 0:0.165 2:0.18 6:0.153 13:0.165",
        **OF_FIVE,
    ),
    drawn(
        "down to a guess among fifteen",
        (0, 0),
        noise=0.002,
        task="classification",
        severity="warning",
        train_loss="/1 0:3.38 4:2.75 40:2.7",
        eval_loss="/1 0:2.75 4:2.72 40:2.72",
        train_accuracy="/1 0:0.067 40:0.09",
        eval_accuracy="/1 0:0.04 40:0.09",
    ),
    drawn(
        "creeps about ln 5, and no evaluation knows more",
        (0, 0),
        severity="warning",
        train_loss="/1 0:1.637 3:1.615 16:1.604",
        eval_loss="/1 0:1.612 16:1.637",
        train_accuracy="/1 0:0.203 16:0.226",
        eval_accuracy="/1 0:0.268 5:0.216 16:0.179",
        **OF_FIVE,
    ),
)
GOOD = (
    drawn(
        "about ln 5, and evaluation comes to know more",
        train_loss="/1 0:1.637 3:1.615 16:1.604",
        eval_loss="/1 0:1.612 16:1.6",
        train_accuracy="/1 0:0.203 16:0.226",
        eval_accuracy="/1 0:0.2 16:0.235",
        **OF_FIVE,
    ),
    drawn(
        "about ln 5 of more classes: a third is right",
        train_loss="/1 0:2.3 3:1.62 16:1.604",
        eval_loss="/1 0:2.3 3:1.63 16:1.64",
        train_accuracy="/1 0:0.1 4:0.34 16:0.36",
        eval_accuracy="/1 0:0.1 4:0.33 16:0.34",
        **OF_FIVE,
    ),
)
