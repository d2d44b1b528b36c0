"""Zero reward spread: the completions of a group all earn the same.

What is seen
    The share of groups without any spread of rewards is near 1, or the spread itself is 0, on
    most points of the run or from some step to the end.
Why it matters
    The advantage of a completion is its reward against its group. Equal rewards give an
    advantage of exactly 0: the step costs its generation and teaches nothing.
Looks alike
    A task that was learned ends with all rewards at their highest: said as info, nothing is
    left to learn. One constant function among several does not matter as long as the sum
    varies. Half of the groups without spread is usual for rewards of 0 and 1, as long as the
    reward rises.
Limits
    dead_share: a point whose share of equal groups is at least this is dead. dead_std: the
    same where only the spread is logged. share: of the points that must be dead, over the run
    or from the onset to the end. lasting, fewest: share of the run and points that the dead part
    must cover. near: mean share of equal groups from which it is said as info; half: the same
    where the reward has no rising trend: more is generated for nothing than for the gradient.
    solved: share of the highest possible reward, where that is known, from which equal rewards at
    the best of the run are those of solved prompts: below it all completions fail alike. best:
    share of its span, or of its height if that is more, that the reward may lie below its highest
    to be at its best.
Fixes
    Temperature 1.0, 16 completions per prompt, graded rewards, prompts that are neither always
    nor never solved.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
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
from runlens.history import BoolArray, Curve
from runlens.records import NamedTuple
from runlens.rules.relations import Relations
from runlens.rules.rl import policy
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals, onsets
from runlens.wording import number, percent, step, too_few


class Limits(Struct, frozen=True):
    """What may be tuned."""

    dead_share: float = 0.95
    dead_std: float = 1e-6
    share: float = 0.8
    lasting: float = 0.2
    fewest: int = 6
    near: float = 0.8
    half: float = 0.5
    solved: float = 0.5
    best: float = 0.02


class Level(NamedTuple):
    """What the reward did while the groups were equal."""

    words: str
    saturated: bool  # it had risen before, to the best of the run
    constant: float = 0.0  # the one value above 0 that all rewards have, of all prompts
    floor: str = ""  # the same, written, where it is none above 0
    beside: str = ""  # the same words in brackets, behind a sentence


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Find from where on most points have no spread."""
    metric = "frac_zero_std" if len(signals.curve("frac_zero_std")) else "reward_std"
    curve = signals.curve(metric)
    by_share = metric == "frac_zero_std"
    value = curve.value
    dead = value >= limits.dead_share if by_share else value <= limits.dead_std
    if 0 < len(curve) < limits.fewest and dead.all():
        return found(_finding(run, signals, curve, metric, 0, dead, limits))
    if len(curve) < limits.fewest:
        return unmet(too_few(len(curve), "value", limits.fewest, of=f"of {metric}"))
    at = _since(dead, limits)
    if at is not None:
        near = _near(curve, limits.near, limits) if by_share else None
        if near is not None and near < at and dead[near:].mean() >= limits.half:
            at = near  # groups taught little before the first that taught nothing
        return found(_finding(run, signals, curve, metric, at, dead, limits))
    if not by_share:
        return passed(f"rewards were all equal at {policy.share_words(dead)}")
    gain = policy.gain_of(signals)
    counting = (limits.near, limits.half) if gain and not gain.rising else (limits.near,)
    for limit in counting:
        near = _near(curve, limit, limits)
        if near is not None:
            return found(_nearly(run, signals, curve, near, limit, limits))
    mean, least = percent(float(value.mean())), percent(counting[-1])
    return passed(f"{mean} of the groups had equal rewards on average (threshold {least})")


def _since(dead: BoolArray, limits: Limits) -> int | None:
    at = policy.stays_from(dead, limits.share)
    least = max(limits.fewest, round(limits.lasting * len(dead)))
    if at is not None and len(dead) - at >= least:
        return at
    return int(np.argmax(dead)) if dead.mean() >= limits.share else None


def _near(curve: Curve, limit: float, limits: Limits) -> int | None:
    """Return the index from which the share of equal groups is at least `limit` on average."""
    at = onsets.held_from(curve.value, limit, limit)
    lasts = at is not None and len(curve) - at >= max(limits.fewest, len(curve) // 2)
    return at if lasts else None


def _level(signals: Signals, onset: float, limits: Limits) -> Level:
    reward = signals.curve("reward")
    after = reward.after(int(onset)).value
    if not len(after):
        return Level("reward is not logged", saturated=False)
    now = float(median(after))
    before = reward.value[: max(3, len(reward) // 20)]
    top = float(reward.value.max())
    rose = now - float(median(before)) > policy.scatter(reward.value)
    high = now >= limits.solved * (policy.top_of(reward.value) or now)
    alike = float(np.ptp(reward.value)) == 0
    return Level(
        f"the median reward is {number(now, 3)}",
        beside=f" (the median reward is {number(now, 3)})",
        constant=max(now, 0.0) if alike else 0.0,
        floor=number(now, 3) if alike and now <= 0 else "",
        saturated=rose
        and high
        and now >= top - limits.best * max(abs(top), top - float(reward.value.min())),
    )


def _finding(
    run: Run,
    signals: Signals,
    curve: Curve,
    metric: str,
    at: int,
    dead: BoolArray,
    limits: Limits,
) -> Finding:
    onset = float(curve.step[at])
    level = _level(signals, onset, limits)
    severity: Severity = "critical" if dead.all() and len(dead) >= 2 * limits.fewest else "warning"
    if level.saturated or len(dead) < limits.fewest:
        severity = "info"
    limit = limits.dead_share if metric == "frac_zero_std" else limits.dead_std
    since = dead[at:]
    solved = "The prompts are solved, so " if level.saturated else ""
    return Finding(
        severity=severity,
        title=f"At {policy.share_words(since)} from step {step(onset)} on, all completions of "
        f"each prompt got the same reward{level.beside}.",
        metric=metric,
        onset=Moment(onset),
        harmless=level.saturated,
        evidence=_rows(curve, metric, at, dead, limits),
        seen=f"{solved or 'With equal rewards '}there is no advantage to learn from.",
        causes=_causes(run, signals, level, onset),
        fixes=_fixes(run, level, none_left=bool(dead.all())),
        ruled_out=()
        if level.saturated or level.constant
        else (RuledOut("A solved task", f"{level.words}, not risen to the best of the run"),),
        confidence=policy.confidence(
            1 + (float(since.mean()) - limits.share) / (1 - limits.share), len(since) + 40
        )._replace(
            reason=f"{percent(float(since.mean()))} against {percent(limits.share)}, "
            f"{len(since):,} logged points"
        ),
        chart=Chart("limit", (metric, "reward"), limit=limit),
    )


def _rows(
    curve: Curve, metric: str, at: int, dead: BoolArray, limits: Limits
) -> tuple[Evidence, ...]:
    return (
        Evidence(
            "Points with identical rewards since then",
            float(dead[at:].mean()),
            limits.share,
            "no advantage, no gradient",
            metric,
            unit="%",
        ),
        Evidence("Points with identical rewards in the whole run", float(dead.mean()), unit="%"),
        Evidence(f"Median {metric} since then", float(median(curve.value[at:]))),
    )


def _nearly(
    run: Run, signals: Signals, curve: Curve, at: int, limit: float, limits: Limits
) -> Finding:
    onset = float(curve.step[at])
    level = _level(signals, onset, limits)
    mean = float(curve.value[at:].mean())
    return Finding(
        severity="info",
        title=f"From step {step(onset)} on, {percent(mean)} of the groups of completions had "
        f"identical rewards{level.beside}.",
        metric="frac_zero_std",
        onset=Moment(onset),
        harmless=level.saturated,
        evidence=(
            Evidence(
                "Groups with identical rewards",
                mean,
                limit,
                "these groups give no gradient",
                "frac_zero_std",
                unit="%",
            ),
            Evidence("Points since then", float(len(curve) - at)),
        ),
        seen="These groups give no gradient.",
        causes=_causes(run, signals, level, onset),
        fixes=_fixes(run, level),
        confidence=policy.confidence(mean / limit, len(curve)),
        chart=Chart("limit", ("frac_zero_std", "reward"), limit=limit),
    )


def _causes(run: Run, signals: Signals, level: Level, onset: float) -> tuple[Cause, ...]:
    if level.saturated:
        return (
            Cause("The prompts are solved", "most likely", level.words, kind="reward-function"),
        )
    cut = signals.curve("len_clipped").after(int(onset)).value
    entropy = signals.curve("entropy").after(int(onset)).value
    made: list[Cause] = []
    alarm = bool(len(cut)) and np.median(cut) > 0.8  # noqa: PLR2004 - axolotl's alarm value
    if alarm and not policy.runs_on(signals):
        why = f"{percent(float(np.median(cut)))} of the completions (median) are cut at the limit"
        what = "Completion limit too short for the task"
        made.append(Cause(what, "most likely", why, kind="length-limit"))
    if len(entropy) and np.median(entropy) < 0.05:  # noqa: PLR2004 - lower end of axolotl's range
        why = f"the median entropy is {number(float(np.median(entropy)), 3)}"
        what = "A policy that always gives the same answer"
        made.insert(0, Cause(what, "most likely", why, kind="exploration"))
    few = run.number("num_generations")
    if few is not None and few < 8:  # noqa: PLR2004 - TRL's default
        made.append(
            Cause(
                "Too few completions per prompt",
                "likely",
                f"only {few:g} completions are generated per prompt",
                kind="exploration",
            )
        )
    return tuple(made)


def _credit(level: Level) -> tuple[str, str]:
    """Return how rewards come to differ: a constant one above 0 is often the highest there is."""
    if not level.constant:
        return "Give partial credit for partial answers", ""
    harder = f"Train on harder prompts if {number(level.constant)} is the highest possible reward"
    return harder, "otherwise give partial credit for partial answers"


def _fixes(run: Run, level: Level, *, none_left: bool = False) -> tuple[Fix, ...]:
    """Return what to change; `none_left`: no prompt gave rewards that differ."""
    if level.saturated:
        return (fixes.action("Stop here, or continue with harder prompts", level.words),)
    what = "Leave out prompts that are always or never solved"
    rare = "a rare success shows up in more groups"
    checked = "Call the reward function on a known-correct answer"
    right = fixes.look(checked, f"it must not return {level.floor}")
    return (
        *((right,) if level.floor else ()),  # no prompt, however easy, earned another
        *policy.warmer(run, "completions then differ more"),
        *(() if level.constant else policy.more_generations(run, rare)),
        fixes.action(*_credit(level), cost="one run"),
        *(() if none_left else (fixes.action(what, "they give no learning signal"),)),
    )


BAD = (
    drawn(
        "none at all",
        (0, 10),
        task="grpo",
        severity="critical",
        frac_zero_std="0:1 600:1",
        reward="0:0 600:0",
    ),
    drawn("spread only", (0, 10), task="grpo", severity="critical", reward_std="0:0 600:0"),
    drawn(
        "once it broke",
        (280, 320),
        0.0,
        task="grpo",
        severity="warning",
        frac_zero_std="0:0.3 290:0.3 300:1 600:1",
        reward="0:0.8 290:0.7 300:0 600:0",
    ),
    drawn(
        "most groups, and then all of them",
        (100, 140),
        0.0,
        task="grpo",
        severity="warning",
        frac_zero_std="0:0 100:0 120:0.85 250:0.85 260:1 600:1",
        reward="0:0.8 100:0.7 120:0.2 600:0",
    ),
    drawn(
        "solved",
        (280, 320),
        0.0,
        task="grpo",
        severity="info",
        frac_zero_std="0:0.3 290:0.6 300:1 600:1",
        reward="0:0.1 290:0.9 300:1 600:1",
    ),
    drawn(
        "all fail alike, a little better than at first",
        (280, 320),
        0.0,
        task="grpo",
        severity="warning",
        frac_zero_std="0:0.3 290:0.6 300:1 600:1",
        reward="0:0.054 290:0.066 300:0.07 600:0.07",
    ),
    drawn(
        "half of what can be had",
        (280, 320),
        0.0,
        task="grpo",
        severity="info",
        frac_zero_std="0:0.3 290:0.6 300:1 600:1",
        reward="0:0.1 290:0.5 300:0.54 600:0.54",
    ),
    drawn(
        "most groups",
        (0, 60),
        0.02,
        task="grpo",
        severity="info",
        frac_zero_std="0:0.85 600:0.87",
        reward="0:0.2 600:0.2",
    ),
    drawn(
        "more than half, and no rise",
        (0, 60),
        0.1,
        task="grpo",
        severity="info",
        frac_zero_std="0:0.6 600:0.65",
        reward="0:0.2 600:0.2",
    ),
)
GOOD = (
    drawn(
        "half of the groups, and it learns",
        task="grpo",
        frac_zero_std="0:0.5 600:0.6",
        reward="0:0.2 600:0.6",
    ),
    drawn("a third, and no rise", task="grpo", frac_zero_std="0:0.3 600:0.35", reward="0:1 600:1"),
    drawn("spread falls", task="grpo", reward_std="0:0.5 600:0.1", reward="0:0.2 600:0.9"),
    drawn(
        "a short stretch",
        noise=0.0,
        task="grpo",
        frac_zero_std="0:0.4 190:0.4 200:1 260:1 270:0.4 600:0.4",
        reward="0:0.2 600:0.9",
    ),
)

RULE = Rule(
    slug="zero-reward-std",
    title="Identical rewards within groups",
    family="RLX",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=("grad-zero", "reward-flat"), early_sign=True),
    needs=("frac_zero_std|reward_std",),
    tasks=frozenset({"grpo", "ppo"}),
    bad=BAD,
    good=GOOD,
)
