"""One answer for everything: a score that has one and the same value at every evaluation."""

from typing import Any

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.metrics import quality, spoken
from runlens.records import NamedTuple
from runlens.rules.loss.chance import KNOWS
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.changes import last_false
from runlens.signals.noise import smooth
from runlens.wording import capitalised, count, loss, number, step

LOSSES = ("eval_loss", "train_loss")
FEWEST, PROVEN = 4, 2  # evaluations; where their precision proves it
DIGITS = 1e-6  # relative: of two shares that are logged in full
PRINTED = 0.005  # half of the last of two digits
SAME = 0.75  # share of them at one value: now and then a single answer flips
COMMONEST = 0.9  # share of the commonest class from which a good model scores no better
SQUARE = "Its precision is the square of its accuracy, as it is where all answers are one."
ALL_YES = "Its recall is exactly 1 and its precision is its accuracy, as where all answers are yes."
PERCENT_FROM = 1.5  # a score above is logged in percent
HEADING = "One answer in evaluation"
OF_TRAINED = fixes.look(
    "Evaluate ten training batches in evaluation mode, and count how often each class is predicted",
    "if it is one class there too, the batch statistics do not hold; if not, evaluation rows are "
    "prepared otherwise",
)


class Frozen(NamedTuple):
    """A score that does not move."""

    metric: str
    value: float  # as logged
    same: int  # evaluations at that value
    evals: int
    first: float  # step of the first of them
    loss: float  # the lowest since
    judge: str  # the metric of that loss
    proven: str = ""  # what of its precision shows it
    trained: bool = False  # training tells its rows apart


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
        if yes := _all_yes(run, signals, metric, judge):
            return yes
        proven = SQUARE if _squared(run, metric) else ""
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


def _all_yes(run: Run, signals: Signals, metric: str, judge: str) -> Frozen | None:
    """Return the last evaluations, where all rows are called the one class that is looked for.

    Then all of that class are found, a recall of exactly 1, and what is right is the share of it
    among all rows: precision and accuracy are that share, to the last digit. None where they are
    not, or the share changes, or hardly a row is of another class.
    """
    names = (metric, "eval_precision", "eval_recall")
    curves = [run.curve(name).finite() for name in names]
    right, precision, recall = (held_out.as_share(curve.value) for curve in curves)
    if metric != "eval_accuracy" or len(right) < FEWEST or not right[-1] < COMMONEST:
        return None
    if not len(right) == len(precision) == len(recall):
        return None
    yes = (recall == 1) & (np.abs(precision - right) <= DIGITS) & (right == right[-1])
    start = last_false(yes) + 1
    if len(right) - start < FEWEST:
        return None
    value, first = float(curves[0].value[-1]), float(curves[0].step[start])
    losses = signals.curve(judge)
    level = float(losses.value[losses.step >= first].min(initial=np.inf))
    same = len(right) - start
    return Frozen(
        metric,
        value,
        same,
        len(right),
        first,
        level,
        judge,
        ALL_YES,
        _trained(run, float(right[-1])),
    )


def _trained(run: Run, right: float) -> bool:
    """Whether training, at its end, has half of those right that one answer gets wrong."""
    train = held_out.as_share(run.curve("train_accuracy").finite().value)
    return len(train) > 0 and float(train[-1]) > (1 + right) / 2


def before(run: Run, signals: Signals, at: float) -> bool:
    """Whether all answers are one from before step `at` on, though training tells rows apart.

    No checkpoint from there on is worth a word, and no more passes over the data did it.
    """
    same = frozen(run, signals)
    return same is not None and same.trained and same.first <= at


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
        return one.proven
    if one.loss < 0:
        return f"A loss below 0, {loss(one.loss)}, is none of probabilities."
    return f"The lowest {judge} since, {loss(one.loss)}, is no better than that."


def finding(one: Frozen) -> Finding:
    """Tell it; how many classes there are need not be known."""
    name, judge = one.metric.replace("_", " "), spoken(one.judge)
    few = one.evals < FEWEST
    where = " in evaluation, not in training," if one.trained else ""
    return Finding(
        severity="info" if few else "warning",
        heading=HEADING if one.trained else "",
        title=f"The model always gives the same answer{where} from step {step(one.first)} on. "
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
        fixes=(OF_TRAINED,)
        if one.trained
        else (
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


def _yes(recall: str, share: str) -> dict[str, Any]:
    """Draw a classifier whose evaluations come to have one recall, beside training that learns."""
    return {
        "train_loss": "/1 0:0.64 4:0.38 10:0.24",
        "train_accuracy": "/1 0:0.7 4:0.88 10:0.93",
        "eval_loss": "/1 0:0.72 5:0.59 10:0.79",
        "eval_accuracy": f"/1 0:0.276 1:0.328 2:0.7586 3:0.7241 10:{share}",
        "eval_precision": f"/1 0:0 1:1 2:0.7545 3:0.7241 10:{share}",
        "eval_recall": f"/1 0:0 1:0.0714 2:0.988 3:{recall} 10:{recall}",
    }


BAD = (
    drawn(
        "evaluations come to be one answer, and training tells its rows apart",
        (3, 3),
        noise=0,
        task="classification",
        severity="warning",
        **_yes("1", "0.7241"),
    ),
)
GOOD = (
    drawn(
        "all are found, and ever fewer others with them",
        noise=0,
        task="classification",
        config={"num_labels": 2},
        **_yes("1", "0.8"),
    ),
    drawn(
        "nearly all are found",
        noise=0,
        task="classification",
        config={"num_labels": 2},
        **_yes("0.99", "0.7241"),
    ),
)
