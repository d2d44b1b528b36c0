"""Evaluations that are all perfect from the first on, while training still errs.

``val_acc=1.0000`` at each epoch beside a training loss of 0.57 that ends at 0.30: unseen rows are
not easier than those that are trained on. Rows that repeat the training set, a set with one class
alone, or a score that compares the labels with themselves look like this. A task that both sets
solve does not: its training loss goes to nothing. So does 0.997 from the first epoch on beside a
training accuracy that ends at 0.87: at no time did the model make a tenth of those errors.
"""

import math

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Cause, Chart, Confidence, Evidence, Finding, Mark, Moment
from runlens.history import Curve
from runlens.metrics import quality, spoken
from runlens.rules.evaluation.sets import evaluations
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.wording import count, loss, number, step

PERFECT = (1.0, 100.0)
UNSURE = 0.1  # nats that training ends with: right answers get a probability of 0.9 on average
UNDECIDED = math.log(2)  # nats: of so unsure answers some are wrong
TENTH = 0.1  # of the errors of training, at each evaluation: dropout and augmentation take half
ALL_RIGHT = 0.98  # training accuracy of a task that is solved, however unsure the answers


def of(run: Run, signals: Signals, fewest: int) -> Finding | None:
    """Return the finding of a score that is 1 at each evaluation, ``fewest`` or more; or None."""
    train, right = signals.curve("train_loss"), signals.curve("train_accuracy").value
    if len(train) < fewest or run.number("label_smoothing_factor"):
        return None
    level = float(median(train.value[-3:]))
    solved = len(right) > 0 and median(held_out.as_share(right)[-3:]) >= ALL_RIGHT
    if (level < UNSURE and not _guessed(signals)) or solved:
        return None
    for metric in run.history.metrics:
        score = quality(metric)
        if score is None or score.sign < 0 or "best" in score.of:
            continue
        evals = evaluations(signals, metric)
        if len(evals) < fewest:
            continue
        if evals.value[0] in PERFECT and not np.ptp(evals.value):
            return _finding(signals, metric, evals, level)
        if trained := _far_above(signals, metric, evals):
            return _finding(signals, metric, evals, level, trained)
    return None


def _guessed(signals: Signals) -> bool:
    """Whether the first evaluation gives right answers a probability below a half on average."""
    losses = signals.curve("eval_loss").value
    return len(losses) > 0 and float(losses[0]) >= UNDECIDED


def _far_above(signals: Signals, metric: str, evals: Curve) -> float | None:
    """Return the best training score, where each evaluation has a tenth of its errors; or None."""
    right = signals.curve(metric.replace("eval", "train", 1)).value
    trained = float(held_out.as_share(right).max(initial=0.0))
    errors = 1 - held_out.as_share(evals.value)
    return trained if len(right) and errors.max() <= TENTH * (1 - trained) else None


def _unsure(signals: Signals, level: float) -> Evidence:
    """Return the loss of answers that are too unsure to be all right."""
    if level >= UNSURE:
        why = "an average probability of 0.9"
        return Evidence("Train loss at the end", level, UNSURE, why, "train_loss")
    first, why = float(signals.curve("eval_loss").value[0]), "an average probability of 0.5"
    return Evidence("Eval loss at the first evaluation", first, UNDECIDED, why, "eval_loss")


def _finding(
    signals: Signals, metric: str, evals: Curve, level: float, trained: float | None = None
) -> Finding:
    steps, value = evals.step.tolist(), float(evals.value.min())
    name, onset = spoken(metric), float(steps[0])
    low, beside = "", f"train loss ended at {loss(level)}"
    if trained is not None:
        low = "at least "
        beside = f"that of training was never above {number(trained)}"
    return Finding(
        severity="warning",
        title=f"{name.capitalize()} was {low}{value:g} at each of "
        f"{count(len(steps), 'evaluation')}, from step {step(onset)} on, and {beside}.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence(f"Lowest {name}", value, where=metric),
            _unsure(signals, level),
        ),
        seen="A model rarely does better on unseen data than on its training data.",
        causes=(
            Cause(
                "Evaluation rows are also in the training set, or all of them have the same label",
                "likely",
                f"evaluation has {'few errors' if low else 'no error'}, and train loss is "
                f"{loss(level)}",
                kind="leak",
            ),
        ),
        fixes=(
            fixes.look(
                "Count the labels of the evaluation set",
                "with a single class, a constant prediction scores 100 %",
            ),
            fixes.look(
                "Hash the rows of both sets and look for duplicates",
                "rows seen in training say nothing about generalization",
            ),
            fixes.look(
                "Print labels and predictions of one evaluation batch",
                "this shows whether the score compares the labels with themselves",
            ),
        ),
        confidence=Confidence(round(min(0.9, 0.5 + 0.05 * len(steps)), 2),
                              count(len(steps), "evaluation")),
        chart=Chart("curves", ("train_loss", metric), marks=(Mark(onset, value, f"{value:g}"),)),
    )  # fmt: skip
