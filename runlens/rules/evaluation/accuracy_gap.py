"""A gap that only accuracies show: training answers nearly all, evaluation far fewer, no losses."""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, Outcome, RuledOut
from runlens.records import NamedTuple
from runlens.rules.rule import found, passed, unmet
from runlens.signals import Signals, held_out
from runlens.signals.changes import last_false
from runlens.wording import count, number, step

TRAIN, EVALS = "train_accuracy", "eval_accuracy"
MOST = 100.0  # of a share in per cent
LAST = 3  # values of the medians at the end
CLOSED = 0.1  # of a gap: a training that closes less of it than that does not close it
FEWEST = 6  # evaluations from which on it can be said that they never rose
SAME_PREPROCESSING = fixes.look(
    "Check that evaluation uses the preprocessing of training, and model.eval()",
    "a difference there looks like a gap",
)
SAME_SOURCE = fixes.look(
    "Compare the sources of training and evaluation data; take both from the same source",
    "a domain shift leaves a gap regardless of training",
)


class Accuracies(NamedTuple):
    """Accuracy in training and in evaluation at the end, medians of 3; equal where unknown."""

    train: float = 0.0
    evals: float = 0.0
    rose: float = np.inf  # evaluation since its first, where there are enough to say

    def lost(self) -> bool:
        """Whether evaluation loses most of what training answers, and next to none came back.

        A gap of which all of training closed less than a tenth is no matter of more of it.
        """
        return self.evals < self.train / 2 and self.rose < CLOSED * (self.train - self.evals)

    def far(self, apart: float) -> bool:
        """Whether they lie apart: both count the same, so no reduction or mask explains it."""
        train, evals = held_out.as_share(np.array([self.train, self.evals])).tolist()
        return bool(train - evals >= apart)


def both(signals: Signals, metric: str) -> Accuracies:
    """Return the accuracies that go with an evaluation loss, if it is that of the only set."""
    train, evals = signals.curve(TRAIN).value, signals.curve(EVALS).value
    if metric != "eval_loss" or not len(train) or not len(evals):
        return Accuracies()
    end = float(median(evals[-LAST:]))
    rose = end - float(evals[0]) if len(evals) >= FEWEST else np.inf
    return Accuracies(float(median(train[-LAST:])), end, rose)


def of_last(evaluations: int) -> str:
    """Say that accuracies are medians, where there are as many evaluations."""
    return f" (medians of {LAST})" if evaluations >= LAST else ""


def judge(signals: Signals, apart: float) -> Outcome:
    """Measure how far the accuracy of evaluation ends behind that of training, as a share."""
    train, evals = signals.curve(TRAIN), signals.curve(EVALS)
    shares = all(len(one) and one.value.max() <= MOST for one in (train, evals))
    if not shares:  # one of another unit is a count
        return unmet("neither both losses nor both accuracies are logged")
    near = np.searchsorted(train.step, evals.step, "right") - 1
    evals, near = evals.at(near >= 0), near[near >= 0]
    if not len(evals):
        return unmet("no evaluation follows a training accuracy")
    gap = held_out.as_share(train.value)[near] - held_out.as_share(evals.value)
    end = float(median(gap[-LAST:]))
    if end < apart:
        return passed(f"accuracies end {number(max(end, 0.0), 2)} apart (threshold {apart:g})")
    began = min(last_false(gap >= apart) + 1, len(gap) - 1)
    onset = float(evals.step[began])
    trained, held = float(median(train.value[-LAST:])), float(median(evals.value[-LAST:]))
    return found(
        Finding(
            severity="warning" if both(signals, "eval_loss").lost() else "info",
            title=f"Evaluation is far worse than training from step {step(onset)} on: accuracy "
            f"ends at {number(held, 3)} against {number(trained, 3)}{of_last(len(evals))}, "
            f"{count(len(evals), 'evaluation')}.",
            metric=EVALS,
            onset=Moment(onset),
            evidence=(
                Evidence("Accuracies apart at the end", end, apart, "of 1", EVALS),
                Evidence("Accuracy in training", trained, where=TRAIN),
                Evidence("Accuracy in evaluation", held, where=EVALS),
            ),
            seen="Both count right answers, so no mask and no reduction of a loss explains it.",
            fixes=(SAME_PREPROCESSING, SAME_SOURCE),
            ruled_out=(RuledOut("A different mask or loss reduction", "answers are counted"),),
            confidence=Confidence(0.8, f"accuracies {number(end, 2)} apart"),
            chart=Chart("curves", (TRAIN, EVALS)),
        )
    )
