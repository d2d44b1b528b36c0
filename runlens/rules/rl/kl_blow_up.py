"""KL blow-up: the policy has run away from the model it started as.

What is seen
    The divergence from the reference policy rises above 2 nats per token and stays, or grows
    tenfold over its usual level. Where only the divergence of one update is logged, that one is
    judged.
Why it matters
    Far from the reference the model no longer writes what it was trained to write; the reward
    it earns there is seldom the one that was meant.
Looks alike
    KL that grows by orders of magnitude but stays below 0.5 is learning. Single points, often a
    hundred times the level around them, are outliers of an estimator that takes exponentials:
    said as info. So are first points above the limit that come down as training goes on: what is
    high before anything was learned has not blown up. No KL at all is normal with beta 0.
Limits
    alarm: 2 nats per token (0 to 0.5 is healthy). width: points of the running median that is
    judged, so that up to two outliers in a row do not count. lasting_points, lasting_share: it
    must lie above the limit so long, in points and in share of the run; at_end: or so many points
    up to the end. often: share of the points, spread out, that makes outliers a warning.
    factor, floor: tenfold over the median of the first half, and at least 0.5, to the end.
    sequence: nats a sequence, for KL summed over tokens; tenfold over its first entropy, too, is
    far. update: nats, for the divergence of
    one update; usual is below 0.05. fewest: points.
Fixes
    Half to a third of the learning rate, beta times 2 to 5, fewer updates per batch. Against
    outliers nothing is changed.
"""

from typing import Literal

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
from runlens.history import BoolArray, Curve, FloatArray
from runlens.records import NamedTuple
from runlens.rules.relations import POLICY_LOST, Relations
from runlens.rules.rl import early_end, policy, rare_answers
from runlens.rules.rule import RL_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import longest_true, running_median, smooth
from runlens.signals.onsets import HALF, stays_from
from runlens.wording import number, step, too_few

WORDS = {"kl": "KL", "kl_seq": "KL of a sequence", "kl_step": "KL per update"}
ORDER = ("lasting", "again", "single")
AT_ONCE = 1.0  # nats at the first point: the reference is another model
CAME_BACK = 0.5  # of the limit: an end below it has come back
USUAL_UPDATE = 0.05  # nats, of one update: the page has it
BEGINNING = 0.5  # of the run: first points above the limit that come down within it are no rise


class Limits(Struct, frozen=True):
    """What may be tuned."""

    alarm: float = 2.0
    width: int = 5
    lasting_points: int = 3
    lasting_share: float = 0.05
    at_end: int = 5
    often: float = 0.20
    factor: float = 10.0
    floor: float = 0.5
    sequence: float = 50.0
    update: float = 0.5
    fewest: int = 4


class Rise(NamedTuple):
    """Where a divergence left its usual level."""

    at: int
    limit: float
    how: Literal["lasting", "again", "single"]  # single points only, or some again and again
    source: str
    began_high: int = 0  # first points above the limit, that came down


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look at the divergence from the reference; where there is none, at that of one update."""
    seen = [name for name in WORDS if len(signals.curve(name)) >= limits.fewest]
    if not seen:
        most = max(len(signals.curve(name)) for name in WORDS)
        return unmet(too_few(most, "KL value", limits.fewest))
    rises = [(name, rise) for name in seen if (rise := _rise(signals, name, limits))]
    if not rises:
        peak = float(signals.curve(seen[0]).value.max())
        return passed(f"{WORDS[seen[0]]} reached {number(peak, 3)} at most")
    name, rise = min(rises, key=lambda one: ORDER.index(one[1].how))
    if rise.how == "lasting":
        return found(_finding(run, signals, name, rise))
    return found(_outliers(run, signals, name, rise))


def _rise(signals: Signals, metric: str, limits: Limits) -> Rise | None:
    curve = signals.curve(metric)
    value = curve.value
    usual = limits.factor * float(median(value[: max(3, len(value) // 2)]))
    if metric == "kl_seq":
        level = min(usual, rare_answers.distance(signals))
        limit, source = max(limits.sequence, level), "tenfold, and 50 nats"
    elif metric == "kl_step":
        limit, source = limits.update, "usual is below 0.05"
    else:
        limit, source = limits.alarm, "threshold"
    held = running_median(value, limits.width) > limit
    began = _began_high(value, held, limit)
    started = _lasting(held & (np.arange(len(held)) >= began), limits)
    if started is not None:
        return Rise(_onset(curve, started, limit), limit, "lasting", source)
    if metric == "kl" and (grown := _grown(value, max(limits.floor, usual), limits)) is not None:
        told = "ten times its level in the first half"
        return Rise(grown, max(limits.floor, usual), "lasting", told)
    above = value > limit
    if above.any():
        again = above[began:].sum() >= limits.lasting_points and above.mean() >= limits.often
        how: Literal["again", "single"] = "again" if again else "single"
        return Rise(int(np.argmax(above)), limit, how, source, began)
    return None


def _began_high(value: FloatArray, held: BoolArray, limit: float) -> int:
    """Return how many first points lie above the limit, where they come down soon; else 0."""
    if value[0] <= limit or held.all():
        return 0
    down = int(np.argmin(held))
    return down if down < BEGINNING * len(held) else 0


def _lasting(held: BoolArray, limits: Limits) -> int | None:
    """Return where the level goes above the limit for long, or up to the end."""
    least = max(limits.lasting_points, round(limits.lasting_share * len(held)))
    if longest_true(held)[1] >= least:
        return policy.first_stretch(held, least)
    if len(held) > limits.at_end and held[-limits.at_end :].all():
        return len(held) - int(np.argmin(held[::-1]))
    return None


def _grown(value: FloatArray, limit: float, limits: Limits) -> int | None:
    at = policy.stays_from(smooth(value) > limit)
    return at if at is not None and len(value) - at >= limits.lasting_points else None


def _onset(curve: Curve, first: int, limit: float) -> int:
    """Return the point as logged from which most are above the limit, up to the level's crossing.

    The crossing itself is that of a median, late or early by two points.
    """
    above = curve.value > limit
    end = first + int(np.argmax(above[first:]))
    at = stays_from(above[: end + 1], HALF)
    return end if at is None else at


def _finding(run: Run, signals: Signals, metric: str, rise: Rise) -> Finding:
    curve = signals.curve(metric)
    value = curve.value
    at = min(rise.at, len(curve) - 1)
    onset = float(curve.step[at])
    peak = at + int(np.argmax(value[at:]))
    above = value > rise.limit
    end = float(median(value[-max(3, len(value) // 10) :]))
    came_back = end <= CAME_BACK * rise.limit
    was = float(median(value[:at])) if at else None
    before = (
        f" Before step {step(onset)} its median was {number(was, 3)}." if was is not None else ""
    )
    spike = int(np.argmax(value))
    single = f" An earlier single point was {number(value[spike], 3)}." if spike < at else ""
    back = _zero_again(metric, value, at)
    back_at = step(float(curve.step[back]))
    again = f" It was exactly 0 again at step {back_at}:"
    zero = f"{again} a policy that moved does not come back to the last digit." if back else ""
    severity: Severity = "warning" if metric == "kl_step" or came_back else "critical"
    return Finding(
        severity=severity,
        title=f"{WORDS[metric]} blew up from step {step(onset)} on. It reached "
        f"{number(value[peak], 3)} at step {step(float(curve.step[peak]))}.{before}",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            _highest(curve.after(int(onset)), metric, rise, " since then"),
            Evidence("Points above the threshold", float(above.sum()), where=metric),
            *(() if was is None else (Evidence("Median before the onset", was, where=metric),)),
            Evidence("At the end", end, where=metric),
        ),
        seen=f"{WORDS[metric]} was above {number(rise.limit, 3)} at {policy.share_words(above)} "
        f"and {'came back to' if came_back else 'ended at'} a median of {number(end, 3)}."
        f"{single}{zero}",
        causes=(*((_rounded(back_at),) if back else ()), *_causes(metric, value)),
        fixes=(*((_by_hand(),) if back else ()), *_fixes(run, signals, metric)),
        ruled_out=()
        if back
        else (RuledOut("A few noisy KL estimates", "the running median lies above as well"),),
        confidence=policy.confidence(value[peak] / rise.limit, len(curve)),
        chart=Chart("limit", (metric, "reward"), limit=rise.limit),
    )


def _highest(curve: Curve, metric: str, rise: Rise, when: str = "") -> Evidence:
    peak = int(np.argmax(curve.value))
    top, at = float(curve.value[peak]), float(curve.step[peak])
    return Evidence(f"Highest {WORDS[metric]}{when}", top, rise.limit, rise.source, metric, at)


def _outliers(run: Run, signals: Signals, metric: str, rise: Rise) -> Finding:
    """Tell of points above the limit between which the level lies below it."""
    curve = signals.curve(metric)
    above = curve.value > rise.limit
    usual = float(median(curve.value[~above]))
    onset, peak = float(curve.step[rise.at]), int(np.argmax(curve.value))
    many = f"at {int(above.sum()):,} of {len(above):,} points, first at step {step(onset)}"
    where = many if above.sum() > 1 else f"at a single point, step {step(onset)}"
    beginning = ""
    of_model = run.task != "rl"  # a classic policy has no tokens, and no reference
    if rise.began_high and of_model:
        beginning = (
            f" It began at {number(float(curve.value[0]), 3)}, before anything was learned, and "
            "came down: sampler, trainer and reference did not agree there."
        )
    told = f"without the spikes the median {WORDS[metric]} is {number(usual, 3)}"
    what = "Single tokens that the exponential KL estimator inflates"
    if usual > CAME_BACK * rise.limit:
        what = "A level that comes near the limit"
    causes = [Cause(what, "most likely", told, kind="kl-weight")] if of_model else []
    cures = [fixes.action("Judge KL by its median over several steps, not by single points", told)]
    seen = "Only single points were high, and the running median was not."
    if metric == "kl_step" and usual > USUAL_UPDATE:
        cures = [*_fixes(run, signals, metric)]
        seen = f"Its median, too, is above the usual {USUAL_UPDATE}: all updates are large."
    if rise.began_high and of_model:
        what = "A sampler or a reference that differs from the policy from the start"
        causes.append(Cause(what, "likely", kind="kl-weight"))
        what = "Compare the log probabilities of sampler, trainer and reference on one batch"
        cures.append(fixes.action(what, "they must agree at step 0"))
    return Finding(
        severity="warning" if rise.how == "again" else "info",
        heading="KL spikes",
        title=f"{WORDS[metric]} spiked {where}. It reached "
        f"{number(float(curve.value[peak]), 3)} at step {step(float(curve.step[peak]))}, and its "
        f"median is {number(usual, 3)}.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            _highest(curve, metric, rise),
            Evidence("Points above the threshold", float(above.sum()), where=metric),
            Evidence("Median of the other points", usual, where=metric),
        ),
        seen=f"{seen}{beginning}",
        causes=tuple(causes),
        fixes=tuple(cures),
        confidence=policy.confidence(1.0, len(curve), "single points"),
        chart=Chart("limit", (metric, "reward"), limit=rise.limit),
    )


def _zero_again(metric: str, value: FloatArray, at: int) -> int:
    """Return the index at which KL is exactly 0 after it had risen; 0 where it is not.

    Weights that have left their reference do not come back to its last digit.
    """
    zero = np.flatnonzero(value[at:] == 0) if metric != "kl_step" else np.empty(0, dtype=np.int64)
    return at + int(zero[0]) if len(zero) else 0


def _causes(metric: str, value: FloatArray) -> tuple[Cause, ...]:
    if metric != "kl" or value[0] <= AT_ONCE:
        return ()
    what = "A reference with another template or tokenizer"
    why = f"KL was {number(float(value[0]), 3)} at the first point, before any learning"
    return (Cause(what, "most likely", why, kind="stale-policy"),)


def _rounded(back_at: str) -> Cause:
    """Say what makes a KL that comes back to exactly 0: half precision, and no weights."""
    why = f"KL is exactly 0 again at step {back_at}"
    what, test = "Log-probabilities that are rounded", _by_hand().what
    denied = "policy and reference differ as much in fp32"
    return Cause(what, "most likely", why, "", "stale-policy", denied, test, pointed=True)


def _by_hand() -> Fix:
    what = "Compute the log-probabilities of one batch in fp32, by policy and by reference"
    return fixes.look(what, "their differences show whether KL is of the policy or of rounding")


def _fixes(run: Run, signals: Signals, metric: str) -> tuple[Fix, ...]:
    made = [
        *fixes.learning_rate(run, signals, 1 / 3, "the policy moved too far per step"),
        *policy.stronger_beta(run, "this pulls the policy back to its reference"),
    ]
    again = run.number("num_iterations")
    if again and again > 1:
        why = "each further update on a batch moves the policy away from the one that made it"
        made.append(fixes.setting(run, "num_iterations", 1, "Use each batch once", why))
    if metric == "kl_step":
        made.extend(early_end.target_kl(run))
    return tuple(made)


BAD = (
    *rare_answers.BAD,
    drawn(
        "six points", (20, 40), task="grpo", kl="0:0.02 20:0.02 30:6 50:8", reward="0:0.2 50:0.3"
    ),
    drawn(
        "climbs and stays",
        (250, 420),
        task="grpo",
        severity="critical",
        kl="0:0.01 300:0.1 450:3 900:5",
        reward="0:0.2 900:0.9",
    ),
    drawn(
        "tenfold, below the alarm",
        (550, 720),
        task="grpo",
        severity="critical",
        kl="0:0.02 600:0.05 700:0.9 900:1.2",
    ),
    drawn(
        "one point",
        (500, 500),
        0.0,
        task="grpo",
        severity="info",
        kl="0:0.02 490:0.05 500:8 510:0.05 900:0.06",
    ),
    drawn(
        "at last",
        (820, 880),
        0.0,
        task="grpo",
        severity="critical",
        kl="0:0.02 850:0.05 860:4 900:4",
    ),
    drawn(
        "first points above the limit, then outliers",
        (0, 0),
        0.0,
        task="grpo",
        severity="info",
        kl="0:12 20:22 30:64 40:6 50:0.5 490:0.4 500:60 510:0.4 690:0.4 700:3 710:0.4 1500:0.4",
    ),
    drawn(
        "high for a while, comes back",
        (300, 420),
        task="grpo",
        severity="warning",
        kl="0:0.01 350:0.1 400:4 480:4 520:0.2 900:0.2",
    ),
    drawn(
        "one update",
        (200, 420),
        task="rl",
        severity="warning",
        kl_step="0:0.005 300:0.02 450:0.7 900:0.7",
    ),
)
GOOD = (
    *rare_answers.GOOD,
    drawn("grows within health", task="grpo", kl="0:0.0001 300:0.02 900:0.2"),
    drawn("steady", task="grpo", noise=0.2, kl="0:0.3 900:0.35"),
    drawn("ordinary updates", task="rl", noise=0.3, kl_step="0:0.01 900:0.02"),
)

RULE = Rule(
    slug="kl-blow-up",
    title="KL blow-up",
    family="RLX",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    # ratios are cut as updates go too far, which the divergence measures
    relations=Relations(at_once=("clip-ratio-high",), by_and_by=POLICY_LOST, layer="course"),
    needs=("kl|kl_seq|kl_step",),
    tasks=RL_TASKS,
    bad=BAD,
    good=GOOD,
)
