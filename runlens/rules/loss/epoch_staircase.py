"""Epoch staircase: training loss falls in a step at each epoch boundary.

What is seen
    Training loss is nearly flat within an epoch and drops when the same samples come again.
Why it matters
    The model remembers samples rather than learning from them. In fine-tuning over several
    epochs this is usual; it shows how much of the fall is memory, and where overfitting begins.
Looks alike
    A smooth fall drops as much in the middle of an epoch as at its boundary. A learning rate
    that is lowered at the same places explains the steps. A mean of the epoch so far jumps where it
    starts again. A single epoch has no boundary. Up to three passes over text, and any number in
    another task, harm nothing, unless next to nothing of the loss is left and no evaluation shows
    what that is worth.
Limits
    fewest: points. errors: standard errors that the mean step must exceed. share: of the start,
    or share_many from many boundaries on. contrast: times the same difference in mid-epoch, and
    contrast_errors standard errors more. agree: share of the boundaries that step down.
    rate_drop: factor by which a learning rate lowered at the boundaries explains them.
    Measured: 0.9 % false alarms, power 63 % for steps of 5-25 %.
Fixes
    Evaluate twice per epoch; where eval loss no longer improves one or two epochs, and remove
    duplicates.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.diagnosis import Cause, Chart, Evidence, Finding, Fix, Mark, Moment, Outcome, RuledOut
from runlens.history import Curve, FloatArray
from runlens.rules.loss import surroundings
from runlens.rules.relations import Relations
from runlens.rules.rule import LANGUAGE_TASKS, LOSS_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.epoch_steps import EpochSteps, epoch_steps
from runlens.wording import loss, step, too_few

SAME = 0.01  # of the best eval loss: an end above it is no longer the best
USUAL_PASSES = 3  # num_train_epochs of the Trainer where nobody sets it


REMEMBERED = 0.1  # of the start: with less left the samples are known, whatever they say


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 30
    errors: float = 4.0
    share: float = 0.05
    share_many: float = 0.03
    many: int = 3
    contrast: float = 2.5
    contrast_errors: float = 2.0
    agree: float = 0.75
    rate_drop: float = 2.0


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the loss before and after each epoch boundary."""
    train = surroundings.judged(signals)
    if len(train) < limits.fewest:
        return unmet(too_few(len(train), "training loss", limits.fewest))
    if signals.epoch_means is not None:
        return passed("each loss is a mean of its epoch so far, which starts again with the next")
    epoch = _epochs(train, signals)
    if epoch is None:
        return unmet("the epoch of each loss is not logged")
    steps = epoch_steps(train.value, epoch)
    if steps is None:
        return unmet("no epoch boundary with six points on each side")
    known = steps.middle[np.isfinite(steps.middle)]
    if not len(known):
        return unmet("no middle of an epoch to compare the boundary with")
    mean, error = float(steps.fall.mean()), steps.error / len(steps.fall) ** 0.5
    start = abs(signals.levels("train_loss").start)
    share = limits.share_many if len(steps.fall) >= limits.many else limits.share
    middle = float(known.mean())
    needed = max(
        limits.errors * error,
        share * start,
        limits.contrast * max(middle, 0.0) + limits.contrast_errors * error,
    )
    if mean <= needed or float(np.mean(steps.fall > 0)) < limits.agree:
        return passed(
            f"loss {_moved(mean)} at epoch boundaries and {_moved(middle)} between (threshold a "
            f"fall of {loss(needed)})"
        )
    if _rate_explains(signals, train, steps, limits):
        return passed("the learning rate is lowered at the same places")
    return found(_finding(run, signals, train, steps, (mean, needed, middle)))


def _epochs(train: Curve, signals: Signals) -> FloatArray | None:
    """Return the epoch of each point: as logged, else by the steps of an epoch."""
    if np.isfinite(train.epoch).mean() > 0.9:  # noqa: PLR2004 - a few gaps do no harm
        return train.epoch
    per_epoch = signals.steps_per_epoch
    return train.step / per_epoch if per_epoch else None


def _rate_explains(signals: Signals, train: Curve, steps: EpochSteps, limits: Limits) -> bool:
    """Whether the learning rate falls by a factor at most of the boundaries."""
    rate = signals.curve("learning_rate")
    if not len(rate):
        return False
    width = max(1, int(0.1 * steps.per_epoch))
    before = np.interp(train.step[np.maximum(steps.first - width, 0)], rate.step, rate.value)
    after_at = np.minimum(steps.first + width, len(train) - 1)
    after = np.interp(train.step[after_at], rate.step, rate.value)
    lowered = before > limits.rate_drop * np.maximum(after, 1e-12)
    return bool(lowered.mean() >= 0.5)  # noqa: PLR2004 - at most of them


def _finding(
    run: Run,
    signals: Signals,
    train: Curve,
    steps: EpochSteps,
    numbers: tuple[float, float, float],
) -> Finding:
    mean, needed, middle = numbers
    first = int(steps.first[int(np.argmax(steps.fall > 0))])
    onset = float(train.step[first])
    boundaries, evals = len(steps.fall), signals.curve("eval_loss").value
    level = signals.levels("train_loss").start
    marks = tuple(
        Mark(float(train.step[at]), float(train.value[at])) for at in steps.first[:20].tolist()
    )
    return Finding(
        severity="info",
        title=f"Train loss dropped at epoch boundaries from step {step(onset)} on, by "
        f"{loss(mean)} on average."
        if boundaries > 1
        else f"Train loss dropped by {loss(mean)} at the epoch boundary at step {step(onset)}.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence("Mean fall at epoch boundaries", mean, needed, "2.5 times the fall between"),
            Evidence("Mean fall in mid-epoch", middle, where="train_loss"),
            Evidence("Share of the start", mean / max(abs(level), 1e-12), unit="%"),
            Evidence("Boundaries that step down", f"{int((steps.fall > 0).sum())} of {boundaries}"),
        ),
        seen=_harm(evals),
        harmless=_harmless(evals) or (not len(evals) and _usual(run, signals)),
        causes=(
            Cause(
                "Samples remembered from the previous epoch",
                "most likely",
                _passes(run, signals),
                kind="memorised",
            ),
        ),
        fixes=_fixes(run, signals),
        ruled_out=(RuledOut("A smooth fall", f"in mid-epoch loss {_moved(middle)}"),),
        confidence=surroundings.confidence(mean / needed, len(train), 1, 2, "the step"),
        chart=Chart("boundary", ("train_loss",), marks=marks),
    )


def _moved(fall: float) -> str:
    return f"fell by {loss(fall)}" if fall >= 0 else f"rose by {loss(-fall)}"


def _passes(run: Run, signals: Signals) -> str:
    per_epoch = signals.steps_per_epoch
    return f"the run made {run.last_step / per_epoch:.1f} passes over the data" if per_epoch else ""


def _fixes(run: Run, signals: Signals) -> tuple[Fix, ...]:
    made: list[Fix] = []
    evals, epochs = signals.curve("eval_loss").value, run.number("num_train_epochs")
    if not len(evals):
        made.append(fixes.action("Evaluate twice per epoch", "this shows where overfitting begins"))
    elif float(evals[-1]) <= (1 + SAME) * float(evals.min()):
        return ()  # the passes still pay
    elif epochs and epochs > 2:  # noqa: PLR2004 - one to two epochs are usual
        why = "eval loss no longer improves"
        made.append(fixes.setting(run, "num_train_epochs", 2, "Train for fewer epochs", why))
    made.append(fixes.action("Remove duplicates from the training data", "they are learned first"))
    return tuple(made)


def _harmless(evals: FloatArray) -> bool:
    """Whether evaluation ends at or near its best: the passes still pay."""
    return bool(len(evals) and evals[-1] <= (1 + SAME) * evals.min() and evals[-1] < evals[0])


def _usual(run: Run, signals: Signals) -> bool:
    """Whether no more passes were made than trainers of language models make by themselves.

    Steps that leave next to nothing of the loss are no usual ones: the rows are remembered.
    """
    passes, levels = run.last_step / (signals.steps_per_epoch or 1.0), signals.levels("train_loss")
    # what is trained for many passes as a rule is known of language alone
    few = run.task not in LANGUAGE_TASKS or round(passes) <= USUAL_PASSES
    return few and levels.end > REMEMBERED * abs(levels.start)


def _harm(evals: FloatArray) -> str:
    """Say what evaluation tells of the steps."""
    if _harmless(evals):
        last = loss(float(evals[-1]))
        return f"Eval loss ends at {last}, at or near its best, so this does no harm."
    unknown = "Without evaluations it is not known whether the later passes help."
    return "" if len(evals) > 1 else unknown


STAIRS = "0:1.8 299:1.78 300:1.4 599:1.38 600:1.05 900:1.03"
BAD = (
    drawn("two boundaries", (300, 310), steps_per_epoch=300, severity="info", train_loss=STAIRS),
    drawn(
        "many small steps",
        (200, 210),
        0.03,
        steps_per_epoch=200,
        train_loss="0:1 199:1 200:.9 399:.9 400:.82 599:.82 600:.74 799:.74 800:.68 1000:.68",
    ),
)
GOOD = (
    drawn("smooth fall", steps_per_epoch=300, train_loss="0:2 300:1.5 600:1.1 900:0.8"),
    drawn("steps elsewhere", steps_per_epoch=400, train_loss=STAIRS),
    drawn(
        "learning rate lowered there",
        steps_per_epoch=300,
        train_loss=STAIRS,
        learning_rate="0:1e-2 299:1e-2 300:1e-3 599:1e-3 600:1e-4 900:1e-4",
    ),
    drawn(
        "means of the epoch so far, which begin low in each",
        noise=0,
        steps_per_epoch=300,
        train_loss="0:1.4 10:1.2 20:1.05 30:1 300:0.95 310:0.2 320:0.5 330:0.45 340:0.47 600:0.48",
    ),
    drawn("flat and noisy", noise=0.1, steps_per_epoch=300, train_loss="0:1.2 900:1.15"),
)

RULE = Rule(
    slug="epoch-staircase",
    title="Epoch staircase",
    family="LOS",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=("hockey-stick", "zero-loss", "eval-gap"), layer="data"),
    needs=("train_loss",),
    tasks=LOSS_TASKS,
    bad=BAD,
    good=GOOD,
)
