"""Two evaluations that part from a training loss which halved: no trend, and no chance either.

The second is worse than the first, or both losses began alike and it was left far behind.
"""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, Outcome, RuledOut
from runlens.history import Curve, FloatArray
from runlens.rules.evaluation import score_gap
from runlens.rules.evaluation.sets import spoken
from runlens.rules.rule import drawn, found
from runlens.signals import Signals
from runlens.signals.noise import sigma_diff
from runlens.wording import loss, step

TWO = 2
RISE = 0.2  # of the first evaluation: what is steep (hockey-stick)
HALVED = 0.5  # of the first training losses: no new stage of the data, and no easy batch
# noise scales of a training loss, relative to its level: an evaluation of a single batch scatters
# as much as that; of two the difference does by sqrt(2) times, and this is three of those
ERRORS = 4.0
ALIKE = 0.1  # of the first evaluation: as far as untrained weights differ on two sets
LEFT = 3.0  # of the last over its training loss: more than the double that a trend would need
LOOKS = (
    fixes.look(
        "Evaluate some earlier checkpoints on the whole evaluation set",
        "if an earlier one is better, keep that one",
    ),
    score_gap.SAME_SOURCE,
)


def outcome(
    signals: Signals, metric: str, evals: Curve, train: FloatArray, needed: float
) -> Outcome | None:
    """Return the finding of two such evaluations; None where they may differ by chance.

    `train` are the training losses beside them, `needed` the gap that counts.
    """
    logged = signals.curve("train_loss").value
    if len(evals) != TWO or not evals.value[0] > 0 or not signals.learns:
        return None
    (first, last), width = evals.value.tolist(), max(3, len(logged) // 10)
    start, end = float(median(logged[:width])), float(median(logged[-width:]))
    scatter = ERRORS * sigma_diff(logged[-len(logged) // 2 :]) / abs(end) if end else np.inf
    parted = last - train[-1] >= needed and 0 < end < HALVED * start
    if parted and abs(first - train[0]) <= ALIKE * first and last >= LEFT * train[-1]:
        return found(_left_behind(metric, evals, train, needed))
    if not parted or last - first <= max(RISE, scatter) * first:
        return None
    at, since = step(float(evals.step[0])), float(evals.step[-1])
    finding = Finding(
        severity="info",
        title=f"{spoken(metric).capitalize()} rose from {loss(first)} at step {at} to {loss(last)} "
        f"at step {step(since)}, far above train loss, which fell from {loss(start)} to "
        f"{loss(end)} (medians).",
        metric=metric,
        onset=Moment(float(evals.step[0])),
        evidence=(
            Evidence("Gap at the end", last - float(train[-1]), needed, where=metric),
            Evidence("Rise between the two evaluations", last - first,
                     max(RISE, scatter) * first, "20 %, or four noise scales of training", metric),
        ),
        seen="Two evaluations are no trend, but batches of this run scatter by less. The model may "
        "be memorizing its training rows.",
        fixes=LOOKS,
        ruled_out=(RuledOut("Scatter of single batches", "training losses differ by less"),),
        confidence=Confidence(0.6, "two evaluations"),
        chart=Chart("curves", ("train_loss", metric)),
    )  # fmt: skip
    return found(finding)


def _left_behind(metric: str, evals: Curve, train: FloatArray, needed: float) -> Finding:
    """Tell of an evaluation that learned with the training, and stopped far above it."""
    first, last, beside = float(evals.value[0]), float(evals.value[-1]), float(train[-1])
    said = f"{loss(last)} at step {step(float(evals.step[-1]))}"
    return Finding(
        severity="info",
        title=f"{spoken(metric).capitalize()} ended far above train loss: {said} against "
        f"{loss(beside)}. Both began near {loss(first)}.",
        heading="Evaluation far above training",
        metric=metric,
        onset=Moment(float(evals.step[-1])),
        evidence=(Evidence("Gap at the end", last - beside, needed, where=metric),),
        seen="Two evaluations do not tell where the losses parted, nor whether the evaluation got "
        "worse since.",
        fixes=LOOKS,
        ruled_out=(RuledOut("A different mask or loss reduction", "both began alike"),),
        confidence=Confidence(0.6, "two evaluations"),
        chart=Chart("curves", ("train_loss", metric)),
    )


TRAIN = "0:1.2 300:0.5 400:0.48"
BAD = (
    drawn(
        "two looks, the second far worse",
        (350, 350),
        noise={"train_loss": 0.08},
        severity="info",
        task="other",
        train_loss=TRAIN,
        eval_loss="350:1.5 400:2.35",
    ),
    drawn(
        "two looks, alike at first",
        (400, 400),
        severity="info",
        task="pretrain",
        train_loss="0:11 300:0.5 400:0.29",
        eval_loss="0:11 400:2.74 /400",
    ),
)
