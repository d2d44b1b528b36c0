"""Evaluations that are all perfect from the first on, while training still errs.

``val_acc=1.0000`` at each epoch beside a training loss of 0.57 that ends at 0.30: unseen rows are
not easier than those that are trained on. Rows that repeat the training set, a set with one class
alone, or a score that compares the labels with themselves look like this. A task that both sets
solve does not: its training loss goes to nothing. So does 0.997 from the first epoch on beside a
training accuracy that ends at 0.87: at no time did the model make a tenth of those errors.
Where both sets are solved at the first look already, nothing was left to learn: worth a word. So
is an area under the curve that is 1 from the second look on, and all but 1 at the first.
"""

import math

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Cause, Chart, Confidence, Evidence, Finding, Mark, Moment
from runlens.history import Curve, FloatArray
from runlens.metrics import quality, spoken
from runlens.patterns import lazy_re
from runlens.rules.evaluation.score import COARSE
from runlens.rules.evaluation.sets import evaluations
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.wording import count, loss, number, step

PERFECT = (1.0, 100.0)
UNSURE = 0.1  # nats that training ends with: right answers get a probability of 0.9 on average
UNDECIDED = math.log(2)  # nats: of so unsure answers some are wrong
SURE = 0.01  # nats: right answers get a probability of 0.99 on average
COUNTS = COARSE | {"auc"}
OF_SKLEARN = "eval_score"
LOOKS = 2  # one evaluation tells no course
TENTH = 0.1  # of the errors of training, at each evaluation: dropout and augmentation take half
SOLVED = "Perfect from the start"
NONE_WRONG, FEW_WRONG = 0.999, 0.01  # at first; later: what learns is never there at once
# one of several answers may be right: with five classes one of five always is
_GUESSES = lazy_re(r"(?:top|acc|accuracy|prec|hits?|recall)[_@-]{0,2}(?:[2-9]|\d\d)(?!\d)")
_OF_PAIRS = lazy_re(r"eval_(?:roc_?)?au(?:c|roc)")
ALL_RIGHT = 0.98  # training accuracy of a task that is solved, however unsure the answers


def of(run: Run, signals: Signals, fewest: int) -> Finding | None:
    """Return the finding of a score that is 1 at each evaluation, ``fewest`` or more; or None."""
    train, right = signals.curve("train_loss"), signals.curve("train_accuracy").value
    if run.number("label_smoothing_factor"):
        return None
    if solved_at_once := _from_the_start(run, signals):
        return _solved(signals, *solved_at_once)
    if len(train) < fewest:
        return None
    level = float(median(train.value[-3:]))
    solved = len(right) > 0 and median(held_out.as_share(right)[-3:]) >= ALL_RIGHT
    if (level < UNSURE and not _guessed(signals)) or solved:
        return None
    for metric in run.history.metrics:
        score = quality(metric)
        if score is None or score.sign < 0 or "best" in score.of or _GUESSES.search(metric):
            continue
        evals = evaluations(signals, metric)
        if len(evals) < fewest:
            continue
        if evals.value[0] in PERFECT and not np.ptp(evals.value):
            return _finding(signals, metric, evals, level)
        if trained := _far_above(signals, metric, evals):
            return _finding(signals, metric, evals, level, trained)
    return None


def _from_the_start(run: Run, signals: Signals) -> tuple[str, str] | None:
    """Return the accuracy of the evaluation and what is told beside it; None if it was learned.

    Each evaluation is perfect: what is learned errs at first, however unsure its right answers are.
    Beside a training loss that errs on, it is sure of them from the first on. Or neither it nor
    training has an error at first: one batch in which all is right says nothing, so that training
    has to stay within FEW_WRONG of it.
    """
    trained = held_out.as_share(signals.curve("train_accuracy").value)
    losses = signals.curve("eval_loss").value
    trains = signals.curve("train_loss").value[-3:]
    errs = len(trains) > 0 and median(trains) >= UNSURE
    sure = len(losses) > 0 and 0 < losses[0] < (SURE if errs else UNDECIDED)
    for metric in run.history.metrics:
        score = held_out.as_share(signals.curve(metric).value)
        if len(score) >= LOOKS and sure and _OF_PAIRS.fullmatch(metric) and _all_in_order(score):
            return metric, "eval_loss"
        if len(score) < LOOKS or not _of_answers(metric, score):
            continue
        if len(trained) >= LOOKS and _at_once(trained) and _at_once(score):
            return metric, "train_accuracy"
        if sure and score.min() == 1:
            return metric, "eval_loss"
    return None


def _of_answers(metric: str, shares: FloatArray) -> bool:
    """Whether an evaluation counts right answers; or is the score of scikit-learn, at its 1.

    That is an accuracy or R², of which both have no more than 1. An area is asked otherwise.
    """
    kind = quality(metric)
    counts = kind is not None and kind.kind in COUNTS and metric.startswith("eval_")
    return counts or (metric == OF_SKLEARN and shares[0] == 1)


def _all_in_order(area: FloatArray) -> bool:
    """Whether one pair of a thousand is out of order at first, at most, and none later.

    An area of 1 is reached after long training on easy data as well, but hardly at the first look.
    """
    return bool(area[0] >= NONE_WRONG and area[1:].min() == 1)


def _at_once(shares: FloatArray) -> bool:
    """Whether a share that is right has no error at first, and hardly any later."""
    return bool(shares[0] >= NONE_WRONG and shares.min() >= NONE_WRONG - FEW_WRONG)


def _solved(signals: Signals, metric: str, beside: str) -> Finding:
    """Tell of an evaluation that is perfect from its first row on, as the one beside it tells."""
    evals, other = signals.curve(metric), signals.curve(beside)
    onset, first, last = float(evals.step[0]), float(evals.value[0]), float(evals.value[-1])
    began, name = float(other.value[0]), spoken(metric)
    said = number(began) if beside == "train_accuracy" else loss(began)
    why = f"{name} was {number(first)} and {spoken(beside)} {said} at the first row"
    return Finding(
        severity="info",
        heading=SOLVED,
        title=f"{name.capitalize()} was {number(first)} at the first evaluation, step "
        f"{step(onset)}, with {spoken(beside)} at {said}. It ended at {number(last)}.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence(f"{spoken(beside).capitalize()} at its first row", began, where=beside),
            Evidence(f"{name.capitalize()} at the first evaluation", first, where=metric),
        ),
        seen=f"{_left(metric, beside, began)}, and the scores tell no model from another.",
        causes=(
            Cause(
                "The input gives the answer away, the weights were trained before, or the task is "
                "very easy",
                "possible",
                why,
            ),
        ),
        fixes=(
            fixes.look(
                "Train a linear model, or one of a single column, on the same split",
                "if it is perfect too, the input holds the answer, or the task is easy",
            ),
            fixes.look(
                "Hash the rows of both sets and look for duplicates",
                "rows seen in training say nothing about generalization",
            ),
            fixes.look(
                "Evaluate the model before its first update",
                "a perfect score there means that it was trained before",
            ),
        ),
        confidence=Confidence(0.9, count(len(evals), "evaluation")),
        chart=Chart("curves", (beside, metric)),
    )


def _left(metric: str, beside: str, began: float) -> str:
    """Say what was left to learn: where the loss came down, only how sure the answers are."""
    if _OF_PAIRS.fullmatch(metric):
        return "Nearly every positive ranked above every negative at the first evaluation"
    if beside == "train_accuracy" or began <= SURE:
        return "Nothing was left to learn when the log begins"
    return "No evaluation has a wrong answer"


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
