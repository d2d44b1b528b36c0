"""Loss-scale collapse: fp16 finds no scale at which the gradients fit.

What is seen
    The dynamic loss scale of fp16 is halved again and again and does not recover, or the log
    tells of overflows on many steps, or that the scale is at its minimum.
Why it matters
    Every halving is a skipped update. At a scale near 1 small gradients underflow to zero, so
    what is not skipped is lost as well: the run goes on and learns nothing.
Looks alike
    The scale settles within its first steps, from 65,536 to some 1,024. In health it doubles
    every 2,000 clean steps, overflows once and is halved: small gradients let it grow, and that
    alone is no fault. A scale of 1.0 throughout belongs to bf16 or
    fp32. One overflow now and then is normal.
Limits
    floor: a scale of 1 leaves no room. factor: 2^-10 of the highest scale after settling.
    halvings: so many without a doubling. settling: steps in which the scale is looked for.
    recovery: share of the points at the end that show whether it comes back. overflows: share
    of steps told as overflow in a window of steps, or skipped over the run. fewest: overflows
    that count at all.
Fixes
    bf16 in place of fp16 on Ampere or later; else a third of the learning rate and clipping at
    1.0.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes, nan_causes
from runlens.diagnosis import (
    Cause,
    Chart,
    Confidence,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
    Severity,
)
from runlens.history import Curve, FloatArray
from runlens.records import NamedTuple
from runlens.rules.relations import NAN, Relations
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Event, Run
from runlens.signals import Signals
from runlens.wording import capitalised, count, number, percent, step
from runlens.wording import rate as as_rate

OVERFLOW, FLOOR = 44, (43, 45)  # rows of the message table
SKIPPED = "skipped"  # DeepSpeed's count of skipped updates so far


class Limits(Struct, frozen=True):
    """What may be tuned."""

    floor: float = 1.0
    factor: float = 2.0**-10
    halvings: float = 6.0
    settling: int = 50
    recovery: float = 0.05
    overflows: float = 0.05
    window: int = 200
    fewest: int = 10


ALL = 0.995  # of the updates


class Collapse(NamedTuple):
    """One sign of a collapse, the strongest that there is."""

    onset: int
    told: str  # ends the title
    evidence: Evidence
    lasting: bool  # to the end of the run, below a scale of 1 or as its last message
    none_made: bool = False  # whether all updates were skipped
    settles: bool = False  # the scaler may still be on its way down from its start


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Read the scale itself, else the messages, else the count of skipped updates."""
    scale = signals.curve("loss_scale")
    said = [event for event in run.messages("num") if event.data.get("row") in {OVERFLOW, *FLOOR}]
    skipped = signals.curve(SKIPPED)
    if not len(scale) and not said and not len(skipped):
        if run.flag("bf16") or run.flag("fp16") is False:
            return passed("the run does not train in fp16: 0 overflow messages")
        return unmet("neither a loss scale nor an overflow message was logged")
    sign = _by_scale(scale, limits) or _by_messages(run, said, limits) or _by_skips(skipped, limits)
    if sign is not None:
        return found(_finding(run, signals, sign))
    if said and _told(said) >= max(run.last_step - run.first_step + 1, 2):
        return found(_finding(run, signals, _so_far(run, said)))
    if len(scale):
        low = number(float(scale.value.min()))
        return passed(f"the loss scale ends at {number(float(scale.value[-1]))}, lowest {low}")
    return passed(f"{count(_told(said), 'overflow message')} in {step(run.last_step)} steps")


def _by_scale(scale: Curve, limits: Limits) -> Collapse | None:
    if len(scale) < 2 or np.ptp(scale.value) == 0 or scale.value.min() <= 0:  # noqa: PLR2004 - no change
        return None
    value = scale.value
    tail = value[-max(1, round(limits.recovery * len(value))) :]
    end = float(value[-1])
    settled = scale.after(int(scale.step[0]) + limits.settling).value
    peak = float(settled.max()) if len(settled) else float(value.max())
    start = _chain(value)
    late = np.log2(value[:-1] / value[1:])[start - 1 :] * (
        scale.step[start:] > scale.step[0] + limits.settling
    )
    low = end <= limits.floor or end <= limits.factor * peak
    fell = float(late.sum()) >= limits.halvings and end < value[0]
    if tail.max() > end or not (low or fell):
        return None
    if value[max(0, start - 1)] <= end:  # it doubled once at the bottom
        start = max(1, int(np.argmax(value <= end)))
    before = float(value[max(0, start - 1)])
    return Collapse(
        int(scale.step[start]),
        f"the loss scale fell from {number(before)} to {number(end)} and did not recover",
        Evidence(
            "Loss scale at the end",
            end,
            limits.floor if end <= limits.floor else peak * 2.0**-limits.halvings,
            "at 1 small gradients underflow; six halvings without a doubling do not settle",
            "loss_scale",
            float(scale.step[-1]),
            above=False,
        ),
        end < limits.floor,
    )


def _chain(value: FloatArray) -> int:
    """Return the index of the first halving after the last doubling."""
    change = np.diff(value)
    risen = np.flatnonzero(change > 0)
    after = int(risen[-1]) + 1 if len(risen) else 0
    fallen = np.flatnonzero(change[after:] < 0)
    return after + int(fallen[0]) + 1 if len(fallen) else len(value) - 1


def _told(said: list[Event]) -> int:
    """Count messages; a reader keeps the first and the last of a kind, each with their number."""
    kinds = {event.data.get("row") for event in said}
    of_kind = ([e for e in said if e.data.get("row") == kind] for kind in kinds)
    return sum(max(len(some), *(int(e.data.get("count", 1)) for e in some)) for some in of_kind)


def _by_messages(run: Run, said: list[Event], limits: Limits) -> Collapse | None:
    floor = [event for event in said if event.data.get("row") in FLOOR]
    total = _told(said)
    steps = np.array([e.step for e in said if e.step is not None], dtype=np.int64)
    weight = np.array([int(e.data.get("count", 1)) for e in said if e.step is not None], dtype=int)
    first = int(steps.min()) if len(steps) else run.first_step
    if floor:
        told = f"the log says {count(_told(floor), 'time')} that the loss scale is at its minimum"
        return _message(floor[0], floor[0].step or first, told, float(_told(floor)), 1.0)
    late = steps > run.first_step + limits.settling
    steps, weight = steps[late], weight[late]
    if weight.sum() < limits.fewest:
        return None
    ends = np.searchsorted(steps, steps + limits.window)
    sums = np.concatenate([[0], np.cumsum(weight)])
    within = sums[ends] - sums[np.arange(len(steps))]
    window = max(1, min(limits.window, run.last_step - run.first_step))
    over = np.flatnonzero(within > limits.overflows * window)
    if not len(over):
        return None
    at = int(over[0])
    most = int(within[at])
    share = "all" if most == total else f"{most:,} of them"
    told = f"the log has {total:,} overflow messages, {share} within {window} steps"
    return _message(said[0], int(steps[at]), told, float(within[at]), limits.overflows * window)


def _message(event: Event, onset: int, told: str, value: float, limit: float) -> Collapse:
    source = "more than 5 % of the steps of a window, or the floor itself"
    evidence = Evidence("Messages of overflow", value, limit, source, event.where, float(onset))
    return Collapse(onset, told, evidence, bool(event.data.get("last")))


def _so_far(run: Run, said: list[Event]) -> Collapse:
    """Tell that each step so far was skipped, in which a scaler looks for its level."""
    total, first = _told(said), run.first_step
    told = f"all {total} steps so far were skipped, as the loss scale looks for its level"
    evidence = Evidence("Messages of overflow", float(total), None, "", said[0].where, float(first))
    return Collapse(first, told, evidence, lasting=False, settles=True)


def _by_skips(skipped: Curve, limits: Limits) -> Collapse | None:
    """Read the count of skipped updates: how many after the scale should have settled."""
    if len(skipped) < 2:  # noqa: PLR2004 - no difference
        return None
    late = skipped.after(int(skipped.step[0]) + limits.settling)
    if len(late) < 2 or (np.diff(skipped.value) < 0).any():  # noqa: PLR2004 - not a running count
        return None
    amount = float(late.value[-1] - late.value[0])
    share = amount / max(1, int(late.step[-1] - late.step[0]))
    if amount < limits.fewest or share <= limits.overflows:
        return None
    rate = np.diff(skipped.value, prepend=0.0)
    onset = int(skipped.step[int(np.argmax(rate > 0))])
    many = number(float(skipped.value[-1]))
    none = share >= ALL
    told = f"{many} updates were skipped, {percent(share)} of them"
    if none:
        told = f"all {many} updates were skipped, so the weights never changed"
    evidence = Evidence(
        "Share of updates skipped for overflow",
        share,
        limits.overflows,
        "one in 2,000 is usual",
        SKIPPED,
        unit="%",
    )
    return Collapse(onset, told, evidence, lasting=share > 0.5, none_made=none)  # noqa: PLR2004 - most of them


def _finding(run: Run, signals: Signals, sign: Collapse) -> Finding:
    severity: Severity = "critical" if sign.lasting else "warning"
    if sign.settles:
        severity = "info"
    rows = [sign.evidence]
    if run.flag("fp16"):
        rows.append(Evidence("Precision", "fp16 is set", where="config"))
    onset = float(sign.onset)
    when = "at every step" if sign.none_made else f"from step {step(onset)} on"
    smaller = (
        ()
        if sign.none_made
        else (  # no update was made that either could change
            *fixes.learning_rate(run, signals, 1 / 3, "weights and gradients then stay smaller"),
            *fixes.clipping(run, signals, "this bounds a single step"),
        )
    )
    logged = [name for name in ("loss_scale", SKIPPED, "train_loss") if len(run.curve(name))]
    shown = tuple(logged[:2]) or ("loss_scale",)
    return Finding(
        severity=severity,
        title=f"fp16 overflowed {when}. {capitalised(sign.told)}.",
        metric=shown[0],
        onset=Moment(onset),
        evidence=tuple(rows),
        seen="Each overflow skips one update.",
        causes=_causes(run, signals, onset),
        fixes=(
            *_bf16(run),
            *smaller,
        ),
        confidence=Confidence(0.9, "the scaler itself says so"),
        chart=Chart("curves", shown),
    )


def _bf16(run: Run) -> tuple[Fix, ...]:
    """Leave fp16; where the precision is not recorded, the overflows prove it."""
    return fixes.bf16(run, "bf16 does not overflow at 65,504", proven=True)


def _causes(run: Run, signals: Signals, onset: float) -> tuple[Cause, ...]:
    made: list[Cause] = []
    if nan_causes.trained_in_bf16(run):
        name = f"{run.setting('model_name') or ''} {run.setting('architectures') or ''}".strip()
        made.append(
            Cause(
                "A model trained in bf16",
                "most likely",
                f"the model is {name[:60]}",
                kind="precision",
            )
        )
    rate, peak = signals.learning_rate_at(onset), signals.peak_learning_rate
    why = f"learning rate {as_rate(rate)} at the onset" if rate else ""
    against = ""
    if rate and peak and 0 < rate < peak / 5:
        against = f"it is {percent(rate / peak)} of the peak there"
    made.append(
        Cause(
            "Learning rate too high",
            "likely" if made else "most likely",
            why,
            against,
            kind="rate-too-high",
        )
    )
    scale = signals.curve("loss_scale").before(int(onset)).value
    if len(scale) > 1 and (np.diff(scale) > 0).any():
        why = f"the scale had grown to {number(float(scale.max()))} before it fell"
        made.append(
            Cause(
                "Gradients so small that the scale grew until it overflowed",
                "possible",
                why,
                kind="precision",
            )
        )
    return tuple(made)


LOSS = "0:2.2 300:1.3 900:0.9"
BAD = (
    drawn(
        "to the floor",
        (400, 420),
        severity="warning",
        train_loss=LOSS,
        loss_scale="0:65536 400:65536 410:16384 420:1024 430:16 440:1 900:1",
    ),
    drawn(
        "below one",
        (400, 420),
        severity="critical",
        train_loss=LOSS,
        loss_scale="0:65536 400:65536 410:1024 420:8 430:0.25 900:0.25",
    ),
    drawn(
        "overflow messages",
        (60, 110),
        severity="warning",
        train_loss=LOSS,
        events=tuple(
            Event("message", 60 + 7 * k, text="OVERFLOW!", data={"row": OVERFLOW, "class": "num"})
            for k in range(40)
        ),
    ),
    drawn("skipped updates", (10, 10), 0.0, train_loss=LOSS, skipped="10:10 900:900"),
)
GOOD = (
    drawn("settles", train_loss=LOSS, loss_scale="0:65536 10:16384 20:4096 30:1024 900:1024"),
    drawn("constant", train_loss=LOSS, loss_scale="0:1 900:1"),
    drawn(
        "doubles and halves",
        train_loss=LOSS,
        loss_scale="0:32768 290:32768 300:65536 310:32768 590:32768 600:65536 610:32768 900:32768",
    ),
    drawn("recovers", train_loss=LOSS, loss_scale="0:65536 300:65536 400:16 500:1024 900:8192"),
    drawn(
        "a few messages",
        train_loss=LOSS,
        events=tuple(
            Event("message", 5 * k, text="OVERFLOW!", data={"row": OVERFLOW, "class": "num"})
            for k in range(12)
        ),
    ),
    drawn("early skips", noise=0.0, train_loss=LOSS, skipped="10:6 20:8 900:8"),
)

RULE = Rule(
    slug="loss-scale-collapse",
    title="Loss scale collapse",
    family="NUM",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=(*NAN, "nan-grad", "plateau"), layer="numbers"),
    bad=BAD,
    good=GOOD,
)
