"""Reward collapse: the reward stood well above where it ends.

What is seen
    The reward falls from its best by at least half of what had been gained, clear of its noise,
    and does not come back. Or it only falls, below what the first policy was worth.
Why it matters
    What was learned is lost: the policy at the end is worse than the one at the peak, and every
    step after the peak was paid for nothing.
Looks alike
    A dip that comes back (an info where every reward in it is the same). The maximum of noise:
    the shape of the curve must fall as well, or the order of the points on both sides of the peak
    must be no chance. Slow wandering (autocorrelated residuals): said as info, as is a fall at
    which a logged curriculum got harder: one that is not logged looks the same.
Limits
    lost: least fall, as share of the rise before it; undone, where the end lies below what the
    reward was a tenth of the way to its peak. noise: and in noise scales, of what slow wandering
    leaves. part: from this share on, and one noise scale, a fall in order is an info, or one below
    as many points before it, as is that of a cost, a reward always below 0, that doubles; a warning
    where the loss of the value function rises from there. chance: that the order of the points
    about the peak is none (of few points a fall counts too that is beyond what the steps before it
    leave open, Student's t), where the shape tells no fall; up to hint: info. wandering:
    autocorrelation from which it is said as info, unless the fall is far noise scales: of 1,350
    simulated rewards that wander (0.9 to 0.99) none fell by more than 25. Measured on 131 labeled
    runs of RL: collapsed runs fall by 8 noise scales and more, others seldom by more than 2.7 where
    that is half of their rise. Of simulated flat rewards that wander (autocorrelation 0.9) 4 % are
    found at 200 points, 28 % at 50: see the confidence. A fall of 12 points and more within the
    last tenth, by the phases of the shape, counts by itself.
Fixes
    Go back to the checkpoint at the peak; a third of the learning rate; a stronger KL term;
    a tighter clip range; stop an update at a KL limit.
"""

from dataclasses import dataclass
from math import comb

import numpy as np

from runlens import fixes
from runlens.diagnosis import (
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
from runlens.history import Curve, FloatArray
from runlens.rules.relations import Relations
from runlens.rules.rl import collapse_words, policy, same_rewards, value_loss
from runlens.rules.rl.curriculum import harder
from runlens.rules.rl.reward_peak import FEW_RETURNS, Peak, means_lost, peak_of
from runlens.rules.rule import RL_TASKS, Case, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.shape import Shape, student
from runlens.signals.trend import ranked
from runlens.wording import number, percent, step, too_few

FAILING = 1.5  # times the fall of the median: so much more is of episodes that failed
ENOUGH = 10  # points on either side: of any order one in 184,756 parts so
LESS = "less than half of the gain is lost"
HALF = 0.5  # of what the policy was worth, or had gained: a fall of less is no collapse


@dataclass(frozen=True)
class Limits:
    """What may be tuned."""

    lost: float = 0.5
    part: float = 0.25
    undone: float = 0.3
    noise: float = 3.0
    chance: float = 1e-3
    hint: float = 1e-2
    wandering: float = 0.8
    far: float = 30.0


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the end of the reward with its peak; where that proves nothing, look for one reward.

    A stretch of one and the same is told where no fall is, or only one that may be noise.
    """
    outcome = _fall(run, signals, limits)
    loud = any(one.severity != "info" for one in outcome.findings)
    if outcome.status == "unmet" or loud:
        return outcome
    reward = signals.curve("reward")
    same = same_rewards.stretch(reward.value)
    return found(same_rewards.finding(reward, same)) if same else outcome


def _fall(run: Run, signals: Signals, limits: Limits) -> Outcome:
    shape = signals.shape("reward")
    if len(shape.value) < policy.FEWEST_FINITE:
        return unmet(too_few(len(shape.value), "reward", policy.FEWEST_FINITE))
    peak = peak_of(shape, classic=run.task == "rl")
    where = step(float(shape.step[peak.at]))
    if peak.drop < _needed(peak, limits) and not _partly(shape.value, peak, limits):
        many = run.task == "rl" and len(shape.value) >= FEW_RETURNS
        means = means_lost(shape.value, limits.lost) if many else None
        if means and means.best - means.last > FAILING * peak.drop:
            return found(collapse_words.of_means(signals.curve("reward"), means))
        return passed(
            f"reward ends at {number(peak.end, 3)}, {number(peak.drop, 2)} below its best of "
            f"{number(peak.best, 3)} (threshold {number(_needed(peak, limits), 2)})"
        )
    if peak.chance > limits.hint and not _beyond_steps(shape.value, peak):
        return passed(f"the fall after step {where} may be noise (chance {peak.chance:.1g})")
    reward = signals.curve("reward")
    fell = policy.top_level(reward, peak.at) - policy.last_level(reward.value, peak.late)
    if fell < HALF * peak.drop:  # of tails so heavy that a mean is of a few points
        return passed(f"the median after step {where} fell by {number(max(fell, 0.0), 2)}")
    return found(_finding(run, signals, shape, peak, limits))


def _needed(peak: Peak, limits: Limits) -> float:
    """Return the least fall that counts, in the unit of the reward."""
    lost = limits.undone if peak.end < peak.early else limits.lost
    return max(lost * peak.gain, limits.noise * peak.noise)


def _partly(value: FloatArray, peak: Peak, limits: Limits) -> bool:
    """Whether a part of the gain is lost, and points fall in their order, or a cost doubled."""
    tau, chance = ranked(value[peak.at :])
    lost = peak.drop >= max(limits.part * peak.gain, peak.noise)
    doubled = value.max() < 0 and peak.drop >= max(-peak.best, limits.noise * peak.noise)
    in_order = tau < 0 and (chance / 2 < limits.chance or doubled)
    return lost and (in_order or _parts(value, peak, limits))


def _parts(value: FloatArray, peak: Peak, limits: Limits) -> bool:
    """Whether all points of the fall lie below as many before it: of any order, one of so many."""
    after = value[peak.onset :]
    before = value[max(0, peak.onset - len(after)) : peak.onset]
    many = min(len(before), len(after), ENOUGH)
    return comb(2 * many, many) * limits.chance > 1 and bool(after.max() < before.min())


def _beyond_steps(value: FloatArray, peak: Peak) -> bool:
    """Whether few points fell by more than their steps up to the peak leave open."""
    few = len(value) < policy.FEW
    return few and peak.drop > student(np.diff(value[: peak.at + 1]))


def _fell(peak: Peak, needed: float, at: str) -> str:
    """Say ``collapsed`` where half of the level, or of a gain beyond noise, is lost."""
    gained = peak.gain >= needed and peak.drop >= HALF * peak.gain
    whole = peak.drop >= max(needed, HALF * abs(peak.best))
    return f"collapsed at step {at}" if gained or whole else f"fell from step {at} on"


def _finding(run: Run, signals: Signals, shape: Shape, peak: Peak, limits: Limits) -> Finding:
    reward = signals.curve("reward")
    onset, top = float(reward.step[peak.onset]), float(reward.step[peak.at])
    unproved = harder(run, top, onset) or _unproved(shape, peak, limits)
    turn = value_loss.turned(signals, top, onset)
    severity: Severity = "info" if unproved else "critical"
    if unproved == LESS and turn:  # two curves tell of it
        severity = "warning"
    kept = fixes.checkpoint_before(run, top)
    needed = _needed(peak, limits)
    best = policy.top_words(reward, peak.at)
    return Finding(
        severity=severity,
        title=f"Reward {_fell(peak, needed, step(onset))}. It was {best} and "
        f"{policy.last_words(reward, peak.late)}.",
        metric="reward",
        onset=Moment(onset),
        evidence=_rows(reward, peak, needed),
        seen=collapse_words.seen(reward, peak, turn),
        fixes=_fixes(run, signals, kept, onset),
        ruled_out=()
        if unproved
        else (
            RuledOut(
                "A temporary dip", f"{percent(_lost(peak))} of the fall is still there at the end"
            ),
        ),
        confidence=policy.sure(
            peak.drop / max(needed, 1e-12),
            peak.chance,
            len(reward),
            unproved,
        ),
        chart=Chart(
            "curves",
            ("reward", *(name for name in ("entropy", "kl") if len(signals.curve(name)))),
            marks=(Mark(top, policy.top_level(reward, peak.at), "best level"),),
        ),
    )


def _unproved(shape: Shape, peak: Peak, limits: Limits) -> str:
    """Say what leaves it open whether the fall is one; empty for nothing."""
    if peak.drop < _needed(peak, limits):
        return LESS
    if shape.noise.memory > limits.wandering and peak.drop < limits.far * peak.noise:
        return f"residuals wander (autocorrelation {number(shape.noise.memory, 2)})"
    rare = peak.chance <= limits.chance or _beyond_steps(shape.value, peak)
    return "" if rare else f"noise shows such a fall with a chance of {peak.chance:.1g}"


def _rows(reward: Curve, peak: Peak, needed: float) -> tuple[Evidence, ...]:
    top, last = float(reward.step[peak.at]), float(reward.step[-1])
    return (
        Evidence(
            "Fall of the smoothed reward",
            peak.drop,
            needed,
            "half of what was gained, or all but the first gains, clear of the noise",
            "reward",
            last,
        ),
        Evidence("Best level of the reward, smoothed", peak.best, where="reward", step=top),
        Evidence(
            "First reward", float(reward.value[0]), where="reward", step=float(reward.step[0])
        ),
        Evidence("Last reward", float(reward.value[-1]), where="reward", step=last),
    )


def _lost(peak: Peak) -> float:
    return min(1.0, peak.drop / max(peak.gain, peak.drop, 1e-12))


def _fixes(
    run: Run, signals: Signals, kept: tuple[int, str] | None, onset: float
) -> tuple[Fix, ...]:
    made: list[Fix] = []
    if kept:
        made.append(fixes.weights(f"Use {kept[1]}", "the last saved before the fall"))
    made.extend(policy.normalised(signals))
    if run.task == "rl" and not kept:
        made.append(collapse_words.keep_best(run))
    if not policy.small_steps(signals, onset):
        made.extend(fixes.learning_rate(run, signals, 1 / 3, "smaller steps keep what was learned"))
    made.extend(policy.stronger_beta(run, "this holds the policy near its reference"))
    clip = run.number("epsilon")
    if clip and clip >= 0.2:  # noqa: PLR2004 - the usual clip range
        new = fixes.two_digits(clip / 2)
        made.append(
            fixes.setting(run, "epsilon", new, "Tighten the clip range", "updates are then smaller")
        )
    return tuple(made)


def _fallen(name: str, onset: tuple[float, float], reward: str) -> Case:
    """Draw a reward of an agent that is lost."""
    return drawn(name, onset, 0.03, task="rl", severity="critical", reward=reward)


BAD = (
    _fallen("falls within the last tenth", (9600, 9720), "0:68 1000:73 9600:73 9640:48 9990:48"),
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
    _fallen("classic", (400, 800), "0:-13 500:-8 1200:-18 1800:-18"),
    _fallen(
        "a dip that comes back, then the fall that lasts",
        (1180, 1400),
        "0:10 400:100 500:40 700:40 800:99 1200:99 1400:30 2400:20",
    ),
    drawn(
        "within nine points",
        (50, 70),
        0.04,
        task="ppo",
        severity="critical",
        reward="0:0.3 40:0.8 80:0.03",
    ),
    drawn(
        "one of three episodes fails",
        (2300, 3000),
        noise=0.01,
        task="rl",
        severity="info",
        reward="0:-3 40:0.65 2690:0.65 "
        + " ".join(f"{2700 + 10 * at}:{0.65 if at % 3 else -3}" for at in range(130)),
    ),
    drawn(
        "worse from the first step on",
        (10, 50),
        0.03,
        task="grpo",
        severity="critical",
        reward="0:144 20:112 50:22 70:1 140:0",
    ),
    drawn(
        "never learned, gets worse",
        (480, 900),
        noise=0.02,
        task="rl",
        severity="critical",
        reward="0:-9.9 500:-9.9 1000:-12 2000:-14",
    ),
    drawn(
        "below its start within eight points",
        (40, 60),
        noise=0.01,
        task="rl",
        severity="critical",
        reward="0:-257 30:-282 40:-728 70:-724",
    ),
    drawn(
        "five points, and one in a hundred such falls is noise",
        (10, 20),
        noise=0,
        task="rl",
        severity="info",
        reward="0:31.8 10:15.3 20:12.4 30:13.7 40:14.2",
    ),
    drawn(
        "all but the first gains, which were almost half, are lost",
        (1550, 1850),
        0.005,
        task="rl",
        severity="critical",
        reward="0:-2000 100:1300 1500:3000 2400:1050 3500:900",
    ),
    drawn(
        "a trained policy that is lost",
        (480, 700),
        0.05,
        task="grpo",
        severity="critical",
        reward="0:0.9 500:0.9 700:0.05 1400:0.05",
    ),
    drawn(
        "lost less than half of the gain",
        (100, 220),
        0.02,
        task="rl",
        severity="info",
        reward="0:-78 100:27 300:-10",
    ),
    drawn(
        "a third, late",
        (1500, 2600),
        0.01,
        task="rl",
        severity="info",
        reward="0:-2e3 100:100 1500:3e3 3500:1350",
    ),
)
GOOD = (
    drawn("one first reward far above all", task="grpo", reward="0:54 10:2.3 4000:2.25"),
    drawn("rises", noise=0.2, task="grpo", reward="0:0.3 900:0.8"),
    drawn("a dip", noise=0.05, task="grpo", reward="0:0.3 300:0.8 450:0.2 600:0.8 900:0.85"),
    drawn("noise", noise=0.3, task="grpo", reward="0:0.5 900:0.5"),
    drawn("few points of noise", noise=0.3, task="grpo", reward="0:0.5 100:0.5"),
    drawn("a last point alone", noise=0.04, task="grpo", reward="0:0.3 70:0.8 80:0.1"),
    drawn("a fifth is lost", noise=0.005, task="rl", reward="0:-2e3 100:2e3 1500:3e3 3500:2e3"),
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
    relations=Relations(
        soon=(
            "length-collapse",
            "entropy-collapse",
            "kl-blow-up",
            "length-growth",
            "completions-clipped",
        ),
        absorbs=("reward-flat",),
        late=True,
    ),
    needs=("reward",),
    tasks=RL_TASKS,
    bad=BAD,
    good=GOOD,
)
