"""Low sample diversity: samples of energy-based fine-tuning grow alike, or off the data.

What is seen
    ebft/diversity above 1.0 for three points or more, ebft/alignment that ends below 0.1 or does
    not rise, or ebft/cfm_loss that ends above 10 or climbs.
Why it matters
    The reward of EBFT is alignment minus diversity: once all samples are alike the penalty
    outweighs what is learned, and the model collapses to one mode.
Looks alike
    The name misleads: diversity is twice the mean similarity of the samples, lower is more
    diverse. Alignment is twice a cosine, so values above 0.9 are no fault. Short runs have had
    no time to rise.
Limits
    similar: of diversity (0.01 to 0.1 is healthy). points: in a row above it. aligned: the least
    alignment at the end (0.3 to 0.9 is healthy). cfm: of the feature-matching loss at the end;
    severe: above it the finding is critical. fewest: points needed. long: points from which
    alignment must have risen. sure: p-value of a climb of the feature-matching loss.
Fixes
    diversity_coef times two against mode collapse, half of it where alignment does not rise;
    half of the learning rate.
"""

from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Moment,
    Outcome,
    Severity,
)
from runlens.rules.rl import policy
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import longest_true
from runlens.wording import number, step

S4 = "axolotl's page on training stability"


class Limits(Struct, frozen=True):
    """What may be tuned."""

    similar: float = 1.0
    points: int = 3
    aligned: float = 0.1
    cfm: float = 10.0
    severe: float = 100.0
    fewest: int = 10
    long: int = 50
    sure: float = 0.01


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look at the three curves, the most telling one first."""
    known = [
        name
        for name in ("ebft_diversity", "ebft_alignment", "ebft_cfm")
        if len(signals.curve(name)) >= limits.fewest
    ]
    if not known:
        return unmet(
            f"fewer than {limits.fewest} values of ebft/diversity, alignment or cfm_loss"
            " were logged"
        )
    for looked in (_alike, _unaligned, _mismatched):
        if finding := looked(run, signals, limits):
            return found(finding)
    ends = ", ".join(
        f"{name.removeprefix('ebft_')} {number(signals.levels(name).end, 3)}" for name in known
    )
    return passed(f"at the end: {ends}")


def _alike(run: Run, signals: Signals, limits: Limits) -> Finding | None:
    curve = signals.curve("ebft_diversity")
    above = curve.value > limits.similar
    first, lasted = longest_true(above) if len(above) else (0, 0)
    if lasted < limits.points:
        return None
    level = float(median(curve.value[above]))
    return _finding(
        run,
        signals,
        curve_name="ebft_diversity",
        onset=float(curve.step[first]),
        what=f"samples grew alike, diversity {number(level, 3)} where lower is more diverse",
        evidence=Evidence("ebft/diversity", level, limits.similar, S4, "ebft_diversity"),
        factor=2.0,
        cause="Mode collapse: the diversity penalty is too weak",
    )


def _unaligned(run: Run, signals: Signals, limits: Limits) -> Finding | None:
    curve = signals.curve("ebft_alignment")
    if len(curve) < limits.fewest:
        return None
    levels, trend = signals.levels("ebft_alignment"), signals.trend("ebft_alignment")
    fell = len(curve) >= limits.long and trend.tau <= 0 and levels.fell
    if levels.end >= limits.aligned and not fell:
        return None
    onset = policy.stays_from(signals.smooth("ebft_alignment") < limits.aligned)
    at = 0 if fell or onset is None else onset
    return _finding(
        run,
        signals,
        curve_name="ebft_alignment",
        onset=float(curve.step[at]),
        what=f"alignment ends at {number(levels.end, 3)} after {number(levels.start, 3)}",
        evidence=Evidence(
            "ebft/alignment at the end",
            levels.end,
            limits.aligned,
            S4,
            "ebft_alignment",
            above=False,
        ),
        factor=0.5,
        cause="The diversity penalty outweighs the alignment",
    )


def _mismatched(run: Run, signals: Signals, limits: Limits) -> Finding | None:
    curve = signals.curve("ebft_cfm")
    if len(curve) < limits.fewest:
        return None
    levels, trend = signals.levels("ebft_cfm"), signals.trend("ebft_cfm")
    climbs = trend.p < limits.sure and trend.tau > 0 and levels.end > levels.start
    if levels.end <= limits.cfm and not (climbs and levels.end > limits.cfm / 2):
        return None
    at = policy.stays_from(signals.smooth("ebft_cfm") > limits.cfm) or 0
    return _finding(
        run,
        signals,
        curve_name="ebft_cfm",
        onset=float(curve.step[at]),
        what=f"the feature-matching loss ends at {number(levels.end, 3)}",
        evidence=Evidence("ebft/cfm_loss at the end", levels.end, limits.cfm, S4, "ebft_cfm"),
        factor=1.0,
        cause="Features of samples and data drift apart",
        severity="critical" if levels.end > limits.severe else "warning",
    )


def _finding(
    run: Run,
    signals: Signals,
    *,
    curve_name: str,
    onset: float,
    what: str,
    evidence: Evidence,
    factor: float,
    cause: str,
    severity: Severity = "warning",
) -> Finding:
    old = run.number("ebft.diversity_coef") or run.number("diversity_coef")
    coefficient = (
        (fixes.setting(run, "diversity_coef", factor * old, "Change the diversity penalty", cause),)
        if old and factor != 1.0
        else ()
    )
    return Finding(
        severity=severity,
        title=f"EBFT from step {step(onset)}: {what}.",
        metric=curve_name,
        onset=Moment(onset),
        evidence=(evidence,),
        seen="Alignment should rise, diversity (a similarity) stay low, cfm_loss fall.",
        fixes=(
            *coefficient,
            *fixes.learning_rate(run, signals, 1 / 2, "smaller updates keep the samples apart"),
        ),
        confidence=Confidence(0.7, "limits from the framework's documentation"),
        chart=Chart("limit", (curve_name,), limit=evidence.limit),
    )


BAD = (
    drawn(
        "mode collapse",
        (350, 460),
        task="grpo",
        severity="warning",
        ebft_diversity="0:0.05 300:0.1 500:1.6 600:1.6",
        ebft_alignment="0:0.2 600:0.5",
    ),
    drawn("never aligns", (0, 0), task="grpo", ebft_alignment="0:0.06 600:0.02"),
    drawn("features drift apart", task="grpo", severity="critical", ebft_cfm="0:4 600:150"),
)
GOOD = (
    drawn(
        "healthy",
        task="grpo",
        ebft_alignment="0:0.1 600:0.6",
        ebft_diversity="0:0.08 600:0.03",
        ebft_cfm="0:8 600:3",
    ),
    drawn("alignment above 0.9", task="grpo", ebft_alignment="0:0.3 600:1.4"),
)

RULE = Rule(
    slug="ebft-diversity",
    title="Low sample diversity",
    family="RLX",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("ebft_diversity|ebft_alignment|ebft_cfm",),
    tasks=frozenset({"grpo", "ppo"}),
    bad=BAD,
    good=GOOD,
)
