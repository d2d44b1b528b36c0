"""Clip ratio high: a large share of the updates is cut off by the clip range.

What is seen
    The share of probability ratios that were clipped is above 0.3 for a stretch of the run.
Why it matters
    Clipped tokens have no gradient. Where a third of them is clipped, each update goes further
    than its own data can vouch for.
Looks alike
    Exactly 0 is normal where each batch is used once. Ratios taken for a whole sequence are
    clipped far more often in health: said as info. Values in percent are read as such.
Limits
    alarm: share of clipped ratios (below 0.1 is healthy). points: in a row above it; share:
    or this share of all points. fewest: points.
Fixes
    Half of the learning rate, one or two updates per batch instead of four or more, an update that
    stops at a KL limit.
"""

from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Cause, Chart, Evidence, Finding, Fix, Moment, Outcome, Severity
from runlens.history import BoolArray, Curve
from runlens.rules.relations import POLICY_LOST, Relations
from runlens.rules.rl import early_end, policy
from runlens.rules.rule import RL_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import longest_true
from runlens.wording import number, percent, step, too_few

PAIR = 2  # points above the alarm value: one is an outlier
PERCENT_FROM = 1.5  # no share is that large
SMALL_RANGE = 0.1  # a clip range below it clips early by itself


class Limits(Struct, frozen=True):
    """What may be tuned."""

    alarm: float = 0.3
    points: int = 5
    share: float = 0.20
    fewest: int = 4


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look for a stretch above the alarm value, or many points above it."""
    curve = signals.curve("clip_ratio")
    if len(curve) < limits.fewest:
        return unmet(too_few(len(curve), "clip ratio", limits.fewest))
    value = curve.value / 100 if curve.value.max() > PERCENT_FROM else curve.value
    above = value > limits.alarm
    lasted = longest_true(above)[1]
    few = above.mean() < limits.share or above.sum() < PAIR
    if lasted < limits.points and few:
        return passed(f"clip ratio was above {limits.alarm:g} at {policy.share_words(above)}")
    first = policy.first_stretch(above, limits.points)
    level = float(median(value[above]))
    return found(_finding(run, signals, curve, above, first, level, limits))


def _finding(
    run: Run,
    signals: Signals,
    curve: Curve,
    above: BoolArray,
    at: int,
    level: float,
    limits: Limits,
) -> Finding:
    onset = float(curve.step[at])
    whole = run.setting("importance_sampling_level") in {"sequence", "sequence_token"}
    severity: Severity = "info" if whole else "warning"
    return Finding(
        severity=severity,
        title=f"The clip ratio exceeded {percent(limits.alarm)} at {policy.share_words(above)}, "
        f"first at step {step(onset)}.",
        metric="clip_ratio",
        onset=Moment(onset),
        evidence=(
            Evidence(
                "Median clip ratio above the threshold",
                level,
                limits.alarm,
                "below 10 % is healthy",
                unit="%",
            ),
            Evidence(
                "Points above the threshold",
                float(above.mean()),
                limits.share,
                "a fifth of them",
                unit="%",
            ),
        ),
        seen=f"Its median at these points was {percent(level)}.",
        causes=_causes(run, signals, onset),
        fixes=_fixes(run, signals),
        confidence=policy.confidence(level / limits.alarm, len(curve)),
        chart=Chart("limit", ("clip_ratio", "kl_step"), limit=limits.alarm),
    )


def _causes(run: Run, signals: Signals, onset: float) -> tuple[Cause, ...]:
    again, clip = run.number("num_iterations"), run.number("epsilon")
    far = signals.curve("kl_step").after(int(onset)).value
    moved = f"the KL per update peaked at {number(float(far.max()), 3)}" if len(far) else ""
    many = (
        Cause(
            "Too many updates per batch",
            "most likely",
            f"each batch is used {again:g} times",
            kind="stale-policy",
        )
        if (
            again and again > 2  # noqa: PLR2004 - one or two is usual
        )
        else None
    )
    tight = (
        Cause("Clip range too tight", "likely", f"epsilon is {number(clip)}", kind="exploration")
        if (clip and clip <= SMALL_RANGE)
        else None
    )
    rate = Cause(
        "Learning rate too high", "likely" if many else "most likely", moved, kind="rate-too-high"
    )
    stale = Cause("Samples from an older policy", "possible", kind="stale-policy")
    return policy.ranked(many, rate, tight, stale)


def _fixes(run: Run, signals: Signals) -> tuple[Fix, ...]:
    made = [*fixes.learning_rate(run, signals, 1 / 2, "smaller updates stay within the clip range")]
    again, clip = run.number("num_iterations"), run.number("epsilon")
    if again and again > 1:
        new = 2 if again > 2 else 1  # noqa: PLR2004 - one or two is usual
        why = "each further update on a batch moves the policy away from the one that made it"
        made.append(fixes.setting(run, "num_iterations", new, "Reuse each batch fewer times", why))
    if clip and clip <= SMALL_RANGE:
        made.append(
            fixes.setting(
                run, "epsilon", 0.2, "Use the usual clip range", "fewer ratios are then cut"
            )
        )
    made.extend(early_end.target_kl(run))
    return tuple(made)


BAD = (
    drawn("six points", (20, 40), task="ppo", clip_ratio="0:0.1 20:0.1 30:0.6 50:0.6"),
    drawn(
        "climbs",
        (250, 420),
        task="rl",
        severity="warning",
        clip_ratio="0:0.05 300:0.28 400:0.55 900:0.6",
        kl_step="0:0.004 900:0.4",
    ),
    drawn(
        "at first", (0, 30), task="grpo", severity="warning", clip_ratio="0:0.36 300:0.36 900:0.1"
    ),
    drawn(
        "whole sequences",
        (0, 30),
        task="grpo",
        severity="info",
        config={"importance_sampling_level": "sequence"},
        clip_ratio="0:0.4 900:0.4",
    ),
    drawn("in percent", (0, 30), task="rl", severity="warning", clip_ratio="0:40 900:42"),
)
GOOD = (
    drawn("each batch once", task="grpo", clip_ratio="0:0 900:0"),
    drawn("usual", noise=0.3, task="rl", clip_ratio="0:0.05 900:0.12"),
    drawn(
        "two points",
        noise=0.0,
        task="rl",
        clip_ratio="0:0.05 490:0.05 500:0.6 510:0.6 520:0.05 900:0.05",
    ),
)

RULE = Rule(
    slug="clip-ratio-high",
    title="High clip ratio",
    family="RLX",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(by_and_by=POLICY_LOST),
    needs=("clip_ratio",),
    tasks=RL_TASKS,
    bad=BAD,
    good=GOOD,
)
