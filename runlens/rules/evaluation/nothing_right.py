"""Scores of the evaluation that stay at nothing while the training loss falls.

``mAP 0.000`` at each evaluation: whatever was learned does not arrive where it is measured.
"""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Cause, Chart, Confidence, Evidence, Finding, Moment
from runlens.history import Curve
from runlens.metrics import quality, spoken
from runlens.rules.evaluation.sets import evaluations
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.trend import mann_kendall
from runlens.wording import count, loss, number, percent, step

NOTHING = 0.01  # of 1, and of 100: not one answer of a hundred is right
RISES = 0.05  # chance of a trend from which a low score is on its way
# an answer that must match to the last character may stay wrong while a model learns
STRICT = frozenset({"em", "exact_match"})


def of(run: Run, signals: Signals, fewest: int, span: float, fall: float) -> Finding | None:
    """Return the finding of the first such score; None where there is none.

    ``fewest`` evaluations over ``span`` of the steps, in which the loss fell by ``fall``.
    """
    train = signals.curve("train_loss")
    if len(train) < fewest:
        return None
    for metric in run.history.metrics:
        score = quality(metric)
        if score is None or score.sign < 0 or score.kind in STRICT or "best" in score.of:
            continue
        evals = evaluations(signals, metric).finite()
        covered = float(evals.step[-1] - evals.step[0]) if len(evals) else 0.0
        if len(evals) < fewest or covered < span * float(train.step[-1] - train.step[0]):
            continue
        first = float(median(train.value[: max(3, len(train) // len(evals))]))
        last = float(median(train.value[-3:]))
        if _at_nothing(evals) and first > 0 and first - last >= fall * first:
            return _finding(metric, evals, first, last)
    return None


def _at_nothing(evals: Curve) -> bool:
    value = evals.value
    if value.min() < 0 or value.max() > NOTHING:
        return False
    rise = float(median(value[-3:]) - median(value[:3]))
    return not value.any() or rise <= 0 or mann_kendall(value)[1] > RISES


def _finding(metric: str, evals: Curve, first: float, last: float) -> Finding:
    onset, top = float(evals.step[0]), float(np.max(evals.value))
    name = spoken(metric)
    level = "was 0" if not top else f"never exceeded {number(top)}"
    return Finding(
        severity="warning",
        title=f"{name.capitalize()} {level} in {count(len(evals), 'evaluation')}, from step "
        f"{step(onset)} on, while train loss fell from {loss(first)} to {loss(last)}.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence(f"Highest {name}", top, NOTHING, "not one of a hundred is right", metric),
            Evidence("Fall of train loss", (first - last) / first, where="train_loss", unit="%"),
        ),
        seen=f"Training learns something: its loss fell by {percent((first - last) / first)}. "
        "None of it arrives in the evaluation.",
        causes=(
            Cause("Outputs and labels of the evaluation do not match", "likely", kind="evaluation"),
            Cause("Evaluation runs on old or cached weights", "possible", kind="evaluation"),
        ),
        fixes=(
            fixes.look(
                "Print outputs and labels of one evaluation batch",
                "empty or constant outputs, shifted class numbers or a threshold show at once",
            ),
            fixes.look(
                "Evaluate a few training rows in the same way",
                "if their score is 0 as well, the evaluation is at fault and not the model",
            ),
        ),
        confidence=Confidence(
            round(min(1.0, 0.6 + 0.04 * len(evals)), 2), count(len(evals), "evaluation")
        ),
        chart=Chart("curves", ("train_loss", metric)),
    )
