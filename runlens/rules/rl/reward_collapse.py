"""Reward collapse: the reward rose, then fell for good.

What is seen
    The smooth reward reaches its best before the last tenth of the run, falls by at least half
    of what had been gained, and stays low to the end.
Why it matters
    What was learnt is lost: the policy at the end is worse than the one at the peak, and every
    step after the peak was paid for nothing.
Looks alike
    A dip that comes back. The maximum of noise: both sides need a trend, or a fall of many
    noise scales. Slow wandering (autocorrelated residuals): said as info. A curriculum that
    gets harder looks the same in the reward alone. A new policy that only gets worse than it was
    at the start has lost nothing that it had learnt: that is reward-flat's.
Limits
    fewest, side: points in all and on each side of the peak. latest: share of the run at which
    the peak may lie. p, tau: of the trend on either side. gain_noise: least rise before the
    peak in long noise scales. drop_gain, drop_noise: least fall, as share of the rise and in
    noise scales. below_start: an end this far below the start, in noise scales, needs no rise.
    abrupt_gain, abrupt_drop: rise and fall without the trend tests, in noise scales;
    abrupt_below: or an end this far below the start, with this share of the later points below
    nearly all earlier ones (apart). gained: classic RL starts from nothing: with a rise below
    this share of the fall, and an end below all first points, nothing was learnt that could be
    lost. low: share of the last points that must lie below the peak by low_part of the fall.
    frames_noise: noise scales of fall in classic RL, whose episodes are noisy. wandering:
    autocorrelation from which it is said as info.
    Measured on 800 simulated runs each: no false alarm on rising, 2 % on flat runs.
Fixes
    Go back to the checkpoint at the peak; a third of the learning rate; a stronger KL term;
    a tighter clip range; stop an update at a KL limit.
"""

from typing import NamedTuple

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.diagnosis import (
    Cause,
    Chart,
    Evidence,
    Finding,
    Fix,
    Mark,
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
from runlens.signals.noise import counts, lag1, mad
from runlens.signals.trend import mann_kendall
from runlens.wording import number, percent, step

BEGUN = 0.3  # of the drop: where the fall begins, as for divergence
FEWEST_BEFORE = 2
BACK, BACK_SHARE = 5, 0.05  # points, share of those after the best: so long it came back
LAST = 10  # points at the end that are looked at, where the fall lasted as long


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 30
    side: int = 8
    latest: float = 0.9
    p: float = 0.01
    tau: float = 0.2
    gain_noise: float = 0.75
    drop_gain: float = 0.5
    drop_noise: float = 0.75
    below_start: float = 1.5
    abrupt_gain: float = 1.0
    abrupt_drop: float = 6.0
    abrupt_below: float = 4.0
    apart: float = 0.95
    gained: float = 0.25
    low: float = 0.8
    low_part: float = 0.4
    frames_noise: float = 3.0
    wandering: float = 0.8


TENTHS = 2.563  # standard deviations from the first to the last tenth of a normal distribution


class Peak(NamedTuple):
    """Where the reward was best, what came before and after."""

    at: int
    best: float
    start: float
    end: float
    noise: float
    onset: int

    @property
    def gain(self) -> float:
        """What had been gained at the peak."""
        return self.best - self.start

    @property
    def drop(self) -> float:
        """What was lost after it."""
        return self.best - self.end


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the end of the reward with its peak."""
    reward = signals.curve("reward")
    count = len(reward)
    if count < limits.fewest:
        return unmet(f"only {count} of the {limits.fewest} points of reward that are needed")
    peak = _peak(reward.value, signals)
    where = step(float(reward.step[peak.at]))
    if peak.at > limits.latest * count or count - peak.at < limits.side:
        return passed(f"reward is best at step {where}, at or near the end")
    if peak.drop < _needed(run, peak, limits):
        return passed(
            f"reward ends at {number(peak.end, 3)}, {number(peak.drop / peak.noise, 2)} noise "
            f"scales below its best of {number(peak.best, 3)}"
        )
    if not (_by_trend(reward.value, peak, limits) or _abrupt(reward.value, peak, limits)):
        return passed(f"reward shows no rise before step {where} and steady fall after it")
    below = reward.value < peak.best - limits.low_part * peak.drop
    tail = max(5, count // 10)
    longer = max(tail, min(LAST, count - peak.onset))
    if max(below[-tail:].mean(), below[-longer:].mean()) < limits.low:
        return passed(f"reward came back to {number(peak.end, 3)} at the end")
    if _never_learnt(run, reward, peak, limits):
        return passed(
            f"reward gained {number(max(peak.gain, 0.0), 3)} before it lost "
            f"{number(peak.drop, 3)}: worse than at the start, nothing learnt was lost"
        )
    return found(_finding(run, signals, peak, limits))


def _never_learnt(run: Run, reward: Curve, peak: Peak, limits: Limits) -> bool:
    """Whether a policy that was new at the start only got worse."""
    if run.task != "rl" or policy.starts_late(reward):
        return False
    first = reward.value[: max(3, len(reward) // 20)]
    return (
        peak.gain < limits.gained * peak.drop and peak.end < float(first.min()) - 0.5 * peak.noise
    )


def _peak(value: FloatArray, signals: Signals) -> Peak:
    count = len(value)
    shown = signals.smooth("reward")
    at = int(np.argmax(shown))
    best, end = float(shown[at]), float(np.median(value[-max(5, count // 10) :]))
    onset = at + _lasting_fall(shown[at:] < best - BEGUN * (best - end))
    start = float(np.median(value[: max(3, count // 20)]))
    # after the fall a reward of 0 has no noise: take it from before as well
    before = value[: onset + 1] - shown[: onset + 1]
    noise = max(signals.sigma_long("reward"), mad(before))
    if signals.run.task == "rl":  # episodes of two kinds: their median scatter is that of one kind
        noise = max(noise, float(np.subtract(*np.quantile(before, (0.9, 0.1)))) / TENTHS)
    return Peak(at, best, start, end, noise, onset)


def _lasting_fall(below: BoolArray) -> int:
    """Return where the fall begins after which the level of the best is not held again."""
    least = max(BACK, round(BACK_SHARE * len(below)))
    back = np.flatnonzero(counts(~below, least) == least)
    ended = int(back[-1]) + least if len(back) else 0
    start = ended if below[ended:].any() else 0
    return start + int(np.argmax(below[start:]))


def _by_trend(value: FloatArray, peak: Peak, limits: Limits) -> bool:
    tau, p = mann_kendall(value[peak.at :])
    if p >= limits.p or tau >= -limits.tau:
        return False
    if peak.gain >= limits.gain_noise * peak.noise and peak.at >= limits.side:
        tau, p = mann_kendall(value[: peak.at + 1])
        if p < limits.p and tau > limits.tau:
            return True
    return peak.end < peak.start - limits.below_start * peak.noise


def _abrupt(value: FloatArray, peak: Peak, limits: Limits) -> bool:
    before, after = value[: peak.onset], value[peak.onset :]
    if len(before) >= FEWEST_BEFORE:
        # two levels that hardly overlap, not one that wanders
        parted = (after < np.quantile(before, 0.2)).mean() >= limits.apart
        if parted and peak.start - peak.end >= limits.abrupt_below * peak.noise:
            return True
    return (
        peak.gain >= limits.abrupt_gain * peak.noise
        and peak.drop >= limits.abrupt_drop * peak.noise
    )


def _needed(run: Run, peak: Peak, limits: Limits) -> float:
    """Return the least fall that counts, in the unit of the reward."""
    noise = limits.frames_noise if run.task == "rl" else limits.drop_noise
    return max(limits.drop_gain * max(peak.gain, 0.0), noise * peak.noise)


def _finding(run: Run, signals: Signals, peak: Peak, limits: Limits) -> Finding:
    reward = signals.curve("reward")
    onset, top = float(reward.step[peak.onset]), float(reward.step[peak.at])
    rho = lag1(reward.value - signals.smooth("reward"))
    wanders = rho > limits.wandering
    severity: Severity = "info" if wanders else "critical"
    kept = fixes.checkpoint_before(run, top)
    needed = _needed(run, peak, limits)
    after = float(reward.step[-1]) - onset
    return Finding(
        severity=severity,
        title=f"Reward collapsed from step {step(onset)}: {number(peak.best, 3)} at step "
        f"{step(top)} against {number(peak.end, 3)} at the end.",
        metric="reward",
        onset=Moment(onset),
        evidence=_rows(peak, needed, float(reward.step[-1]), top),
        seen=(
            f"The reward had gone from {number(peak.start, 3)} to {number(peak.best, 3)} by step "
            if peak.best > peak.start
            else "The smoothed reward was best at step "
        )
        + f"{step(top)}; {step(after)} steps came after the fall began.",
        causes=_causes(signals, onset),
        fixes=_fixes(run, signals, kept, onset),
        ruled_out=()
        if wanders
        else (
            RuledOut(
                "A dip", f"{percent(_lost(peak))} of the fall is still there in the last tenth"
            ),
        ),
        confidence=policy.confidence(
            peak.drop / max(needed, 1e-12),
            len(reward),
            f"residuals wander (autocorrelation {number(rho, 2)})" if wanders else "",
        ),
        chart=Chart(
            "curves",
            ("reward", *(name for name in ("entropy", "kl") if len(signals.curve(name)))),
            marks=(Mark(top, peak.best, f"best {number(peak.best, 3)}"),),
        ),
    )


def _rows(peak: Peak, needed: float, last: float, top: float) -> tuple[Evidence, ...]:
    return (
        Evidence(
            "Fall of the reward below its best",
            peak.drop,
            needed,
            "half of what was gained",
            "reward",
            last,
        ),
        Evidence("Best reward (smooth)", peak.best, where="reward", step=top),
        Evidence("Reward at the start", peak.start, where="reward"),
        Evidence("Noise scale", peak.noise, where="reward"),
    )


def _lost(peak: Peak) -> float:
    return min(1.0, peak.drop / max(peak.gain, peak.drop, 1e-12))


def _causes(signals: Signals, onset: float) -> tuple[Cause, ...]:
    entropy = signals.curve("entropy")
    before, after = entropy.before(int(onset)).value, entropy.after(int(onset)).value
    lost = None
    if len(before) >= 3 and len(after) and np.median(before) > 0:  # noqa: PLR2004 - a level
        ratio = float(np.median(after) / np.median(before))
        why = f"entropy went from {number(float(np.median(before)), 3)} to "
        why += number(float(np.median(after)), 3)
        if ratio < 0.3:  # noqa: PLR2004 - a policy that tries far less
            lost = Cause("A policy that stopped exploring", "likely", why)
        elif ratio > 3:  # noqa: PLR2004 - near random text
            lost = Cause("A policy that fell apart", "likely", why)
    ratio_mean = signals.curve("is_ratio_mean").after(int(onset)).value
    stale = len(ratio_mean) > 0 and float(np.median(ratio_mean)) < 0.8  # noqa: PLR2004 - near 1 on policy
    return policy.ranked(
        policy.critic_cause(signals),
        policy.rate_cause(signals, onset),
        lost,
        Cause(
            "Samples from another policy than the one trained",
            "likely",
            f"importance ratio is {number(float(np.median(ratio_mean)), 2)} on average",
        )
        if stale
        else None,
        Cause("A harder stage of a curriculum", "unlikely", "", "nothing logged points to one"),
    )


def _fixes(
    run: Run, signals: Signals, kept: tuple[int, str] | None, onset: float
) -> tuple[Fix, ...]:
    made: list[Fix] = []
    if kept:
        made.append(fixes.action(f"Use {kept[1]}", "the last saved before the fall"))
    made.extend(policy.normalised(signals))
    if not policy.small_steps(signals, onset):
        made.extend(fixes.learning_rate(run, signals, 1 / 3, "smaller steps keep what was learnt"))
    made.extend(policy.stronger_beta(run, "holds the policy near its reference"))
    clip = run.number("epsilon")
    if clip and clip >= 0.2:  # noqa: PLR2004 - the usual clip range
        new = fixes.two_digits(clip / 2)
        made.append(fixes.setting(run, "epsilon", new, "Tighten the clip range", "smaller updates"))
    return tuple(made)


BAD = (
    drawn(
        "up and down",
        (250, 400),
        0.05,
        task="grpo",
        severity="critical",
        reward="0:0.2 300:0.8 500:0.1 900:0.05",
    ),
    drawn(
        "all at once",
        (560, 640),
        0.03,
        task="grpo",
        severity="critical",
        reward="0:0.3 590:0.8 600:0.02 900:0.02",
    ),
    drawn(
        "classic",
        (400, 800),
        0.05,
        task="rl",
        severity="critical",
        reward="0:-13 500:-8 1200:-18 1800:-18",
    ),
    drawn(
        "a dip that comes back, then the fall that lasts",
        (1180, 1400),
        0.03,
        task="rl",
        severity="critical",
        reward="0:10 400:100 500:40 700:40 800:99 1200:99 1400:30 2400:20",
    ),
    drawn(
        "a trained policy that is lost",
        (480, 700),
        0.05,
        task="grpo",
        severity="critical",
        reward="0:0.9 500:0.9 700:0.05 1400:0.05",
    ),
)
GOOD = (
    drawn("rises", noise=0.2, task="grpo", reward="0:0.3 900:0.8"),
    drawn("a dip", noise=0.05, task="grpo", reward="0:0.3 300:0.8 450:0.2 600:0.8 900:0.85"),
    drawn("noise", noise=0.3, task="grpo", reward="0:0.5 900:0.5"),
    drawn(
        "never learnt, gets worse",
        noise=0.02,
        task="rl",
        reward="0:-9.9 500:-9.9 1000:-12 2000:-14",
    ),
    drawn("small loss at the end", noise=0.02, task="grpo", reward="0:0.2 600:0.8 900:0.75"),
)

RULE = Rule(
    slug="reward-collapse",
    title="Reward collapse",
    family="RLX",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("reward",),
    tasks=RL_TASKS,
    bad=BAD,
    good=GOOD,
)
