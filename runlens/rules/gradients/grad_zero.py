"""Zero gradient: nothing reaches the weights.

What is seen
    The gradient norm is exactly zero, or a millionth of what it was, over a long stretch.
Why it matters
    The optimizer runs, the learning rate moves, the time is paid, and no weight changes.
Looks alike
    In GRPO a step whose groups have no spread has no gradient: zero-reward-std. A norm that is
    read after zero_grad, or printed with one digit, is zero while the loss falls. A loss of
    exactly zero has no gradient either: that is said by zero-loss or hidden-nan, here as info.
Limits
    least: a norm that is zero in effect. relative: the same as a share of the median of the
    other norms. fewest and share: length of the stretch in points and as a share of all.
    no_spread: share of groups without spread from which RL has nothing to learn.
    all_of_rl: a policy's norm is often zero for a while; below this share of the run it is info.
Fixes
    List the parameters with requires_grad; enable_input_require_grads() where checkpointing
    meets frozen embeddings, or use_reentrant: false; look at the labels; bf16 for fp16.
"""

from math import ceil

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import (
    Cause,
    Chart,
    Confidence,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
    Rank,
    RuledOut,
    Severity,
)
from runlens.history import BoolArray, Curve, IntArray
from runlens.rules.gradients.norms import loss_fell
from runlens.rules.relations import STUCK, Relations
from runlens.rules.rule import (
    LANGUAGE_TASKS,
    PREFERENCE_TASKS,
    RL_TASKS,
    Rule,
    drawn,
    found,
    passed,
    unmet,
)
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import longest_true
from runlens.wording import loss, number, percent, step, too_few
from runlens.wording import rate as as_rate

TEXT = LANGUAGE_TASKS | PREFERENCE_TASKS  # tasks whose labels have masks


class Limits(Struct, frozen=True):
    """What may be tuned."""

    least: float = 1.2e-7  # beside 1 it is nothing in float32
    relative: float = 1e-6
    fewest: int = 3
    share: float = 0.10
    no_spread: float = 0.99
    all_of_rl: float = 0.90


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look for the longest stretch of norms that are zero in effect."""
    curve = signals.curve("grad_norm")
    if len(curve) < limits.fewest:
        return unmet(too_few(len(curve), "gradient norm", limits.fewest))
    zero = _zero(curve, limits)
    start, length = longest_true(zero)
    needed = max(limits.fewest, ceil(limits.share * len(curve)))
    if length < needed:
        return passed(
            f"{length} gradient norms of 0 in a row at most (threshold {needed})"
            if length
            else "no gradient norm is 0"
        )
    first, last = int(curve.step[start]), int(curve.step[start + length - 1])
    if run.task in RL_TASKS and (reason := _no_advantage(run, curve.step[zero], limits)):
        return passed(reason, ("zero-reward-std",))
    if loss_fell(run, signals, first, last) and not _falls_to_zero(signals, first):
        told = f"grad_norm is 0 on {length:,} points while the loss falls: "
        if length == len(curve):
            return unmet(told + "it is read after zero_grad, or printed with too few digits")
        return passed(told + "too few digits")
    return found(_finding(run, signals, curve, start, length, limits))


def _zero(curve: Curve, limits: Limits) -> BoolArray:
    size = np.abs(curve.value)
    usual = size[size > limits.least]
    relative = limits.relative * float(median(usual)) if len(usual) else 0.0
    zero: BoolArray = size <= max(limits.least, relative)
    return zero


def _no_advantage(run: Run, steps: IntArray, limits: Limits) -> str:
    """Say that the groups had no spread where the norm is zero; empty where they had."""
    for metric, above in (("frac_zero_std", True), ("reward_std", False)):
        spread = run.curve(metric)
        there = spread.value[np.isin(spread.step, steps)]
        none = there >= limits.no_spread if above else there <= limits.least
        share = float(none.mean()) if len(none) else 0.0
        if share > 0.5:  # noqa: PLR2004 - most of them
            on = f"on {percent(share)} of the steps with a norm of 0"
            return f"rewards were identical within groups {on}: see zero-reward-std"
    return ""


def _falls_to_zero(signals: Signals, first: int) -> bool:
    """Whether the loss is exactly 0 in the stretch: then its fall is no learning."""
    value = signals.curve("train_loss").after(first).value
    return bool(len(value)) and bool((value == 0).mean() > 0.5)  # noqa: PLR2004 - most


def _finding(
    run: Run, signals: Signals, curve: Curve, start: int, length: int, limits: Limits
) -> Finding:
    first, last = int(curve.step[start]), int(curve.step[start + length - 1])
    severity, why = _severity(run, signals, first, last, limits)
    lasts = start + length == len(curve)
    before = curve.value[:start]
    level = float(median(before)) if len(before) else 0.0
    was = f", after a median of {number(level)}" if level else ""
    rows = [
        Evidence(
            "Gradient norms of zero in a row",
            float(length),
            float(max(limits.fewest, ceil(limits.share * len(curve)))),
            "3 points and 10 % of the run",
            "grad_norm",
            float(first),
        ),
        Evidence("Training loss there", why, where="train_loss"),
    ]
    if rate := signals.learning_rate_at(first):
        rows.append(Evidence("Learning rate at that step", rate, where="learning_rate"))
    when = (
        f"from step {step(first)} on" if lasts else f"from step {step(first)} to step {step(last)}"
    )
    often = f"all {length:,} points" if lasts else f"{length:,} points in a row"
    return Finding(
        severity=severity,
        title=f"The gradient norm was 0 {when}, at {often}{was}. {why[0].upper()}{why[1:]}.",
        metric="grad_norm",
        onset=Moment(float(first)),
        evidence=tuple(rows),
        seen="No gradient reached the weights during these steps.",
        end=None if lasts else Moment(float(last)),
        causes=_causes(run, signals, start, severity),
        fixes=_fixes(run, frozen=level == 0 and lasts and not _falls_to_zero(signals, first)),
        ruled_out=_ruled_out(run, signals, first),
        confidence=Confidence(0.9 if lasts else 0.8, f"{length:,} norms of zero in a row"),
        chart=Chart("curves", tuple(m for m in ("grad_norm", "train_loss") if len(run.curve(m)))),
    )


def _severity(
    run: Run, signals: Signals, first: int, last: int, limits: Limits
) -> tuple[Severity, str]:
    train = run.curve("train_loss").after(first).before(last + 1)
    if not len(train):
        return "critical", "train loss is not logged there"
    finite = train.value[np.isfinite(train.value)]
    if not len(finite) or (finite == 0).mean() > 0.5:  # noqa: PLR2004 - most of them
        some = len(finite) > 0 and not (finite == 0).all()
        where = "most of these points" if some else "these points"
        return "info", f"train loss was {number(float(train.value[-1]))} at {where}"
    level = loss(float(median(finite)))
    if run.task in RL_TASKS and not len(signals.curve("reward_std")):
        return (
            "info",
            f"train loss has a median of {level}, and the spread of the reward is not logged",
        )
    covered = (last - first) / max(1, run.last_step - run.first_step)
    if run.task in RL_TASKS and covered < limits.all_of_rl:
        return (
            "info",
            f"train loss has a median of {level} there, and some gradients of 0 are normal in RL",
        )
    return "critical", f"train loss stayed at a median of {level}"


def _causes(run: Run, signals: Signals, start: int, severity: Severity) -> tuple[Cause, ...]:
    if severity == "info" and run.task not in RL_TASKS:
        return (
            Cause(
                "All labels masked, or NaN logged as 0",
                "most likely",
                kind="labels-masked",
            ),
        )
    made: list[Cause] = []
    if start == 0:
        why = "the gradient norm is 0 from the first logged step on"
        checkpointing = run.flag("gradient_checkpointing") and run.adapted
        if checkpointing:
            why += ", with gradient_checkpointing and frozen embeddings"
        # of a policy the rewards of all groups may be alike as well
        rank: Rank = "possible" if run.task in RL_TASKS else "most likely"
        made.append(Cause("Frozen or detached parameters", rank, why, kind="frozen-weights"))
    elif run.flag("fp16"):
        made.append(
            Cause("Underflow at a low loss scale", "most likely", "fp16 is set", kind="precision")
        )
    made.append(
        Cause("Dead or saturated units", "possible" if made else "most likely", kind="capacity")
    )
    rate = signals.learning_rate_at(float(signals.curve("grad_norm").step[start]))
    if rate == 0:
        made.append(
            Cause(
                "A learning rate of zero",
                "unlikely",
                "",
                "it changes no gradient",
                kind="rate-zero",
            )
        )
    return tuple(made)


def _fixes(run: Run, *, frozen: bool) -> tuple[Fix, ...]:
    """Return what to look at; `frozen`: no gradient was seen before, and the loss is none of 0."""
    made = []
    if frozen:
        what = "List the parameters whose requires_grad is True"
        made.append(fixes.look(what, "there must be at least one"))
    if frozen and run.flag("gradient_checkpointing"):
        made.append(
            fixes.action(
                "Call model.enable_input_require_grads(), or set use_reentrant: false",
                "checkpointing cuts the graph where the embeddings are frozen",
            )
        )
    if run.task in TEXT:
        made.append(fixes.look("Count the labels that are not -100 in one batch"))
    return (*made, *fixes.bf16(run, "small gradients do not underflow"))


def _ruled_out(run: Run, signals: Signals, first: int) -> tuple[RuledOut, ...]:
    made = [
        RuledOut("A norm that the log rounds to 0", "the loss does not fall while the norm is 0")
    ]
    rate = signals.learning_rate_at(first)
    if rate:
        made.append(RuledOut("A learning rate of zero", f"it is {as_rate(rate)} there"))
    if run.task in RL_TASKS:
        made.append(RuledOut("Identical rewards within groups", "rewards differ at these steps"))
    return tuple(made)


FLAT = {"train_loss": 0.02, "grad_norm": 0.1, "reward_std": 0.1}
BAD = (
    drawn(
        "from the start",
        (0, 0),
        FLAT,
        severity="critical",
        train_loss="0:2.2 600:2.2",
        grad_norm="0:0 600:0",
    ),
    drawn(
        "from the middle",
        (300, 300),
        FLAT,
        severity="critical",
        train_loss="0:2.2 290:1.3 600:1.3",
        grad_norm="0:1 290:1 300:0 600:0",
    ),
    drawn(
        "labels masked from the middle",
        (300, 300),
        FLAT,
        severity="info",
        train_loss="0:2.2 290:1.3 300:0 600:0",
        grad_norm="0:1 290:1 300:0 600:0",
    ),
    drawn(
        "underflow",
        (300, 300),
        FLAT,
        severity="critical",
        config={"fp16": True},
        train_loss="0:2.2 290:1.3 600:1.3",
        grad_norm="0:1 290:1 300:1e-9 600:1e-9",
    ),
)
GOOD = (
    drawn("healthy", noise=FLAT, train_loss="0:2.2 900:0.9", grad_norm="0:1 900:1"),
    drawn(
        "groups without spread",
        noise=FLAT,
        task="grpo",
        train_loss="0:0 600:0",
        grad_norm="0:0.1 290:0.1 300:0 600:0",
        reward_std="0:0.3 290:0.3 300:0 600:0",
    ),
    drawn(
        "too few digits",
        noise=FLAT,
        train_loss="0:2.2 300:1.3 900:0.6",
        grad_norm="0:1 290:1 300:0 900:0",
    ),
    drawn("last point", noise=FLAT, train_loss="0:2.2 600:1", grad_norm="0:1 590:1 600:0"),
    drawn("small norms", noise=FLAT, train_loss="0:2.2 900:0.9", grad_norm="0:1e-5 900:1e-6"),
)

RULE = Rule(
    slug="grad-zero",
    title="Zero gradient",
    family="GRD",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=(*STUCK, "eval-flat"), layer="update"),
    needs=("grad_norm",),
    bad=BAD,
    good=GOOD,
)
