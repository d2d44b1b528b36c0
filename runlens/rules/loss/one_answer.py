"""One answer for everything: a score that has one and the same value at every evaluation."""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.metrics import quality, spoken
from runlens.records import NamedTuple
from runlens.rules.loss.chance import KNOWS
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import smooth
from runlens.wording import capitalised, count, loss, number, step

LOSSES = ("eval_loss", "train_loss")
FEWEST, PROVEN = 4, 2  # evaluations; where their precision proves it
DIGITS = 1e-6  # relative: of two shares that are logged in full
PRINTED = 0.005  # half of the last of two digits
SAME = 0.75  # share of them at one value: now and then a single answer flips
COMMONEST = 0.9  # share of the commonest class from which a good model scores no better
PERCENT_FROM = 1.5  # a score above is logged in percent


class Frozen(NamedTuple):
    """A score that does not move."""

    metric: str
    value: float  # as logged
    same: int  # evaluations at that value
    evals: int
    first: float  # step of the first of them
    loss: float  # the lowest since
    judge: str  # the metric of that loss
    proven: bool = False  # by its precision


def frozen(run: Run, signals: Signals) -> Frozen | None:
    """Return the score of a model that gives one answer, whatever it is shown; None for none.

    Whoever answers with the commonest class is right in a share p of cases, and its loss is never
    below the entropy of the classes: that of two, -p ln p - (1 - p) ln (1 - p), or -ln p as none
    is commoner. A loss below 0 is no entropy: there training has to score one and the same too. A
    model that knows more has a lower loss: of the evaluation or, where none is
    logged, in training, whose batches differ by themselves. Where each precision is the square of
    the accuracy no loss is needed.
    """
    judge = next((name for name in LOSSES if len(signals.curve(name))), "")
    losses = signals.curve(judge)
    lowest = losses.value if judge == "eval_loss" else smooth(losses.value)
    for metric in filter(_counts_answers, run.history.metrics if judge else ()):
        curve = run.curve(metric).finite()
        proven = _squared(run, metric)
        # several of one step are of several models or sets
        if len(np.unique(curve.step)) < (PROVEN if proven else FEWEST):
            continue
        values, counts = np.unique(curve.value, return_counts=True)
        at = int(np.argmax(counts))
        value, same = float(values[at]), int(counts[at])
        share = value / 100 if value > PERCENT_FROM else value
        if same < SAME * len(curve) or not 0 < share < 1:
            continue
        if share >= COMMONEST and not _in_training(run, value):
            continue
        first = float(curve.step[int(np.argmax(curve.value == value))])
        level = float(lowest[losses.step >= first].min(initial=np.inf))
        if level < 0 and _in_training(run, None):  # no entropy: it says nothing of what is known
            return Frozen(metric, value, same, len(curve), first, level, judge)
        if proven and np.isfinite(level):
            return Frozen(metric, value, same, len(curve), first, level, judge, proven)
        of_two = -share * np.log(share) - (1 - share) * np.log1p(-share)
        if level >= KNOWS * max(of_two, -np.log(share)):
            return Frozen(metric, value, same, len(curve), first, level, judge)
    return None


def _squared(run: Run, metric: str) -> bool:
    """Whether each precision is the square of an accuracy: of one answer alone it is.

    scikit-learn's weighted precision of whoever answers with a class of share p is p times p, as
    all other classes have none; its recall is p. (precision_recall_fscore_support, ``weighted``.)
    """
    if metric != "eval_accuracy":
        return False
    if _of_one_class(run):
        return True
    right, precision = (run.curve(name).finite().value for name in (metric, "eval_precision"))
    if not len(right) or len(right) != len(precision) or not 0 < right.min() <= right.max() < 1:
        return False
    return bool((np.abs(precision - right**2) <= DIGITS * right**2).all())


def _of_one_class(run: Run) -> bool:
    """Whether the means over classes are those of one answer: recall 1 / n, precision p / n.

    As scikit-learn's classification_report prints them, to two digits: the class that is always
    answered has a recall of 1 and a precision of p, its share, and all n - 1 others have none.
    """
    names = ("eval_accuracy", "eval_macro_avg_recall", "eval_macro_avg_precision")
    right, recall, precision = (run.curve(name).finite().value for name in names)
    if not len(right) or not len(right) == len(recall) == len(precision) or recall.min() <= 0:
        return False
    classes = np.round(1 / recall)
    alone = (classes > 1) & (np.abs(recall - 1 / classes) <= PRINTED)
    return bool((alone & (np.abs(precision - right / classes) <= PRINTED)).all())


def _in_training(run: Run, value: float | None) -> bool:
    """Whether training scores the same to the last digit: no good model is as good on both.

    Without a value, whether it scores one and the same as well, whatever that is.
    """
    train = run.curve("train_accuracy").finite().value
    value = float(median(train)) if value is None and len(train) else value
    return len(train) >= FEWEST and float((train == value).mean()) >= SAME


def _counts_answers(metric: str) -> bool:
    """Whether a metric is a share of right answers: speeds, errors and words tell no class.

    Nor does a record, which stands where the score falls.
    """
    score = quality(metric)
    if score is None or "best" in score.of:
        return False
    return score.sign > 0 and not score.by_token


def _seen(one: Frozen, judge: str) -> str:
    if one.proven:
        return "Its precision is the square of its accuracy, as it is where all answers are one."
    if one.loss < 0:
        return f"A loss below 0, {loss(one.loss)}, is none of probabilities."
    return f"The lowest {judge} since, {loss(one.loss)}, is no better than that."


def finding(one: Frozen) -> Finding:
    """Tell it; how many classes there are need not be known."""
    name, judge = one.metric.replace("_", " "), spoken(one.judge)
    few = one.evals < FEWEST
    return Finding(
        severity="info" if few else "warning",
        title=f"The model always gives the same answer from step {step(one.first)} on. "
        f"{capitalised(name)} is "
        f"{number(one.value, 4)} at {one.same} of {count(one.evals, 'evaluation')}.",
        metric=one.metric,
        onset=Moment(one.first),
        evidence=(
            Evidence("Evaluations with the same score", float(one.same), where=one.metric),
            Evidence(f"Lowest {judge} since", one.loss, where=one.judge),
        ),
        seen="A model that always gives the most frequent answer scores the same each time. "
        + _seen(one, judge),
        ruled_out=(
            RuledOut(
                "A model that knows more",
                f"its {'precision would be higher' if one.proven else 'loss would be lower'}",
            ),
        ),
        fixes=(
            fixes.look(
                "Count how often each class is predicted in one evaluation",
                "if only one is, train for longer, or weight the classes"
                if one.loss >= 0
                else "fix the loss before that: no model learns classes from one below 0",
            ),
        ),
        confidence=Confidence(0.8, "scores that agree to the last digit are no chance"),
        chart=Chart("curves", (one.metric, one.judge)),
    )
