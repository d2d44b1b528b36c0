"""An evaluation that is the training itself: both losses are one number at each point.

Or it has as many rows as training, and comes down with each epoch that training memorizes: unseen
rows stay behind there. An equal split of other rows stays behind as well.
"""

import numpy as np

from runlens import fixes
from runlens.diagnosis import Cause, Chart, Confidence, Evidence, Finding, Moment
from runlens.history import Curve
from runlens.knowledge.in_force import effective_batch
from runlens.metrics import spoken
from runlens.rules.evaluation.sets import train_level
from runlens.signals import Signals, held_out
from runlens.wording import count, step

FEWEST = 4  # different values: two losses of three digits agree by chance in 1 of 1,000 rows each
FALLS = 0.1  # of the first level, at each epoch: no row is learned so much more at that very step
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


def as_many(signals: Signals, metric: str, evals: Curve) -> Finding | None:
    """Return the finding of an evaluation of as many rows that is memorized with the training."""
    run, known = signals.run, held_out.samples(signals.run, metric)
    size = effective_batch(run) or run.number("per_device_train_batch_size")
    rows = round((signals.steps_per_epoch or 0.0) * (size or 0.0))
    if not known or not rows or abs(known[0] - rows) > max(known[1] * rows, 1.0):
        return None
    first = _memorized_from(signals)
    later = evals.after(int(first)) if np.isfinite(first) else evals.at(slice(0, 0))
    level = train_level(signals, later.step.astype(float))
    if len(later) < FEWEST or not (later.value <= level).all():
        return None
    name, many = spoken(metric), count(len(later), "evaluation")
    return Finding(
        severity="warning",
        title=f"{name.capitalize()} was never above train loss from step {step(first)} on, where "
        f"training begins to see its rows again, in {many}; and both sets have {rows:,} rows.",
        metric=metric,
        onset=Moment(float(evals.step[0])),
        evidence=(
            Evidence("Samples of an evaluation", float(round(known[0])), float(rows), "", metric),
            Evidence("Evaluations not above train loss since then", float(len(later)), FEWEST),
        ),
        seen="Training loss drops as each epoch begins, so its rows are memorized. The loss of "
        "unseen rows would stay above it.",
        causes=(
            Cause(
                "The training rows are evaluated",
                "likely",
                f"both sets have {rows:,} rows, and one is memorized with the other",
                kind="leak",
            ),
        ),
        fixes=(
            fixes.look(
                "Print the first row of both data sets",
                "the same row means that the evaluation reads the training data",
            ),
            fixes.action("Evaluate on rows that are held out", "else overfitting is not seen"),
        ),
        confidence=Confidence(0.8, many),
        chart=Chart("curves", ("train_loss", metric)),
    )


def _memorized_from(signals: Signals) -> float:
    """Return the step from which training loss drops as each epoch begins; infinity for none."""
    from runlens.signals.epoch_steps import epoch_steps  # asked of few runs

    train, per = signals.curve("train_loss"), signals.steps_per_epoch
    steps = epoch_steps(train.value, train.step / per) if per else None
    least = FALLS * abs(signals.levels("train_loss").start)
    if steps is None or (steps.fall < max(least, 2 * steps.error)).any():
        return np.inf
    return float(train.step[steps.first[0]])
