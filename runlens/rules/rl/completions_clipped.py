"""Completions clipped: most answers are cut at the length limit.

What is seen
    The share of completions that end at the limit instead of ending by themselves is high over
    a large part of the run, or the mean length is the limit itself.
Why it matters
    A cut completion has no answer and mostly no reward; the policy learns from what it could
    not finish, and the end-of-text token is hardly ever trained.
Looks alike
    A start at the limit that goes away as the model learns to stop. A share around a half costs
    signal but is no fault by itself: said as info.
Limits
    alarm: share of cut completions (below 0.3 is healthy: info_from). half: of the points
    that must be above the alarm, over the run or in its last half. tail: the same from some step
    to the end, over at least this share of the run, of few points two. pinned: share of points
    whose mean length is exactly the longest one, where the cut share is not logged: a mean
    equals the limit only if every completion reaches it. Answers of one fixed length look the
    same: said as info.
Fixes
    Double the limit if memory allows; check the end-of-text token and stop words; ask for
    shorter answers; leave cut completions out of the loss.
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
    Rank,
    RuledOut,
    Severity,
)
from runlens.history import BoolArray, Curve, FloatArray
from runlens.records import NamedTuple
from runlens.rules.relations import Relations
from runlens.rules.rl import policy
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import running_median, window
from runlens.wording import capitalised, number, percent, step, too_few

FEWEST = 4  # points of which two in a row are half
RANDOM = 2.0  # nats per token at the end: far above what a language model has on its own text
WHOLE = 1e-6  # tokens: a mean that is the limit is a whole number


class Limits(Struct, frozen=True):
    """What may be tuned."""

    alarm: float = 0.8
    info_from: float = 0.3
    half: float = 0.5
    tail: float = 0.3
    pinned: float = 0.8


class Cut(NamedTuple):
    """Where completions are cut."""

    at: int
    share: float  # of the completions, median since then
    severity: Severity


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Judge the cut share; where it is not logged, the mean length."""
    curve = signals.curve("len_clipped")
    if len(curve) >= FEWEST:
        cut = _cut(curve.value, limits)
        if cut is None:
            middle = float(median(curve.value))
            return passed(f"{percent(middle)} of the completions were cut, at the median")
        return found(_finding(run, signals, curve, "len_clipped", cut, limits))
    lengths = signals.curve("len_mean")
    if len(lengths) < FEWEST:
        most = max(len(curve), len(lengths))
        return unmet(too_few(most, "completion length", FEWEST))
    at_top = lengths.value >= lengths.value.max() - WHOLE
    whole = abs(lengths.value.max() - round(lengths.value.max())) < WHOLE
    if whole and at_top.mean() >= limits.pinned and lengths.value.max() > 1:
        at = int(np.argmax(at_top))
        cut = Cut(at, float(at_top[at:].mean()), "info")
        return found(_finding(run, signals, lengths, "len_mean", cut, limits))
    return passed(f"the mean length is at its highest at {policy.share_words(at_top)}")


def _cut(value: FloatArray, limits: Limits) -> Cut | None:
    value = value / 100 if value.max() > 1.5 else value  # noqa: PLR2004 - logged in percent
    points = len(value)
    shown = running_median(value, window(points)) if points >= policy.FEW else value
    high: BoolArray = shown > limits.alarm
    at = policy.stays_from(high, 0.9)
    late = float(median(value[points // 2 :]))
    if at is not None and points - at >= policy.lasting(points, limits.tail):
        return Cut(at, float(median(value[at:])), "warning")
    if late > limits.alarm or ((value > limits.alarm).mean() > limits.half and at is not None):
        at = int(np.argmax(high))
        return Cut(at, float(median(value[at:])), "warning")
    often = (value > limits.info_from).sum() >= policy.lasting(points, limits.tail)
    if late > limits.info_from and often:
        at = int(np.argmax(shown > limits.info_from))
        return Cut(at, late, "info")
    return None


def _finding(
    run: Run, signals: Signals, curve: Curve, metric: str, cut: Cut, limits: Limits
) -> Finding:
    onset = float(curve.step[cut.at])
    limit = policy.length_limit(run, signals)
    tokens = f" of {number(limit.tokens)} tokens" if limit else ""
    needed = limits.alarm if cut.severity == "warning" else limits.info_from
    needed = limits.pinned if metric == "len_mean" else needed
    first = Evidence(
        "Completions cut at the limit (median)",
        cut.share,
        needed,
        "threshold" if cut.severity == "warning" else "end of the healthy range",
        metric,
        unit="%",
    )
    what = f"{percent(cut.share)} of the completions (median) were cut at the limit{tokens}"
    if metric == "len_mean":
        top = float(curve.value.max())
        what = f"the mean length was at the limit of {number(top)} tokens at {percent(cut.share)} "
        what += "of the logged points"
        note = "a mean at the limit needs every completion at it"
        first = Evidence(
            "Points at the longest length", cut.share, limits.pinned, note, metric, unit="%"
        )
    rows = [first]
    if limit:
        rows.append(Evidence("Length limit", limit.tokens, source=limit.source))
    gain = policy.gain_of(signals)
    return Finding(
        severity=cut.severity,
        title=f"From step {step(onset)} on, {what}.",
        metric=metric,
        onset=Moment(onset),
        evidence=tuple(rows),
        seen=f"{capitalised(policy.gain_words(gain))}.",
        causes=_causes(signals, limit),
        fixes=_fixes(run, signals, limit),
        ruled_out=(RuledOut("Long answers only at the start", "the share is high to the end"),),
        confidence=policy.confidence(
            1 + (cut.share - needed) / (1 - needed), len(curve) + 20
        )._replace(
            reason=f"{percent(cut.share)} against {percent(needed)}, {len(curve):,} logged points"
        ),
        chart=Chart("limit", (metric, "len_mean"), limit=needed if metric != "len_mean" else None),
    )


def _causes(signals: Signals, limit: policy.Limit | None) -> tuple[Cause, ...]:
    ended = signals.curve("len_term").value
    term = float(median(ended[ended > 0])) if (ended > 0).any() else None
    short = f"the limit is {number(limit.tokens)} tokens" if limit else ""
    near = term is not None and limit is not None and term > 0.5 * limit.tokens
    if near:
        short += f", and completions that end by themselves have {number(term or 0)}"
    entropy = signals.curve("entropy").value[-policy.FEWEST :]
    last = float(median(entropy)) if len(entropy) else 0.0
    noise = f"entropy ended at {number(last, 3)} nats per token"
    on = policy.runs_on(signals)
    ends = "The model does not end its answers (end-of-text token, template)"
    rank: Rank = "most likely" if near else "likely"
    return policy.ranked(
        None
        if on
        else Cause("Completion limit too short for the task", rank, short, kind="length-limit"),
        Cause(ends, "most likely" if on else "likely", on, kind="length-limit"),
        Cause("The policy fell apart into endless text", "likely", noise)
        if last > RANDOM
        else None,
    )


def _fixes(run: Run, signals: Signals, limit: policy.Limit | None) -> tuple[Fix, ...]:
    made = []
    if on := policy.runs_on(signals):
        what = "Make the template end each answer with a stop string or with the end-of-text token"
        made.append(fixes.action(what, on, cures="length-limit"))
    elif limit:
        old = int(limit.tokens)
        why = "longer completions need more memory"
        what, key = "Raise the completion limit", "max_completion_length"
        made.append(Fix(what, key, old, 2 * old, why, cures="length-limit"))
    return (
        *made,
        *policy.leave_out_cut(run),
        fixes.look("Check that the end-of-text token and the stop strings are generated"),
        fixes.action("Ask for shorter answers in the prompt"),
    )


BAD = (
    drawn(
        "all the time",
        (0, 60),
        task="grpo",
        severity="warning",
        len_clipped="0:0.92 600:0.93",
        len_mean="0:120 600:122",
        len_max="0:128 600:128",
    ),
    drawn(
        "later on",
        (200, 330),
        task="grpo",
        severity="warning",
        len_clipped="0:0.1 200:0.3 300:0.95 600:0.98",
    ),
    drawn("a half", (0, 60), task="grpo", severity="info", len_clipped="0:0.5 600:0.5"),
    drawn("mean at the limit", (0, 0), 0.0, task="grpo", severity="info", len_mean="0:128 600:128"),
)
GOOD = (
    drawn("learns to stop", task="grpo", len_clipped="0:0.92 200:0.1 600:0.02"),
    drawn("some are cut", task="grpo", noise=0.3, len_clipped="0:0.1 600:0.15"),
    drawn("lengths vary", task="grpo", noise=0.1, len_mean="0:90 600:110"),
)

RULE = Rule(
    slug="completions-clipped",
    title="Completions cut at the limit",
    family="RLX",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(
        ever=("reward-stuck-zero", "zero-reward-std", "length-growth", "reward-flat"),
        early_sign=True,
    ),
    needs=("len_clipped|len_mean",),
    tasks=frozenset({"grpo", "ppo"}),
    bad=BAD,
    good=GOOD,
)
