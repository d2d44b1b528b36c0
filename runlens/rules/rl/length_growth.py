"""Length growth: completions climb to the limit, and the reward gains nothing by it.

What is seen
    The mean length of the completions grows by half or more and ends near the limit, or with
    half of the completions cut, while the reward stays where it was or falls.
Why it matters
    Longer completions cost time and memory; without reward they are filler, and those cut at
    the limit carry no answer.
Looks alike
    Models that learn to think longer earn more with it: said as info. Lengths that grow but
    stay far from the limit are left alone.
Limits
    fewest: points. growth: end over start. near_limit: share of the limit at the end;
    cut: or share of cut completions at the end. worth: share of the start by which the
    reward must rise, beyond chance, for the growth to pay.
    Measured on 3,000 simulated runs: no false alarm, power 95 %.
Fixes
    A loss that is not summed over tokens (dr_grpo, dapo), a penalty for overlong answers, cut
    completions out of the loss, a reward that does not pay for length.
"""

from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
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
from runlens.records import NamedTuple
from runlens.rules.relations import Relations
from runlens.rules.rl import policy
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import capitalised, number, step, times, too_few

UNDER_WAY = 0.25  # of the growth: from here on the lengths stay above what they were
UNBIASED = ("dr_grpo", "dapo", "bnpo")  # losses without a bias of length (TRL)


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 6
    growth: float = 1.5
    near_limit: float = 0.8
    cut: float = 0.5
    worth: float = 0.10


class Climb(NamedTuple):
    """How far the mean length climbed."""

    at: int
    start: float
    end: float
    limit: policy.Limit | None
    cut: float | None  # share of cut completions at the end

    @property
    def ratio(self) -> float:
        """The end over the start."""
        return self.end / self.start


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the end of the mean length with its start, with the limit and with the reward."""
    length = signals.curve("len_mean")
    if len(length) < limits.fewest:
        return unmet(too_few(len(length), "completion length", limits.fewest))
    climb = _climb(run, signals)
    if climb.ratio < limits.growth:
        return passed(f"mean length ends at {times(climb.ratio)} its start")
    near = climb.limit is not None and climb.end >= limits.near_limit * climb.limit.tokens
    cut = climb.cut is not None and climb.cut >= limits.cut
    if not near and not cut:
        top = f" of {number(climb.limit.tokens)}" if climb.limit else ""
        return passed(f"mean length grew to {number(climb.end)} tokens{top}, far from the limit")
    return found(_finding(run, signals, climb, limits))


def _climb(run: Run, signals: Signals) -> Climb:
    value = signals.curve("len_mean").value
    tenth = max(3, len(value) // 10)
    start = max(float(median(value[: max(3, tenth // 2)])), 1e-9)
    end = float(median(value[-tenth:]))
    shown = signals.smooth("len_mean")
    onset = policy.stays_from(shown >= start + UNDER_WAY * (end - start), 0.9) or 0
    cut = signals.curve("len_clipped").value
    share = float(median(cut[-max(3, len(cut) // 10) :])) if len(cut) else None
    return Climb(onset, start, end, policy.length_limit(run, signals), share)


def _finding(run: Run, signals: Signals, climb: Climb, limits: Limits) -> Finding:
    length = signals.curve("len_mean")
    onset = float(length.step[climb.at])
    gain = policy.gain_of(signals)
    pays = gain is not None and _pays(gain, limits)
    severity: Severity = "info" if pays or gain is None else "warning"
    rows = [
        Evidence(
            "Mean length at the end, relative to the start",
            climb.ratio,
            limits.growth,
            "by half",
            "len_mean",
        )
    ]
    if climb.limit:
        source, near = climb.limit.source, limits.near_limit * climb.limit.tokens
        rows.append(
            Evidence("Mean length at the end", climb.end, near, f"80 % of {source}", unit="tokens")
        )
    if climb.cut is not None:
        rows.append(
            Evidence("Completions cut off, last part of the run", climb.cut, limits.cut, unit="%")
        )
    if gain:
        share = (gain.end - gain.start) / max(abs(gain.start), 1e-9)
        what, why = "Change in reward since the start", "from here it pays"
        rows.append(Evidence(what, share, limits.worth, why, "reward", above=False, unit="%"))
    top = f", and the limit is {number(climb.limit.tokens)}" if climb.limit else ""
    return Finding(
        severity=severity,
        title=f"Completions grew longer from step {step(onset)} on, from a mean of "
        f"{number(climb.start, 3)} to {number(climb.end, 3)} tokens{top}.",
        metric="len_mean",
        onset=Moment(onset),
        evidence=tuple(rows),
        seen=f"{capitalised(policy.gain_words(gain))}.",
        fixes=_fixes(run),
        ruled_out=()
        if pays or gain is None
        else (RuledOut("Useful longer reasoning", policy.gain_words(gain)),),
        confidence=policy.confidence(climb.ratio / limits.growth, len(length)),
        chart=Chart("curves", ("len_mean", "reward")),
    )


def _pays(gain: policy.Gain, limits: Limits) -> bool:
    more = gain.end - gain.start >= limits.worth * abs(gain.start)
    return more and gain.p < policy.RISING_P


def _fixes(run: Run) -> tuple[Fix, ...]:
    made = []
    if run.task == "grpo" and run.setting("loss_type") not in UNBIASED:
        what, why = "Use a loss without length bias", "the present loss favors long completions"
        made.append(fixes.setting(run, "loss_type", "dr_grpo", what, why))
    return (
        *made,
        *policy.leave_out_cut(run),
        fixes.action("Add a penalty for overlong answers to the reward", cost="one run"),
        fixes.look(
            "Read the longest of the recent completions", "filler and repetition show there"
        ),
    )


BAD = (
    drawn(
        "to the limit",
        (0, 330),
        task="grpo",
        severity="warning",
        len_mean="0:110 200:120 600:480 900:505",
        len_clipped="0:0 300:0.1 900:0.9",
        len_max="0:400 300:512 900:512",
        reward="0:0.5 900:0.5",
    ),
    drawn(
        "and less reward",
        (100, 400),
        task="grpo",
        severity="warning",
        config={"max_completion_length": 512},
        len_mean="0:110 300:110 350:505 900:505",
        reward="0:0.8 300:0.8 400:0.1 900:0.1",
    ),
    drawn(
        "it pays",
        (0, 330),
        task="grpo",
        severity="info",
        config={"max_completion_length": 512},
        len_mean="0:110 200:120 600:480 900:505",
        reward="0:0.2 900:0.9",
    ),
)
GOOD = (
    drawn(
        "far from the limit",
        task="grpo",
        config={"max_completion_length": 4096},
        len_mean="0:100 900:400",
        reward="0:0.5 900:0.5",
    ),
    drawn(
        "steady",
        noise=0.1,
        task="grpo",
        config={"max_completion_length": 128},
        len_mean="0:110 900:118",
        reward="0:0.5 900:0.5",
    ),
    drawn(
        "a hump",
        task="grpo",
        config={"max_completion_length": 512},
        len_mean="0:110 300:500 600:110 900:110",
        reward="0:0.5 900:0.5",
    ),
)

RULE = Rule(
    slug="length-growth",
    title="Completions grow to the limit",
    family="RLX",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=("completions-clipped", "reward-flat"), early_sign=True),
    needs=("len_mean",),
    tasks=frozenset({"grpo", "ppo"}),
    bad=BAD,
    good=GOOD,
)
