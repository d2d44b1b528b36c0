"""NaN gradient: the gradient norm is not a number while the loss still is.

What is seen
    The logged gradient norm is NaN or infinite on steps whose loss is finite.
Why it matters
    Either the step was skipped, and the run lost it, or it was not, and the weights are NaN
    from then on. Norms that fail again and again, or just before the loss does, say which part
    of the step broke: the backward pass.
Looks alike
    A dynamic loss scale in fp16 probes its limit: now and then a step overflows and is skipped.
    A skipped step betrays itself: the next row repeats the same learning rate. A norm that is
    NaN on all points while the loss falls, or -1, was never computed. Norms that fail with the
    loss belong to nan-loss or hidden-nan.
Limits
    share: more than 5 % of points is beyond the probing of a scaler. row: so many in a row, or one
    of so many points before the loss is lost. In bf16 or fp32 no scaler skips anything, so one
    point is enough.
Fixes
    bf16 for fp16; clipping at 1.0; a third of the learning rate; skip updates that are not
    finite.
"""

import numpy as np
from msgspec import Struct, structs

from runlens import fixes, nan_causes
from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Moment,
    Outcome,
    RuledOut,
)
from runlens.history import BoolArray, Curve
from runlens.rules.numerics.not_finite import (
    FATAL_SHARE,
    finite_until,
    last_finite,
    not_finite_name,
)
from runlens.rules.relations import NAN, Relations
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import longest_true
from runlens.wording import capitalised, count, percent, step


class Limits(Struct, frozen=True):
    """What may be tuned."""

    share: float = 0.05
    row: int = 3


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look at the norms logged before the loss is lost, if it is."""
    lost_at = finite_until(run)
    whole = run.curve("grad_norm")
    curve = whole if np.isinf(lost_at) else whole.before(int(lost_at))
    if not len(curve):
        return passed(
            f"no gradient norm was logged before step {step(lost_at)}, from which the loss is not "
            "finite"
        )
    if (whole.value == -1).all():
        return unmet(f"grad_norm is -1 at all {len(whole):,} points: it was not computed")
    bad = ~np.isfinite(curve.value)
    rows = run.curve("train_loss")
    if bad.all() and len(curve) < FATAL_SHARE * len(rows):  # told of lost steps alone
        bad = np.isin(rows.step, curve.step)
        curve = structs.replace(rows, value=np.full(len(rows), np.nan))
    if bad.any() and bad[0] and bad.mean() >= FATAL_SHARE and signals.learns:
        return unmet(f"grad_norm is no number on {bad.sum():,} of {len(bad):,} points, from the "
                     "first on, and the loss falls: it was not computed")  # fmt: skip
    if not bad.any():
        until = (
            ""
            if lost_at is None or not np.isfinite(lost_at)
            else " until the loss was no longer finite"
        )
        return passed(f"finite gradient norms: all {len(bad):,}{until}")
    return found(_finding(run, signals, curve, bad, lost_at, limits))


def _loud(run: Run, bad: BoolArray, lost_at: float, limits: Limits) -> tuple[int, str]:
    """Return (index of the first loud point, why); (-1, why not) where a scaler explains them."""
    start, length = longest_true(bad)
    if length >= limits.row:
        return start, f"{length} of these points are consecutive"
    if np.isfinite(lost_at) and bad[-limits.row :].any():
        late = len(bad) - min(limits.row, len(bad)) + int(np.argmax(bad[-limits.row :]))
        kind = not_finite_name(run, lost_at)
        return late, f"the loss became {kind} at step {step(lost_at)}"
    if bad.sum() >= limits.row and bad.mean() > limits.share:
        return int(np.argmax(bad)), f"that is {percent(float(bad.mean()))} of the points"
    if not run.flag("fp16") and (run.flag("bf16") or run.flag("fp16") is False):
        return int(np.argmax(bad)), "the run does not train in fp16, so no scaler skips steps"
    return -1, "this is normal with dynamic loss scaling in fp16"


def _skipped(run: Run, curve: Curve, bad: BoolArray) -> int:
    """Count the failed steps after which the learning rate repeats to the last digit."""
    rate = run.curve("learning_rate")
    at = np.searchsorted(rate.step, curve.step[bad])
    at = at[at < len(rate) - 1]
    here = np.isin(rate.step[at], curve.step[bad])
    moves = median(np.abs(np.diff(rate.value))) > 0
    return int((here & (rate.value[at + 1] == rate.value[at])).sum()) if moves else 0


def _finding(
    run: Run, signals: Signals, curve: Curve, bad: BoolArray, lost_at: float, limits: Limits
) -> Finding:
    loud, why = _loud(run, bad, lost_at, limits)
    at = loud if loud >= 0 else int(np.argmax(bad))
    onset = float(curve.step[at])
    skipped = _skipped(run, curve, bad)
    lost = curve.value[bad]
    kind = "NaN" if np.isnan(lost).all() else "infinite" if np.isinf(lost).all() else "not finite"
    first = "for example " if bad.sum() > 1 else ""
    tree = nan_causes.of_nan(run, signals, onset, float(curve.step[0]))
    clean = (RuledOut("NaN weights", f"the scaler skipped {count(skipped, 'update')}"),)
    return Finding(
        severity="warning" if loud >= 0 else "info",
        heading="Infinite gradient" if kind == "infinite" else "",
        title=_title(curve, bad, kind)
        or f"The gradient norm was {kind} at {int(bad.sum())} of the "
        f"{count(len(bad), 'point')} with a finite loss, {first}at step {step(onset)}. "
        f"{capitalised(why)}.",
        metric="grad_norm",
        onset=Moment(onset),
        evidence=_evidence(curve, bad, at, loud >= 0, why, skipped, limits),
        seen=f"The backward pass {_failed(run)}."
        if loud >= 0
        else "A loss scaler skips such an update.",
        end=Moment(float(curve.step[bad][-1])),
        fixes=(
            *tree.fixes,
            fixes.action(
                "Skip updates whose gradient is not finite", "this keeps the weights clean"
            ),
        )
        if loud >= 0
        else fixes.bf16(run, "bf16 needs no loss scale and skips no steps"),
        ruled_out=tree.ruled_out + (clean if skipped else ()),
        harmless=loud < 0,  # a scaler skips such a step, and nothing is lost
        confidence=Confidence(0.4, "the precision is not recorded")
        if loud < 0 and not skipped and not run.flag("fp16")
        else Confidence(0.9, "the value itself is logged"),
        chart=Chart("zoom", ("grad_norm", "train_loss")),
    )


def _title(curve: Curve, bad: BoolArray, kind: str) -> str:
    """Say where one stretch of points was not finite; empty where they lie apart."""
    start, length = longest_true(bad)
    if length < bad.sum() or length == 1:
        return ""
    ends = step(float(curve.step[start])), step(float(curve.step[start + length - 1]))
    return (
        f"The gradient norm was {kind} while the loss was finite, at all {length} points from "
        f"step {ends[0]} to step {ends[1]}."
    )


def _failed(run: Run) -> str:
    """Say what made a norm that is not finite; only fp16 has a loss scale."""
    fp32 = run.flag("fp16") is False
    return "overflowed or failed" if fp32 else "failed, or the loss scale overflowed"


def _evidence(
    curve: Curve, bad: BoolArray, at: int, loud: bool, why: str, skipped: int, limits: Limits
) -> tuple[Evidence, ...]:
    onset = float(curve.step[at])
    rows = [
        Evidence(
            "Non-finite norms while loss was finite",
            float(bad.mean()),
            limits.share,
            "a dynamic loss scale stays below",
            "grad_norm",
            onset,
            unit="%",
        ),
        Evidence("Why it counts" if loud else "Why it does not count", why),
    ]
    if told := last_finite(curve, onset):
        rows.append(Evidence("Last finite norms", told, where="grad_norm"))
    if skipped:
        rows.append(
            Evidence("Steps whose learning rate repeats", float(skipped), where="learning_rate")
        )
    return tuple(rows)


LOSS = "0:2.2 300:1.3 900:0.9"
BAD = (
    drawn(
        "before the loss",
        (480, 490),
        severity="warning",
        train_loss="0:2.2 490:1.2 500:nan 900:nan",
        grad_norm="0:1 480:1 490:nan 900:nan",
    ),
    drawn(
        "in a row",
        (300, 300),
        severity="warning",
        train_loss=LOSS,
        grad_norm="0:1 300:nan 340:1 900:1",
    ),
    drawn(
        "infinite in bf16",
        (300, 300),
        severity="warning",
        config={"bf16": True, "fp16": False},
        train_loss=LOSS,
        grad_norm="0:1 300:inf 310:1 900:1",
    ),
    drawn(
        "one in fp16",
        (300, 300),
        severity="info",
        config={"fp16": True},
        train_loss=LOSS,
        grad_norm="0:1 300:nan 310:1 900:1",
    ),
)
GOOD = (
    drawn("healthy", train_loss=LOSS, grad_norm="0:1 900:1"),
    drawn(
        "with the loss",
        train_loss="0:2.2 490:1.2 500:nan 900:nan",
        grad_norm="0:1 490:1 500:nan 900:nan",
    ),
    drawn(
        "with the hidden loss",
        train_loss="0:2.2 490:1.2 500:0 900:0",
        grad_norm="0:1 490:1 500:nan 900:nan",
    ),
    drawn("huge", train_loss=LOSS, grad_norm="0:1 300:1e6 900:1e9"),
)

RULE = Rule(
    slug="nan-grad",
    title="NaN gradient",
    family="NUM",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(at_once=NAN, layer="numbers"),
    needs=("grad_norm",),
    bad=BAD,
    good=GOOD,
)
