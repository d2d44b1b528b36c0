"""An area under the ROC curve that never is a number: the rows evaluated are of one class alone.

Where no row is of another class there is nothing to rank. That is a choice of rows, and says
nothing of the model; but whoever chooses by such a score chooses by nothing.
"""

import numpy as np

from runlens import fixes
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment
from runlens.naming import words
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.wording import count, step

AREAS = frozenset(("auc", "auroc", "rocauc"))
NO_ROWS = frozenset(("train",))  # a batch of training often has one class
WHOLE = 1.0  # precision of an evaluation without a row of another class


def finding(run: Run) -> Finding | None:
    """Return the finding of the first such area; None where each has a value."""
    for metric in run.history.metrics:
        said, curve = set(words(metric)), run.curve(metric)
        if not AREAS & said or NO_ROWS & said or not len(curve) or not np.isnan(curve.value).all():
            continue
        return _finding(run, metric)
    return None


def _finding(run: Run, metric: str) -> Finding:
    curve = run.curve(metric)
    onset, many = float(curve.step[0]), len(curve) > 1
    where = f"at all {len(curve):,} evaluations" if many else "at the only evaluation"
    exact = [
        other
        for other in run.history.metrics
        if "precision" in words(other)
        and len(value := run.curve(other).value)
        and bool((value == WHOLE).all())
    ]
    beside = f" {exact[0]} is 1 beside it, which fits." if exact else ""
    return Finding(
        severity="info",
        title=f"{metric} was NaN {where}.",
        metric=metric,
        onset=Moment(onset),
        evidence=(Evidence("Evaluations without a value", float(len(curve)), where=metric),),
        seen=f"An area has no value where all rows are of one class, or a class has none.{beside}",
        fixes=(
            fixes.look(
                "Count the rows of each class in the evaluation set",
                "with one class alone, accuracy says nothing either",
            ),
        ),
        confidence=Confidence(0.9, f"{count(len(curve), 'evaluation')}, from {step(onset)} on"),
        chart=Chart("curves", (metric,)),
    )


BAD = (
    drawn(
        "an area that has no value at all",
        (50, 50),
        severity="info",
        train_loss="0:2.2 900:0.9",
        eval_loss="50:2 900:1.1",
        eval_auc="50:nan 900:nan",
    ),
)
GOOD = (
    drawn(
        "an area without a value at one evaluation",
        train_loss="0:2.2 900:0.9",
        eval_loss="50:2 900:1.1",
        eval_auc="50:nan 100:0.7 900:0.9",
    ),
)
