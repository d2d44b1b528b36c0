"""Reward hacking: the reward rises, and something that it should stand for gets worse.

What is seen
    The reward rises clearly while at least two companions go wrong (KL above its alarm,
    completions that run to the limit, entropy that collapses), or while the true measure falls:
    an evaluation score, most of several held-out scores, a share of right answers, a gold score,
    or one of several reward functions. Of agents a share of successes alone counts.
Why it matters
    The policy has found a way to be paid without doing the task; the better it gets at it, the
    worse the model.
Looks alike
    Longer completions while the evaluation improves are no hack. One companion alone has its own
    rule.
Limits
    fewest: points of reward from which companions count, which few points make look alike by
    chance; a true measure counts by its own order. gain: its rise in standard deviations. kl: alarm
    value.
    length: end over start, near_limit: share of the limit. entropy: end as share of the start.
    tau, p: trend of a true measure that falls. companions: how many must go wrong.
Fixes
    A stronger KL term; a reward that the hack does not earn; a penalty of length; the checkpoint
    before the onset.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Evidence, Finding, Fix, Moment, Outcome
from runlens.records import NamedTuple
from runlens.rules.relations import Relations
from runlens.rules.rl import held_out, policy
from runlens.rules.rl.falls import of_level
from runlens.rules.rl.policy import Gain
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import capitalised, number, step, too_few

TRUE_MEASURES = ("eval_reward", "eval_accuracy", "eval_success_rate", "eval_score")


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 30
    gain: float = 1.0
    kl: float = 2.0
    length: float = 2.0
    near_limit: float = 0.8
    entropy: float = 0.05
    tau: float = -0.3
    p: float = 0.01
    companions: int = 2


class Sign(NamedTuple):
    """One thing that went wrong while the reward rose."""

    what: str
    metric: str
    at: float  # step
    value: float
    limit: float
    above: bool
    decides: bool  # enough by itself
    said: str = ""  # how it moved

    @property
    def moved(self) -> str:
        """Say how it moved, with its numbers."""
        told = f"{self.what} {'rose' if self.above else 'fell'} to a median of"
        return self.said or f"{told} {number(self.value, 3)}"

    @property
    def label(self) -> str:
        """Name what `value` is of."""
        trend = self.metric.startswith(("eval", "reward"))
        return f"Trend of {self.what}" if trend else f"Median {self.what}"


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Ask whether the reward rose, and what happened to its companions."""
    reward = signals.curve("reward")
    gain = policy.gain_of(signals)
    if len(reward) < policy.FEWEST or gain is None:
        return unmet(too_few(len(reward), "reward", policy.FEWEST))
    at_once = of_level(-reward.value) < limits.p  # what soon reached its most has a short trend
    if not (gain.rising or at_once) or gain.units < limits.gain:
        return passed(f"{policy.gain_words(gain)}: no clear rise that could be a hack")
    signs = _signs(run, signals, limits)
    many = len(reward) >= limits.fewest and len(signs) >= limits.companions
    if many or any(sign.decides for sign in signs):
        return found(_finding(run, signals, gain, signs))
    told = f", though {signs[0].what} went wrong" if signs else ""
    return passed(f"{policy.gain_words(gain)}; no two companions went wrong{told}")


def _signs(run: Run, signals: Signals, limits: Limits) -> list[Sign]:
    """Return what went wrong beside the reward; of agents, what they are to achieve alone.

    Their entropy falls as they solve a task, and their evaluations are played another way.
    """
    if run.task == "rl":
        return _right_answers(held_out.right_answers(run, signals))
    others = (_far(signals, limits), _long(run, signals, limits), _frozen(signals, limits))
    return [*_falling(run, signals, limits), *(sign for sign in others if sign)]


def _falling(run: Run, signals: Signals, limits: Limits) -> list[Sign]:
    """Return the true measures that fall: evaluation scores, and parts of the reward."""
    parts = [name for name in run.history.metrics if name.startswith("reward:")]
    made = []
    for metric in (*TRUE_MEASURES, *(parts if len(parts) > 1 else ())):
        curve = signals.curve(metric)
        if len(curve) < policy.FEWEST:
            continue
        moved = signals.trend(metric)
        gain = policy.gain_of(signals, metric)
        falls = moved.p < limits.p and moved.tau < limits.tau
        if gain and falls and gain.units < -limits.gain:
            best = float(curve.step[int(np.argmax(signals.smooth(metric)))])
            name = metric.partition(":")[2] or metric
            # a part may be a penalty: only a score that is held out decides by itself
            decides = metric in TRUE_MEASURES
            said = _moved(name, gain.start, gain.end)
            made.append(Sign(name, metric, best, moved.tau, limits.tau, False, decides, said))
    if any(sign.decides for sign in made):
        return made
    fell = held_out.fallen(run, signals) or held_out.right_answers(run, signals)
    return [*made, *_right_answers(fell)]


def _right_answers(fell: held_out.Fallen | None) -> list[Sign]:
    if fell is None:
        return []
    said = _moved(fell.metric, fell.start, fell.end)
    return [Sign(fell.metric, fell.metric, fell.at, fell.tau, held_out.TAU, False, True, said)]


def _moved(name: str, start: float, end: float) -> str:
    return f"{name} went from {number(start, 3)} to {number(end, 3)}"


def _far(signals: Signals, limits: Limits) -> Sign | None:
    kl = signals.curve("kl")
    at = policy.stays_from(signals.smooth("kl") > limits.kl) if len(kl) >= policy.FEWEST else None
    if at is None:
        return None
    level = float(median(kl.value[at:]))
    return Sign("KL", "kl", float(kl.step[at]), level, limits.kl, above=True, decides=False)


def _long(run: Run, signals: Signals, limits: Limits) -> Sign | None:
    length, limit = signals.curve("len_mean"), policy.length_limit(run, signals)
    if len(length) < limits.fewest or limit is None:
        return None
    tenth = max(3, len(length) // 10)
    start, end = float(median(length.value[:tenth])), float(median(length.value[-tenth:]))
    if end < limits.length * start or end < limits.near_limit * limit.tokens:
        return None
    at = policy.stays_from(signals.smooth("len_mean") > (start + end) / 2) or 0
    ratio = end / max(start, 1e-9)
    at_step = float(length.step[at])
    return Sign(
        "length ratio, last to first tenth",
        "len_mean",
        at_step,
        ratio,
        limits.length,
        above=True,
        decides=False,
        said=f"completions grew from {number(start, 3)} to {number(end, 3)} tokens",
    )


def _frozen(signals: Signals, limits: Limits) -> Sign | None:
    entropy = signals.curve("entropy")
    if len(entropy) < limits.fewest:
        return None
    tenth = max(3, len(entropy) // 10)
    start = float(median(entropy.value[:tenth]))
    limit = limits.entropy * start
    at = policy.stays_from(signals.smooth("entropy") < limit)
    if at is None or start <= 0:
        return None
    end = float(median(entropy.value[-tenth:]))
    return Sign("entropy", "entropy", float(entropy.step[at]), end, limit, False, False)


def _finding(run: Run, signals: Signals, gain: Gain, signs: list[Sign]) -> Finding:
    signs = sorted(signs, key=lambda sign: (not sign.decides, sign.at))
    onset = min(sign.at for sign in signs)
    told = " and ".join(sign.moved for sign in signs[:2])
    rows = [
        Evidence(
            sign.label,
            sign.value,
            sign.limit,
            "goes wrong while the reward rises",
            sign.metric,
            sign.at,
            sign.above,
        )
        for sign in signs
    ]
    rows.append(Evidence("Mean reward in the first tenth", gain.start, where="reward"))
    rows.append(Evidence("Mean reward in the last tenth", gain.end, where="reward"))
    return Finding(
        severity="warning",
        title=f"From step {step(onset)} on, reward rose while {told}.",
        metric="reward",
        onset=Moment(onset),
        evidence=tuple(rows),
        seen=f"{capitalised(policy.gain_words(gain))}.",
        fixes=_fixes(run, signals, onset),
        confidence=policy.confidence(1 + 0.3 * len(signs), len(signals.curve("reward"))),
        chart=Chart("curves", ("reward", *(sign.metric for sign in signs))),
    )


def _fixes(run: Run, signals: Signals, onset: float) -> tuple[Fix, ...]:
    kept = fixes.checkpoint_before(run, onset)
    use = (fixes.weights(f"Use {kept[1]}", "the last saved before it"),) if kept else ()
    return (
        *use,
        fixes.look(
            "Watch five of the highest-rewarded episodes near the end"
            if run.task == "rl"
            else "Read the highest-rewarded completions near the end",
            "this shows what is rewarded",
        ),
        *policy.stronger_beta(run, "this keeps the policy near its reference"),
        *fixes.learning_rate(run, signals, 1 / 2, "less far per step"),
    )


PAID = "0:0.55 10:0.63 20:0.68 30:0.71 50:0.74 100:0.85 170:0.92"
RIGHT = "0:0.295 10:0.096 20:0.044 30:0.023 50:0.016 100:0.01 170:0.006"
AT_ONCE = "0:0.6 5:1.4 10:4.2 15:18.8 20:23.2 25:23.9 30:24 85:24 /5"
GONE = "0:0.82 5:0.77 10:0.59 15:0.22 20:0.07 25:0.05 30:0.04 85:0.04 /5"
BAD = (
    drawn(
        "all is gained, and the gold score lost, within the first third",
        (0, 25),
        noise=0,
        task="grpo",
        severity="warning",
        reward=AT_ONCE,
        gold=GONE,
    ),
    drawn(
        "an agent that is paid for less and less success",
        (0, 25),
        noise=0,
        task="rl",
        severity="warning",
        reward=AT_ONCE,
        success_rate=GONE,
    ),
    drawn(
        "right answers fall in 18 points",
        (0, 30),
        noise=0,
        task="grpo",
        severity="warning",
        reward=PAID,
        exact_answers=RIGHT,
    ),
    drawn(
        "true score falls",
        (0, 400),
        task="grpo",
        severity="warning",
        reward="0:0.2 900:0.9",
        eval_accuracy="50:0.6 200:0.62 900:0.3",
    ),
    drawn(
        "far and long",
        (200, 700),
        task="grpo",
        severity="warning",
        config={"max_completion_length": 512},
        reward="0:0.2 900:0.9",
        kl="0:0.05 400:0.2 600:4 900:6",
        len_mean="0:100 400:120 700:500 900:505",
    ),
)
GOOD = (
    drawn(
        "all is gained at once, and a third of the gold score lost",
        noise=0,
        task="grpo",
        reward=AT_ONCE,
        gold="0:0.82 5:0.8 10:0.75 15:0.6 20:0.57 25:0.56 30:0.55 85:0.55 /5",
    ),
    drawn(
        "an agent whose entropy and noise fall as it solves the task",
        noise=0,
        task="rl",
        reward="0:0.2 900:0.9",
        success_rate="0:0.1 900:0.8",
        entropy="0:1.4 400:0.05 900:0.01",
        kl="0:0.1 300:3 900:4",
    ),
    drawn(
        "fewer right answers at a harder level",
        noise=0,
        task="grpo",
        reward=PAID,
        exact_answers=RIGHT,
        curriculum_level="0:1 50:1 60:2 170:2 /10",
    ),
    drawn(
        "far and long in 25 points",
        noise=0,
        task="grpo",
        config={"max_completion_length": 512},
        reward="0:0.2 240:0.9",
        kl="0:0.05 100:0.2 150:4 240:6",
        len_mean="0:100 100:120 180:500 240:505",
    ),
    drawn(
        "few points, and right answers that scatter",
        noise=0.4,
        task="grpo",
        reward="0:0.55 170:0.6",
        exact_answers="0:0.3 170:0.27",
    ),
    drawn(
        "fewer answers of the right form, which is paid for less",
        noise=0,
        task="grpo",
        reward=PAID,
        format_correct=RIGHT,
    ),
    drawn(
        "longer and better",
        task="grpo",
        config={"max_completion_length": 512},
        reward="0:0.2 900:0.9",
        len_mean="0:100 900:505",
        eval_accuracy="50:0.3 900:0.6",
    ),
    drawn("plain success", task="grpo", reward="0:0.2 900:0.9", kl="0:0.01 900:0.2"),
    drawn("no rise", noise=0.2, task="grpo", reward="0:0.4 900:0.4", kl="0:1 900:5"),
)

RULE = Rule(
    slug="reward-hacking",
    title="Reward hacking",
    family="RLX",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=("length-growth", "kl-blow-up", "reward-collapse")),
    needs=("reward",),
    tasks=frozenset({"grpo", "ppo", "rl"}),
    bad=BAD,
    good=GOOD,
)
