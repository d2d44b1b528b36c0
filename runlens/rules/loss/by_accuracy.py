"""Chance by an accuracy: one over a whole number of classes, that explains the loss as well."""

from math import log

import numpy as np

from runlens.arrays import median
from runlens.history import Curve, FloatArray
from runlens.patterns import lazy_re
from runlens.rules.loss import chance
from runlens.rules.loss.chance import Chance
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.shape import kendall

PERCENT_FROM = 1.5  # an accuracy above is logged in percent
SCATTER = 6  # evaluations whose range shows how far the share of right answers wanders by itself
# an error that is no share of answers, such as that of a regression, seldom stays within 0 and 1;
# and its loss is no logarithm of what it leaves
OF_ERRORS = lazy_re(r"(?:eval|valid?|test|te|dev)_(?:err|error)(?:_rate)?")
NEVER = 1.5  # times one over the classes: of a guess no evaluation of a hundred rows is above


def of_run(run: Run, signals: Signals) -> tuple[str, float | None]:
    """Return (metric, its median over the second half) of the accuracy that fits the task."""
    name, right = _shares(run, signals)
    return name, float(median(right[len(right) // 2 :])) if name else None


def _shares(run: Run, signals: Signals) -> tuple[str, FloatArray]:
    """Return (metric, its shares, shape (n,)) of the accuracy that fits the task."""
    names = {
        "classification": ("eval_accuracy", "train_accuracy"),
        "dpo": ("dpo_acc",),
        "reward-model": ("dpo_acc", "eval_accuracy"),
    }.get(run.task, ())
    for name in names:
        value = signals.curve(name).value
        if len(value):
            return name, value / (100 if value.max() > PERCENT_FROM else 1)
    return _from_errors(run, signals)


def _from_errors(run: Run, signals: Signals) -> tuple[str, FloatArray]:
    """Return (metric, its shares of right answers) of an error rate of evaluations, as logged.

    Only a classifier has one, whatever else a run of an unknown task tells.
    """
    if run.task not in {"classification", "other"}:
        return "", np.empty(0)
    for name in run.history.metrics:
        value = signals.curve(name).value
        if len(value) and OF_ERRORS.fullmatch(name) and 0 <= value.min() <= value.max() <= 1:
            return name, 1 - value
    return "", np.empty(0)


def chance_of(
    run: Run, signals: Signals, train: Curve, accuracy: float, share: float, most: float
) -> Chance | None:
    """Return the chance that loss and accuracy name together; None where they do not.

    `accuracy` and `share` are how far they may lie from it, each as a share. A loss may lie `most`
    above: what guesses with conviction loses a little more than who does not.
    """
    metric, right = of_run(run, signals)
    if not metric or not right or not len(train):
        return None
    classes = round(1 / right)
    level = float(median(train.value[len(train) // 2 :]))
    near = abs(right - 1 / classes) <= accuracy / classes
    if near and 2 <= classes <= chance.MOST_CLASSES:  # noqa: PLR2004 - one class is no choice
        off = level / log(classes) - 1
        found = chance.of_classes(classes) if -share <= off <= most else None
        found = found and found._replace(wide=off > share)
    else:
        found = _by_scatter(run, signals, level, (accuracy, share, most))
    # the answers say that it is a classifier, where nothing else does
    return found and found._replace(severity="critical" if run.task == "other" else found.severity)


def nothing_held_out(signals: Signals, at: Chance, least: float) -> bool:
    """Whether evaluations never come to know more than a guess, whatever training does.

    Rows whose labels are another row's are memorized, bit by bit: their loss creeps below
    chance, one way. That of other rows stays above it, without a fall of a chance below `least`.
    """
    evals = signals.curve("eval_loss").value
    if len(evals) < SCATTER:
        return False
    tau, p = kendall(evals)
    falls = tau < 0 and p < least
    return not falls and float(median(evals[len(evals) // 2 :])) >= at.level


def _by_scatter(
    run: Run, signals: Signals, level: float, shares: tuple[float, float, float]
) -> Chance | None:
    """Return the usual number of classes within the scatter of the accuracies and the loss.

    ``0.088 0.106 0.102 0.094`` beside 2.34: ten classes, whose guess loses 2.303.
    """
    accuracy, share, most = shares
    _, right = _shares(run, signals)
    if len(right) < SCATTER:
        return None
    low, high = float(right.min()), float(right.max())
    named = [n for n in chance.KNOWN_CLASSES if (1 - accuracy) * low <= 1 / n <= high <= NEVER / n]
    near = [n for n in named if -share <= level / log(n) - 1 <= most]
    found = chance.of_classes(near[0]) if near else None
    return found and found._replace(wide=True, told=f"It guesses among {near[0]:,} classes.")


BAD = (
    drawn(
        "ten classes, by an error rate beside a loss that stands at ln 10",
        task="other",
        severity="critical",
        noise=0,
        train_loss="1:2.4018 2:2.3057 3:2.3036 4:2.3048 5:2.3085 6:2.3085 7:2.3073 8:2.3054 /1",
        eval_loss="1:2.3056 2:2.3173 3:2.3076 4:2.3293 5:2.307 6:2.3138 7:2.3142 8:2.3101 /1",
        te_err="1:0.8975 4:0.8975 5:0.8925 6:0.8975 7:0.8975 8:0.8925 /1",
    ),
    drawn(
        "ten classes, by accuracies that scatter and a loss somewhat above, after a blow-up",
        task="classification",
        severity="critical",
        noise=0,
        train_loss="0:165 1:3.37 2:2.42 3:4 4:2.336 5:2.331 6:2.35 7:2.342 8:2.362 9:2.341 "
        "10:2.351 11:2.333 /1",
        eval_accuracy="0:0.088 1:0.106 2:0.088 3:0.088 4:0.108 5:0.118 6:0.096 7:0.088 8:0.096 "
        "9:0.102 10:0.094 11:0.088 /1",
    ),
    drawn(
        "five classes, by accuracies of a fifth and losses one hundredth above",
        task="classification",
        severity="critical",
        noise=0.003,
        train_loss="0:1.628 16:1.628 /1",
        eval_accuracy="0:0.304 1:0.204 4:0.212 8:0.204 16:0.205 /1",
    ),
    drawn(
        "labels of other rows are memorized, and nothing of it holds",
        task="classification",
        severity="critical",
        noise=0,
        train_loss="1:2.3095 2:2.3029 3:2.3008 8:2.2955 /1",
        eval_loss="1:2.29 2:2.307 6:2.301 8:2.311 /1",
        eval_accuracy="1:0.124 2:0.092 3:0.127 4:0.101 5:0.089 6:0.105 7:0.097 8:0.097 /1",
    ),
)
GOOD = (
    drawn(
        "training has just begun, and so do evaluations",
        task="classification",
        noise=0,
        train_loss="1:2.3095 2:2.3029 3:2.3008 8:2.2855 /1",
        eval_loss="1:2.309 2:2.304 6:2.295 8:2.284 /1",
        eval_accuracy="1:0.094 2:0.092 3:0.097 4:0.101 5:0.099 6:0.105 7:0.107 8:0.117 /1",
    ),
    drawn(
        "a fifth of many classes is right, and the loss is three hundredths off ln 5",
        task="classification",
        noise=0.003,
        config={"num_labels": 20},
        train_loss="0:2.1 4:1.66 16:1.66 /1",
        eval_accuracy="0:0.1 4:0.2 16:0.2 /1",
    ),
    drawn(
        "accuracies that scatter about a tenth, and a loss that is far below ln 10",
        task="classification",
        noise=0.01,
        config={"num_labels": 10},
        train_loss="0:2.3 900:1.6",
        eval_accuracy="50:0.09 200:0.11 400:0.095 600:0.105 900:0.11",
    ),
)
