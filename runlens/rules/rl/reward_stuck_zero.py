"""Reward stuck at zero: no attempt was ever rewarded.

What is seen
    The reward is 0, or at its lowest value, on nearly all points of the run.
Why it matters
    Equal rewards have no advantage and no gradient: the policy is the one it was at the start,
    whatever the run cost. A run that learns is often above 0.15 by step 20; how high depends on
    the task, so only a reward at its floor is loud.
Looks alike
    Rewards that are centered on 0 vary within their groups (reward_std). Small rewards that differ
    from point to point may be a unit: said as info. A sparse environment needs many frames until
    its first success: loud only after a tenth of the plan, or many frames or episodes, or where its
    return has more than two decimals and never differs: many rewards, and nothing is tried. A log
    that begins late may be of a task that is solved. A penalty that is 0 was never earned. A reward
    that is constant above zero belongs to zero-reward-std. Loud from few points on: no action is
    random by the settings, or all episodes of a hundred updates ran to one length, and the policy
    did not move.
Limits
    zero: a reward of at most this size is none. share: of the points that must be so. floor_share:
    of the points that must have one and the same value, at or below zero. frames: share of the plan
    that a sparse environment is given; long_steps: a classic run that is stuck for so many frames
    is a fault where no plan is known (easy tasks are learned in 1e5), and so are episodes, as many
    as Gym judges an agent by, that are all the same, or beside which values were learned without an
    error of more than zero. set_share: so is it where the entropy ends at
    this share of its start, or never moves: the policy has settled on what is never rewarded.
    rare_share: also found where this share of the points lies exactly at the lowest value and the
    reward has no upward trend: three of four steps teach nothing; an info below rare_points.
    fewest: points (by step 20); few: from here on it is said as info.
Fixes
    Run the reward function on one right answer by hand; print completions; check that the
    dataset columns arrive; a longer completion limit; easier prompts or a reward for form.
"""

import numpy as np
from msgspec import Struct

from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import BoolArray, Curve
from runlens.records import NamedTuple
from runlens.rules.relations import Relations
from runlens.rules.rl import policy, random_start, stuck_advice, unrewarded
from runlens.rules.rule import RL_TASKS, Case, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import listed, number, percent, step, too_few

PENALTIES = ("penal", "repet", "overlong", "too_long", "toolong", "soft_punish")


class Limits(Struct, frozen=True):
    """What may be tuned."""

    zero: float = 0.01
    share: float = 0.95
    floor_share: float = 0.98
    rare_share: float = 0.75
    rare_points: int = 50
    fewest: int = 20
    few: int = 5
    frames: float = 0.10
    long_steps: int = 100_000
    episodes: int = 100
    set_share: float = 0.25


class Stuck(NamedTuple):
    """How a reward is stuck."""

    level: float
    hit: BoolArray  # points at that level, shape (n,)
    needed: float  # share that counts
    exact: bool  # one and the same value, not merely a small one
    stays: bool = True  # False where other values come between


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Count the points at zero or at the floor, of the reward and of each of its parts."""
    reward = signals.curve("reward")
    parts = [name for name in run.history.metrics if name.startswith("reward:")]
    if max((len(signals.curve(name)) for name in ("reward", *parts)), default=0) < limits.few:
        return unmet(too_few(len(reward), "reward", limits.few))
    stuck = _stuck(reward, signals, "reward", limits, rare=run.task != "rl")
    if stuck and (other := unrewarded.other_reward(run)):
        return passed(f"{other} is a reward too, and it moves")
    if stuck:
        return found(_finding(run, signals, "reward", stuck, limits))
    gain = policy.gain_of(signals)
    dead = [
        (name, one)
        for name in parts
        if not any(word in name for word in PENALTIES)
        and (one := _stuck(signals.curve(name), signals, name, limits, rare=False))
        and one.exact
        and not _penalty(signals.curve(name))
    ]
    if dead:
        rising = gain is not None and gain.rising
        return found(_finding(run, signals, *dead[0], limits, tuple(dead), rising=rising))
    share = float(np.mean(np.abs(reward.value) <= limits.zero)) if len(reward) else 0.0
    constant = len(reward) > 0 and np.ptp(reward.value) == 0
    told_by = ("zero-reward-std",) if constant else ()
    return passed(f"reward is 0 on {percent(share)} of {len(reward):,} points", told_by)


def _penalty(part: Curve) -> bool:
    """Whether a part is only ever taken away: 0 is the most that can be had of it."""
    return bool(part.value.max() == 0 > part.value.min())


def _spread(signals: Signals, metric: str) -> float | None:
    """Return the median spread of a reward, or of one of its parts, within the groups."""
    value = signals.curve(_spread_of(metric)).value
    return float(median(value)) if len(value) else None


def _spread_of(metric: str) -> str:
    return metric.replace("reward", "reward_std", 1)


def _varies(signals: Signals, metric: str) -> bool:
    """Whether rewards differ within their groups, so that a mean of 0 is centered, not stuck."""
    return (_spread(signals, metric) or 0.0) > 0


def _ruled_out(signals: Signals, metric: str) -> tuple[RuledOut, ...]:
    spread = _spread(signals, metric)
    if spread is None:
        return ()
    told = f"the median of {_spread_of(metric)} is {number(spread, 2)}"
    return (RuledOut("Rewards centered on 0", told),)


def _stuck(
    curve: Curve, signals: Signals, metric: str, limits: Limits, *, rare: bool
) -> Stuck | None:
    value = curve.value
    if len(value) < limits.few or _varies(signals, metric):
        return None
    middle = float(median(value))
    if middle > limits.zero:
        return None
    same = value == middle
    if same.mean() >= limits.floor_share:
        return Stuck(middle, same, limits.floor_share, exact=True)
    small = np.abs(value) <= limits.zero
    if small.mean() >= limits.share:
        return Stuck(0.0, small, limits.share, exact=bool(same.mean() >= limits.rare_share))
    moved = signals.trend(metric)
    rises = moved.p < policy.RISING_P and moved.tau > 0
    lowest = middle == float(value.min()) and same.mean() >= limits.rare_share
    if rare and len(value) >= limits.fewest and lowest and not rises:
        return Stuck(middle, same, limits.rare_share, exact=True, stays=False)
    return None


def _severity(
    run: Run, signals: Signals, curve: Curve, stuck: Stuck, limits: Limits
) -> tuple[Severity, str]:
    never = stuck.hit.all() and not policy.starts_late(curve)
    known = (run, signals, limits.episodes, limits.zero, limits.frames)
    if never and (unrewarded.ever(*known) or unrewarded.to_limit(*known)):
        return "warning", ""
    if never and random_start.none_at_all(run) and not len(signals.curve("entropy")):
        return "warning", ""  # nothing else is ever tried
    if len(curve) < limits.fewest:
        return "info", f"only {len(curve)} points"
    if not stuck.exact:
        return "info", "the values differ: rewards that small are no proof"
    if run.task == "rl":
        return _of_classic(run, signals, curve, stuck, limits)
    if len(curve) < limits.rare_points and stuck.hit.mean() < limits.share:
        return "info", f"only {len(curve)} points, not all of them at that level"
    return ("critical" if stuck.hit.mean() >= limits.share else "warning"), ""


def _dense(curve: Curve, stuck: Stuck) -> bool:
    """Whether every return is the same sum of many rewards, to its third decimal and further."""
    value = float(curve.value[0])
    return bool(stuck.hit.all() and round(value, 2) != value)


def _of_classic(
    run: Run, signals: Signals, curve: Curve, stuck: Stuck, limits: Limits
) -> tuple[Severity, str]:
    entropy = signals.curve("entropy").value
    if policy.starts_late(curve):
        return "info", f"what came before step {step(float(curve.step[0]))} is not known"
    share = run.state.done_share
    if curve.step[-1] >= limits.long_steps if share is None else share >= limits.frames:
        return "warning", ""
    if _dense(curve, stuck):
        return "warning", ""  # nothing is tried
    if share is None and stuck.hit.all() and len(curve) >= limits.episodes:
        return "warning", ""  # whatever was tried
    if len(entropy) >= limits.fewest and not np.ptp(entropy):
        return "warning", ""  # the policy does not move by a digit
    settled = limits.set_share * float(entropy[0]) if len(entropy) >= limits.fewest else 0.0
    if settled > 0 and float(median(entropy[-limits.few :])) < settled:
        return "warning", ""
    return "info", "a sparse environment needs time until its first success"


def _finding(
    run: Run,
    signals: Signals,
    metric: str,
    stuck: Stuck,
    limits: Limits,
    parts: tuple[tuple[str, Stuck], ...] = (),
    *,
    rising: bool = False,
) -> Finding:
    curve = signals.curve(metric)
    onset = float(curve.step[0])
    severity, quiet = _severity(run, signals, curve, stuck, limits)
    name, often = "Reward", policy.share_words(stuck.hit)
    if parts:  # some of several reward functions
        names = listed([part.partition(":")[2] for part, _ in parts])
        name = f"The reward{'s' if len(parts) > 1 else ''} {names}"
        severity = "info" if rising or severity == "info" else "warning"
    return Finding(
        severity=severity,
        harmless=rising,  # the others teach it
        title=f"{name} {_where(stuck, onset)} at {often}.",
        metric=metric,
        onset=Moment(onset),
        evidence=_rows(curve, metric, stuck),
        seen=unrewarded.full_length(run)
        if stuck.exact
        else f"The highest value was {number(float(curve.value.max()))}.",
        causes=stuck_advice.causes(run, signals),
        fixes=stuck_advice.cures(run, signals, dense=_dense(curve, stuck)),
        ruled_out=_ruled_out(signals, metric),
        confidence=Confidence(0.95 if not quiet else 0.6, quiet or often),
        chart=Chart("limit", (metric,), limit=stuck.level),
    )


def _where(stuck: Stuck, onset: float) -> str:
    """Say that the reward stayed at its level, or how often it was there."""
    level = number(stuck.level)
    near = "" if stuck.exact else "near "
    stays = f"stayed {near or 'at '}{level} from step {step(onset)} on,"
    return stays if stuck.stays and stuck.hit.all() else f"was {near}{level}"


def _rows(curve: Curve, metric: str, stuck: Stuck) -> tuple[Evidence, ...]:
    return (
        Evidence(
            f"Share of points with {metric.partition(':')[2] or 'reward'} {number(stuck.level)}",
            float(stuck.hit.mean()),
            stuck.needed,
            "nothing to learn from",
            metric,
            unit="%",
        ),
        Evidence("Highest value", float(curve.value.max()), where=metric),
        Evidence("Mean", float(curve.value.mean()), where=metric),
    )


BAD = (
    *unrewarded.BAD,
    drawn(
        "never rewarded",
        (0, 10),
        task="grpo",
        severity="critical",
        reward="0:0 600:0",
        reward_std="0:0 600:0",
    ),
    drawn("at its floor", (0, 10), 0.0, task="ppo", severity="critical", reward="0:-1 600:-1"),
    Case(
        "one function of two",
        {
            "reward": "0:0.5 600:0.5",
            "reward:format": "0:0.5 600:0.5",
            "reward:answer": "0:0 600:0",
            "reward_std": "0:0.4 600:0.4",
        },
        (0, 10),
        task="grpo",
        severity="warning",
    ),
    drawn(
        "the same return of a dense reward",
        (0, 10),
        0.0,
        task="rl",
        severity="warning",
        reward="0:-5584.85515 600:-5584.85515",
    ),
    drawn(
        "a cost of time alone", (0, 10), 0.0, task="rl", severity="info", reward="0:-9.99 600:-9.99"
    ),
    drawn("sparse environment", (0, 10), task="rl", severity="info", reward="0:0 600:0"),
    drawn("in 100 episodes", (0, 10), task="rl", severity="warning", reward="0:0 990:0"),
    drawn("in 99", (0, 10), 0.0, task="rl", severity="info", reward="0:-9 980:-9"),
    drawn(
        "a floor below zero for many frames",
        (0, 2000),
        0.0,
        task="rl",
        severity="warning",
        reward="0:-200 120000:-200 /2000",
    ),
    drawn(
        "settled on what is never rewarded",
        (0, 1000),
        0.0,
        task="rl",
        severity="warning",
        reward="0:-200 40000:-200 /1000",
        entropy="0:1.1 40000:0.08 /1000",
    ),
    drawn(
        "the end of a long run, solved or not",
        (2000000, 2000000),
        0.0,
        task="rl",
        severity="info",
        reward="2000000:0 2040000:0 /1000",
        entropy="2000000:0.1 2040000:0.1 /1000",
    ),
    Case(
        "one function of two, at times negative, though never a penalty",
        {
            "reward": "0:0.5 600:0.5",
            "reward:answer": "0:0 200:0 210:0.2 220:-0.2 230:0 600:0",
            "reward_std": "0:0.4 600:0.4",
        },
        (0, 10),
        0.0,
        task="grpo",
        severity="warning",
    ),
    Case(
        "one function of two, it learns",
        {"reward": "0:0.2 600:0.8", "reward:a": "0:0.2 600:0.8", "reward:b": "0:0 600:0"},
        (0, 10),
        task="grpo",
        severity="info",
    ),
)
GOOD = (
    drawn("low but rising", task="grpo", reward="0:0 200:0.02 600:0.3"),
    drawn("centred", noise=0.5, task="grpo", reward="0:0 600:0", reward_std="0:0.9 600:0.9"),
    drawn("constant above zero", noise=0.0, task="grpo", reward="0:1 600:1"),
    Case(
        "a penalty of 0",
        {
            "reward": "0:0.2 600:0.8",
            "reward:answer": "0:0.2 600:0.8",
            "reward:repetition_penalty": "0:0 600:0",
        },
        task="grpo",
    ),
    Case(
        "a part that is only ever taken away",
        {
            "reward": "0:0.2 600:0.8",
            "reward:risk": "0:0 300:0 310:-0.2 320:0 600:0",
        },
        noise=0.0,
        task="grpo",
    ),
    drawn("stuck at first", task="rl", reward="0:0 300:0 600:12"),
)

RULE = Rule(
    slug="reward-stuck-zero",
    title="Constant reward",
    family="RLX",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(
        ever=("zero-reward-std", "grad-zero", "reward-flat", "completions-clipped"),
        absorbs=("reward-flat",),
        layer="course",
    ),
    needs=("reward",),
    tasks=RL_TASKS,
    bad=BAD,
    good=GOOD,
)
