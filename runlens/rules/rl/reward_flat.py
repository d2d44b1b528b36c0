"""Flat reward: it moves, but it does not rise.

What is seen
    The reward ends no higher than it began, or lower, and there is no upward trend in between.
    Or it rises, and the part of it that stands for the task (by its name) does not.
Why it matters
    The policy did not learn what it was rewarded for: the run cost what a good one costs.
Looks alike
    A run that rose in its first steps and then held its level; a reward near its highest value
    from the start; one that never moves at all (reward-stuck-zero, zero-reward-std; above zero,
    in classic RL, as info); a run that
    was cut long before its plan; a history whose first steps are missing, in which the rise may
    lie; a policy of classic RL that was trained before and keeps its level; a policy that plays
    against itself. The last five of these are said as info or left to their rules.
Limits
    loud_from: points from which it is a warning. loud_steps, power: so is it from fewer points (a
    row of GRPO is often the mean of several steps) over so many steps, if a rise of this share of
    the spread within a group would have been seen; so is it, in classic RL, where nothing of its
    updates is logged, if a rise of this many standard deviations would have been (large: Cohen's
    word for 0.8). thirds: rise of the last over the first third, in standard errors, that could
    have been seen. tau: Kendall's, at most. p: of a trend. least: a gain below this share of the
    reward at the start is none, unless its trend is no chance; doubt: nor is a larger one whose
    order chance shows more often than this, nor, of many points, one whose order chance shows more
    often than p and whose thirds do not tell it from noise (an info), nor, in classic RL, one of
    less than slight of the scatter of single points and little of the start, however sure. early:
    gain over the first points, in standard errors, that counts as learned. saturated: share of the
    highest possible reward at the start; warm: the same in classic RL, where a new policy seldom
    begins above half. sunk: a fall this many times larger than chance, with a trend, is proof from
    few points as well. done: share of the plan below which it is too early to be loud. Measured on
    150 simulated rewards of 300 points each: a rise by one standard deviation is called flat in 0.7
    %, by two in none; 89 % of the flat ones are found.
Fixes
    Normalized rewards where the value function explains nothing; a look at the sign of reward and
    advantage where it falls; two to three times the learning rate where KL shows that nothing
    moved; 16 completions per prompt; half of beta; prompts that are sometimes solved.
"""

import numpy as np
from msgspec import Struct

from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Finding,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import FloatArray
from runlens.rules.rl import flat_advice, flat_words, policy, reward_parts
from runlens.rules.rl.policy import Gain
from runlens.rules.rl.rise import GOOD as RISES
from runlens.rules.rl.rise import Rise, by_thirds, without_success
from runlens.rules.rule import RL_TASKS, Case, Rule, drawn, found, passed, unless, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import MEDIAN_LOSS, inflation
from runlens.signals.shape import EXACT, kendall
from runlens.wording import number, percent, step, too_few

FEWEST = 6  # points of a part of the reward: two thirds of three
EVEN = 0.25  # mean over size of wins and losses: against itself it is 0
HELD = 0.5  # of what had been gained at the best: what lost more is reward-collapse's, or flat
CEILING = 0.5  # share of points exactly at the highest value


class Limits(Struct, frozen=True):
    """What may be tuned."""

    loud_from: int = 100
    loud_steps: int = 100
    power: float = 0.5
    large: float = 0.8
    thirds: float = 2.5
    early: float = 4.0
    least: float = 0.005
    tau: float = 0.1
    p: float = 0.01
    doubt: float = 0.1
    slight: float = 0.5
    little: float = 0.1
    saturated: float = 0.8
    warm: float = 0.5
    sunk: float = 2.0
    done: float = 0.3


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look for a rise over the run; where there is one, for parts of the reward without."""
    reward = signals.curve("reward")
    if len(reward) < policy.FEWEST_GAIN:
        return unmet(too_few(len(reward), "reward", policy.FEWEST_GAIN))
    gain = policy.gain_of(signals)
    if gain is None or np.ptp(reward.value) <= 0:
        told = ("zero-reward-std", "reward-stuck-zero")
        if run.task == "rl" and len(reward) >= limits.loud_from and reward.value[0] > 0:
            return unless(told, "another rule tells it", flat_words.constant(reward))
        return passed(f"reward is {number(float(reward.value[0]), 3)} on all points", told[:1])
    reading = _rise(signals, "reward", gain, limits)
    if isinstance(reading, Rise):
        return found(_finding(run, signals, gain, reading, limits))
    if gain.rising and (part := _left_behind(run, signals, limits)):
        quiet = len(signals.curve(part.metric)) < limits.loud_from
        return found(reward_parts.finding(run, signals, gain, part, quiet=quiet))
    return passed(reading)


def _rise(signals: Signals, metric: str, gain: Gain, limits: Limits) -> Rise | str:
    """Return the rise that is none; a text says by what a reward rose."""
    value = signals.curve(metric).value
    name = metric.partition(":")[2] or "reward"
    nothing = gain.end - gain.start < limits.least * abs(gain.start)
    few = len(value) <= EXACT and not nothing  # of few the memory of the noise is not known
    chance = kendall(value)[1] if few else gain.p
    first, last, error = by_thirds(value)
    overall = signals.shape(metric).fell_overall()
    falls = gain.tau <= -limits.tau and overall.effect.change < 0
    in_order = falls and max(gain.p, overall.chance) < limits.p
    rise = Rise(first, last, limits.thirds * error, gain.end < gain.start, in_order)
    slight = signals.run.task == "rl" and len(value) > EXACT and _slight(gain, limits)
    slight |= len(value) > EXACT and chance >= limits.p and rise.seen < rise.visible
    if not slight and gain.tau >= limits.tau and chance < (limits.p if nothing else limits.doubt):
        return f"{name} rose from {number(gain.start, 3)} to {number(gain.end, 3)}"
    if _rose_early(value, gain, limits):
        return f"{name} rose in the first points, to {number(gain.end, 3)}"
    if (none := without_success(value, limits.p)) and _held(value, gain, none):
        return f"{name} was 0 at each of the first {none} points and rose to {number(gain.end, 3)}"
    enough = overall.effect.change > limits.least * abs(overall.first.value)
    if enough and overall.chance < limits.p and _held(value, gain):
        return f"{name} rose from its first value {number(overall.first.value, 3)} and held that"
    return rise


def _slight(gain: Gain, limits: Limits) -> bool:
    """Whether returns of episodes rose by little: of their scatter, and of where they began."""
    rise = gain.end - gain.start
    return rise < limits.slight * gain.scatter and rise < limits.little * abs(gain.start)


def _left_behind(run: Run, signals: Signals, limits: Limits) -> reward_parts.Part | None:
    """Return the part of a rising reward that stands for the task and stands still itself."""
    for part in reward_parts.of_task(run, signals, FEWEST):
        solved = part.gain.start >= limits.saturated * part.highest
        if not solved and isinstance(_rise(signals, part.metric, part.gain, limits), Rise):
            return part
    return None


def _rose_early(value: FloatArray, gain: Gain, limits: Limits) -> bool:
    """Whether the end lies clearly above the very first points, which a tenth may hide."""
    count, tail = len(value), max(3, len(value) // 10)
    held = value[count // 2 :]
    memory = inflation(held - held.mean())  # means of many episodes wander, as does their start
    for head in {3, max(3, count // 50), max(3, count // 20)}:
        error = memory * MEDIAN_LOSS * gain.scatter * float(np.sqrt(1 / head + 1 / tail))
        by_mean = gain.kind == "mean"
        first = float(value[:head].mean()) if by_mean else policy.level(value, slice(head))
        rise = gain.end - first
        if rise > limits.early * error and _held(value, gain, head):
            return True
    return False


def _held(value: FloatArray, gain: Gain, head: int = 3) -> bool:
    """Whether the end keeps what the best had gained over the first points."""
    start, best = policy.level(value, slice(head)), float(policy.course(value).max())
    return gain.end - start >= HELD * (best - start)


def _severity(
    run: Run, signals: Signals, gain: Gain, rise: Rise, limits: Limits
) -> tuple[Severity, str]:
    reward = signals.curve("reward")
    value, top = reward.value, policy.top_of(reward.value)
    if policy.unmoved(signals):
        return "warning", ""
    if _of_a_game(value):
        return "info", "wins and losses: against itself a policy wins as often as it loses"
    if told := _at_the_top(value, gain, limits):
        return "info", told
    if policy.starts_late(reward):
        return "info", f"what came before step {step(float(reward.step[0]))} is not known"
    if run.task == "rl" and top and gain.start >= limits.warm * top:
        told = f"it started at {percent(gain.start / top)} of the highest possible value"
        return "info", f"{told}: a policy that was trained before is not told from a new one"
    if gain.tau >= limits.tau and limits.p <= gain.p < limits.doubt and gain.end > gain.start:
        return "info", f"chance shows such a trend one time in {round(1 / gain.p)}"
    few = len(value) < limits.loud_from
    alone = run.task == "rl" and not any(len(signals.curve(one)) for one in policy.SMALL_STEP)
    clear = alone and rise.visible <= limits.large * float(value.std())
    if few and not (clear or _sunk(gain, rise, limits) or _powerful(run, signals, rise, limits)):
        return "info", f"only {len(value)} points"
    if (share := run.state.done_share) is not None and share < limits.done:
        return "info", f"only {percent(share)} of the plan was done"
    return "warning", ""


def _at_the_top(value: FloatArray, gain: Gain, limits: Limits) -> str:
    """Say that a reward was as high as it can be from the start on; empty where it was not."""
    top = policy.top_of(value)
    if top and gain.start >= limits.saturated * top and gain.end >= limits.saturated * top:
        return f"it started at {percent(gain.start / top)} of the highest possible value"
    if (value == value.max()).mean() >= CEILING:
        return f"half of the points are at the highest value, {number(value.max(), 3)}"
    return ""


def _of_a_game(value: FloatArray) -> bool:
    """Whether all rewards are wins, draws and losses of one size, as many won as lost."""
    size = float(np.abs(value).max())
    even = abs(float(value.mean())) <= EVEN * size and value.min() < 0  # else nobody loses
    return bool(even and np.isin(value, (-size, 0.0, size)).all())


def _sunk(gain: Gain, rise: Rise, limits: Limits) -> bool:
    """Whether the reward ends so far below its start that few points prove it."""
    steady = gain.p < limits.p and gain.tau < 0
    return steady and rise.seen < -limits.sunk * rise.visible


def _powerful(run: Run, signals: Signals, rise: Rise, limits: Limits) -> bool:
    """Whether few points would show a rise: means of several steps, against the groups' spread."""
    reward, spread = signals.curve("reward"), signals.curve("reward_std").value
    steps = float(reward.step[-1] - reward.step[0])
    if run.task != "grpo" or not len(spread) or steps < limits.loud_steps or rise.fell:
        return False
    return rise.visible <= limits.power * float(median(spread))


def _finding(run: Run, signals: Signals, gain: Gain, rise: Rise, limits: Limits) -> Finding:
    reward = signals.curve("reward")
    onset = float(reward.step[0])
    severity, quiet = _severity(run, signals, gain, rise, limits)
    gained = gain.end > gain.start
    early = flat_words.leveled(gain, rise)
    still = "leveled off early" if early else "did not clearly rise" if gained else "did not rise"
    moved = "fell" if rise.fell else still
    since = " and rose no further up to" if early else f" from step {step(onset)} to"
    where = "below them" if rise.fell else "within their noise"
    leveled = RuledOut("An early rise that leveled off", f"the end lies {where}")
    causes = flat_advice.causes(run, signals)
    fixes = flat_advice.fixes_of_flat(run, signals, early=quiet.startswith("only"))
    if rise.fell:
        causes = flat_advice.causes_of_fall(signals)
        fixes = flat_advice.fixes_of_fall(run, signals, reward)
    return Finding(
        severity=severity,
        title=f"Reward {moved}{since} step {step(float(reward.step[-1]))}. "
        f"{flat_words.ends(gain, rise, len(reward))}.",
        heading="Falling reward" if rise.fell else "",
        # it rose before, or had no room to rise: that says nothing against the run
        harmless=severity == "info" and (early or bool(_at_the_top(reward.value, gain, limits))),
        metric="reward",
        onset=Moment(onset),
        evidence=flat_words.rows(gain, rise),
        seen=flat_words.seen(signals, gain, rise),
        causes=causes,
        fixes=fixes,
        ruled_out=() if early else (leveled,),
        confidence=policy.confidence(
            -rise.seen / max(rise.visible, 1e-12) if rise.fell else 1.5 if gain.tau < 0 else 1.2,
            len(reward),
            quiet or ("" if rise.fell else "short gains hide in the noise"),
        ),
        chart=Chart("curves", ("reward",)),
    )


BAD = (
    drawn("always the same", (0, 10), 0.0, task="rl", severity="info", reward="0:6 2000:6"),
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
    drawn("late", (1000, 1000), 0.3, task="rl", severity="info", reward="1000:1.3 3000:1.25"),
    Case(
        "it rises by its form alone",
        {
            "reward": "0:0.87 1500:1.0",
            "reward:correctness_reward": "0:0.7 400:0.68 800:0.72 1200:0.69 1500:0.7",
            "reward:reasoning_reward": "0:0.12 1500:0.3",
        },
        (0, 10),
        {"reward": 0.05, "reward:correctness_reward": 0.2, "reward:reasoning_reward": 0.1},
        task="grpo",
        severity="warning",
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
    drawn(
        "wins and losses against itself",
        (0, 10),
        0.0,
        task="rl",
        severity="info",
        reward="0:1 "
        + " ".join(f"{10 * k}:{(1, -1, -1, 1, -1, 1, 1)[k % 7]}" for k in range(1, 300)),
    ),
    Case(
        "no update moves the policy",
        {
            "reward": "0:1 "
            + " ".join(f"{10 * k}:{(1, -1, -1, 1, -1, 1, 1)[k % 7]}" for k in range(1, 40)),
            "kl_step": "0:0 400:0",
            "loss/entropy_loss": "0:-0.3497 400:-0.3497",
        },
        (0, 10),
        0.0,
        task="rl",
        severity="warning",
    ),
    drawn("rises by nothing", (0, 10), 5e-4, task="rl", severity="info", reward="0:9 600:9.004"),
    drawn(
        "ten points in an order that chance shows one time in nine",
        (0, 10),
        0.0,
        task="ppo",
        severity="info",
        reward="0:1.0 10:1.1 20:1.8 30:1.4 40:1.3 50:1.5 60:1.6 70:1.9 80:1.2 90:1.7",
    ),
    drawn("near the top", (0, 10), 0.02, task="grpo", severity="info", reward="0:0.9 1500:0.9"),
)
GOOD = (
    drawn("rises by a percent", noise=8e-3, task="rl", reward="0:9 600:9.09"),
    *RISES,
    drawn("rises", noise=0.2, task="grpo", reward="0:0.3 1500:0.6"),
    drawn("rose at once", noise=0.05, task="rl", reward="0:10 30:480 3000:480"),
    drawn("rises over few points", noise=0.05, task="grpo", reward="0:0.5 250:0.8"),
    Case(
        "the task is solved more often as well",
        {
            "reward": "0:0.9 1500:1.5",
            "reward:correctness_reward": "0:0.5 1500:0.8",
            "reward:format_reward": "0:0.4 1500:0.7",
        },
        noise=0.1,
        task="grpo",
    ),
    Case(
        "the task was solved at the start",
        {
            "reward": "0:1.3 1500:1.9",
            "reward:correctness_reward": "0:0.95 1500:0.95",
            "reward:format_reward": "0:0.4 1500:0.9",
        },
        noise=0.03,
        task="grpo",
    ),
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
