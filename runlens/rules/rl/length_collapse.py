"""Length collapse: completions shrink to almost nothing.

What is seen
    The mean length of the completions falls to a few tokens for a stretch of the run.
Why it matters
    An answer of a few tokens says nothing; the policy has found that stopping at once is the
    best it can do, or it has lost its language.
Looks alike
    Answers that are short by nature: the start is short as well. Answers that get shorter while
    the reward rises: said as info, unless the held-out scores fall, or the reward is a sum over
    tokens that is negative and no better a token than before. Episodes of
    classic environments are never judged.
Limits
    tokens, share: at most this many tokens, or this share of the start, whichever is more; the
    start is the first value as logged, or the median of the first 5 % where that is higher.
    start: the least start for that, in tokens. one: at most this many tokens on average, judged
    for any start of at least short_start. lasting: share of the run for which it must hold, of
    few points two in a row.
Fixes
    Read the short completions; weaken a penalty of length; let empty outputs earn nothing; half
    of the learning rate.
"""

from dataclasses import dataclass

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Evidence,
    Finding,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.rules.rl import held_out, policy
from runlens.rules.rl.policy import Gain
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import longest_true
from runlens.wording import capitalised, number, step, too_few

PAYS = 1.0  # standard deviations of the reward that were gained


@dataclass(frozen=True)
class Limits:
    """What may be tuned."""

    tokens: float = 5.0
    share: float = 0.10
    start: float = 20.0
    one: float = 1.5
    short_start: float = 4.0
    lasting: float = 0.10


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look for a stretch of points whose mean length is next to nothing."""
    length = signals.curve("len_mean")
    if len(length) < policy.FEWEST_FINITE:
        return unmet(too_few(len(length), "completion length", policy.FEWEST_FINITE))
    first = length.value[: policy.head(len(length))]
    start = max(float(first[0]), float(median(first)))
    limit = max(limits.tokens, limits.share * start) if start >= limits.start else limits.one
    if start < limits.short_start:
        return passed(
            f"completions were short from the start: {number(float(first[0]), 3)} tokens at the "
            f"first step, {number(start, 3)} (median of the first points)"
        )
    at, lasted = longest_true(length.value <= limit)
    if lasted < policy.lasting(len(length), limits.lasting):
        least = float(length.value.min())
        return passed(
            f"the lowest mean length was {number(least, 3)} tokens (threshold {number(limit, 3)})"
        )
    return found(_finding(run, signals, start, limit, at, lasted))


def _finding(
    run: Run, signals: Signals, start: float, limit: float, at: int, lasted: int
) -> Finding:
    length = signals.curve("len_mean")
    onset, over = float(length.step[at]), float(length.step[at + lasted - 1])
    level = float(median(length.value[at : at + lasted]))
    gain = policy.gain_of(signals)
    against = _against(run, signals, gain, start, level)
    earns = gain is not None and gain.units >= PAYS and not against
    severity: Severity = "info" if earns or (gain is None and not against) else "warning"
    came_back = at + lasted < len(length)
    until = "of these steps" if came_back else "from then on"
    short = f"got very short from step {step(onset)} on"
    if came_back:
        short = f"were very short from step {step(onset)} to step {step(over)}"
    return Finding(
        severity=severity,
        title=f"Completions {short}. Their mean length fell "
        f"from {number(float(length.value[0]), 3)} tokens at the first step to "
        f"{number(level, 2)} (median {until}).",
        metric="len_mean",
        onset=Moment(onset),
        end=Moment(over) if came_back else None,
        evidence=(
            Evidence(
                "Mean length", level, limit, "next to nothing", "len_mean", onset, above=False
            ),
            Evidence("Mean length at the start", start, where="len_mean"),
            Evidence("Points in a row", float(lasted), where="len_mean"),
        ),
        seen=f"{capitalised(policy.gain_words(gain))}." + (f" {against}" if against else ""),
        fixes=(
            fixes.look(f"Read the short completions from step {step(onset)} on and their rewards"),
            fixes.action("Give empty and cut-off answers no reward", cost="one run"),
            *fixes.learning_rate(run, signals, 1 / 2, "smaller steps keep the language"),
        ),
        ruled_out=()
        if severity == "info"
        else (RuledOut("Short answers that are right", against or policy.gain_words(gain)),),
        confidence=policy.sure(
            limit / max(level, 1e-9), signals.shape("len_mean").fell_overall().chance, len(length)
        ),
        chart=Chart("limit", ("len_mean", "reward"), limit=limit),
    )


def _against(run: Run, signals: Signals, gain: Gain | None, start: float, level: float) -> str:
    """Say what shows that a reward that rises is not earned by better answers; else empty."""
    if fell := held_out.fallen(run, signals):
        return (
            f"{fell.metric} fell from {number(fell.start, 3)} to {number(fell.end, 3)} meanwhile "
            f"({fell.falling} of {fell.scores} scores fell)."
        )
    if gain is None or gain.start >= 0 or gain.end >= 0:
        return ""
    before, after = gain.start / start, gain.end / max(level, 1.0)
    if after > before:
        return ""
    return (
        f"A negative reward summed over tokens rises as completions get shorter: it went from "
        f"{number(before, 2)} to {number(after, 2)} per token."
    )


BAD = (
    drawn(
        "this stops at once",
        (280, 420),
        task="grpo",
        severity="warning",
        len_mean="0:110 300:100 400:3 900:3",
        reward="0:0.8 300:0.8 400:0 900:0",
    ),
    drawn(
        "at the second record",
        (10, 10),
        task="grpo",
        severity="warning",
        len_mean="0:53 10:2.5 70:2.4",
        reward="0:0.5 70:0.45",
    ),
    drawn(
        "for a while",
        (280, 420),
        task="grpo",
        severity="warning",
        len_mean="0:110 300:100 350:3 500:3 600:250 900:250",
        reward="0:0.8 300:0.8 400:0 900:0",
    ),
    drawn(
        "pays",
        (80, 220),
        task="grpo",
        severity="info",
        len_mean="0:8.7 200:1 900:1",
        reward="0:0.1 200:0.5 900:0.5",
    ),
    drawn(
        "pays, but the score falls",
        (300, 440),
        task="grpo",
        severity="warning",
        len_mean="0:1000 300:600 400:9 600:9",
        reward="0:0.1 300:0.2 400:0.8 600:0.8",
        eval_accuracy="0:0.22 600:0.05 /100",
    ),
    drawn(
        "a sum over tokens",
        (300, 440),
        task="grpo",
        severity="warning",
        len_mean="0:1000 300:600 400:9 600:9",
        reward="0:-19 300:-13 400:-1.8 600:-1.8",
    ),
)
GOOD = (
    drawn("short by nature", task="grpo", len_mean="0:3 900:1.2", reward="0:0.5 900:0.5"),
    drawn("more to the point", task="grpo", len_mean="0:370 900:45", reward="0:0.3 900:1.7"),
    drawn("two points", task="grpo", len_mean="0:110 490:110 500:2 510:2 520:110 900:110"),
)

RULE = Rule(
    slug="length-collapse",
    title="Completions shrink to nothing",
    family="RLX",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("len_mean",),
    tasks=frozenset({"grpo", "ppo"}),
    bad=BAD,
    good=GOOD,
)
