"""A gap that scores show: training answers nearly all, evaluation far fewer; no losses needed.

Both count the same, in training and in evaluation: accuracy, or F1, an area, dice of one name.
"""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, Outcome, RuledOut
from runlens.history import FloatArray
from runlens.metrics import plain, quality
from runlens.records import NamedTuple
from runlens.rules.evaluation.worsened import UNLIKE
from runlens.rules.rule import drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.changes import last_false
from runlens.wording import capitalised, count, number, step

MOST = 100.0  # of a share in per cent
LAST = 3  # values of the medians at the end, at most
CLOSED = 0.1  # of a gap: a training that closes less of it than that does not close it
TWICE = 2.0  # training scores over those of evaluation: of few answers that are right, a gap too
LEAST = 0.02  # of 1, of such a gap: two answers of a hundred
FEWEST = 6  # evaluations from which on it can be said that they never rose
SAME_PREPROCESSING = fixes.look(
    "Check that evaluation uses the preprocessing of training, and model.eval()",
    "a difference there looks like a gap",
)
SAME_SOURCE = fixes.look(
    "Compare the sources of training and evaluation data; take both from the same source",
    "a domain shift leaves a gap regardless of training",
)

OF_THEIR_ROWS = fixes.look(
    "Print 20 training and 20 evaluation samples with their labels",
    "labels that belong to other rows can be memorized, and tell nothing of new rows",
)


class Pair(NamedTuple):
    """One score of the training rows and of the evaluation."""

    train: str
    evals: str
    name: str  # as in a sentence: accuracy, dice


class Scores(NamedTuple):
    """A score in training and in evaluation at the end, medians of 3; equal where unknown."""

    train: float = 0.0
    evals: float = 0.0
    rose: float = np.inf  # evaluation since its first, where there are enough to say
    pair: Pair = Pair("", "", "")

    def lost(self) -> bool:
        """Whether evaluation loses most of what training answers, and next to none came back.

        A gap of which all of training closed less than a tenth is no matter of more of it.
        """
        return self.evals < self.train / 2 and self.rose < CLOSED * (self.train - self.evals)

    def beside(self, evals: FloatArray, train: FloatArray) -> bool:
        """Whether no evaluation loss comes near that of training, which has twice as many right.

        A loss that is added up over batches lies above it as well, but not so an accuracy.
        """
        times = evals / np.maximum(train, np.finfo(np.float64).tiny)
        never = times.min() > TWICE and median(times) > UNLIKE
        return bool(never and self.train >= TWICE * self.evals and self.train > 0)

    def far(self, apart: float) -> bool:
        """Whether they lie apart: both count the same, so no reduction or mask explains it."""
        train, evals = held_out.as_share(np.array([self.train, self.evals])).tolist()
        return bool(train - evals >= apart)


def pairs(run: Run) -> tuple[Pair, ...]:
    """Return the scores that are logged of training and of the only evaluation, accuracy first.

    Precision and recall trade one for the other, and scores of texts are of a sample: not those.
    """
    by_name = {plain(metric): metric for metric in reversed(run.history.metrics)}
    made = []
    for metric in run.history.metrics:
        score, own = quality(metric), plain(metric.removeprefix("eval_"))
        if score is None or score.sign < 0 or score.by_token or "best" in score.of:
            continue
        train = by_name.get(f"train_{own}") or by_name.get(own)
        if train and not _copied(run, train, metric):
            made.append(Pair(train, metric, own.replace("_", " ")))
    return tuple(sorted(made, key=lambda pair: pair.evals != "eval_accuracy"))


def _copied(run: Run, train: str, evals: str) -> bool:
    """Whether what counts as the score of training is that of the evaluation, written twice.

    A log that says "saved the best model (acc=0.9375)" repeats it without its set. Scores of two
    sets do not agree to the last digit each time, unless both are at an end of the scale.
    """
    own, held = run.curve(train).finite(), run.curve(evals).finite()
    if not len(own) or own.value.min() == own.value.max() or len(own) > len(held):
        return False
    at = np.minimum(np.searchsorted(held.step, own.step), len(held) - 1)
    return bool(np.array_equal(held.step[at], own.step) and (held.value[at] == own.value).all())


def last_of(evaluations: int) -> int:
    """Return how many of the last evaluations a median is of: none of the first half."""
    return max(1, min(LAST, evaluations // 2))


def both(signals: Signals, metric: str) -> Scores:
    """Return the scores that go with an evaluation loss, if it is that of the only set."""
    pair = of_shares(signals) if metric == "eval_loss" else None
    if pair is None:
        return Scores()
    train, evals = signals.curve(pair.train).value, signals.curve(pair.evals).value
    last = last_of(len(evals))
    end = float(median(evals[-last:]))
    rose = end - float(evals[0]) if len(evals) >= FEWEST else np.inf
    return Scores(float(median(train[-last:])), end, rose, pair)


def of_shares(signals: Signals) -> Pair | None:
    """Return the first pair whose scores are shares of 1 or of 100; None where none is."""
    for pair in pairs(signals.run):
        curves = (signals.curve(name).value for name in (pair.train, pair.evals))
        if all(len(one) and one.min() >= 0 and one.max() <= MOST for one in curves):
            return pair
    return None


def of_last(evaluations: int) -> str:
    """Say that accuracies are medians, where there are evaluations for it."""
    return f" (medians of {last_of(evaluations)})" if last_of(evaluations) > 1 else ""


def judge(signals: Signals, apart: float) -> Outcome:
    """Measure how far the score of evaluation ends behind that of training, as a share."""
    pair = of_shares(signals)
    if pair is None:
        return unmet("neither both losses nor a score of both is logged")
    train, evals = signals.curve(pair.train), signals.curve(pair.evals)
    near = np.searchsorted(train.step, evals.step, "right") - 1
    evals, near = evals.at(near >= 0), near[near >= 0]
    if not len(evals):
        return unmet(f"no evaluation follows a {pair.name} of training")
    right, told = held_out.as_share(train.value)[near], held_out.as_share(evals.value)
    gap, last = right - told, last_of(len(evals))
    if len(gap) >= LAST and median(right[-last:]) >= TWICE * median(told[-last:]):
        apart = min(apart, LEAST)
    end = float(median(gap[-last:]))
    if end < apart:
        return passed(f"{pair.name} ends {number(max(end, 0.0), 2)} apart (threshold {apart:g})")
    began = min(last_false(gap >= apart) + 1, len(gap) - 1)
    onset = float(evals.step[began])
    trained, held = float(median(train.value[-last:])), float(median(evals.value[-last:]))
    lost = both(signals, "eval_loss").lost()
    labels = (OF_THEIR_ROWS,) if lost else ()  # nothing that was learned held for other rows
    return found(
        Finding(
            severity="warning" if lost else "info",
            title=f"Evaluation is far worse than training from step {step(onset)} on: {pair.name} "
            f"ends at {number(held, 3)} against {number(trained, 3)}{of_last(len(evals))}, "
            f"{count(len(evals), 'evaluation')}.",
            metric=pair.evals,
            onset=Moment(onset),
            evidence=(
                Evidence("Distance at the end", end, apart, "of 1", pair.evals),
                Evidence(f"{capitalised(pair.name)} in training", trained, where=pair.train),
                Evidence(f"{capitalised(pair.name)} in evaluation", held, where=pair.evals),
            ),
            seen="Both are the same score, so no mask and no reduction of a loss explains it.",
            fixes=(*labels, SAME_PREPROCESSING, SAME_SOURCE),
            ruled_out=(RuledOut("A different mask or loss reduction", "no loss is compared"),),
            confidence=Confidence(0.8, f"{pair.name} {number(end, 2)} apart"),
            chart=Chart("curves", (pair.train, pair.evals)),
        )
    )


BAD = (
    drawn(
        "an area of one half beside one of 1 in training, no loss",
        (60, 60), noise=0, task="classification", severity="warning",
        train_auc="/1 60:1 65:1", eval_auc="/1 60:0.45 65:0.45",
    ),
    drawn(
        "few of many classes: evaluation stands while training has some times as many right",
        (8, 8), noise=0, task="classification", severity="info",
        train_accuracy="/1 1:0 2:0.002 5:0.019 8:0.035 11:0.07",
        eval_accuracy="/1 1:0 2:0.003 5:0.018 8:0.01 11:0.014",
    ),
    drawn(
        "dice stands while that of training rises, losses lie less than a gap apart",
        (4, 8), noise=0, severity="info",
        train_loss="/1 1:0.5 8:0.3 40:0.17", dice="/1 1:0.12 8:0.69 40:0.79",
        eval_loss="/1 1:0.5 8:0.37 40:0.37", eval_dice="/1 1:0.17 8:0.46 40:0.46",
    ),
    drawn(
        "evaluation is never near training, which has somewhat more than twice as many right",
        (1, 1), noise=0, task="classification", severity="warning",
        train_loss="/1 1:3.2 10:2.6", train_accuracy="/1 1:0.15 10:0.2",
        eval_loss="/1 1:46 2:54 3:37 4:17 5:12 6:24 7:28 8:16 9:22 10:35",
        eval_accuracy="/1 1:0.086 10:0.092",
    ),
    drawn(
        "accuracy of half as many beside a training loss of 0",
        (5, 5), noise=0, task="classification", severity="info",
        train_loss="/1 1:0.4 5:0 20:0", train_accuracy="/1 1:0.9 5:1 20:1",
        eval_loss="/1 5:2.1 20:2.2", eval_accuracy="/1 5:0.55 20:0.54",
    ),
)  # fmt: skip
GOOD = (
    drawn(
        "an evaluation loss four and a half times that of training, of half as many right answers",
        noise=0, task="classification",
        train_loss="/1 1:3.2 10:2.6", train_accuracy="/1 1:0.15 10:0.2",
        eval_loss="/1 1:14.4 10:11.7", eval_accuracy="/1 1:0.075 10:0.09",
    ),
    drawn(
        "a loss that is added up over batches, of as many that are right",
        noise=0, task="classification",
        train_loss="/1 1:3.2 10:2.6", train_accuracy="/1 1:0.15 10:0.2",
        eval_loss="/1 1:32 10:26", eval_accuracy="/1 1:0.12 10:0.18",
    ),
    drawn(
        "few of many classes: training has half as many right again",
        noise=0, task="classification",
        train_accuracy="/1 1:0.001 2:0.002 5:0.019 8:0.045 11:0.06",
        eval_accuracy="/1 1:0.001 2:0.003 5:0.018 8:0.03 11:0.04",
    ),
)  # fmt: skip
