"""A classifier that came down to a guess, and stands there: as many are right as its loss admits.

Who gives k answers equal chances has a loss of ln k and is right in 1 of k cases, exp(-loss). A
model that tells its inputs apart is right far oftener than exp(-loss) (Jensen). A bad start lies
above ln k: to come down from it is no learning.
"""

from math import exp

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
STILL = 0.01  # of its level: a loss that falls by more in the second half is learning


def finding(run: Run, signals: Signals) -> Finding | None:
    """Return the finding of a loss and an accuracy that are both a guess's, in both data."""
    if run.task != "classification":
        return None
    told = [_at(signals, *pair) for pair in PAIRS]
    if None in told:
        return None
    (level, right), (held, tested) = (one for one in told if one)
    classes, onset = round(exp(held)), float(signals.curve("train_loss").step[0])
    return Finding(
        severity="warning",
        title=f"The model came down to a guess and learned no more. Train loss stands at "
        f"{loss(level)} and eval loss at {loss(held)}, and {percent(tested)} of the answers are "
        f"right (medians of the second half): a guess among {classes} has {percent(1 / classes)}.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence("Train accuracy over exp(-loss)", right / exp(-level), OFTENER,
                     "more is of a model that tells inputs apart", "train_accuracy", above=False),
            Evidence("Eval accuracy over exp(-loss)", tested / exp(-held), OFTENER,
                     "more is of a model that tells inputs apart", "eval_accuracy", above=False),
        ),
        seen=f"Train loss began at {loss(float(signals.curve('train_loss').value[0]))}.",
        fixes=surroundings.first_checks(run),
        ruled_out=(RuledOut("Slow learning", "neither loss falls in the second half"),),
        confidence=Confidence(0.8, count(len(signals.curve("train_loss")), "epoch")),
        chart=Chart("curves", ("train_loss", "eval_loss")),
    )  # fmt: skip


def _at(signals: Signals, metric: str, score: str) -> tuple[float, float] | None:
    """Return level and accuracy of the second half, where they are a guess's; else None."""
    value, right = signals.curve(metric).value, held_out.as_share(signals.curve(score).value)
    if len(value) < FEWEST or len(right) < FEWEST:
        return None
    half, known = value[len(value) // 2 :], float(median(right[len(right) // 2 :]))
    level, part = float(median(half)), max(1, len(half) // 3)
    fell = float(median(half[:part]) - median(half[-part:]))
    guessed = 0 < known <= min(OFTENER * exp(-level), POOR)
    return (level, known) if guessed and fell <= STILL * level else None


BAD = (
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
)
