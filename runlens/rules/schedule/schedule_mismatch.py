"""Schedule mismatch: the learning-rate curve is not what the configuration says.

What is seen
    The logged rate jumps up in mid-run, rises in the middle of its decay, has another peak,
    another shape or another warm-up than configured, or a finished run ends far above the end of
    its decay.
Why it matters
    The run did not do what its configuration promises: it cannot be repeated from it, and a leap
    of the rate breaks what was learned.
Looks alike
    Restarts, a stable phase and a minimum rate that are configured. Optimizers that set their own
    rate (D-Adaptation, Prodigy, schedule-free). A peak that falls between two records. A resume,
    which has its own rule, but for one with a longer plan after the rate had come down to zero. A
    log that begins in mid-decay, after the peak, or ends in the warm-up, before it; steps that are
    counted by micro-batch, so that a warm-up of updates takes as many times more as are
    accumulated. A run that was stopped before its plan ended. A rise by less than the leap is info;
    it must come in one record, a tenth of the peak high, where the rate had fallen but not to its
    end: there a planned restart may follow; more than two of them are a schedule of their own kind.
    A leap of an unknown schedule that had come to its end is a stage with a decay of its own: info.
    So is one off a constant rate from which on the losses are lower than ever before.
Limits
    fewest: points of the learning rate; of fewer, one at the peak is told where by the epochs half
    of it should be gone. leap: factor between two records that no schedule has. peak: deviation
    from the configured rate. fit: deviation from the configured shape, as a share of the peak.
    warmup: factor between configured and seen length. undone: share of the peak that a finished
    decay may be above zero at most.
Fixes
    One number of total steps for trainer and scheduler; set it in the configuration; let it finish.
"""

from dataclasses import replace

import numpy as np
from msgspec import Struct

from runlens.diagnosis import (
    Cause,
    Chart,
    Confidence,
    Finding,
    Moment,
    Outcome,
    Severity,
)
from runlens.history import Curve, FloatArray
from runlens.rules.relations import UPSET, Relations
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.rules.schedule import late, mismatch, shapes
from runlens.rules.schedule.mismatch import Mismatch
from runlens.run import Run, State
from runlens.signals import Signals
from runlens.signals.phases import still_rising
from runlens.wording import capitalised, step, times, too_few
from runlens.wording import rate as as_rate

OWN_RATE = ("prodigy", "dadapt", "schedule_free", "schedulefree")
ROUNDS = ("restart", "sgdr", "cyclic", "cycle")  # in names of schedules that go up again as planned
RISE = "Rise of the learning rate, share of its peak"
WHOLE_PEAK = 0.9  # share of the peak from which a leap looks like a restart of the schedule
POLICY = ("kl-blow-up", "reward-collapse", "entropy-collapse", "length-growth")


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 10
    leap: float = 3.0
    peak: float = 0.05
    fit: float = 0.10
    warmup: float = 2.0
    undone: float = 0.20


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the learning-rate curve with the configured schedule."""
    rate = signals.curve("learning_rate")
    if len(rate) < limits.fewest or rate.value.max() <= 0:
        if standing := late.standing(run, _name(run), rate):
            return found(_finding(run, standing, rate.value[:0], "info"))
        above = int((rate.value > 0).sum())
        return unmet(too_few(above, "learning rate", limits.fewest, of="above 0"))
    if any(word in str(run.setting("optim")).lower().replace("-", "_") for word in OWN_RATE):
        return passed(f"optimizer {run.setting('optim')} sets its own rate")
    leap = _leap(run, rate, limits)
    made = [
        *(leap or _rise(run, rate)),
        *_shape(run, signals, rate, limits),
        *_peak(run, signals, rate, limits),
        *_warmup(run, signals, limits),
        *late.undone(run, _name(run), rate, limits.undone),
    ]
    if not made:
        top, scheduler = as_rate(float(rate.value.max())), _name(run) or "not recorded"
        return passed(f"the learning rate never jumps; scheduler {scheduler}, peak {top}")
    before = rate.value[rate.step < made[0].at]
    staged = bool(leap) and not _name(run)
    staged = staged and (shapes.ended(before) or shapes.bettered(signals, rate, made[0].at))
    finding = _finding(run, made, before, "warning" if leap and not staged else "info")
    return found(replace(finding, harmless=staged))


def _name(run: Run) -> str:
    return str(run.setting("lr_scheduler_type") or "").lower().rpartition(".")[2]


def _resumed(run: Run) -> bool:
    return len(run.history.segments) > 1 or bool(run.events_of("resume"))


def _leap(run: Run, rate: Curve, limits: Limits) -> list[Mismatch]:
    """Return the largest leap of the rate after it had reached its peak region."""
    name = _name(run)
    if any(word in name for word in ROUNDS) or shapes.cyclic(rate.value):
        return []
    value = rate.value
    peak = float(value.max())
    fallen = np.maximum.accumulate(value)[:-1] > 2 * value[:-1]  # no warm-up: it was higher before
    jumped = (value[1:] > limits.leap * value[:-1]) & (value[1:] > 0.1 * peak)
    up = jumped & (fallen | shapes.steady(value)[:-1])
    if not name:  # of an unknown schedule, a return to the peak may be a planned restart
        up &= (value[1:] < WHOLE_PEAK * peak) | ~fallen
    if _resumed(run):  # with a longer plan, after a schedule that had come to its end
        up &= value[:-1] <= 0
    at = np.flatnonzero(up)
    if not len(at):
        return []
    first = int(at[0])
    before, after = float(value[first]), float(value[first + 1])
    ratio = after / max(before, peak * 1e-6)
    # off a constant rate, to more than any schedule had planned: no scheduler begins anew so
    another = not bool(fallen[first]) and after > limits.leap * (
        run.number("learning_rate") or peak
    )
    back = mismatch.back(rate, first, len(at) - 1)
    return [
        Mismatch(
            float(rate.step[first + 1]),
            f"the learning rate jumped from {as_rate(before)} to {as_rate(after)}{back}",
            "Increase in one step (factor)"
            if before > 0
            else "Rise of the rate from 0, share of its peak",
            ratio if before > 0 else after / peak,
            limits.leap if before > 0 else 0.1,
            mismatch.ANOTHER if another else "Planned steps changed, or a new schedule began",
            jumped=True,
            back=back != "",
        )
    ]


def _rise(run: Run, rate: Curve) -> list[Mismatch]:
    """Return the first rise of a rate that was coming down, where no restart is planned."""
    at = shapes.rises_in_decay(rate.value)
    if not at or _resumed(run) or any(word in _name(run) for word in ROUNDS):
        return []
    before, after = float(rate.value[at[0] - 1]), float(rate.value[at[0]])
    return [
        Mismatch(
            float(rate.step[at[0]]),
            f"the learning rate rose from {as_rate(before)} to {as_rate(after)} in mid-decay",
            RISE,
            (after - before) / float(rate.value.max()),
            shapes.ROSE,
            "Planned steps changed, or a launch that is not recorded began a new schedule",
            jumped=True,
        )
    ]


def _shape(run: Run, signals: Signals, rate: Curve, limits: Limits) -> list[Mismatch]:
    name, total, warm = _name(run), run.state.planned_steps, signals.warmup
    planned = run.number("learning_rate")
    if not total or _resumed(run) or warm.how == "assumed":
        return []
    after = rate.after(warm.end)
    peak = float(rate.value.max())
    if planned and peak > limits.leap * planned:  # a leap is no peak of the plan
        peak = planned
    expected = shapes.expected(name, after, float(warm.end), float(total))
    if expected is None or len(after) < limits.fewest:
        return []
    off = np.abs(after.value / peak - expected)
    outside = off > limits.fit
    if not outside.any():
        return []
    first = int(np.argmax(outside))
    return [
        Mismatch(
            float(after.step[first]),
            f"the learning rate was {as_rate(float(after.value[first]))}, but a {name} schedule "
            f"over {step(total)} steps gives {as_rate(float(expected[first]) * peak)}",
            f"Largest deviation from {name}, share of the peak",
            float(off.max()),
            limits.fit,
            "Schedule built for other total steps, or another scheduler than configured",
        )
    ]


def _peak(run: Run, signals: Signals, rate: Curve, limits: Limits) -> list[Mismatch]:
    configured, warm = run.number("learning_rate"), signals.warmup
    groups = any(name.startswith("learning_rate:") for name in run.history.metrics)
    if not configured or groups or warm.how == "assumed" or rate.step[-1] <= warm.end:
        return []
    peak = float(rate.value.max())
    begun = signals.partial and rate.value[0] >= 0.99 * peak
    if peak < configured and (begun or still_rising(rate.value)):
        return []  # the peak lies before the log, or behind it
    total = float(run.state.planned_steps or rate.step[-1])
    missed = 2 * signals.interval("learning_rate") / max(total, 1.0)  # between two records
    low, high = configured * (1 - limits.peak - missed), configured * (1 + limits.peak)
    if low <= peak <= high:
        return []
    return [
        Mismatch(
            float(rate.step[int(np.argmax(rate.value))]),
            f"the peak learning rate was {as_rate(peak)}, but {as_rate(configured)} is configured",
            mismatch.PEAK,
            abs(peak / configured - 1),
            limits.peak,
            "Rate scaled by batch size or devices, or set in code",
        )
    ]


def _warmup(run: Run, signals: Signals, limits: Limits) -> list[Mismatch]:
    warm, total = signals.warmup, run.state.planned_steps
    steps, ratio = run.number("warmup_steps"), run.number("warmup_ratio")
    configured = steps or (ratio or 0.0) * (total or 0)
    if steps and steps < 1:
        configured = steps * (total or 0)
    if warm.how != "learning rate" or configured <= 0 or signals.partial:
        return []
    slack = 2 * signals.interval("learning_rate")
    seen = float(warm.end) if warm.present else 0.0
    longer = seen > limits.warmup * configured + slack
    shorter = seen + slack < configured / limits.warmup
    if not (longer or shorter) or mismatch.micro_steps(run, seen / configured):
        return []
    return [
        Mismatch(
            seen,
            f"warm-up took {step(seen)} steps, but {step(configured)} are configured",
            "Warm-up seen as a multiple of the configured one",
            max(seen, 1.0) / configured if longer else configured / max(seen, 1.0),
            limits.warmup,
            "Scheduler stepped once per device or per micro-batch"
            if seen
            else "Warm-up not in force, or settings of another run",
        )
    ]


def _finding(run: Run, made: list[Mismatch], before: FloatArray, severity: Severity) -> Finding:
    first, name = made[0], _name(run) or "not recorded"
    restarted = first.what == RISE
    told = first.text.replace("the learning rate ", "it ", 1)
    title = f"The learning-rate schedule restarted at step {step(first.at)}. {capitalised(told)}."
    if not restarted:
        title = f"At step {step(first.at)} {first.text}."
    return Finding(
        severity=severity,
        title=title,
        metric="learning_rate",
        onset=Moment(first.at),
        evidence=mismatch.evidence(made[:1]),  # the others follow from the first
        causes=(Cause(first.cause, "most likely", kind="rate-leaves-plan"),),
        seen=mismatch.planned(run, _name(run), before, first.at),
        fixes=mismatch.cures(run, made, name),
        confidence=Confidence(
            round(min(0.95, 0.5 + 0.1 * first.value / first.limit), 2),
            f"{times(first.value / first.limit)} the threshold; scheduler {name}",
        ),
        chart=Chart("curves", ("learning_rate",)),
    )


DECAY = "0:1e-4 300:6e-5 310:9.9e-5 600:6e-5"
FINISHED = State("finished", done_steps=600, planned_steps=600)
BAD = (
    drawn(
        "a jump off a constant rate",
        (305, 315),
        severity="warning",
        task="grpo",
        reward="0:0.4 300:0.8 600:0.1",
        learning_rate="0:1e-6 300:1e-6 310:2.5e-5 600:2.5e-5",
    ),
    drawn(
        "jumps after its end",
        (300, 310),
        severity="warning",
        learning_rate="0:0 20:1e-3 295:1e-5 305:7e-4 600:1e-4",
        config={"lr_scheduler_type": "cosine"},
    ),
    drawn(
        "begins again twice, after other numbers of steps",
        (5, 5),
        severity="warning",
        noise=0,
        train_loss="/1 0:1.8 17:0.9",
        learning_rate="/1 0:0.4 1:0.37 2:0.3 3:0.2 4:0.1 5:0.4 6:0.37 7:0.3 8:0.2 9:0.1 10:0.05 "
        "11:0.03 12:0.4 13:0.37 14:0.3 15:0.2 16:0.1 17:0.03",
        config={"lr_scheduler_type": "cosine"},
    ),
    drawn("rises in mid-decay", (310, 310), severity="info", learning_rate=DECAY),
    drawn(
        "linear, not constant",
        severity="info",
        learning_rate="0:1e-3 600:0",
        config={"lr_scheduler_type": "constant", "learning_rate": 1e-3},
        state=FINISHED,
    ),
    drawn(
        "other peak",
        severity="info",
        learning_rate="0:0 50:4e-3 600:0",
        config={"lr_scheduler_type": "linear", "learning_rate": 1e-3},
        state=FINISHED,
    ),
    drawn(
        "decay not done",
        severity="info",
        learning_rate="0:1e-3 600:6e-4",
        config={"lr_scheduler_type": "linear"},
        state=FINISHED,
    ),
)
GOOD = (
    drawn(
        "linear as configured",
        learning_rate="0:0 50:1e-3 600:0",
        config={"lr_scheduler_type": "linear", "learning_rate": 1e-3, "warmup_steps": 50},
        state=FINISHED,
    ),
    drawn(
        "restarts, the schedule not recorded",
        train_loss="0:2.2 300:1.2 900:0.9",
        learning_rate="0:2e-4 290:1e-6 300:2e-4 590:1e-6 600:2e-4 900:1e-6",
    ),
    drawn(
        "restarts as configured",
        learning_rate="0:1e-3 290:0 300:1e-3 600:0",
        config={"lr_scheduler_type": "cosine_with_restarts"},
        state=FINISHED,
    ),
    drawn(
        "minimum rate",
        learning_rate="0:1e-3 500:3e-4 600:3e-4",
        config={"lr_scheduler_type": "cosine_with_min_lr", "learning_rate": 1e-3},
        state=FINISHED,
    ),
    drawn(
        "goes up and down in cycles",
        learning_rate="0:1e-3 100:5e-4 110:9e-4 200:5e-4 210:9e-4 300:5e-4 310:9e-4 600:2e-4",
    ),
    drawn(
        "three cycles of one length and one shape, of a scheduler without a word for it",
        noise=0,
        train_loss="/1 0:1.8 17:0.9",
        learning_rate="/1 0:0.4 1:0.37 2:0.3 3:0.2 4:0.1 5:0.03 6:0.4 7:0.37 8:0.3 9:0.2 10:0.1 "
        "11:0.03 12:0.4 13:0.37 14:0.3 15:0.2 16:0.1 17:0.03",
        config={"lr_scheduler_type": "sawtooth"},
    ),
    drawn(
        "steps counted by micro-batch",
        learning_rate="0:0 160:5e-4 600:1e-4",
        config={"learning_rate": 5e-4, "warmup_steps": 20, "grad_accum_steps": 8},
    ),
    drawn(
        "log begins in mid-decay",
        learning_rate="1500:2e-4 3000:8e-5",
        config={"learning_rate": 3e-4},
        state=State("unknown", done_steps=3000, planned_steps=4500),
    ),
    drawn("no configuration", learning_rate="0:0 50:1e-3 600:4e-4"),
    drawn(
        "stopped before its end",
        learning_rate="0:1e-3 300:5e-4",
        config={"lr_scheduler_type": "linear", "learning_rate": 1e-3},
        state=State("killed", done_steps=300, planned_steps=600),
    ),
)

RULE = Rule(
    slug="schedule-mismatch",
    title="Schedule mismatch",
    family="LRS",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(soon=(*UPSET, *POLICY, "sawtooth"), layer="input"),
    needs=("learning_rate",),
    bad=BAD,
    good=GOOD,
)
