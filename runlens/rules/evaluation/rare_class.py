"""No row of the rare class is found: F1 or recall is exactly 0 while one accuracy is high.

Two classes are meant, as an F1 or a recall of 0 has no right answer of the class that is looked
for. With an accuracy that never changes every answer is the frequent class, whose share that
accuracy is: the evaluation is sound, and the model has learned how often each class comes. A first
evaluation of a model that still answers at random may find a few.
"""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment
from runlens.history import Curve
from runlens.metrics import quality, spoken
from runlens.naming import words as words_of
from runlens.naming.vocabulary import SPLITS
from runlens.run import Run
from runlens.signals import held_out
from runlens.wording import capitalised, count, number, percent, step

# a log that names no split has the second, one of tagged words the third
ACCURACIES = ("eval_accuracy", "train_accuracy", "token_accuracy")
HEADING = "One class is never predicted"
SAME = (
    0.75  # of the evaluations at one accuracy, as of one answer for all: a row flips now and then
)
FEWEST = 6  # evaluations of one accuracy; two of 100 samples agree by chance in 1 of 18
F1 = frozenset(("f1",))
RECALL = {"recall"}  # alone: recall@5 and a mean over classes are no share of one class
RARE = 0.1  # share of a class, from which on the other is right for nearly all


def of(run: Run, metric: str, evals: Curve) -> Finding | None:
    """Return the finding of evaluations whose F1 came to 0 and stays, beside one accuracy; or None.

    At each of them, or at all but some first ones, with a few answers right at most.
    """
    score = quality(metric) or quality(f"eval_{metric}")
    if score is None or score.kind not in {"f1", "f_1"}:
        return None
    known = held_out.as_share(evals.value)
    alive = np.flatnonzero(known)
    first = int(alive[-1]) + 1 if len(alive) else 0
    if known.max(initial=0.0) > RARE or len(known) - first < max(1, SAME * len(known)):
        return None
    for name in ACCURACIES:
        right = run.curve(name).finite()
        share = held_out.as_share(right.value)
        level = float(median(share)) if len(share) else 0.0
        still = len(share) > 0 and float((share == level).mean()) >= SAME
        if np.array_equal(right.step, evals.step) and still and 1 - RARE <= level < 1:
            return _told(metric, evals.at(slice(first, None)), level)
    return None


def after_first(run: Run) -> Finding | None:
    """Return the finding of one class's F1 that is 0 at all evaluations but perhaps the first.

    The first one may come before training, when answers are random: spaCy logs it. The F1 may be
    that of a class (``cats_f_pos``), and the accuracy that of one head. One accuracy must stand
    beside all its zeros, so that no answer of another class was right or wrong.
    """
    rights = _accuracies(run)
    for metric in run.history.metrics:
        evals = run.curve(metric).finite()
        zeros = evals.at(slice(1, None))
        if not (metric.startswith("eval_") and F1 & set(words_of(metric))) or zeros.value.any():
            continue
        for name in rights:
            right = run.curve(name).finite()
            share = held_out.as_share(right.value)[1:]
            aligned = np.array_equal(right.step, evals.step) and len(share) >= FEWEST
            if aligned and (share == share[0]).all() and 1 - RARE <= share[0] < 1:
                return _told(metric, zeros, float(share[0]))
    return None


def by_recall(run: Run) -> Finding | None:
    """Return the finding of a recall that came to exactly 0 and stays, beside one high accuracy.

    A recall is that of one class where it can be 0 while nine of ten answers are right. Answers
    that turn to the frequent class one by one leave an accuracy that climbs before it stands.
    """
    for metric in run.history.metrics:
        evals = run.curve(metric).finite()
        if set(words_of(metric)) - SPLITS.keys() != RECALL or len(evals) < FEWEST:
            continue
        alive = np.flatnonzero(evals.value)
        first = int(alive[-1]) + 1 if len(alive) else 0
        if len(evals) - first < max(FEWEST, SAME * len(evals)):
            continue
        for name in _accuracies(run):
            right = run.curve(name).finite()
            share = held_out.as_share(right.value)[first:]
            if not np.array_equal(right.step, evals.step) or not 1 - RARE <= share[-1] < 1:
                continue
            if int((share == share[-1]).sum()) >= max(FEWEST, SAME * len(share)):
                return _told(metric, evals.at(slice(first, None)), float(share[-1]))
    return None


def _accuracies(run: Run) -> list[str]:
    """Return the accuracies of a run, those that a training log calls its own as well."""
    scores = [(m, kind) for m in run.history.metrics if (kind := quality(m))]
    named = [m for m, kind in scores if kind.kind in {"acc", "accuracy"}]
    return named + [m for m in ACCURACIES if m in run.history.metrics and m not in named]


def _told(metric: str, evals: Curve, level: float) -> Finding:
    onset, name = float(evals.step[0]), capitalised(spoken(metric))
    return Finding(
        severity="warning",
        heading=HEADING,
        title=f"{name} was 0 and accuracy {number(level, 4)} in {count(len(evals), 'evaluation')}, "
        f"from step {step(onset)} on. The model always gives the frequent answer.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence(f"Highest {spoken(metric)}", 0.0, where=metric),
            Evidence("Accuracy", level),
        ),
        seen=f"{percent(1 - level)} of the rows are of the other class, and none of them was found "
        "so far.",
        fixes=(
            fixes.action(
                "Weight the rare class in the loss, or draw its rows more often",
                f"up to {number(level / (1 - level), 2)} times: at that weight both "
                "classes count alike",
            ),
            fixes.look(
                "Print the precision-recall curve of one evaluation",
                "if a lower threshold finds the rare rows, the scores are good and the threshold "
                "is too high",
            ),
        ),
        confidence=Confidence(0.9, count(len(evals), "evaluation")),
        chart=Chart("curves", (metric,)),
    )


def words(finding: Finding | None) -> str:
    """Say what shows that one class is rare; empty for other findings."""
    if finding is None or finding.heading != HEADING:
        return ""
    told = {one.what: one.value for one in finding.evidence}
    level = float(told["Accuracy"])
    return (
        f"all answers are one class, right for {percent(level)} of the rows; "
        f"the other has {percent(1 - level)}"
    )
