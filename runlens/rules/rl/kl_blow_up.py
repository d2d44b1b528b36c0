"""KL blow-up: the policy has run away from the model it started as.

What is seen
    The divergence from the reference policy rises above 2 nats a token and stays, or grows
    tenfold over its usual level. Where only the divergence of one update is logged, that one is
    judged.
Why it matters
    Far from the reference the model no longer writes what it was trained to write; the reward
    it earns there is seldom the one that was meant.
Looks alike
    KL that grows by orders of magnitude but stays below 0.5 is learning. Single points are
    outliers of an estimator that takes exponentials: said as info. No KL at all is normal with
    beta 0.
Limits
    alarm: 2 nats a token (0 to 0.5 is healthy). lasting_points: points in a row above it;
    often: or share of the points. lasting_share: as many points, spread out, make a warning.
    factor, floor: tenfold over the median of the first half, and at least 0.5, to the end.
    sequence: nats a sequence, for KL summed over tokens. update: nats, for the divergence of
    one update; usual is below 0.05. fewest: points.
Fixes
    Half to a third of the learning rate, beta times 2 to 5, fewer updates a batch.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from runlens import fixes
from runlens.diagnosis import (
    Cause,
    Chart,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import BoolArray, Curve, FloatArray
from runlens.rules.rl import policy
from runlens.rules.rule import RL_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import longest_true, smooth
from runlens.wording import number, step
from runlens.wording import rate as as_rate

WORDS = {"kl": "KL", "kl_seq": "KL of a sequence", "kl_step": "KL of one update"}
ORDER = ("lasting", "again", "single")
AT_ONCE = 1.0  # nats at the first point: the reference is another model
TARGET_KL = 0.02  # stable-baselines3 uses 0.01 to 0.03
CLIMB_FROM = 0.5  # of the limit: the last point below it is before the climb


@dataclass(frozen=True)
class Limits:
    """What may be tuned."""

    alarm: float = 2.0
    lasting_points: int = 3
    lasting_share: float = 0.05
    often: float = 0.20
    factor: float = 10.0
    floor: float = 0.5
    sequence: float = 50.0
    update: float = 0.5
    fewest: int = 10


class Rise(NamedTuple):
    """Where a divergence left its usual level."""

    at: int
    limit: float
    base: float
    how: Literal["lasting", "again", "single"]  # single points only, or some again and again
    source: str


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look at the divergence from the reference; where there is none, at that of one update."""
    seen = [name for name in WORDS if len(signals.curve(name)) >= limits.fewest]
    if not seen:
        most = max(len(signals.curve(name)) for name in WORDS)
        return unmet(f"only {most} of the {limits.fewest} points of KL that are needed")
    rises = [(name, rise) for name in seen if (rise := _rise(signals, name, limits))]
    if not rises:
        peak = float(signals.curve(seen[0]).value.max())
        return passed(f"{WORDS[seen[0]]} reached {number(peak, 3)} at most")
    name, rise = min(rises, key=lambda one: ORDER.index(one[1].how))
    return found(_finding(run, signals, name, rise))


def _rise(signals: Signals, metric: str, limits: Limits) -> Rise | None:
    curve = signals.curve(metric)
    value = curve.value
    base = float(np.median(value[: max(3, len(value) // 2)]))
    if metric == "kl_seq":
        limit, source = max(limits.sequence, limits.factor * base), "tenfold, and 50 nats"
    elif metric == "kl_step":
        limit, source = limits.update, "usual is below 0.05"
    else:
        limit, source = limits.alarm, "alarm value"
    above = value > limit
    length = longest_true(above)[1]
    share = float(above.mean())
    if length >= limits.lasting_points or share >= limits.often:
        started = policy.first_stretch(above, limits.lasting_points)
        return Rise(_onset(curve, above, started, limit), limit, base, "lasting", source)
    if metric == "kl" and (grown := _grown(value, base, limits)):
        return Rise(*grown, base, "lasting", "ten times its level in the first half")
    if above.any():
        again = above.sum() >= limits.lasting_points and share >= limits.lasting_share
        return Rise(int(np.argmax(above)), limit, base, "again" if again else "single", source)
    return None


def _grown(value: FloatArray, base: float, limits: Limits) -> tuple[int, float] | None:
    limit = max(limits.floor, limits.factor * base)
    at = policy.stays_from(smooth(value) > limit)
    return (at, limit) if at is not None and len(value) - at >= limits.lasting_points else None


def _onset(curve: Curve, above: BoolArray, first: int, limit: float) -> int:
    """Return where the climb to `first` began: after the last point below half the limit."""
    below = np.flatnonzero(curve.value[: first + 1] <= CLIMB_FROM * limit)
    return int(below[-1]) + 1 if len(below) else int(np.argmax(above))


def _finding(run: Run, signals: Signals, metric: str, rise: Rise) -> Finding:
    curve = signals.curve(metric)
    onset = float(curve.step[min(rise.at, len(curve) - 1)])
    value = curve.value
    peak = int(np.argmax(value))
    severity: Severity = "warning" if metric == "kl_step" or rise.how == "again" else "critical"
    if rise.how == "single":
        severity = "info"
    above = value > rise.limit
    end = float(np.median(value[-max(3, len(value) // 10) :]))
    how = "blew up" if rise.how == "lasting" else "spiked"
    return Finding(
        severity=severity,
        title=f"{WORDS[metric]} {how} from step {step(onset)}: {number(value[peak], 3)} at step "
        f"{step(float(curve.step[peak]))} against {number(rise.base, 3)} before "
        f"(limit {number(rise.limit, 3)}).",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence(
                f"Highest {WORDS[metric]}",
                float(value[peak]),
                rise.limit,
                rise.source,
                metric,
                float(curve.step[peak]),
            ),
            Evidence("Points above the limit", float(above.sum()), where=metric),
            Evidence("Median of the first half", rise.base, where=metric),
            Evidence("At the end", end, where=metric),
        ),
        seen=f"{WORDS[metric]} was above {number(rise.limit, 3)} on {policy.share_words(above)} "
        f"and ended at {number(end, 3)}.",
        causes=_causes(run, signals, metric, value),
        fixes=_fixes(run, signals, metric),
        ruled_out=()
        if rise.how == "single"
        else (RuledOut("An outlier of the estimator", policy.share_words(above) + " lie above"),),
        confidence=policy.confidence(value[peak] / rise.limit, len(curve)),
        chart=Chart("limit", (metric, "reward"), limit=rise.limit),
    )


def _causes(
    run: Run,
    signals: Signals,
    metric: str,
    value: FloatArray,
) -> tuple[Cause, ...]:
    gain, beta, rate = policy.gain_of(signals), run.number("beta"), signals.peak_learning_rate
    mismatch = None
    if metric == "kl" and value[0] > AT_ONCE:
        why = f"KL was {number(float(value[0]), 3)} at the first point, before any learning"
        mismatch = Cause("A reference with another template or tokenizer", "most likely", why)
    small = f"beta is {number(beta)}" if beta is not None else ""
    return policy.ranked(
        mismatch,
        Cause("Learning rate too high", "likely", f"its peak is {as_rate(rate)}" if rate else ""),
        None
        if run.task == "rl"
        else Cause("KL term too weak", "likely" if (beta or 0) < 0.01 else "possible", small),  # noqa: PLR2004 - 0.001 to 0.1 is usual
        Cause("A reward that pays for leaving the reference", "likely", policy.gain_words(gain))
        if gain and gain.rising
        else None,
    )


def _fixes(run: Run, signals: Signals, metric: str) -> tuple[Fix, ...]:
    made = [
        *fixes.learning_rate(run, signals, 1 / 3, "the policy moved too far a step"),
        *policy.stronger_beta(run, "pulls the policy back to its reference"),
    ]
    again = run.number("num_iterations")
    if again and again > 1:
        why = "each further update of a batch moves the policy off it"
        made.append(fixes.setting(run, "num_iterations", 1, "Use each batch once", why))
    if metric == "kl_step" and run.task == "rl":
        what = "Stop an update at this KL"
        made.append(fixes.setting(run, "target_kl", TARGET_KL, what, "usual is 0.01 to 0.03"))
    return tuple(made)


BAD = (
    drawn(
        "climbs and stays",
        (250, 420),
        task="grpo",
        severity="critical",
        kl="0:0.01 300:0.1 450:3 900:5",
        reward="0:0.2 900:0.9",
    ),
    drawn(
        "tenfold, below the alarm",
        (550, 720),
        task="grpo",
        severity="critical",
        kl="0:0.02 600:0.05 700:0.9 900:1.2",
    ),
    drawn(
        "one point",
        (500, 500),
        0.0,
        task="grpo",
        severity="info",
        kl="0:0.02 490:0.05 500:8 510:0.05 900:0.06",
    ),
    drawn(
        "one update",
        (200, 420),
        task="rl",
        severity="warning",
        kl_step="0:0.005 300:0.02 450:0.7 900:0.7",
    ),
    drawn(
        "of a sequence",
        (200, 460),
        task="ppo",
        severity="critical",
        kl_seq="0:0.5 300:3 450:90 900:120",
    ),
)
GOOD = (
    drawn("grows within health", task="grpo", kl="0:0.0001 300:0.02 900:0.2"),
    drawn("steady", task="grpo", noise=0.2, kl="0:0.3 900:0.35"),
    drawn("summed over tokens", task="ppo", kl_seq="0:0.5 900:14"),
    drawn("ordinary updates", task="rl", noise=0.3, kl_step="0:0.01 900:0.02"),
)

RULE = Rule(
    slug="kl-blow-up",
    title="KL blow-up",
    family="RLX",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("kl|kl_seq|kl_step",),
    tasks=RL_TASKS,
    bad=BAD,
    good=GOOD,
)
