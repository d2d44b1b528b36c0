"""Scores of whoever guesses: an area under the ROC curve of one half, an R² of zero."""

from dataclasses import replace

import numpy as np

from runlens import fixes
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.history import Curve, FloatArray
from runlens.metrics import spoken
from runlens.naming import words
from runlens.run import Run
from runlens.signals import held_out
from runlens.wording import capitalised, count, number, step

FEWEST = 4  # evaluations, unless they agree with chance to the third digit
EXACT = 5e-4
HALF, ABOUT = 0.5, 0.02  # two standard errors of 1,000 samples of each kind: Hanley, McNeil 1982
ACCURACIES = ("eval_accuracy", "train_accuracy")
MANY, WIDER = 10, 0.05  # evaluations of 400 samples of each kind, two standard errors
AREAS = frozenset(("auc", "auroc", "roc"))
OTHERS = frozenset(("pr", "prc", "auprc", "precision", "train"))  # whose chance is another
DETERMINED = "r2"  # the share of the variance that is explained: 0 of whoever says the mean


def finding(run: Run) -> Finding | None:
    """Return the finding of a score that never left chance; None where there is none.

    Chance of an area is one half, whatever the classes and their shares are; of R² it is zero.
    """
    for metric in run.history.metrics:
        said, curve = set(words(metric)), run.curve(metric).finite()
        if said & OTHERS or not len(curve):
            continue
        if said & AREAS and _at(held_out.as_share(curve.value) - HALF):
            told = ("a coin has", "The outputs rank right and wrong answers no better than a coin.")
            out = RuledOut("Classes of unequal size", "an area does not depend on them")
            return _told(metric, curve, held_out.as_share(curve.value), HALF, told, out)
        if DETERMINED in said and _at(curve.value):
            told = (
                "whoever says the mean has",
                "The outputs explain nothing of what is to be predicted.",
            )
            out = RuledOut("A target that hardly varies", "R² is measured against its variance")
            return _told(metric, curve, curve.value, 0.0, told, out)
        if metric in ACCURACIES and _even(held_out.as_share(curve.value)):
            told = (
                "of two classes, a coin has",
                "Of two classes, right answers are those of a coin.",
            )
            out = RuledOut("Learning", "the share of right answers did not rise")
            share = held_out.as_share(curve.value)
            return replace(_told(metric, curve, share, HALF, told, out), severity="info")
    return None


def _even(share: FloatArray) -> bool:
    """Whether about a half is right all along: how many classes there are is not known."""
    return len(share) >= MANY and bool(np.abs(share - HALF).max() <= WIDER)


def _at(off: FloatArray) -> bool:
    """Whether scores lie at chance, of which `off` is the distance: many about, few exactly."""
    return bool(np.abs(off).max() <= (ABOUT if len(off) >= FEWEST else EXACT))


def _told(
    metric: str,
    curve: Curve,
    score: FloatArray,
    chance: float,
    told: tuple[str, str],
    out: RuledOut,
) -> Finding:
    lowest, highest = float(score.min()), float(score.max())
    name, low, high = spoken(metric), number(lowest, 3), number(highest, 3)
    evals, onset = count(len(curve), "evaluation"), float(curve.step[0])
    between = f"between {low} and {high}" if low != high else low
    all_along = f"stayed at chance at each of {evals}, from step {step(onset)} on"
    stayed = all_along if len(curve) > 1 else "is at chance at the only evaluation"
    return Finding(
        severity="warning",
        title=f"{capitalised(name)} {stayed}: {between} ({told[0]} {chance:g}).",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence("Highest score", highest, chance + ABOUT, "chance", metric, above=False),
            Evidence("Lowest score", lowest, chance - ABOUT, "chance", metric),
        ),
        seen=told[1],
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
        ruled_out=(out,),
        confidence=Confidence(0.85, evals),
        chart=Chart("curves", (metric,)),
    )
