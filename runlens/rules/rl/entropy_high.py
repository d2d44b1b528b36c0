"""Entropy high: the policy of a language model does not settle.

What is seen
    The entropy is above 1 nat a token at the end, no lower than at the start, and the reward has
    not risen.
Why it matters
    A policy that keeps its choices open to the end has not found what is rewarded.
Looks alike
    Small or freshly trained models have entropies of 1 to 2 nats in health, and fall from there
    while reward rises. High temperatures and creative tasks keep it up on purpose. It is advice.
Limits
    high: nats per token at the end (0.05 to 0.5 is healthy for large instruct models). gain:
    of the reward in its standard deviations, below which nothing was learned. fewest: points; of
    less it must rise in an order that one in a hundred noises has (rise: its p).
Fixes
    Half of the learning rate or more steps; check the reward; a lower temperature.
"""

from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Evidence, Finding, Moment, Outcome
from runlens.history import Curve
from runlens.rules.rl import policy
from runlens.rules.rl.policy import Gain
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.shape import kendall
from runlens.wording import capitalised, number, step, too_few


class Limits(Struct, frozen=True):
    """What may be tuned."""

    high: float = 1.0
    gain: float = 0.5
    fewest: int = 30
    rise: float = 0.01


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the end of the entropy with its start, and ask the reward."""
    entropy = signals.curve("entropy")
    gain = policy.gain_of(signals)
    short = len(entropy) < limits.fewest and not _rises(entropy, limits)
    if short or gain is None:
        return unmet(
            too_few(len(entropy), "entropy value", limits.fewest)
            if short
            else "too few rewards were logged"
        )
    tenth = max(3, len(entropy) // 10)
    start = float(median(entropy.value[:tenth]))
    end = float(median(entropy.value[-tenth:]))
    if end <= limits.high:
        return passed(f"entropy ends at {number(end, 3)}")
    if end < start:
        return passed(f"entropy fell from {number(start, 3)} to {number(end, 3)}")
    if gain.units >= limits.gain and gain.tau > policy.RISING_TAU:
        return passed(f"{policy.gain_words(gain)}: it learns")
    return found(_finding(run, signals, start, end, gain, limits))


def _rises(entropy: Curve, limits: Limits) -> bool:
    """Whether few points rise in an order that noise rarely has."""
    tau, p = kendall(entropy.value)
    return tau > 0 and p <= limits.rise


def _finding(
    run: Run, signals: Signals, start: float, end: float, gain: Gain, limits: Limits
) -> Finding:
    entropy = signals.curve("entropy")
    at = policy.stays_from(signals.smooth("entropy") > limits.high) or 0
    onset = float(entropy.step[at])
    return Finding(
        severity="info",
        title=f"Entropy stayed high from step {step(onset)} on. Its median was {number(start, 3)} "
        f"nats per token at the start and {number(end, 3)} at the end.",
        metric="entropy",
        onset=Moment(onset),
        evidence=(
            Evidence("Entropy at the end", end, limits.high, "0.05 to 0.5 is usual", "entropy"),
            Evidence("Entropy at the start", start, where="entropy"),
            Evidence("Mean reward in the first tenth", gain.start, where="reward"),
            Evidence("Mean reward in the last tenth", gain.end, where="reward"),
        ),
        seen=f"The policy did not become more certain. {capitalised(policy.gain_words(gain))}.",
        fixes=(
            *fixes.learning_rate(run, signals, 1 / 2, "this lets the policy settle"),
            fixes.look("Check that better completions earn more"),
        ),
        confidence=policy.confidence(end / limits.high, len(entropy)),
        chart=Chart("limit", ("entropy", "reward"), limit=limits.high),
    )


BAD = (
    drawn(
        "never settles",
        (0, 900),
        task="grpo",
        severity="info",
        entropy="0:1.2 900:1.8",
        reward="0:0.3 900:0.3",
    ),
    drawn(
        "drifts to chance in twenty steps",
        (0, 60),
        task="grpo",
        severity="info",
        entropy="0:0.46 40:6 100:10.7 200:11.6",
        reward="0:0.02 200:0.01",
    ),
    drawn(
        "falls apart",
        (150, 420),
        task="grpo",
        severity="info",
        entropy="0:0.2 300:0.3 500:6 900:7",
        reward="0:0.8 300:0.8 500:0 900:0",
    ),
)
GOOD = (
    drawn("settles", task="grpo", entropy="0:1.8 900:1.1", reward="0:0.3 900:0.7"),
    drawn("rises and learns", task="grpo", entropy="0:1.1 900:1.3", reward="0:0.3 900:0.7"),
    drawn("usual", task="grpo", entropy="0:0.4 900:0.5", reward="0:0.3 900:0.3"),
)

RULE = Rule(
    slug="entropy-high",
    title="High entropy",
    family="RLX",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("entropy",),
    tasks=frozenset({"grpo", "ppo"}),
    bad=BAD,
    good=GOOD,
)
