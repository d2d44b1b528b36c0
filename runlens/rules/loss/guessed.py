"""Scores of whoever guesses: an area under the ROC curve of one half, an R² of zero.

An accuracy of about one half alone may be one of many classes, half of which are known: a note.
Where training and evaluation loss lie at ln 2 as well it is a coin's, and no chance.
"""

from dataclasses import replace

import numpy as np
from msgspec import structs

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import Curve
from runlens.metrics import spoken
from runlens.naming import words
from runlens.records import NamedTuple
from runlens.rules.loss.chance import COIN, KNOWS, LEARNS
from runlens.rules.rule import found
from runlens.run import Run
from runlens.signals import held_out
from runlens.wording import capitalised, count, number, step

FEW = 3  # values of an accuracy of exactly zero
FEWEST = 4  # evaluations, unless they agree with chance to the third digit
EXACT = 5e-4
MANY = 10  # evaluations of an accuracy, whose classes are not counted; scores of a table
AREAS = frozenset(("auc", "auroc"))
CORRELATIONS = frozenset(("mcc", "matthews"))
OTHERS = frozenset(("pr", "prc", "auprc", "precision", "train"))  # whose chance is another
NO_MODEL = frozenset(("baseline", "dummy", "majority", "std"))  # chance by definition, or a spread
DETERMINED = "r2"  # the share of the variance that is explained


class _Chance(NamedTuple):
    """What guessing scores, and how a score that lies there is told."""

    level: float
    about: float  # distance that counts as none
    fewest: int  # evaluations, from which on it does
    exact: float  # distance that counts as none of fewer
    has: str
    seen: str
    out: RuledOut | None
    severity: Severity = "warning"


# two standard errors of 1,700 samples of each kind: Hanley, McNeil 1982, of an area of one half
OF_AREA = _Chance(
    0.5, 0.02, FEWEST, EXACT, "a coin has",
    "The outputs rank right and wrong answers no better than a coin.",
    RuledOut("Classes of unequal size", "an area does not depend on them"),
)  # fmt: skip
OF_VARIANCE = _Chance(
    0.0, 0.02, FEWEST, EXACT, "whoever says the mean has",
    "The outputs explain nothing of what is to be predicted.",
    RuledOut("A target that hardly varies", "R² is measured against its variance"),
)  # fmt: skip
# sklearn's definition where a class is never answered; any other answers give another number
OF_CORRELATION = _Chance(
    0.0, 0.0, 2, -1.0, "whoever always gives one answer has",
    "The correlation is exactly 0 where the model gives one answer for every input.",
    RuledOut("Classes of unequal size", "the correlation does not depend on them"),
)  # fmt: skip
# two standard errors of 400 samples; how many classes there are is not known
OF_TWO = _Chance(
    0.5, 0.05, MANY, -1.0, "of two classes, a coin has",
    "Of two classes, right answers are those of a coin.",
    None, "info",
)  # fmt: skip
# whoever guesses among n classes gets none of m answers right by a chance of (1 - 1 / n) ** m
OF_NONE = _Chance(
    0.0, 0.0, FEW, 0.0, "a guess has more than",
    "Not one answer is right. A guess gets some: answers and labels may never be compared as they "
    "should.",
    RuledOut("A guess", "among 10 classes it gets none of 100 answers right once in 40,000 times"),
    "info",
)  # fmt: skip
OF_COIN = OF_TWO._replace(
    seen="Both losses lie at ln 2 = 0.693, as those of a coin do.",
    out=RuledOut("Half of many classes known", "its losses would not be those of two"),
    severity="critical",
)


def finding(run: Run) -> Finding | None:
    """Return the finding of a score that never left chance; None where there is none.

    Chance of an area is one half, whatever the classes and their shares are; of R² it is zero. An
    area of exactly one half at the end, evaluation after evaluation, is that of equal outputs:
    no ranking of different ones gives it twice.
    """
    for metric in run.history.metrics:
        chance, curve = _chance(metric), run.curve(metric).finite()
        if chance is None or not len(curve):
            continue
        score = curve.value if chance is OF_VARIANCE else held_out.as_share(curve.value)
        moved = np.flatnonzero(score != chance.level)
        tail = int(moved[-1]) + 1 if len(moved) else 0
        if chance is OF_TWO and _of_a_coin(run):
            chance = OF_COIN
        if chance is OF_AREA and len(score) - tail >= FEWEST:  # all outputs are one
            return _told(metric, structs.replace(curve, value=score).at(slice(tail, None)), chance)
        off = float(np.abs(score - chance.level).max())
        lone = len(score) == 1 and _one_of_many(run, chance)
        many = len(score) >= chance.fewest or (chance is OF_AREA and _one_answer(run))
        if not lone and off <= (chance.about if many else chance.exact):
            return _told(metric, structs.replace(curve, value=score), chance)
    return None


def none_right(run: Run) -> Finding | None:
    """Return the finding of accuracies of exactly 0, in training and evaluation; None for none."""
    held = {name: run.curve(name).finite() for name in ("train_accuracy", "eval_accuracy")}
    logged = {name: curve for name, curve in held.items() if len(curve)}
    if not logged or any(curve.value.any() for curve in logged.values()):
        return None
    name, curve = max(logged.items(), key=lambda one: len(one[1]))
    if len(curve) < FEW:
        return None
    onset = step(float(curve.step[0]))
    title = f"{capitalised(spoken(name))} was exactly 0 at each of {count(len(curve), 'point')}, "
    return replace(_told(name, curve, OF_NONE), title=f"{title}from step {onset} on.")


def _one_answer(run: Run) -> bool:
    """Whether all rows of an evaluation are called one class: a recall of 1, precise as the rate.

    Then a second sign says what one area near a half leaves open.
    """
    ends = {
        name: set(words(name))
        for name in run.history.metrics
        if name.startswith("eval_") and len(run.curve(name).finite())
    }
    last = {name: float(held_out.as_share(run.curve(name).finite().value)[-1]) for name in ends}
    found = [last[name] for name, said in ends.items() if "recall" in said]
    right = [last[name] for name, said in ends.items() if said & {"accuracy", "acc"}]
    exact = [last[name] for name, said in ends.items() if "precision" in said]
    return len(found) == len(exact) == 1 and found[0] == 1 and exact[0] < 1 and exact[0] in right


def _one_of_many(run: Run, chance: _Chance) -> bool:
    """Whether a run has many scores of one evaluation each: a table of results, not of a course.

    Of ten areas about one half one lies as near to it in every tenth table, whoever learned.
    """
    kind = [metric for metric in run.history.metrics if _chance(metric) is chance]
    return sum(len(run.curve(metric).finite()) == 1 for metric in kind) >= MANY


def of_coin(run: Run) -> Outcome | None:
    """Return the finding of answers and losses that are all a coin's, as an outcome."""
    told = finding(run)
    return found(told) if told and told.severity == OF_COIN.severity else None


def _of_a_coin(run: Run) -> bool:
    """Whether training and evaluation loss lie at ln 2, and no evaluation is below it."""
    train, evals = (run.curve(name).finite().value for name in ("train_loss", "eval_loss"))
    if not len(train) or not len(evals) or evals.min() < KNOWS * COIN:
        return False
    ends = (float(median(value[len(value) // 2 :])) for value in (train, evals))
    return all(abs(end - COIN) <= LEARNS * COIN for end in ends)


def _chance(metric: str) -> _Chance | None:
    """Return what guessing scores in a metric of held-out data; None where nobody knows."""
    said = set(words(metric))
    if said & (OTHERS | NO_MODEL):
        return None
    if metric == "eval_accuracy":
        return OF_TWO
    if said & CORRELATIONS and metric.startswith("eval"):
        return OF_CORRELATION
    return OF_AREA if said & AREAS else OF_VARIANCE if DETERMINED in said else None


def _told(metric: str, score: Curve, chance: _Chance) -> Finding:
    lowest, highest = float(score.value.min()), float(score.value.max())
    name, low, high = spoken(metric), number(lowest, 3), number(highest, 3)
    evals, onset = count(len(score), "evaluation"), float(score.step[0])
    between = f"between {low} and {high}" if low != high else low
    where = (
        "about one half"
        if chance.level == OF_TWO.level and chance.about == OF_TWO.about
        else "at chance"
    )
    all_along = f"stayed {where} at each of {evals}, from step {step(onset)} on"
    stayed = all_along if len(score) > 1 else "is at chance at the only evaluation"
    top, bottom = chance.level + chance.about, chance.level - chance.about
    return Finding(
        severity=chance.severity,
        title=f"{capitalised(name)} {stayed}: {between} ({chance.has} {chance.level:g}).",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence("Highest score", highest, top, "chance", metric, above=False),
            Evidence("Lowest score", lowest, bottom, "chance", metric),
        ),
        seen=chance.seen,
        fixes=(
            fixes.look(
                "Print ten outputs beside what they should be",
                "outputs that are all alike mean that the inputs do not reach them",
            ),
            fixes.look(
                "Train on ten rows until their loss is next to nothing",
                "where that fails, labels, inputs or the head are wired wrongly",
            ),
        ),
        ruled_out=(chance.out,) if chance.out else (),
        confidence=Confidence(0.85, evals),
        chart=Chart("curves", (metric,)),
    )
