"""Importance ratio: completions come from another policy than the one that is trained.

What is seen
    The log-probabilities of the sampler and of the trainer lie more than 1 nat apart, or the
    importance-sampling ratios are far from 1.
Why it matters
    The gradient is an average over the policy's own completions. Those of a stale or differently
    computed policy point somewhere else; the correction by ratios then only adds noise.
Looks alike
    Ratios of long sequences are products of many factors: their mean strays far from 1 while
    the reward still rises, which is said as info.
    The smallest ratio over all tokens of a batch is near 0 in health: it counts only beside a
    mean that is off, or a difference of log-probabilities.
Limits
    alarm: difference of log-probabilities (below 0.1 is healthy: apart). points, share: in a
    row above the alarm, or share of all points. least: smallest ratio (above 0.1) that must
    be undercut on least_share of the points, and there together with a difference above `apart`
    or a mean ratio outside low to high. half: mean ratio that is told by itself, over `row`
    points in a row or far_share of all (and its inverse). fewest: points.
Fixes
    Bring new weights to the sampler more often (vllm_sync_interval counts steps: lower it; a table
    that says to raise it contradicts its own text); sample in the same precision as the training;
    correct by importance sampling; mask what is too far off.
"""

from dataclasses import replace

from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Cause, Chart, Evidence, Finding, Fix, Moment, Outcome, Severity
from runlens.history import BoolArray, Curve
from runlens.records import NamedTuple
from runlens.rules.relations import Relations
from runlens.rules.rl import policy
from runlens.rules.rule import RL_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import longest_true
from runlens.wording import number, step, too_few

MEAN_IS_1 = "a ratio of the same policy is 1 on average"
MASK_FROM = 0.5  # off_policy_mask_threshold that axolotl's page advises
LASTING = 3  # points in a row from which a stretch is one
FIRST_PART = 0.1  # of the run: apart from the start on, no staleness that grew


class Limits(Struct, frozen=True):
    """What may be tuned."""

    alarm: float = 1.0
    apart: float = 0.1
    points: int = 3
    share: float = 0.05
    least: float = 0.01
    least_share: float = 0.5
    low: float = 0.8
    high: float = 1.25
    half: float = 0.5
    row: int = 5
    far_share: float = 0.2
    fewest: int = 10


class Apart(NamedTuple):
    """Which quantity is off, and where."""

    metric: str
    bad: BoolArray  # points beyond the limit, shape (n,)
    limit: float
    source: str


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Judge the difference of log-probabilities, then the ratios together."""
    gap, least = signals.curve("logp_diff"), signals.curve("is_ratio_min")
    if max(len(gap), len(least)) < limits.fewest:
        return unmet(too_few(max(len(gap), len(least)), "value", limits.fewest))
    apart = _by_difference(gap, limits) or _by_ratio(signals, least, gap, limits)
    if apart:
        return found(_finding(run, signals, apart))
    if len(gap):
        return passed(f"log-probabilities differ by {number(float(gap.value.max()), 3)} at most")
    return passed(f"smallest ratio is {number(float(median(least.value)), 3)} at the median")


def _by_difference(gap: Curve, limits: Limits) -> Apart | None:
    above = gap.value > limits.alarm
    often = above.sum() >= limits.points and above.mean() >= limits.share
    if longest_true(above)[1] < limits.points and not often:
        return None
    return Apart("logp_diff", above, limits.alarm, "threshold")


def _by_ratio(signals: Signals, least: Curve, gap: Curve, limits: Limits) -> Apart | None:
    ratio = signals.curve("is_ratio_mean")
    far = (ratio.value < limits.half) | (ratio.value > 1 / limits.half)
    if len(ratio) >= limits.fewest and (
        longest_true(far)[1] >= limits.row or far.mean() >= limits.far_share
    ):
        down = float(median(ratio.value[far])) < 1
        return Apart("is_ratio_mean", far, limits.half if down else 1 / limits.half, MEAN_IS_1)
    if len(least) < limits.fewest or (least.value < limits.least).mean() < limits.least_share:
        return None
    mean = signals.curve("is_ratio_mean")
    off = (mean.value < limits.low) | (mean.value > limits.high)
    if len(mean) and longest_true(off)[1] >= limits.points and off.mean() >= limits.share:
        down = float(median(mean.value[off])) < 1
        return Apart("is_ratio_mean", off, limits.low if down else limits.high, MEAN_IS_1)
    wide = gap.value > limits.apart
    if len(gap) and wide.mean() >= limits.least_share:
        return Apart("logp_diff", wide, limits.apart, "end of the healthy range")
    return None


def _finding(run: Run, signals: Signals, apart: Apart) -> Finding:
    curve = signals.curve(apart.metric)
    onset = float(curve.step[policy.first_stretch(apart.bad, LASTING)])
    level = float(median(curve.value[apart.bad]))
    name = "log-probability difference" if apart.metric == "logp_diff" else "mean ratio"
    above = level > apart.limit
    rows = [
        Evidence(
            f"{name.capitalize()} where out of range (median)",
            level,
            apart.limit,
            apart.source,
            apart.metric,
            above=above,
        ),
        Evidence("Points beyond the threshold", float(apart.bad.sum()), where=apart.metric),
    ]
    least = signals.curve("is_ratio_min").value
    if len(least):
        rows.append(
            Evidence(
                "Smallest ratio, median",
                float(median(least)),
                0.1,
                "below, tokens hardly count",
                "",
                above=False,
            )
        )
    gain = policy.gain_of(signals)
    by_ratio = apart.metric == "is_ratio_mean"
    severity: Severity = "info" if by_ratio and gain is not None and gain.rising else "warning"
    return Finding(
        severity=severity,
        title=f"From step {step(onset)} on, sampler and trainer disagreed. The {name} was out "
        f"of range at {policy.share_words(apart.bad)}, with a median of {number(level, 3)} there.",
        metric=apart.metric,
        onset=Moment(onset),
        evidence=tuple(rows),
        seen="",
        causes=_causes(run, signals, onset),
        fixes=_fixes(run, signals, onset),
        confidence=policy.confidence(
            level / apart.limit if above else apart.limit / max(level, 1e-9), len(curve)
        ),
        chart=Chart("limit", (apart.metric, "reward"), limit=apart.limit),
    )


def _from_the_start(run: Run, signals: Signals, onset: float) -> bool:
    """Whether sampler and trainer never agreed: what differs then is not the policy."""
    part = FIRST_PART * max(run.last_step - run.first_step, 1)
    return policy.parted(signals) is None and onset <= run.first_step + part


def _causes(run: Run, signals: Signals, onset: float) -> tuple[Cause, ...]:
    early = _from_the_start(run, signals, onset)
    every = run.number("vllm_sync_interval")
    grew = "" if early else f"it was in range before step {step(onset)}"
    since = "the first step" if onset <= run.first_step else f"step {step(onset)}"
    return policy.ranked(
        Cause(
            "Sampler and trainer differ in precision, kernels or routing",
            "most likely" if early else "possible",
            f"they disagreed as early as {since}" if early else "",
            kind="stale-policy",
        ),
        Cause(
            "The sampler lags behind",
            "likely",
            f"vllm_sync_interval is {every:g}",
            kind="stale-policy",
        )
        if every and every > 1
        else None,
        Cause(
            "A policy that moves too far between samples",
            "possible" if early else "likely",
            grew,
            kind="stale-policy",
        ),
    )


def _fixes(run: Run, signals: Signals, onset: float) -> tuple[Fix, ...]:
    made: list[Fix] = []
    agreed = not _from_the_start(run, signals, onset)
    less = "each update then moves the policy less"
    lower = fixes.learning_rate(run, signals, 1 / 3, less) if agreed else ()
    by_policy = policy.parted(signals) is not None  # else the rate is blamed for no more than that
    made += lower if by_policy else (replace(fix, cures="stale-policy") for fix in lower)
    every = run.number("vllm_sync_interval")
    if every and every > 1:
        what, why = "Bring new weights to the sampler more often", "less stale completions"
        made.append(fixes.setting(run, "vllm_sync_interval", max(1, int(every) // 2), what, why))
    if run.task == "grpo" and run.flag("vllm_importance_sampling_correction") is False:
        key, what = "vllm_importance_sampling_correction", "Correct by importance sampling"
        made.append(fixes.setting(run, key, True, what, "gives stale tokens less weight"))
    if run.setting("importance_sampling_level") == "sequence":
        key, what = "importance_sampling_level", "Weight by token, not by sequence"
        made.append(fixes.setting(run, key, "token", what, "products of many ratios stray far"))
    if run.task == "grpo" and not run.number("off_policy_mask_threshold"):
        key, what = "off_policy_mask_threshold", "Mask samples that are too far off-policy"
        made.append(
            fixes.setting(run, key, MASK_FROM, what, "a stale sample gives no useful signal")
        )
    same = (
        fixes.action("Use the same precision (dtype) for sampling as for training"),
        fixes.look(
            "Before the first update, compare the log-probabilities that sampler and trainer give "
            "one completion"
        ),
    )
    return (*made, *(() if agreed else same))


BAD = (
    drawn("far apart", (250, 420), task="grpo", logp_diff="0:0.02 300:0.1 400:2 900:3"),
    drawn(
        "ratios off",
        (200, 320),
        task="grpo",
        is_ratio_min="0:0.3 200:0.005 900:0.001",
        is_ratio_mean="0:1 200:0.95 300:0.4 900:0.2",
    ),
    drawn(
        "a little, all the time",
        (0, 20),
        task="grpo",
        is_ratio_min="0:0.002 900:0.002",
        logp_diff="0:0.3 900:0.3",
    ),
)
GOOD = (
    drawn(
        "near 0 by chance",
        task="grpo",
        is_ratio_min="0:0.001 900:0.001",
        is_ratio_mean="0:0.99 900:1.01",
        logp_diff="0:0.01 900:0.02",
    ),
    drawn("one point", noise=0.0, task="grpo", logp_diff="0:0.02 490:0.02 500:4 510:0.02 900:0.02"),
)

RULE = Rule(
    slug="importance-ratio-divergence",
    title="Importance ratio far from 1",
    family="RLX",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(soon=("kl-blow-up", "clip-ratio-high", "reward-collapse")),
    needs=("logp_diff|is_ratio_min",),
    tasks=RL_TASKS,
    bad=BAD,
    good=GOOD,
)
