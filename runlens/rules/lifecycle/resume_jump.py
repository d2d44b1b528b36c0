"""Resume jump: at a resume, loss, learning rate or gradient norm jump as no clean resume lets them.

What is seen
    Where a later launch takes over, the learning rate does not go on along the schedule but
    starts it again, or training loss or gradient norm lie clearly above what they were.
Why it matters
    Part of the state was not restored. Without the optimizer's moments the first steps are wild;
    with a new schedule the rate is wrong for the rest of the run.
Looks alike
    Steps logged twice, with equal values, are a clean resume from an earlier checkpoint. Loss may
    lie lower where data are seen again. A rate changed on purpose stays apart by one factor,
    without a new warm-up and without a jump of loss: info. Restarts in the schedule are no resume.
    Where an epoch takes other steps from there on, other data came: their loss need not return.
Limits
    fewest, share: points on either side that are compared, the larger. errors: standard errors of
    the loss difference; level: and share of the level. rate: deviation from the schedule's
    continuation, as a share of it, of_peak: and as a share of the peak. norm: ratio of gradient
    norms. again: rates of the first points that return, within match, make a schedule started
    again; so does one leap of the rate that ends below its peak. back: share of the run within
    which loss must return, or it is critical.
Fixes
    Resume from a checkpoint folder that holds optimizer.pt, scheduler.pt and rng_state.pth; start
    over from the checkpoint before the joint where they were lost.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Fix,
    Mark,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import Curve
from runlens.rules.lifecycle.joints import (
    Joint,
    epochs_apart,
    from_its_peak,
    joints_of,
    logged_past,
    starts_again,
)
from runlens.rules.lifecycle.jumps import Jump, causes
from runlens.rules.relations import UPSET, Relations
from runlens.rules.rule import RL_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Event, Run
from runlens.signals import Signals
from runlens.signals.noise import MEDIAN_LOSS, inflation
from runlens.wording import capitalised, listed, loss, number, step, uncapitalised
from runlens.wording import rate as as_rate


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 5
    share: float = 0.02
    errors: float = 4.0
    level: float = 0.05
    rate: float = 0.10
    of_peak: float = 0.02
    norm: float = 5.0
    again: int = 4
    match: float = 0.01
    back: float = 0.10


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare both sides of each joint; report the one where most jumped."""
    joints = joints_of(run, signals, limits.again, limits.match)
    if not joints:
        return unmet(
            "the steps before the resume were not logged"
            if signals.partial and len(run.curve("train_loss")) > 1
            else "a single launch, no resume recorded"
        )
    jumps = [_jump(run, signals, joint, limits) for joint in joints]
    bad = [jump for jump in jumps if jump.parts]
    if not bad:
        where = ", ".join(step(joint.step) for joint in joints[:3])
        again = _seen_again(signals, joints, limits)
        return passed(f"loss, learning rate and gradient norm go on across step {where}{again}")
    worst = max(bad, key=lambda jump: (jump.new_schedule, jump.parts, -jump.joint.step))
    return found(_finding(run, signals, worst, len(joints), limits))


def _seen_again(signals: Signals, joints: list[Joint], limits: Limits) -> str:
    """Say that the loss lies lower after a joint: the data may have begun again."""
    train = signals.curve("train_loss")
    for joint in joints:
        sides = _sides(train, joint.step, limits)
        if sides is None:
            continue
        before, after = (float(median(side.value)) for side in sides)
        width = len(sides[0])
        earlier = train.before(int(sides[0].step[0])).value[-width:]
        falls = float(median(earlier)) - before if len(earlier) else np.inf
        error = MEDIAN_LOSS * signals.sigma("train_loss") * (2 / width) ** 0.5
        needed = max(limits.errors * error, 2 * limits.level * abs(before), 3 * falls)
        if before - after > needed:
            return (
                f"; train loss lies lower after step {step(joint.step)}, {loss(after)} from "
                f"{loss(before)}: the data may have begun again"
            )
    return ""


def _jump(run: Run, signals: Signals, joint: Joint, limits: Limits) -> Jump:
    rate = _rate_jump(run, signals, joint, limits)
    curve = signals.curve("learning_rate")
    anew = rate is not None and from_its_peak(curve, joint.step, limits.again, limits.match)
    again = anew or (rate is not None and starts_again(curve, joint.step, limits.again))
    loss_jump = None if run.task in RL_TASKS else _loss_jump(signals, joint.step, limits)
    return Jump(joint, rate, loss_jump, _norm_jump(signals, joint.step, limits), again, anew)


def _rate_jump(
    run: Run, signals: Signals, joint: Joint, limits: Limits
) -> tuple[float, float] | None:
    """Return (expected, found) learning rate where the schedule does not go on."""
    rate = signals.curve("learning_rate")
    before, after = rate.before(joint.step), rate.after(joint.step)
    if len(before) < 3 or not len(after):  # noqa: PLR2004 - a slope and its change
        return None
    at, now = float(after.step[0]), float(after.value[0])
    slopes = np.diff(before.value[-3:]) / np.maximum(np.diff(before.step[-3:]), 1)
    ahead = at - float(before.step[-1])
    expected = float(before.value[-1]) + float(slopes[-1]) * ahead
    old = logged_past(run, joint, at)
    if old is not None:
        expected = old
    bend = 0.0 if old is not None else 2 * abs(float(slopes[-1] - slopes[0])) * ahead
    peak = signals.peak_learning_rate or 0.0
    allowed = max(limits.rate * abs(expected), limits.of_peak * peak) + bend
    return (max(expected, 0.0), now) if abs(now - expected) > allowed else None


def _sides(curve: Curve, at: int, limits: Limits) -> tuple[Curve, Curve] | None:
    width = max(limits.fewest, round(limits.share * len(curve)))
    before, after = curve.before(at).at(slice(-width, None)), curve.after(at).at(slice(0, width))
    enough = min(len(before), len(after)) >= limits.fewest
    return (before, after) if enough else None


def _loss_jump(signals: Signals, at: int, limits: Limits) -> tuple[float, float] | None:
    train = signals.curve("train_loss")
    sides = _sides(train, at, limits)
    if sides is None:
        return None
    before, after = (float(median(side.value)) for side in sides)
    wander = inflation(train.value - signals.smooth("train_loss"))
    error = MEDIAN_LOSS * signals.sigma("train_loss") * wander * (2 / len(sides[0])) ** 0.5
    needed = max(limits.errors * error, limits.level * abs(before))
    return (before, after) if after - before > needed else None


def _norm_jump(signals: Signals, at: int, limits: Limits) -> tuple[float, float] | None:
    sides = _sides(signals.curve("grad_norm"), at, limits)
    if sides is None:
        return None
    before, after = (float(median(side.value)) for side in sides)
    return (before, after) if before > 0 and after > limits.norm * before else None


def _returns(signals: Signals, jump: Jump, limits: Limits) -> bool:
    """Whether loss comes back to its level before within a share of the run."""
    if jump.loss is None:
        return True
    covered = signals.run.last_step - signals.run.first_step
    smooth = signals.smooth("train_loss")
    steps = signals.curve("train_loss").step
    inside = (steps >= jump.joint.step) & (steps <= jump.joint.step + limits.back * covered)
    short = steps[-1] < jump.joint.step + limits.back * covered
    level = jump.loss[0] * (1 + limits.level)
    return bool(short or (smooth[inside] <= level).any())


def _finding(run: Run, signals: Signals, jump: Jump, joints: int, limits: Limits) -> Finding:
    onset = float(jump.joint.step)
    only_rate = jump.parts == 1 and jump.rate is not None and not jump.new_schedule
    severity: Severity = "info" if only_rate else "warning"
    other = epochs_apart(signals.curve("train_loss"), jump.joint.step)
    if not _returns(signals, jump, limits) and other is None:
        severity = "critical"  # other data have a level of their own
    words = {
        "learning_rate": jump.rate
        and f"the learning rate was {as_rate(jump.rate[1])} instead of {as_rate(jump.rate[0])}",
        "train_loss": jump.loss
        and f"train loss jumped from {loss(jump.loss[0])} to {loss(jump.loss[1])}",
        "grad_norm": jump.norm
        and f"the gradient norm jumped from {number(jump.norm[0])} to {number(jump.norm[1])}",
    }
    said = {metric: text for metric, text in words.items() if text}
    jumped = listed(list(said.values()))
    again = ", and it warmed up again" if jump.new_schedule else ""
    if jump.anew:
        again = ", and it fell from there as it did at first"
    of_rate = jump.joint.how == "learning rate"
    known = f"The {'learning-rate curve shows' if of_rate else 'records show'}"
    return Finding(
        severity=severity,
        title=f"The resume {_from(run, signals, onset)} went wrong. {capitalised(jumped)}{again}.",
        metric=next(iter(said)),
        onset=Moment(onset),
        evidence=_evidence(jump, limits),
        seen=f"{known} a restart there."
        + (f" The run has {joints} such resumes." if joints > 1 else ""),
        causes=causes(run, jump, other),
        fixes=_fixes(run, onset),
        ruled_out=(
            RuledOut("Steps logged twice", "the values of the two launches differ"),
            RuledOut(
                "A planned restart of the schedule",
                f"{uncapitalised(known)} that a new launch began there",
            ),
        ),
        confidence=Confidence(
            0.95 if jump.new_schedule or jump.parts > 1 else 0.75,
            f"{jump.parts} of three signals jumped (learning rate, loss, gradient norm)",
        ),
        chart=Chart("boundary", tuple(said), marks=(Mark(onset, 0.0, "resume"),)),
    )


def _from(run: Run, signals: Signals, onset: float) -> str:
    """Name the checkpoint's step: what is logged first after a resume comes later."""
    kept = fixes.checkpoint_before(run, onset)
    near = kept and kept[0] >= onset - signals.interval("train_loss")
    return f"from step {step(kept[0])}" if kept and near else f"at step {step(onset)}"


def _evidence(jump: Jump, limits: Limits) -> tuple[Evidence, ...]:
    made: list[Evidence] = []
    at = float(jump.joint.step)
    if jump.rate:
        expected, now = jump.rate
        # of the greater one: a schedule that had come down to 0 is no divisor
        off = abs(now - expected) / max(expected, now, 1e-12)
        what = "Deviation of the learning rate from its schedule"
        made.append(
            Evidence(
                what, off, limits.rate, "a clean resume goes on", "learning_rate", at, unit="%"
            )
        )
        made.append(Evidence("Learning rate after the resume", now, where="learning_rate", step=at))
    if jump.loss:
        rise = (jump.loss[1] - jump.loss[0]) / max(abs(jump.loss[0]), 1e-12)
        what = "Rise of train loss across the resume"
        made.append(
            Evidence(what, rise, limits.level, "and 4 standard errors", "train_loss", at, unit="%")
        )
    if jump.norm:
        ratio = jump.norm[1] / jump.norm[0]
        made.append(Evidence("Gradient norm over before", ratio, limits.norm, "", "grad_norm", at))
    return tuple(made)


def _fixes(run: Run, onset: float) -> tuple[Fix, ...]:
    kept = fixes.checkpoint_before(run, onset)
    where = kept[1] if kept else "the last checkpoint before it"
    skip: tuple[Fix, ...] = ()
    if run.flag("ignore_data_skip"):
        what, why = "Resume the data loader at its saved position", "no sample is then seen twice"
        skip = (fixes.setting(run, "ignore_data_skip", False, what, why),)
    check_files = fixes.look(
        f"Check {where} for optimizer.pt, scheduler.pt and rng_state.pth",
        "if one of them is missing, its state was reset",
    )
    why = "this restores optimizer, schedule and data order"
    if kept is None:
        what = "Resume from a whole checkpoint folder, not from its weights alone"
        return (check_files, fixes.action(what, why, "one run"), *skip)
    again = fixes.action(
        f"Resume from {kept[1]} and load all three files", why, "one run", kind="resume"
    )
    return (check_files, again, *skip)


RESUMED = (Event("resume", 300),)
BAD = (
    drawn(
        "schedule started again",
        (290, 310),
        severity="warning",
        train_loss="0:3 300:1.6 600:1.3",
        learning_rate="0:0 50:1e-3 295:8e-4 300:0 350:1e-3 600:7e-4",
    ),
    drawn(
        "optimizer lost",
        (300, 300),
        severity="warning",
        train_loss="0:3 290:1.2 300:2.0 345:1.1 600:0.9",
        learning_rate="0:1e-3 600:5e-4",
        events=RESUMED,
    ),
    drawn(
        "a new launch begins the schedule at its peak once more",
        (300, 300),
        severity="warning",
        train_loss="0:3 300:1.6 600:1.3",
        learning_rate="0:1e-3 290:1e-5 300:1e-3 600:1e-5",
        events=RESUMED,
    ),
    drawn(
        "gradient norm",
        (300, 300),
        train_loss="0:3 300:1.2 600:1.1",
        grad_norm="0:1 290:1 300:9 600:8",
        events=RESUMED,
    ),
)
GOOD = (
    drawn(
        "clean",
        train_loss="0:3 300:1.4 600:1.1",
        learning_rate="0:1e-3 600:0",
        grad_norm="0:1 600:1",
        events=RESUMED,
        noise=0.05,
    ),
    drawn(
        "still warming up", train_loss="0:3 600:1.1", learning_rate="0:0 600:1e-3", events=RESUMED
    ),
)

RULE = Rule(
    slug="resume-jump",
    title="Resume jump",
    family="RUN",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(
        at_once=("schedule-mismatch",),
        soon=(*UPSET, "grad-spike", "nan-loss"),
        layer="input",
    ),
    bad=BAD,
    good=GOOD,
)
