"""A loss at the least that two softmax layers leave, or over it by what its right answers lack.

Of probabilities taken for logits the loss cannot come below ln(e + K - 1) - 1. Where it stands
there, or over it by the share of wrong answers, with most answers right, it names K by itself.
"""

from math import e, exp, log

import numpy as np
from msgspec import structs

from runlens.arrays import median
from runlens.history import Curve, FloatArray
from runlens.naming.classify import classify
from runlens.records import NamedTuple
from runlens.rules.loss.one_for_one import (
    ENTROPY,
    FEWEST,
    FEWEST_CLASSES,
    MOST_CLASSES,
    OPEN,
    left_open,
)
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.wording import loss, number

PAIRS = (("eval_loss", "eval_accuracy"), ("train_loss", "train_accuracy"))
# of which set a lone accuracy is, its name does not always say
ANY_PAIRS = (*PAIRS, ("eval_loss", "train_accuracy"), ("train_loss", "eval_accuracy"))
RIGHT = 0.99  # of the answers, at each of the last points: a loss of logits is far below 1 then
MOSTLY = 0.9  # right: of logits, a loss of 0.9 beside that would be errors of nine nats each
CLOSE = 0.01  # nats about one sum: answers that are right at 0.93 are 0.01 below sure ones
MOST_NAMED = 20  # classes: of more, twice that is half of the way to the next number
WELL = 0.8  # right: where nothing but the loss of both sets is left to judge by
STANDS = 0.002  # nats about the floor: a fortieth of the way from that of ten classes to eleven's


class Twice(NamedTuple):
    """A loss that gives away that its outputs were probabilities already."""

    metric: str  # of the loss
    right: str  # of the accuracy
    classes: int
    curve: Curve  # of the loss, where both are logged
    shares: FloatArray  # that are right there

    @property
    def floor(self) -> float:
        """The lowest value that the loss can take."""
        return log(e + self.classes - 1) - 1

    @property
    def words(self) -> str:
        """Say what shows it."""
        both = self.curve.value + self.shares
        low, high = loss(float(both.min())), loss(float(both.max()))
        between = f"between {low} and {high}" if low != high else low
        first, last = (number(float(one), 3) for one in (self.shares.min(), self.shares.max()))
        if self.shares.min() >= RIGHT:
            answers = "all answers right" if first == "1" else f"accuracy at {first} and more"
            return f"loss stands at {self._span} with {answers}"
        return f"loss and accuracy add up to {between} while accuracy goes from {first} to {last}"

    @property
    def _span(self) -> str:
        low, high = loss(float(self.curve.value.min())), loss(float(self.curve.value.max()))
        return low if low == high else f"{low} to {high}"


def of_floor(run: Run, signals: Signals) -> Twice | None:
    """Return a loss that stands at its least, or over it by what is not right; None for others."""
    standing = _at_its_floor(signals) or _near_its_floor(run, signals)
    return standing or _over_its_floor(signals)


def _at_its_floor(signals: Signals) -> Twice | None:
    """Return a loss that stands at the least of some number of classes, with all answers right."""
    for metric, right in ANY_PAIRS:
        losses, answers = signals.curve(metric), signals.curve(right)
        shares = held_out.as_share(answers.value)
        if len(losses) < FEWEST or len(shares) < FEWEST or shares[-FEWEST:].min() < RIGHT:
            continue
        if not np.array_equal(losses.step, answers.step) or losses.value[-1] > log(MOST_CLASSES):
            continue
        classes = round(exp(losses.value[-1] + 1) - e + 1)
        off = losses.value[-FEWEST:] - (log(e + classes - 1) - 1) if classes > 1 else np.inf
        if FEWEST_CLASSES <= classes <= MOST_CLASSES and np.abs(off).max() <= STANDS:
            last = slice(-FEWEST, None)
            return Twice(metric, right, classes, losses.at(last), shares[last])
    return None


def _near_its_floor(run: Run, signals: Signals) -> Twice | None:
    """Return a loss that is one sum less the share of right answers, in both sets, most right.

    No error is then left to explain a loss of 0.9 and more, and both sums name one number.
    """
    told = [_one_sum(run, signals, *pair) for pair in PAIRS]
    if None in told or len({one.classes for one in told if one}) > 1:
        return None
    return told[0]


def _over_its_floor(signals: Signals) -> Twice | None:
    """Return an eval loss that comes to one sum less the right answers, and a train loss beside it.

    So many right answers, as sure as they are right, leave `left_open` nats at most. More is too
    little trust in each, which the loss would punish, in both sets; or a loss that cannot be lower.
    All losses of the run have to lie between the least and the most of that number of classes.
    """
    train, losses = signals.curve("train_loss"), signals.curve("eval_loss")
    answers = signals.curve("eval_accuracy")
    if min(len(train), len(losses)) < FEWEST or not np.array_equal(losses.step, answers.step):
        return None
    shares = held_out.as_share(answers.value)
    last = slice(-FEWEST, None)
    level, right = float(median((losses.value + shares)[last])), float(shares[last].min())
    if right < WELL or level > log(e + MOST_NAMED):
        return None
    classes = round(exp(level) - e + 1)
    most = log(e + classes - 1) if classes >= FEWEST_CLASSES else 0.0
    both = np.concatenate([train.value, losses.value])
    within = most - 1 - STANDS <= both.min() and both.max() <= most + OPEN
    if abs(level - most) > CLOSE or not within or (losses.value + shares).min() < most - OPEN:
        return None
    ends = (float(median(curve.value[last])) for curve in (train, losses))
    if min(ends) < ENTROPY * left_open(right, classes):
        return None
    return Twice("eval_loss", "eval_accuracy", classes, losses.at(last), shares[last])


def _one_sum(run: Run, signals: Signals, metric: str, right: str) -> Twice | None:
    """Return the second half of a loss, where it and the right answers add up to one sum."""
    name, answers = _right(run, signals, right)
    losses = signals.curve(metric)
    if len(losses) < 2 * FEWEST or not np.array_equal(losses.step, answers.step):
        return None
    late = slice(len(losses) // 2, None)
    both, shares = losses.value[late] + answers.value[late], answers.value[late]
    level = float(both.mean())
    if shares.min() < MOSTLY or level > log(MOST_CLASSES):
        return None
    classes = round(exp(level) - e + 1)
    off = np.abs(both - log(e + classes - 1)).max() if classes >= FEWEST_CLASSES else np.inf
    if off > CLOSE or classes > MOST_NAMED:
        return None
    return Twice(metric, name, classes, losses.at(late), shares)


def _right(run: Run, signals: Signals, metric: str) -> tuple[str, Curve]:
    """Return (metric, shares of right answers): of an accuracy, or of errors in its place."""
    curve = signals.curve(metric)
    if len(curve):
        return metric, structs.replace(curve, value=held_out.as_share(curve.value))
    split = "val" if metric.startswith("eval") else "train"
    for name in run.history.metrics:
        meaning, wrong = classify(name), signals.curve(name)
        if meaning.kind == "error" and meaning.split == split and len(wrong):
            return name, structs.replace(wrong, value=1 - held_out.as_share(wrong.value))
    return metric, curve
