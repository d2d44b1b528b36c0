"""An area under the ROC curve of one half: right and wrong are ranked as by a coin."""

import numpy as np

from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.metrics import spoken
from runlens.naming import words
from runlens.run import Run
from runlens.signals import held_out
from runlens.wording import capitalised, count, number, step

FEWEST = 4  # evaluations
HALF, ABOUT = 0.5, 0.02  # two standard errors of 1,000 samples of each kind: Hanley, McNeil 1982
AREAS = frozenset(("auc", "auroc"))
OTHERS = frozenset(("pr", "prc", "auprc", "precision", "train"))  # whose chance is another


def finding(run: Run) -> Finding | None:
    """Return the finding of an area that never left one half; None where there is none.

    Chance is one half whatever the classes and their shares are.
    """
    for metric in run.history.metrics:
        said = set(words(metric))
        area = run.curve(metric).finite()
        if not said & AREAS or said & OTHERS or len(area) < FEWEST:
            continue
        share = held_out.as_share(area.value)
        if float(np.abs(share - HALF).max()) <= ABOUT:
            name, low, high = spoken(metric), float(share.min()), float(share.max())
            onset = float(area.step[0])
            return Finding(
                severity="warning",
                title=f"{capitalised(name)} stayed at chance from step {step(onset)} on: between "
                f"{number(low, 3)} and {number(high, 3)} at {count(len(area), 'evaluation')}, "
                f"where {HALF:g} is a coin.",
                metric=metric,
                onset=Moment(onset),
                evidence=(
                    Evidence("Highest area", high, HALF + ABOUT, "chance", metric, above=False),
                    Evidence("Lowest area", low, HALF - ABOUT, "chance", metric),
                ),
                seen="The outputs rank right and wrong answers no better than a coin.",
                ruled_out=(RuledOut("Classes of unequal size", "an area does not depend on them"),),
                confidence=Confidence(0.85, count(len(area), "evaluation")),
                chart=Chart("curves", (metric,)),
            )
    return None
