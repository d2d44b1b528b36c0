"""Flat reward: it moves, but it does not rise.

What is seen
    The reward of the last tenth of the run is no higher than that of the first, and there is no
    upward trend in between.
Why it matters
    The policy did not learn what it was rewarded for: the run cost what a good one costs.
Looks alike
    A run that rose in its first steps and then held its level; a reward near its highest value
    from the start; one that never moves at all (reward-stuck-zero, zero-reward-std); a run that
    was cut long before its plan; a history whose first steps are missing, in which the rise may
    lie. The last three of these are said as info or left to their rules.
Limits
    fewest: points. loud_from: points from which it is a warning. loud_steps, power: so is it from
    fewer points (a row of GRPO is often the mean of several steps) over so many steps, if a rise
    of this share of the spread within a group would have been seen. gain: of the last over the
    first tenth, in standard deviations of all points; less, or less than its own standard
    error, counts as flat. thirds: rise of the last over the first third, in standard errors,
    that is no chance, and the rise that could have been seen. tau: Kendall's, at most. p: of a
    trend. early: gain over the first points, in standard errors, that counts as learnt.
    saturated: share of the highest possible reward at the start. done: share of the plan below
    which it is too early to be loud.
    Measured on 800 simulated rising runs, most with a gain below their noise: 1.6 % warnings;
    75 % of the flat ones are found.
Fixes
    Two to three times the learning rate where KL shows that nothing moved; 16 completions a
    prompt; half of beta; prompts that are neither always nor never solved.
"""

from dataclasses import dataclass
from typing import NamedTuple

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
from runlens.history import Curve, FloatArray
from runlens.rules.rl import policy
from runlens.rules.rl.policy import Gain
from runlens.rules.rule import RL_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import MEDIAN_LOSS, inflation, mad
from runlens.wording import number, percent, step
from runlens.wording import rate as as_rate

STILL = 1e-3  # nats a token: KL of a policy that did not move
STRONG_BETA = 0.1
CEILING = 0.5  # share of points exactly at the highest value


@dataclass(frozen=True)
class Limits:
    """What may be tuned."""

    fewest: int = 20
    loud_from: int = 100
    loud_steps: int = 100
    power: float = 0.5
    gain: float = 0.25
    thirds: float = 2.5
    tau: float = 0.1
    p: float = 0.01
    early: float = 4.0
    saturated: float = 0.8
    warm: float = 0.5
    sunk: float = 2.0
    sunk_tau: float = 0.2
    done: float = 0.3


class Rise(NamedTuple):
    """The rise of the last over the first third."""

    seen: float
    visible: float  # what would not be chance

    @property
    def fell(self) -> bool:
        """Whether it is a fall that is no chance."""
        return self.seen < -self.visible


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the first with the last tenth, and look for a trend."""
    reward = signals.curve("reward")
    if len(reward) < limits.fewest:
        return unmet(f"only {len(reward)} of the {limits.fewest} points of reward that are needed")
    gain = policy.gain_of(signals)
    if gain is None or np.ptp(reward.value) <= 0:
        return passed(f"reward is {number(float(reward.value[0]), 3)} on all points")
    if gain.p < limits.p and gain.tau > limits.tau:
        return passed(f"reward rose from {number(gain.start, 3)} to {number(gain.end, 3)}")
    units = (gain.end - gain.start) / _spread(reward.value)
    rise, error = _by_thirds(reward.value)
    if rise > limits.thirds * error:
        return passed(f"the last third lies {number(rise, 2)} above the first, slow but steady")
    noise = MEDIAN_LOSS * float(np.sqrt(2 / max(3, len(reward) // 10)))
    if units >= max(limits.gain, noise) or gain.tau >= limits.tau:
        return passed(f"reward gained {number(units, 2)} standard deviations")
    if _rose_early(reward.value, gain, limits):
        return passed(f"reward rose in the first points, to {number(gain.end, 3)}")
    return found(_finding(run, signals, gain, Rise(rise, limits.thirds * error), limits))


def _spread(value: FloatArray) -> float:
    """Return the standard deviation of all points: of a flat reward, noise and wandering.

    Where most values are equal and few lie far out the robust one is next to nothing.
    """
    return max(mad(value), 0.5 * float(value.std()), 1e-12)


def _by_thirds(value: FloatArray) -> tuple[float, float]:
    """Return how far the last third lies above the first on average, and its standard error."""
    third = max(3, len(value) // 3)
    first, last = value[:third], value[-third:]
    spread = float(np.sqrt((first.var() + last.var()) / 2))
    within = np.concatenate([first - first.mean(), last - last.mean()])
    return float(last.mean() - first.mean()), spread * float(np.sqrt(2 / third)) * inflation(within)


def _rose_early(value: FloatArray, gain: Gain, limits: Limits) -> bool:
    """Whether the end lies clearly above the very first points, which a tenth may hide."""
    count = len(value)
    tail = max(3, count // 10)
    for head in {3, max(3, count // 50), max(3, count // 20)}:
        error = MEDIAN_LOSS * gain.scatter * float(np.sqrt(1 / head + 1 / tail))
        if gain.end - float(np.median(value[:head])) > limits.early * error:
            return True
    return False


def _severity(
    run: Run, signals: Signals, gain: Gain, rise: Rise, limits: Limits
) -> tuple[Severity, str]:
    reward = signals.curve("reward")
    value, top = reward.value, policy.top_of(reward.value)
    if top and gain.start >= limits.saturated * top and gain.end >= limits.saturated * top:
        return "info", f"it started at {percent(gain.start / top)} of the highest possible value"
    if (value == value.max()).mean() >= CEILING:
        return "info", f"half of the points are at the highest value, {number(value.max(), 3)}"
    if policy.starts_late(reward):
        return "info", f"what came before step {step(float(reward.step[0]))} is not known"
    if run.task == "rl" and top and gain.start >= limits.warm * top:
        told = f"it started at {percent(gain.start / top)} of the highest possible value"
        return "info", f"{told}: a policy that was trained before is not told from a new one"
    few = len(value) < limits.loud_from
    if few and not (_sunk(gain, rise, limits) or _powerful(run, signals, rise, limits)):
        return "info", f"only {len(value)} points"
    share = run.state.done_share
    if share is not None and share < limits.done:
        return "info", f"only {percent(share)} of the plan was done"
    return "warning", ""


def _sunk(gain: Gain, rise: Rise, limits: Limits) -> bool:
    """Whether the reward ends so far below its start that few points prove it."""
    steady = gain.p < limits.p and gain.tau < -limits.sunk_tau
    return steady and rise.seen < -limits.sunk * rise.visible


def _powerful(run: Run, signals: Signals, rise: Rise, limits: Limits) -> bool:
    """Whether few points would show a rise: means of several steps, against the groups' spread."""
    reward, spread = signals.curve("reward"), signals.curve("reward_std").value
    steps = float(reward.step[-1] - reward.step[0])
    if run.task != "grpo" or not len(spread) or steps < limits.loud_steps or rise.fell:
        return False
    return rise.visible <= limits.power * float(np.median(spread))


def _finding(run: Run, signals: Signals, gain: Gain, rise: Rise, limits: Limits) -> Finding:
    reward = signals.curve("reward")
    onset = float(reward.step[0])
    severity, quiet = _severity(run, signals, gain, rise, limits)
    spread = _spread(reward.value)
    moved = "fell" if rise.fell else "did not rise"
    ruled_out = [RuledOut("A rise in the first points", "the end lies within their noise")]
    return Finding(
        severity=severity,
        title=f"Reward {moved} from step {step(onset)} to {step(float(reward.step[-1]))}: "
        f"{number(gain.end, 3)} in the last tenth against {number(gain.start, 3)} in the first.",
        metric="reward",
        onset=Moment(onset),
        evidence=(
            Evidence(
                "Gain of the last over the first tenth in standard deviations",
                (gain.end - gain.start) / spread,
                limits.gain,
                "a quarter of the noise",
                "reward",
                above=False,
            ),
            Evidence("Trend (Kendall's tau)", gain.tau, limits.tau, "no trend", above=False),
            Evidence("Standard deviation of the reward", spread, where="reward"),
        ),
        seen=f"Over {len(reward):,} points the reward had a trend of {number(gain.tau, 2)} "
        f"(p {number(gain.p, 2)}) in a spread of {number(spread, 3)}; a rise of "
        f"{number(rise.visible, 2)} from the first to the last third would have been seen.",
        causes=_causes_of_fall(signals, reward) if rise.fell else _causes(run, signals),
        fixes=_fixes_of_fall(run, signals, reward) if rise.fell else _fixes(run, signals),
        ruled_out=tuple(ruled_out),
        confidence=policy.confidence(
            1.5 if gain.tau < 0 else 1.2, len(reward), quiet or "short gains hide in the noise"
        ),
        chart=Chart("curves", ("reward",)),
    )


def _still(signals: Signals) -> str:
    """Say what shows that the policy did not move; empty where nothing does."""
    kl = signals.curve("kl").value
    if len(kl) >= policy.FEWEST and np.abs(np.median(kl[-len(kl) // 4 :])) < STILL:
        level = number(float(np.median(kl[-len(kl) // 4 :])), 2)
        return f"the median KL of the last quarter is {level}"
    entropy = signals.levels("entropy")
    if len(signals.curve("entropy")) >= policy.FEWEST and entropy.start > 0:
        change = entropy.end / entropy.start - 1
        if abs(change) < 0.03:  # noqa: PLR2004 - within what a few updates change
            return f"entropy changed by {percent(change)}"
    return ""


def _causes(run: Run, signals: Signals) -> tuple[Cause, ...]:
    still, beta = _still(signals), run.number("beta")
    equal = signals.curve("frac_zero_std").value
    dead = float(equal.mean()) if len(equal) else 0.0
    rate = signals.peak_learning_rate
    low = f"{still}, learning rate {as_rate(rate)}" if still and rate else still
    return policy.ranked(
        Cause("Learning rate too low: the policy hardly moved", "most likely", low)
        if still
        else None,
        Cause("Groups without reward spread", "likely", f"{percent(dead)} of them on average")
        if dead > 0.5  # noqa: PLR2004 - more than half of the groups
        else None,
        Cause("KL term too strong", "likely", f"beta is {number(beta)}")
        if beta and beta > STRONG_BETA and run.task != "rl"
        else None,
        policy.critic_cause(signals),
        Cause("Task too hard, or a reward that is mostly noise", "possible" if still else "likely"),
    )


def _causes_of_fall(signals: Signals, reward: Curve) -> tuple[Cause, ...]:
    return policy.ranked(
        policy.critic_cause(signals),
        policy.rate_cause(signals, float(reward.step[-1])),
        Cause("A reward or an advantage with the wrong sign", "possible"),
    )


def _fixes_of_fall(run: Run, signals: Signals, reward: Curve) -> tuple[Fix, ...]:
    made = list(policy.normalised(signals))
    if not policy.small_steps(signals, float(reward.step[-1])):
        made.extend(fixes.learning_rate(run, signals, 1 / 3, "the policy gets worse by its steps"))
    what = "Check by hand on one batch that better actions have the higher advantage"
    return (*made, fixes.action(what, "a wrong sign trains the opposite"))


def _fixes(run: Run, signals: Signals) -> tuple[Fix, ...]:
    made: list[Fix] = []
    if still := _still(signals):
        made.extend(fixes.learning_rate(run, signals, 3, f"nothing moved: {still}"))
    made.extend(policy.normalised(signals))
    made.extend(policy.more_generations(run, "a rare success shows up in more groups"))
    beta = run.number("beta")
    if beta and beta > STRONG_BETA and run.task != "rl":
        new = fixes.two_digits(beta / 2)
        made.append(fixes.setting(run, "beta", new, "Weaken the KL term", "lets the policy move"))
    if run.task == "grpo":
        what = "Leave out prompts that are always or never solved"
        return (*made, fixes.action(what, "they teach nothing"))
    what = "Score a random and an expert policy with the same reward"
    return (*made, fixes.action(what, "shows whether it can be earned at all"))


BAD = (
    drawn(
        "noise only",
        (0, 10),
        0.3,
        task="grpo",
        severity="warning",
        reward="0:0.4 1500:0.4",
        kl="0:0.0001 1500:0.0002",
    ),
    drawn("falls a little", (0, 10), 0.2, task="rl", severity="warning", reward="0:-12 2000:-14"),
    drawn(
        "few points, no trend", (0, 10), 0.3, task="grpo", severity="info", reward="0:0.5 450:0.48"
    ),
    drawn(
        "few points over many steps",
        (0, 10),
        0.02,
        task="grpo",
        severity="warning",
        reward="0:1.4 250:1.4",
        reward_std="0:0.3 250:0.3",
    ),
    drawn(
        "its start is missing",
        (1000, 1000),
        0.3,
        task="rl",
        severity="info",
        reward="1000:1.3 3000:1.25",
    ),
    drawn(
        "few points, far below the start",
        (0, 10),
        0.02,
        task="rl",
        severity="warning",
        reward="0:-1100 200:-1150 600:-1600",
    ),
    drawn(
        "a policy that was trained before",
        (0, 10),
        0.02,
        task="rl",
        severity="info",
        reward="0:0.76 2000:0.76",
    ),
    drawn("near the top", (0, 10), 0.02, task="grpo", severity="info", reward="0:0.9 1500:0.9"),
)
GOOD = (
    drawn("rises", noise=0.2, task="grpo", reward="0:0.3 1500:0.6"),
    drawn("rose at once", noise=0.05, task="rl", reward="0:10 30:480 3000:480"),
    drawn("rises over few points", noise=0.05, task="grpo", reward="0:0.5 250:0.8"),
    drawn("never moves", noise=0.0, task="grpo", reward="0:1 1500:1"),
)

RULE = Rule(
    slug="reward-flat",
    title="Flat reward",
    family="RLX",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("reward",),
    tasks=RL_TASKS,
    bad=BAD,
    good=GOOD,
)
