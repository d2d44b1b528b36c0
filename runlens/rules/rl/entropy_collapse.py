"""Entropy collapse: the policy has stopped trying anything else.

What is seen
    The entropy of the policy falls to near nothing and stays there: every prompt, or every
    state, gets the same answer.
Why it matters
    Learning by reward needs attempts that differ. From here on the groups are equal, the
    gradient is small, and what the policy does is what it will do.
Looks alike
    A slow fall to a tenth of the start while reward rises is what learning looks like. A
    classic environment that is solved ends nearly deterministic: said as info. The entropy of
    continuous actions may be negative: their standard deviation is judged instead. The entropy
    of a supervised run is that of its predictions and is not judged at all.
Limits
    absolute: 0.01 nats per token, by the definition of the pattern (0.05-0.5 is healthy); of a
    sequence where only its sum is logged, which shrinks with its length as well.
    relative: 5 % of the start.
    A fall of nine tenths within 5 % of the run, as long before the limit, is dated there.
    hysteresis: once below, up to twice the limit still counts as below.
    early: 10 % of the start counts as a warning where reward shows no gain (no_gain: Kendall's
    tau at most 0.1).
    solved: a reward that is this share of the way from start to best. The start is the first
    value as logged, or the median of the first 5 % where that is higher. Measured on 10,000
    simulated runs: no false alarm where the end is above 12 % of the start, power 98.7 %.
Fixes
    Temperature back to 1.0, half the learning rate, a KL term or an entropy bonus, more
    completions per prompt, a higher upper clip limit.
"""

from dataclasses import dataclass

import numpy as np

from runlens import fixes
from runlens.arrays import median, quantile
from runlens.diagnosis import (
    Chart,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import Curve, FloatArray
from runlens.knowledge import in_force
from runlens.records import NamedTuple
from runlens.rules.relations import AT_ONCE, Relations
from runlens.rules.rl import policy
from runlens.rules.rl.policy import Gain
from runlens.rules.rule import RL_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.changes import HALF
from runlens.signals.noise import MEDIAN_LOSS, running_median, window
from runlens.wording import capitalised, number, percent, step, too_few

NEGATIVE = -0.01  # nats: a discrete entropy is never below zero
FEW = 0.05  # share of the points below it: fewer are single estimates
REST = 0.1  # of a fall: nine tenths are done
ERRORS = 2.0  # of the median of the last points: the best of about twenty levels is that far up
FAR = 3.0  # times that: from there on a climb is none of noise
CLIP_HIGH = 0.28  # upper clip limit of DAPO
# over the tokens of an answer: below the limit of one token each of them is, whatever its length
SUMMED = "entropy_seq"
WORDS = {"entropy": "Entropy", SUMMED: "Entropy of a sequence"}
ENTROPY_BONUS = 0.005  # 0.001 to 0.01 is usual


@dataclass(frozen=True)
class Limits:
    """What may be tuned."""

    absolute: float = 0.01
    relative: float = 0.05
    hysteresis: float = 2.0
    early: float = 0.10
    no_gain: float = 0.1
    solved: float = 0.9


class Fall(NamedTuple):
    """From which point on the curve lies below its limit."""

    at: int
    start: float
    end: float
    limit: float
    early: bool
    metric: str = "entropy"


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the entropy with a share of its start."""
    metric = "std" if run.task == "rl" and len(signals.curve("std")) else "entropy"
    if metric == "entropy" and not len(signals.curve(metric)):
        metric = SUMMED
    curve = signals.curve(metric)
    if len(curve) < policy.FEWEST_FINITE:
        return unmet(too_few(len(curve), "entropy value", policy.FEWEST_FINITE))
    if quantile(curve.value, FEW) < NEGATIVE:  # a single estimate may be anything
        return passed(
            f"entropy went to {number(float(curve.value.min()))}: continuous actions, whose "
            "entropy may be negative; their std is not logged"
        )
    gain = policy.gain_of(signals)
    fall = _fall(curve, gain, limits, metric)
    if fall is None:
        return passed(f"{metric} is {policy.last_words(curve)}")
    return found(_finding(run, signals, curve, metric, fall, gain, limits))


def _fall(curve: Curve, gain: Gain | None, limits: Limits, metric: str) -> Fall | None:
    value, points = curve.value, len(curve)
    # a fast fall hides in a twentieth of a long run
    start = max(float(value[0]), float(median(value[: policy.head(points)])))
    end = policy.last_level(value)
    shown = running_median(value, window(points)) if points >= policy.FEW else value
    relative = limits.relative * start
    if metric == "entropy":
        relative = max(limits.absolute, relative)
    if metric == SUMMED or policy.starts_late(curve):
        relative = limits.absolute
    least = policy.lasting(points)
    held = policy.stays_from(shown < limits.hysteresis * relative)
    if held is not None and end < relative and (shown[held:] < relative).any():
        at = held + int(np.argmax(shown[held:] < relative))
        if points - at >= least:
            return Fall(
                _fell_by(shown, start, end, at), start, end, relative, early=False, metric=metric
            )
    stuck = gain is not None and gain.tau <= limits.no_gain and metric != SUMMED
    held = policy.stays_from(shown < limits.early * start)
    if stuck and held and points - held >= least:
        return Fall(held, start, end, limits.early * start, early=True, metric=metric)
    return None


def _fell_by(shown: FloatArray, start: float, end: float, at: int) -> int:
    """Return where a fast fall was over, which creeps on for long to the limit at `at`."""
    half, most = (policy.stays_from(shown < end + left * (start - end)) for left in (HALF, REST))
    soon = AT_ONCE * len(shown)
    fast = half is not None and most is not None and most - half <= soon < at - most
    return most if fast and most is not None else at


def _severity(
    run: Run, signals: Signals, fall: Fall, gain: Gain | None, limits: Limits
) -> tuple[Severity, tuple[RuledOut, ...]]:
    reward = signals.curve("reward")
    if len(reward) >= policy.FEWEST_GAIN:
        start = float(median(reward.value[: policy.head(len(reward))]))
        end = policy.last_level(reward.value)
        best = float(policy.course(reward.value).max())
        noise = policy.scatter(reward.value)
        climbed = best - start > noise
        # the best of several levels lies above what they share, by what their noise has
        error = ERRORS * MEDIAN_LOSS * noise / policy.tail(len(reward.value)) ** 0.5
        first = float(reward.value[0])
        # few points: it may climb within the first. So it does in many where the policy settled
        # there; one point of many is held against what single points scatter by
        climbs = best - first > FAR * error and len(reward) < 2 * policy.FEW
        settled = _settled_in(reward, signals.curve(fall.metric)) and start - first > FAR * noise
        start = min(start, first) if climbs or settled else start
        level = best - error if best - start > FAR * error else best
        if climbed and end - start >= limits.solved * (level - start):
            why = f"reward is {policy.last_words(reward)}, near its best"
            severity: Severity = "info" if run.task == "rl" else "warning"
            return severity, (RuledOut("A reward that fell with it", why),)
    mild = fall.early or (gain is not None and gain.rising)
    return ("warning" if mild else "critical"), ()


def _settled_in(reward: Curve, curve: Curve) -> bool:
    """Whether the entropy had halved within the points that make the reward's start."""
    halved = curve.value < HALF * float(curve.value[0])
    first = float(curve.step[int(np.argmax(halved))]) if halved.any() else np.inf
    return first <= float(reward.step[policy.head(len(reward)) - 1])


def _finding(
    run: Run,
    signals: Signals,
    curve: Curve,
    metric: str,
    fall: Fall,
    gain: Gain | None,
    limits: Limits,
) -> Finding:
    onset = float(curve.step[fall.at])
    severity, ruled_out = _severity(run, signals, fall, gain, limits)
    what = WORDS.get(metric, "Standard deviation of the actions")
    first = number(float(curve.value[0]), 3)
    began = f"collapsed at step {step(onset)}, from {first} at the start to "
    if fall.at == 0:
        began = f"was near 0 throughout, {first} at the first logged step and "
    source = f"{percent(limits.early if fall.early else limits.relative)} of the start"
    if fall.limit <= limits.absolute:
        source = "definition of the pattern"
    rows = [
        Evidence(f"{what} at the end", fall.end, fall.limit, source, metric, above=False),
        Evidence(f"{what} at the start", fall.start, where=metric),
    ]
    return Finding(
        severity=severity,
        title=f"{what} {began}{policy.last_words(curve)}.",
        metric=metric,
        onset=Moment(onset),
        evidence=tuple(rows),
        seen=f"{capitalised(_reward_words(gain))}.",
        fixes=_fixes(run, signals),
        ruled_out=ruled_out,
        confidence=policy.sure(
            min(10.0, fall.limit / max(fall.end, 1e-12)),
            signals.shape(metric).fell_overall().chance,
            len(curve),
            "reward was compared" if gain else "",
        ),
        chart=Chart("limit", (metric, "reward"), limit=fall.limit),
    )


def _reward_words(gain: Gain | None) -> str:
    return "there is no reward to compare it with" if gain is None else policy.gain_words(gain)


def _fixes(run: Run, signals: Signals) -> tuple[Fix, ...]:
    made = [
        *policy.warmer(run, "completions then differ more; 0.8 to 1.0 is usual"),
        *fixes.learning_rate(run, signals, 1 / 2, "smaller updates keep the policy exploring"),
    ]
    if run.task == "rl":
        what = "Raise the entropy bonus" if run.number("entropy_coef") else "Add an entropy bonus"
        why = "a bonus of 0.001 to 0.01 is usual"
        made.append(Fix(what, "entropy_coef", run.setting("entropy_coef"), ENTROPY_BONUS, why))
        return tuple(made)
    if not run.number("beta"):
        made.extend(policy.stronger_beta(run, "this holds the policy near its reference"))
    made.extend(policy.more_generations(run, "there are then more attempts to compare"))
    if run.task == "grpo" and in_force.clips_ratio(run):
        what = "Raise the upper clip bound (clip-higher)"
        made.append(
            fixes.setting(
                run,
                "epsilon_high",
                CLIP_HIGH,
                what,
                "rare tokens may grow further, as in DAPO",
            )
        )
    return tuple(made)


FLAT = "0:0.4 600:0.42"
LEVEL = (
    "10:0.83 15:0.93 20:0.88 25:0.92 30:0.88 35:0.96 40:0.98 45:0.92 50:0.87 55:0.94 60:0.88"
    " 70:0.96 80:0.92 85:0.89 95:0.93 115:0.87 120:0.95 125:0.99 130:0.85 145:0.92"
)
BAD = (
    drawn(
        "to nothing",
        (330, 480),
        task="grpo",
        severity="critical",
        entropy="0:1.8 300:1.2 450:0.02 900:0.01",
        reward="0:0.4 300:0.6 450:0.3 900:0.3",
    ),
    drawn(
        "solved and frozen",
        (330, 560),
        task="grpo",
        severity="warning",
        entropy="0:1.8 500:0.04 900:0.02",
        reward="0:0.2 500:0.9 900:0.95",
    ),
    drawn("from the start", (0, 0), task="grpo", entropy="0:0.003 600:0.002", reward=FLAT),
    drawn(
        "early form",
        (300, 480),
        0.05,
        task="rl",
        severity="warning",
        entropy="0:2.1 450:0.16 900:0.15",
        reward="0:-10 400:-9 900:-18",
    ),
    drawn(
        "solved environment",
        (330, 560),
        task="rl",
        severity="info",
        entropy="0:0.68 500:0.02 900:0.01",
        reward="0:10 500:480 900:500",
    ),
    drawn(
        "the best of few actions is found, by a reward that scatters",
        (6, 9),
        severity="info",
        noise=0,
        task="rl",
        entropy="/1 0:1.93 1:1.21 2:0.75 3:0.48 4:0.21 5:0.18 6:0.13 8:0.08 14:0.07",
        reward="/1 0:0.11 1:0.84 2:1.42 3:1.71 4:1.32 5:1.65 6:1.49 7:1.51 8:1.85 9:1.64 10:1.72 "
        "11:1.61 12:1.71 13:1.62 14:1.7",
    ),
    drawn(
        "found within the first of many points",
        (6, 16),
        severity="info",
        noise=0,
        task="rl",
        entropy="/5 0:2.08 5:0.79 10:0.1 15:0.037 20:0.019 145:0.003",
        reward=f"/5 0:0.41 5:0.79 {LEVEL}",
    ),
    drawn(
        "one low point of many at the start, long before the policy settles",
        (80, 120),
        severity="critical",
        noise=0,
        task="rl",
        entropy="/5 0:2.08 60:1.9 80:0.5 95:0.03 145:0.003",
        reward=f"/5 0:0.41 5:0.89 {LEVEL}",
    ),
    drawn(
        "found within the first points",
        (6, 12),
        severity="info",
        noise=0,
        task="rl",
        entropy="/1 0:1.7 1:0.93 2:0.53 3:0.31 4:0.22 5:0.22 6:0.15 10:0.11 11:0.08 14:0.058",
        reward="/1 0:0 1:1.5 2:1.69 3:1.53 4:1.79 5:1.99 6:1.43 7:1.74 8:1.77 9:1.65 10:1.56 "
        "11:1.79 12:1.31 13:1.72 14:1.75",
    ),
    drawn(
        "frozen as the reward had fallen from its best by more than it scatters",
        (6, 9),
        severity="critical",
        noise=0,
        task="rl",
        entropy="/1 0:1.93 1:1.21 2:0.75 3:0.48 4:0.21 5:0.18 6:0.13 8:0.08 14:0.07",
        reward="/1 0:0.11 1:0.84 2:1.42 3:1.71 4:1.62 5:1.65 6:1.2 7:1.1 8:0.95 9:1.04 10:0.92 "
        "11:0.91 12:1.01 13:0.92 14:1.0",
    ),
    drawn(
        "at the second record",
        (10, 30),
        0.0,
        task="grpo",
        severity="critical",
        entropy="0:0.956 10:0.24 20:0.04 60:0.02",
        reward="0:0.3 60:0.28",
    ),
    drawn(
        "nine tenths at once, and the rest in a slow creep",
        (190, 230),
        0.01,
        task="grpo",
        entropy="0:7.5 180:7 210:0.6 900:0.3",
        reward=FLAT,
    ),
    drawn(
        "the sum over a sequence is nothing",
        (20, 50),
        0.0,
        task="ppo",
        severity="warning",
        entropy_seq="0:2.02 10:1.75 20:0.66 30:0.013 40:0.001 150:0",
        reward="0:0.07 10:0.3 20:0.87 30:1 150:1",
    ),
    drawn("no reward logged", (250, 420), task="ppo", entropy="0:1.0 400:0.01 900:0.005"),
)
GOOD = (
    drawn("few points, half is left", task="grpo", entropy="0:1.2 60:0.6", reward="0:0.2 60:0.8"),
    drawn("a last point alone", task="grpo", entropy="0:1.2 60:1.1 70:0.01", reward=FLAT),
    drawn("shorter answers", task="ppo", entropy_seq="0:48 300:9 900:0.9", reward=FLAT),
    drawn("slow fall", task="grpo", entropy="0:0.5 900:0.15", reward="0:0.2 900:0.7"),
    drawn("a tenth, reward up", task="rl", entropy="0:0.68 900:0.06", reward="0:-8 900:60"),
    drawn("continuous actions", task="rl", entropy="0:1.4 500:0 900:-1.2", reward="0:10 900:300"),
    drawn("a dip", task="grpo", entropy="0:1.5 300:0.02 400:1.2 900:1.1", reward="0:0.2 900:0.7"),
    drawn("std judged", task="rl", entropy="0:1.4 500:0 900:-1.2", std="0:1 900:0.3", reward=FLAT),
)

RULE = Rule(
    slug="entropy-collapse",
    title="Entropy collapse",
    family="RLX",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(
        by_and_by=("zero-reward-std", "length-collapse", "completions-clipped"),
        ever=("reward-flat", "reward-collapse", "grad-zero"),
        layer="course",
        late=True,
    ),
    needs=("entropy|entropy_seq",),
    tasks=RL_TASKS,
    bad=BAD,
    good=GOOD,
)
