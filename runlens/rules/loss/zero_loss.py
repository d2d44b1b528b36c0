"""Zero loss: the training loss goes to almost zero and stays there.

What is seen
    The training loss lies at or below 0.02, and below 2 % of its start, up to the end of the
    run; or it is exactly 0.0 from the first point.
Why it matters
    Language has an entropy: a loss of zero means that the answer stands in the input, that the
    labels are all masked, or that the training set is known by heart. The number looks perfect
    and the model is not.
Looks alike
    A NaN that the logger shows as 0.0 comes with a gradient norm of NaN: hidden-nan. Preference
    and RL losses go to zero by construction and are not judged here. A classifier on separable
    data reaches zero together with its evaluation accuracy, over epochs: said as info. So is a
    test that overfits one or two batches on purpose, and memorising where the evaluation loss
    rises: there the evaluation loss tells it, and better (hockey-stick).
Limits
    level and share: at most 0.02 and 2 % of the start. fewest and least_share: points at that
    level up to the end. near_zero: an evaluation loss at this level is as good as zero. early:
    below near_zero within a tenth of an epoch, no model has memorised what it has not seen.
    perfect: evaluation accuracy that leaves nothing to learn. sanity_steps: so few steps an
    epoch are an overfit-one-batch test. worse: a rise of the evaluation loss over its best that
    makes memorising critical, as in hockey-stick. Measured: no false alarm on 6,000 simulated
    healthy curves.
Fixes
    Masked: print the labels that are not -100. Leaked: look for the target in the prompt and
    for evaluation data in the training set. Memorised: 2 epochs instead of 5, no duplicates,
    dropout 0.05, more data.
"""

from dataclasses import dataclass
from math import ceil
from typing import Literal, NamedTuple

import numpy as np

from runlens import fixes
from runlens.diagnosis import (
    Cause,
    Chart,
    Confidence,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import Curve, FloatArray
from runlens.rules.rule import LANGUAGE_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.changes import last_false
from runlens.wording import count, loss, number, percent, step

Kind = Literal["masked", "leaked", "memorised", "separable", "sanity"]
EPOCHS = 2  # passes over the data, at most, where a model memorises


@dataclass(frozen=True)
class Limits:
    """What may be tuned."""

    level: float = 0.02
    share: float = 0.02
    fewest: int = 5
    least_share: float = 0.10
    near_zero: float = 0.05
    early: float = 0.10
    perfect: float = 0.999
    sanity_steps: float = 2.0
    worse: float = 0.05


class Zero(NamedTuple):
    """The stretch at zero, and what the evaluations say."""

    kind: Kind
    severity: Severity
    why: str


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Ask whether the smooth loss stays at zero up to the end, and by what kind of zero."""
    curve = signals.curve("train_loss")
    if len(curve) < 2 * limits.fewest:
        return unmet(
            f"only {len(curve)} of the {2 * limits.fewest} finite points of train_loss that "
            f"are needed"
        )
    if run.history.curve("train_loss").value[-1] != curve.value[-1]:
        return passed("the training loss ends as no number: see nan-loss")
    at = _start_of_zero(signals, limits)
    needed = max(limits.fewest, ceil(limits.least_share * len(curve)))
    if len(curve) - at < needed:
        level = loss(signals.levels("train_loss").end)
        return passed(f"train loss ends at {level}; at most {limits.level:g} would count")
    onset = int(curve.step[at])
    exact = bool((curve.value[at:] == 0).all())
    if exact and (reason := _hidden(run, onset)):
        return passed(reason)
    zero = _kind(run, signals, curve, at, limits)
    return found(_finding(run, signals, curve, at, zero, limits))


def _start_of_zero(signals: Signals, limits: Limits) -> int:
    """Return the index from which the loss lies at zero to the end; n where it does not.

    Of a cliff to exactly 0.0 the points themselves tell; else the smooth curve.
    """
    value = signals.curve("train_loss").value
    exact = last_false(value == 0) + 1
    if len(value) - exact >= limits.fewest:
        return exact
    start = signals.levels("train_loss").start
    shown = signals.smooth("train_loss")
    if not (shown[-limits.fewest :] <= limits.share * abs(start)).all():
        return len(value)
    at = last_false(shown <= limits.level) + 1
    raw = np.flatnonzero(value[at:] <= limits.level)  # the smooth curve is early in a fall
    return at + int(raw[0]) if len(raw) else len(value)


def _hidden(run: Run, onset: int) -> str:
    """Say why zeros are a hidden NaN or cannot be told from one; empty where they are neither."""
    norm = run.curve("grad_norm").after(onset).value
    if len(norm) and not np.isfinite(norm).all():
        return f"exactly 0.0 from step {step(onset)} with a NaN gradient norm: see hidden-nan"
    evals = run.curve("eval_loss").after(onset).value
    if len(evals) and not np.isfinite(evals).all():
        return f"exactly 0.0 from step {step(onset)} with a NaN eval loss: see hidden-nan"
    begins = not len(run.curve("train_loss").before(onset))
    if not len(norm) and not len(evals) and not begins:
        return f"exactly 0.0 from step {step(onset)} and nothing else logged: see hidden-nan"
    return ""


def _kind(run: Run, signals: Signals, curve: Curve, at: int, limits: Limits) -> Zero:
    """Tell masked, leaked, memorised and harmless zeros apart."""
    norm = run.curve("grad_norm").after(int(curve.step[at])).value
    if (curve.value[at:] == 0).all() and not norm.any():
        told = "the gradient norm is 0 as well" if len(norm) else "nothing is left to learn from"
        return Zero("masked", "critical", told)
    per_epoch = signals.steps_per_epoch
    if per_epoch and per_epoch <= limits.sanity_steps:
        return Zero("sanity", "info", f"{number(per_epoch)} steps an epoch: a test on few batches")
    low = signals.smooth("train_loss") < limits.near_zero
    reached = float(curve.step[int(np.argmax(low))])
    epoch = reached / per_epoch if per_epoch else None
    accuracy = signals.curve("eval_accuracy").value
    if run.task == "classification" and len(accuracy) and accuracy[-1] >= limits.perfect:
        if epoch is not None and epoch <= 1:
            why = f"eval accuracy is {percent(float(accuracy[-1]))} within the first epoch"
            return Zero("leaked", "warning", why)
        return Zero("separable", "info", f"eval accuracy reaches {percent(float(accuracy[-1]))}")
    evals = signals.curve("eval_loss").value
    if len(evals) and float(np.median(evals[-3:])) <= limits.near_zero:
        return Zero("leaked", "critical", f"eval loss is {loss(float(evals[-1]))} as well")
    if epoch is not None and epoch <= limits.early:
        return Zero("leaked", "critical", f"reached after {percent(epoch)} of the first epoch")
    return _memorised(evals, epoch, limits)


def _memorised(evals: FloatArray, epoch: float | None, limits: Limits) -> Zero:
    bottom = int(np.argmin(evals)) if len(evals) else 0
    if len(evals) - bottom > 2 and evals[-1] > (1 + limits.worse) * evals[bottom]:  # noqa: PLR2004 - one is no trend
        why = f"eval loss rose from {loss(float(evals[bottom]))} to {loss(float(evals[-1]))}"
        return Zero("memorised", "info", why)
    if len(evals):
        return Zero("memorised", "warning", f"eval loss stays at {loss(float(evals[-1]))}")
    if epoch is not None and epoch < 1:
        why = f"reached after {percent(epoch)} of the first epoch"
        return Zero("leaked", "warning", why)
    after = f"reached after {epoch:.1f} epochs" if epoch is not None else "no evaluation is logged"
    return Zero("memorised", "warning", after)


def _finding(
    run: Run, signals: Signals, curve: Curve, at: int, zero: Zero, limits: Limits
) -> Finding:
    onset = float(curve.step[at])
    end = float(np.median(curve.value[at:]))
    start = float(curve.value[0] if end else curve.value[at - 1])
    if at == 0:
        title = f"Train loss was {number(end)} on all {len(curve):,} points from step {step(onset)}"
    else:
        shown = loss(end) if end else "exactly 0"
        title = f"Train loss went to {shown} from step {step(onset)}, from {loss(start)}"
    rows = [
        Evidence(
            "Train loss up to the end",
            end,
            limits.level,
            "no task with language in it has an entropy of zero",
            "train_loss",
            float(curve.step[-1]),
            above=False,
        ),
        Evidence("Points at that level", float(len(curve) - at)),
        Evidence("Kind of zero", f"{zero.kind}: {zero.why}"),
    ]
    norm = signals.curve("grad_norm").after(int(onset)).value
    if len(norm):
        rows.append(
            Evidence("Median gradient norm there", float(np.median(norm)), where="grad_norm")
        )
    return Finding(
        severity=zero.severity,
        title=f"{title}: {zero.why}.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=tuple(rows),
        seen=_SEEN[zero.kind],
        causes=_causes(zero),
        fixes=_fixes(run, zero),
        ruled_out=_ruled_out(run, int(onset)),
        confidence=_confidence(signals, len(curve) - at),
        chart=Chart("curves", tuple(m for m in ("train_loss", "eval_loss") if len(run.curve(m)))),
    )


_SEEN: dict[Kind, str] = {
    "masked": "Nothing reached the weights from there on: no token was left to learn from.",
    "leaked": "A loss near zero so soon, or on unseen data as well, is read off the input.",
    "memorised": "The training set is known by heart; no step after that taught anything new.",
    "separable": "The classes are separable: training and evaluation are both solved.",
    "sanity": "The model can overfit a few batches, as such a test asks.",
}


def _causes(zero: Zero) -> tuple[Cause, ...]:
    if zero.kind == "masked":
        masked = Cause("All labels masked (-100)", "most likely", zero.why)
        return masked, Cause("A NaN loss that the logger filtered", "possible")
    if zero.kind == "leaked":
        return (
            Cause("The target stands in the input", "most likely", zero.why),
            Cause("Training and evaluation share their data", "likely"),
            Cause("All targets are the same text", "likely"),
        )
    if zero.kind == "memorised":
        return (
            Cause("Too many passes over too few data", "most likely", zero.why),
            Cause("Duplicates in the training set", "possible"),
        )
    return ()


def _fixes(run: Run, zero: Zero) -> tuple[Fix, ...]:
    if zero.kind == "masked":
        return (
            fixes.action("Print the labels that are not -100 of 20 samples", "none is left"),
            fixes.action("Check the chat template, train_on_inputs and the truncation"),
        )
    if zero.kind == "leaked":
        return (
            fixes.action("Decode 20 samples and look for the target in the prompt", zero.why),
            fixes.action("Remove from the evaluation set what the training set holds"),
        )
    if zero.kind != "memorised":
        return ()
    made: list[Fix] = []
    epochs = run.number("num_train_epochs")
    if epochs and epochs > EPOCHS:
        why = "the later passes teach the training set by heart"
        made.append(fixes.setting(run, "num_train_epochs", EPOCHS, "Train fewer epochs", why))
    made += fixes.more_dropout(run, "regularises")
    made.append(fixes.action("Remove duplicates, add data", "fewer samples are seen twice", "days"))
    return tuple(made)


def _ruled_out(run: Run, onset: int) -> tuple[RuledOut, ...]:
    norm = run.curve("grad_norm").after(onset).value
    evals = run.curve("eval_loss").after(onset).value
    if len(norm) and norm.any():
        return (RuledOut("Hidden NaN", f"all {len(norm):,} gradient norms after it are numbers"),)
    if len(evals):
        return (RuledOut("Hidden NaN", f"eval loss is finite after it: {loss(float(evals[-1]))}"),)
    return (RuledOut("Hidden NaN", "not ruled out: no evaluation and no moving gradient norm"),)


def _confidence(signals: Signals, points: int) -> Confidence:
    tested = len(signals.curve("eval_loss")) > 0
    value = (0.9 if tested else 0.7) * min(1.0, 0.7 + points / 100)
    told = "with evaluations" if tested else "without evaluations"
    return Confidence(round(value, 2), f"{count(points, 'point')} at zero, {told}")


BAD = (
    drawn(
        "target in the input",
        (50, 130),
        severity="critical",
        train_loss="0:2.5 60:0.1 120:0.005 600:0.003",
        grad_norm="0:2 120:0.05 600:0.03",
        eval_loss="50:0.1 150:0.005 600:0.004",
        steps_per_epoch=600,
    ),
    drawn(
        "known by heart",
        (380, 480),
        severity="warning",
        train_loss="0:4.2 200:0.5 400:0.02 500:0.01 1000:0.003",
        grad_norm="0:2 1000:0.02",
        steps_per_epoch=50,
    ),
    drawn(
        "known by heart, evaluation worse",
        (380, 480),
        severity="info",
        train_loss="0:4.2 200:0.5 400:0.02 500:0.01 1000:0.003",
        eval_loss="50:2 300:1.5 1000:2.4",
        steps_per_epoch=50,
    ),
    drawn(
        "masked from the start",
        (0, 0),
        severity="critical",
        train_loss="0:0 400:0",
        grad_norm="0:0 400:0",
    ),
    drawn(
        "masked from the middle",
        (300, 300),
        severity="critical",
        train_loss="0:4.2 290:3 300:0 600:0",
        grad_norm="0:1 290:1 300:0 600:0",
        eval_loss="50:4 300:3.1 600:3.1",
    ),
    drawn(
        "separable classes",
        severity="info",
        task="classification",
        train_loss="0:0.7 300:0.1 600:0.005 900:0.002",
        eval_accuracy="50:0.8 600:1 900:1",
        steps_per_epoch=100,
        noise={"train_loss": 0.02},
    ),
)
GOOD = (
    drawn("healthy", train_loss="0:2.2 300:1.3 900:0.9", eval_loss="50:2 900:1.1"),
    drawn("low for structured text", train_loss="0:3.4 300:0.3 900:0.08"),
    drawn("small unit from the start", train_loss="0:0.02 900:0.01"),
    drawn(
        "hidden NaN",
        train_loss="0:2.2 400:1.2 410:0 900:0",
        grad_norm="0:1 400:1 410:nan 900:nan",
    ),
    drawn("comes back", train_loss="0:2.2 300:0.01 500:0.01 600:0.4 900:0.3"),
    drawn("a few points at the end", train_loss="0:2.2 860:0.5 880:0.01 900:0.001"),
)

RULE = Rule(
    slug="zero-loss",
    title="Loss at zero",
    family="LOS",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("train_loss",),
    tasks=LANGUAGE_TASKS | {"classification"},
    bad=BAD,
    good=GOOD,
)
