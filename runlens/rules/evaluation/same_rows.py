"""An evaluation that is the training itself: both losses are one number at each point."""

import numpy as np

from runlens import fixes
from runlens.diagnosis import Cause, Chart, Confidence, Evidence, Finding, Moment
from runlens.history import Curve
from runlens.metrics import spoken
from runlens.signals import Signals
from runlens.wording import count, step

FEWEST = 4  # different values: two losses of three digits agree by chance in 1 of 1,000 rows each
DIGITS = 100.0  # a loss that is written with fewer places than its hundredths agrees by rounding


def of(signals: Signals, metric: str, evals: Curve) -> Finding | None:
    """Return the finding of an evaluation loss that equals the training loss at each step."""
    train = signals.curve("train_loss")
    shared, mine, theirs = np.intersect1d(evals.step, train.step, return_indices=True)
    if len(shared) < len(evals) or (evals.value[mine] != train.value[theirs]).any():
        return None
    written = np.unique(evals.value[evals.value * DIGITS % 1 != 0])
    if len(written) < FEWEST:
        return None
    onset, name = float(evals.step[0]), spoken(metric)
    often = count(len(evals), "point")
    return Finding(
        severity="warning",
        title=f"{name.capitalize()} and train loss are one number at each of {often}, from step "
        f"{step(onset)} on.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence("Points at which both are the same", float(len(evals)), FEWEST, "", metric),
        ),
        seen="Other rows have another loss, if only in its last digit.",
        causes=(
            Cause(
                "The training rows are evaluated, or one loss is logged under both names",
                "most likely",
                f"both losses are the same at {often}",
                kind="leak",
            ),
        ),
        fixes=(
            fixes.look(
                "Print the first row of both data sets, and where each loss is logged",
                "the same row means that the evaluation reads the training data",
            ),
        ),
        confidence=Confidence(1.0, f"the same to the last digit at {often}"),
        chart=Chart("curves", ("train_loss", metric)),
    )
