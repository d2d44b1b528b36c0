"""Losses of exactly zero because there were no data: whole epochs, or each evaluation."""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Cause, Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.history import Curve
from runlens.metrics import quality, spoken
from runlens.rules.rule import Case, drawn
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.wording import count, loss, step

FEWEST = 3  # epochs without data: one or two may be a row that was never filled in
TWICE = 2  # evaluations: one may be a placeholder
LEVEL = 0.05  # a loss that ends above is not small: as of hidden-nan, no rounding makes it 0
RIGHT = 0.99  # of a score: with so many right answers a loss may be zero


def epochs(signals: Signals) -> Curve | None:
    """Return the training losses of rounds in which nothing was trained; None for none.

    Their loss and their accuracy are exactly 0, and neither is in any other round: a mean over no
    batch. A loss that a logger replaced because it was NaN has an accuracy beside it that is none.
    """
    train, right = signals.curve("train_loss"), signals.curve("train_accuracy")
    if len(train) != len(right) or not np.array_equal(train.step, right.step):
        return None
    empty = train.value == 0
    known = FEWEST <= empty.sum() < len(train) and np.array_equal(empty, right.value == 0)
    solid = known and float(train.value[~empty].min()) > LEVEL
    return train.at(np.flatnonzero(empty)) if solid else None


def evaluations(run: Run, signals: Signals) -> Curve | None:
    """Return the evaluation losses where each is exactly 0 and nothing says that all is right."""
    evals, train = signals.curve("eval_loss"), signals.curve("train_loss").value
    if len(evals) < TWICE or evals.value.any():
        return None
    if len(train) < TWICE or float(median(train[-3:])) <= LEVEL:
        return None
    for metric in run.history.metrics:
        score, value = quality(metric), signals.curve(metric).value
        told = score is not None and score.sign > 0 and metric.startswith("eval_")
        if told and len(value) and float(held_out.as_share(value)[-1]) >= RIGHT:
            return None
    return evals


def finding(run: Run, signals: Signals) -> Finding | None:
    """Return the finding of such zeros; None where there are none."""
    if (zeros := evaluations(run, signals)) is not None:
        train = float(signals.curve("train_loss").value[-1])
        return _told(
            zeros,
            "eval_loss",
            f"Eval loss was exactly 0 at each of {count(len(zeros), 'evaluation')}, from step "
            f"{step(float(zeros.step[0]))} on, while train loss ended at {loss(train)}.",
            "No model has a loss of exactly 0 on data that it does not know. The evaluation set "
            "is empty, or its loss is not computed.",
            "Count the batches and the labels of one evaluation",
            "The evaluation set is empty, or its loss is not computed",
        )
    if (zeros := epochs(signals)) is not None:
        of = len(signals.curve("train_loss"))
        return _told(
            zeros,
            "train_loss",
            f"Train loss and accuracy were exactly 0 at {len(zeros):,} of {count(of, 'point')}, "
            f"the first at step {step(float(zeros.step[0]))}.",
            "A mean over no batch is 0, so nothing was trained there. This happens where a "
            "generator runs out of data.",
            "Count the batches of two epochs in a row",
            "The source of the batches runs out of data before the round begins",
        )
    return None


def _told(zeros: Curve, metric: str, title: str, seen: str, look: str, why: str) -> Finding:
    return Finding(
        severity="warning",
        title=title,
        metric=metric,
        onset=Moment(float(zeros.step[0])),
        evidence=(Evidence("Losses of exactly 0", float(len(zeros)), where=metric),),
        seen=seen,
        causes=(
            Cause(
                why,
                "most likely",
                f"{spoken(metric)} is exactly 0 there",
                kind="evaluation" if metric == "eval_loss" else "bad-batch",
                experiment=look,
            ),
        ),
        fixes=(fixes.look(look, "there should be as many as the data set has"),),
        ruled_out=(RuledOut("A small loss that is rounded", "the others are far above zero"),),
        confidence=Confidence(0.9, "the values themselves are logged"),
        chart=Chart("curves", (metric,)),
    )


def _every(name: str, right: str) -> Case:
    """Draw a classifier of which every second epoch has a loss of 0; `right`: odd:even."""
    odd, even = right.split(":")
    return drawn(
        name,
        (10, 10),
        noise=0,
        task="other",
        severity="warning",
        train_loss=" ".join(f"{10 * at}:{0 if at % 2 else 0.5 - 0.02 * at:g}" for at in range(16)),
        train_accuracy=" ".join(f"{10 * at}:{even if at % 2 else odd}" for at in range(16)),
    )


def _tested(name: str, score: str) -> Case:
    """Draw a classifier whose evaluation loss is exactly 0."""
    return drawn(
        name,
        (0, 0),
        noise=0,
        task="other",
        severity="warning",
        train_loss="0:3 300:0.5",
        eval_loss="0:0 300:0",
        eval_accuracy=score,
    )


BAD = (
    _every("every second epoch has no data", right="0.8:0"),
    _tested("each evaluation is of an empty set", score="0:0 300:0"),
)
GOOD = (
    _every("every second loss is 0, and its accuracy is not", right="0.8:0.8"),
    _tested("each evaluation is without a fault", score="0:1 300:1"),
)
