"""A softmax in front of a cross-entropy that has one already: loss and accuracy add up to one sum.

The loss then takes probabilities p for logits: it is ln Σ exp(p) - p of the right class. Whatever
the model does, ln Σ exp(p) lies between ln K + 1/K, where all K classes are alike, and
ln(e + K - 1), where one has it all. So does the sum of loss and accuracy, and the loss cannot come
below ln(e + K - 1) - 1: 1.461 for ten classes. A cross-entropy of logits goes from ln K to 0 while
the accuracy goes from 1/K to 1; of five classes and more it falls twice as far as that rises.
"""

from math import e, exp, log
from typing import Any

import numpy as np

from runlens import fixes
from runlens.diagnosis import Cause, Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.rules.loss import one_for_one
from runlens.rules.loss.one_for_one import (
    FEWEST,
    FEWEST_CLASSES,
    GAINED,
    MOST_CLASSES,
    OPEN,
)
from runlens.rules.loss.softmax_floors import ANY_PAIRS, MOSTLY, PAIRS, Twice, of_floor
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.wording import count, loss

LEFT = 0.1  # of the way from a guess to the least: before, answers that are right are not yet sure
NEAR = 0.002  # of ln K: untrained probabilities are all but alike, and so is their exponential
WHAT = "A softmax in front of a loss that has one already"
TEST = "Print the outputs of one batch: if each row adds up to 1, a softmax comes before the loss"
DENIED = "the outputs that the loss takes do not add up to 1"


def of(run: Run, signals: Signals) -> Twice | None:
    """Return what shows a second softmax; None where nothing does."""
    classes = _classes(run, signals)
    if run.number("label_smoothing_factor"):
        return None
    if standing := of_floor(run, signals):
        return standing
    if classes is None:
        return _one_for_one(run, signals)
    low, high = log(classes) + 1 / classes - OPEN, log(e + classes - 1) + OPEN
    for metric, right in PAIRS:
        losses, answers = signals.curve(metric), signals.curve(right)
        if len(losses) < FEWEST or not np.array_equal(losses.step, answers.step):
            continue
        shares = held_out.as_share(answers.value)
        way = log(classes) - losses.value
        sure = way >= LEFT * (log(classes) + 1 - log(e + classes - 1))
        both = losses.value[sure] + shares[sure]
        if len(both) < FEWEST or np.ptp(shares[sure]) < GAINED:
            continue
        if low <= both.min() and both.max() <= high:
            return Twice(metric, right, classes, losses.at(sure), shares[sure])
    return _one_for_one(run, signals)


def _one_for_one(run: Run, signals: Signals) -> Twice | None:
    """Return a loss that falls as accuracy rises, and no loss of the run below its least."""
    known = run.number("num_labels")
    for metric, right in ANY_PAIRS:
        losses, answers = signals.curve(metric), signals.curve(right)
        if not np.array_equal(losses.step, answers.step):
            continue
        shares = held_out.as_share(answers.value)
        classes = one_for_one.classes(losses.value, shares)
        if classes is None or (known and abs(log(known) - log(classes)) > OPEN):
            continue
        told = Twice(metric, right, classes, losses, shares)
        every = (signals.curve(loss).value for loss, _ in PAIRS)
        if all(value.min() >= told.floor for value in every if len(value)):
            return told
    return _of_two_sets(run, signals)


def _of_two_sets(run: Run, signals: Signals) -> Twice | None:
    """Return a loss of training that falls as accuracy rises where no evaluation has a loss."""
    losses, answers = signals.curve("train_loss"), signals.curve("eval_accuracy")
    other = len(signals.curve("train_accuracy")) + len(signals.curve("eval_loss"))
    if other or not len(losses) or not np.array_equal(losses.step, answers.step):
        return None
    shares = held_out.as_share(answers.value)
    classes = one_for_one.of_two_sets(losses.value, shares) if shares[-1] >= MOSTLY else None
    known = run.number("num_labels")
    if classes is None or (known and abs(log(known) - log(classes)) > OPEN):
        return None
    late = slice(len(losses) // 2, None)
    told = Twice("train_loss", "eval_accuracy", classes, losses.at(late), shares[late])
    return told if losses.value.min() >= told.floor else None


def _classes(run: Run, signals: Signals) -> int | None:
    """Return the number of classes, as set or as the loss of an untrained model tells it."""
    known = run.number("num_labels")
    train = signals.curve("train_loss").value
    if known is None and len(train) and 0 < train[0] < log(MOST_CLASSES):
        guess = max(round(exp(train[0])), 1)
        known = guess if abs(train[0] - log(guess)) <= NEAR * train[0] else None
    return int(known) if known and FEWEST_CLASSES <= known <= MOST_CLASSES else None


def finding(twice: Twice) -> Finding:
    """Tell it."""
    onset, last = float(twice.curve.step[0]), float(twice.curve.value[-1])
    name = "Eval loss" if twice.metric == "eval_loss" else "Train loss"
    least = loss(twice.floor)
    return Finding(
        severity="warning",
        heading="Softmax applied twice",
        title=f"{name} cannot fall below {least}: at each of {count(len(twice.curve), 'point')} "
        f"{twice.words}.",
        metric=twice.metric,
        onset=Moment(onset),
        evidence=(
            Evidence(name, last, twice.floor, f"the least of {twice.classes} classes after two "
                     "softmax layers", twice.metric),
            Evidence("Accuracy", float(twice.shares[-1]), where=twice.right),
        ),
        seen=f"A cross-entropy of {twice.classes} classes that takes probabilities for logits does "
        "so. The model learns, but slowly, as sure answers hardly lower the loss.",
        causes=(Cause(WHAT, "most likely", twice.words, kind="loss-function"),),
        fixes=(
            fixes.look(
                "Pass the outputs to the loss before the softmax: PyTorch's CrossEntropyLoss takes "
                "logits, and Keras needs from_logits=True for them alone",
                "the loss then falls faster, and to 0 where all answers are right",
            ),
        ),
        ruled_out=(
            RuledOut("A hard task", f"{name.lower()} follows accuracy one to one"),
        ),
        confidence=Confidence(0.9, count(len(twice.curve), "point")),
        chart=Chart("limit", (twice.metric,), limit=twice.floor),
    )  # fmt: skip


SURE: dict[str, Any] = {
    "trn_err": "/1 0:34 1:7.7 4:5.5 9:4.8 15:4.1",
    "eval_err": "/1 0:9.8 1:7.5 4:6.2 9:7.2 15:6.5",
}
WELL_RIGHT: dict[str, Any] = {
    "eval_loss": "/1 0:1.982 1:1.688 2:1.644 3:1.635 5:1.628 7:1.629 9:1.625",
    "eval_accuracy": "/1 0:0.695 1:0.862 2:0.863 3:0.848 5:0.855 7:0.843 9:0.843",
}
OF_THIRTY: dict[str, Any] = {
    "eval_accuracy": "/1 0:0.1675 1:0.3975 2:0.556 3:0.645 6:0.734 9:0.7675 15:0.7825 29:0.8125",
}
ONE_FOR_ONE: dict[str, Any] = {
    "train_loss": "/1 0:3.38 1:3.254 2:3.061 3:2.914 6:2.72 9:2.635 15:2.568 29:2.504",
    "eval_loss": "/1 0:3.345 1:3.185 2:3.016 3:2.914 6:2.784 9:2.739 15:2.705 29:2.666",
}
OF_TEN = (
    "/1 0:2.283 1:2.17 2:1.956 3:1.772 4:1.655 5:1.609 7:1.581 8:1.571 9:1.548 10:1.518 11:1.507"
)
TESTED = "/1 0:0.302 1:0.522 2:0.728 3:0.844 4:0.866 7:0.874 8:0.888 9:0.966 10:0.972 11:0.972"
BAD = (
    drawn(
        "ten classes, probabilities taken for logits",
        (150, 150),
        noise=0,
        task="classification",
        severity="warning",
        train_loss="0:2.3025 100:2.30 300:1.85 900:1.52",
        eval_loss="50:2.3025 100:2.30 300:1.861 900:1.521",
        eval_accuracy="50:0.1 100:0.12 300:0.6 900:0.94",
    ),
    drawn(
        "one sum with the errors of both sets, most answers right from the second epoch on",
        (8, 8),
        noise=0,
        task="other",
        severity="warning",
        train_loss="/1 0:1.843 1:1.545 4:1.523 9:1.515 15:1.506",
        eval_loss="/1 0:1.562 1:1.54 4:1.527 9:1.535 15:1.528",
        **SURE,
    ),
    drawn(
        "most of ten classes right, and neither loss comes near to what that would leave",
        (6, 6),
        noise=0,
        task="classification",
        severity="warning",
        train_loss="/1 0:2.188 1:1.793 2:1.637 3:1.603 5:1.576 7:1.562 9:1.551",
        **WELL_RIGHT,
    ),
    drawn(
        "the loss falls by one where accuracy rises by one, of thirty classes that nothing names",
        (0, 1),
        noise=0,
        task="classification",
        severity="warning",
        **ONE_FOR_ONE,
        **OF_THIRTY,
    ),
    drawn(
        "a training loss alone falls by one where the accuracy of a test set rises by one",
        (6, 6),
        noise=0,
        task="classification",
        severity="warning",
        train_loss=OF_TEN,
        eval_accuracy=TESTED,
    ),
    drawn(
        "the loss stands at the least of ten classes, and all answers are right",
        (250, 250),
        noise=0,
        task="classification",
        severity="warning",
        train_loss="0:2.0 50:1.59 100:1.485 200:1.4615 400:1.4612 /50",
        eval_loss="50:1.8 100:1.51 200:1.4619 400:1.4618 /50",
        eval_accuracy="50:0.84 100:0.99 300:1 400:1 /50",
    ),
)
GOOD = (
    drawn(
        "a training loss of mixed images lies high, with as many right of a test set",
        noise=0,
        task="classification",
        train_loss="/1 0:2.12 1:1.95 2:1.74 3:1.58 4:1.47 5:1.4 7:1.33 8:1.3 9:1.26 11:1.21",
        eval_accuracy=TESTED,
    ),
    drawn(
        "as many right of a test set, a training loss of logits",
        noise=0,
        task="classification",
        train_loss="/1 0:2.283 1:1.9 2:1.3 3:0.8 4:0.6 5:0.5 7:0.42 8:0.4 9:0.2 11:0.12",
        eval_accuracy=TESTED,
    ),
    drawn(
        "a training loss of little trust in most right answers, which falls twice as far",
        noise=0,
        task="classification",
        train_loss="/1 0:2.29 1:2.2 2:1.98 3:1.7 4:1.5 5:1.37 7:1.2 8:1.11 9:1.02 11:0.9",
        eval_accuracy=TESTED,
    ),
    drawn(
        "logits learn slowly: most answers are right long before they are sure",
        noise=0,
        task="classification",
        train_loss="/1 0:3.38 3:3.22 9:3 15:2.8 29:2.5",
        eval_loss="/1 0:3.39 3:3.25 9:3.05 15:2.9 29:2.67",
        **OF_THIRTY,
    ),
    drawn(
        "half of each label is smoothed: the loss falls less than accuracy rises",
        noise=0,
        task="classification",
        train_loss="/1 0:3.38 1:3.3 3:3.15 6:3.03 9:2.98 15:2.96 29:2.93",
        eval_loss="/1 0:3.37 1:3.29 3:3.17 6:3.06 9:3.02 15:3 29:2.98",
        **OF_THIRTY,
    ),
    drawn(
        "as many right answers of logits: the loss falls four times as far",
        noise=0,
        task="classification",
        train_loss="/1 0:3.38 1:2.4 3:1.5 6:1.1 9:0.9 15:0.7 29:0.6",
        eval_loss="/1 0:3.1 1:2.2 3:1.5 6:1.2 9:1.05 15:0.95 29:0.85",
        **OF_THIRTY,
    ),
    drawn(
        "errors of ten classes, a loss of logits",
        noise=0,
        task="other",
        train_loss="/1 0:1.2 1:0.6 4:0.4 9:0.3 15:0.24",
        eval_loss="/1 0:0.36 1:0.27 4:0.24 9:0.25 15:0.24",
        **SURE,
    ),
    drawn(
        "an eval loss of poor trust in each answer, and rows that were memorized",
        noise=0,
        task="classification",
        train_loss="/1 0:2.188 1:1.2 2:0.8 3:0.5 5:0.2 9:0.05",
        **WELL_RIGHT,
    ),
    drawn(
        "a loss of a thousand classes with smoothed labels came from far above",
        noise=0,
        task="classification",
        train_loss="/1 0:6.9 1:4.2 2:2.9 3:2.4 5:2.1 9:1.9",
        eval_loss="/1 0:5.1 1:3.4 2:2.4 3:2.1 5:1.93 6:1.889 9:1.889",
        eval_accuracy="/1 0:0.2 1:0.5 2:0.7 3:0.76 5:0.79 6:0.8 9:0.8",
    ),
    drawn(
        "label smoothing holds the loss of ten classes up, elsewhere",
        noise=0,
        task="classification",
        train_loss="0:2.3 50:1.2 100:0.9 300:0.86 400:0.852 /50",
        eval_loss="50:1.3 100:0.95 300:0.87 400:0.86 /50",
        eval_accuracy="50:0.84 100:0.99 300:1 400:1 /50",
    ),
    drawn(
        "ten classes, as accurate, from logits",
        noise=0,
        task="classification",
        train_loss="0:2.3025 100:2.1 300:1.2 900:0.2",
        eval_loss="50:2.3025 100:2.2 300:1.2 900:0.25",
        eval_accuracy="50:0.1 100:0.2 300:0.6 900:0.94",
    ),
    drawn(
        "ten classes from logits, poorly sure, falls twice as far as accuracy rises",
        noise=0,
        task="classification",
        train_loss="0:2.3025 300:1.8 900:0.5",
        eval_loss="50:2.3025 300:1.9 900:1.25",
        eval_accuracy="50:0.1 300:0.3 900:0.7",
    ),
)
