"""Gradient explosion: the gradient norm climbs tenfold and stays there.

What is seen
    After warm-up the gradient norm lies ten times or more above its base up to the end of the run,
    or where the loss is lost, or for long. Or it climbs all along while the loss leaves its best.
Why it matters
    The norm is logged before clipping: clipping keeps a step small, not its direction right. An
    explosion comes before a NaN, a divergence, or a model that is quietly being destroyed.
Looks alike
    The first steps: the norm of warm-up is no signal. Growth by 2 to 5 over a long pretraining is
    normal. LoRA starts at a norm of almost zero. A norm of 1e5 from the first row is a scale, not
    an explosion: only the ratio to its own base counts. A climb to a healthy norm under which the
    loss still falls is said as info. Single peaks are grad-spike.
Limits
    ratio: ten times the base. climb: three times the base dates the onset. fewest: norms after
    warm-up; fewest_lost where the loss became NaN. stretch: share of the points of an excursion
    that came back. healthy: upper end of the usual range. huge: named from one norm on, of a
    language model, where too few are known for more. start_median: norms above it from the start
    while the loss does not fall; start_small: the same for adapters and policies (there the reward
    must not rise), said as info. Guides alarm at 10 or at 100; a level alone is a scale, so neither
    counts without the rest. Measured on 10,000 simulated norms: no false alarm, power 99.8 % for
    climbs of 15-1000 times.
Fixes
    A third to a tenth of the learning rate, clipping at 1.0, warm-up over 5 %, a larger
    Adam epsilon, bf16 for fp16.
"""

import numpy as np
from msgspec import Struct

from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Mark,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import FloatArray
from runlens.records import NamedTuple
from runlens.rules.gradients import explosion_advice, huge_norm, steady_climb
from runlens.rules.gradients.norms import Settled, loss_fell, loss_worsened, settled, smooth_log
from runlens.rules.numerics.not_finite import not_finite_name
from runlens.rules.relations import NAN, Relations
from runlens.rules.rule import (
    LOSS_TASKS,
    RL_TASKS,
    Rule,
    drawn,
    found,
    passed,
    unmet,
)
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.changes import last_false
from runlens.signals.noise import longest_true
from runlens.signals.onsets import stays_from
from runlens.wording import capitalised, loss, number, step, times

POLICY = frozenset({"grpo", "ppo"})  # of language models: the norms of others have any size
WIDTH = 5  # points of a level
SHORT = 40  # norms of a run that was lost early; half as many losses show whether it learns
HELD = 0.8  # of the points from the onset on are high
RISING_TAU = 0.1  # Kendall's tau from which a reward rises


class Limits(Struct, frozen=True):
    """What may be tuned."""

    ratio: float = 10.0
    climb: float = 3.0
    fewest: int = 6
    fewest_lost: int = 4
    stretch: float = 0.10
    healthy: float = 10.0
    start_median: float = 100.0
    start_small: float = 10.0
    huge: float = 1e4


class Climb(NamedTuple):
    """Where the norm went."""

    at: int  # index of the onset
    base: float
    top: float  # level reached
    kind: str  # "stays", "ended", "came back"
    end: int | None = None  # index of the last high norm of one that came back


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the end of the norm, or a stretch of it, with its base after warm-up."""
    norms = settled(run, signals)
    count = len(norms.curve)
    lost = np.isfinite(norms.lost_at)
    needed = limits.fewest_lost if lost else limits.fewest
    if count < needed:
        few = unmet(norms.too_few(count, needed))
        return found(huge) if (huge := huge_norm.finding(run, limits.huge)) else few
    positive = norms.curve.value[norms.curve.value > 0]
    if not len(positive):
        return passed("the gradient norm is 0 throughout: see grad-zero")
    base = _base(positive, lost=bool(lost))
    if climb := _climb(run, norms, base, limits):
        return found(_finding(run, signals, norms, climb, limits))
    high = _high_from_start(run, signals, norms, limits)
    if told := high or steady_climb.of(run, signals, limits.climb):
        return found(told)
    end = float(median(norms.curve.value[-max(_width(count), count // 20) :]))
    return passed(
        f"gradient norm ends at {number(end)}, {times(end / base)} its baseline of {number(base)}"
    )


def _width(count: int) -> int:
    """Return the points of a level: five, a third of few."""
    return max(2, min(WIDTH, count // 3))


def _base(positive: FloatArray, *, lost: bool) -> float:
    """Return the norm in health: zeros (no advantage, LoRA's first steps) are none.

    A run that was lost within a few points climbed from the start: its first norms are the base.
    """
    if lost and len(positive) < SHORT:
        return float(median(positive[:3]))
    first = float(median(positive[: max(_width(len(positive)), len(positive) // 4)]))
    low = float(np.quantile(positive, 0.25, method="lower"))
    return max(first, low) if np.isfinite(low) else first


def _climb(run: Run, norms: Settled, base: float, limits: Limits) -> Climb | None:
    value, log = norms.curve.value, norms.log
    count = len(value)
    end = max(_width(count), count // 20)
    top = float(median(value[-end:]))
    lost = np.isfinite(norms.lost_at) or run.state.kind == "crashed"
    if top >= limits.ratio * base:
        at = _onset(norms, base, count, limits)
        late = lost and at >= count - end
        return Climb(at, base, top, "ended" if late else "stays")
    if lost and np.isinf(value).any():
        return Climb(_onset(norms, base, count, limits), base, np.inf, "ended")
    start, length = longest_true(smooth_log(log) >= np.log(limits.ratio * base))
    if run.task in RL_TASKS or length < max(WIDTH, limits.stretch * count):
        return None
    top = float(median(value[start : start + length]))
    last = start + length - 1
    return Climb(_onset(norms, base, start + 1, limits), base, top, "came back", last)


def _onset(norms: Settled, base: float, end: int, limits: Limits) -> int:
    """Return the index of the first norm in the climb before `end`; zeros are none."""
    alive = np.flatnonzero(norms.curve.value[:end] > 0)
    log, climbed = norms.log[alive], np.log(limits.climb * base)
    at = stays_from(smooth_log(log) >= climbed, HELD)
    at = len(alive) - 1 if at is None else at
    back = last_false(log[: at + 1] >= climbed) + 1  # the median of five is late by up to two
    return int(alive[min(back, at)])


def _high_from_start(run: Run, signals: Signals, norms: Settled, limits: Limits) -> Finding | None:
    """Tell norms that are far too high throughout, where nothing is learned either."""
    curve = norms.curve
    usual = float(median(curve.value))
    first, last = int(curve.step[0]), int(curve.step[-1])
    policy = run.task in POLICY
    small = policy or bool(run.adapted)
    limit = limits.start_small if small else limits.start_median
    metric = "reward" if policy else "train_loss"
    told = signals.curve(metric)
    judged = policy or run.task in LOSS_TASKS
    if usual <= limit or not judged or len(told) < SHORT // 2:
        return None
    levels = signals.levels(metric)
    if policy:
        learns = signals.trend(metric).tau > RISING_TAU
    else:
        learns = loss_fell(run, signals, run.first_step, last)
    if learns:
        return None
    name = metric.replace("_", " ")
    return Finding(
        severity="info" if small else "warning",
        title=f"The median gradient norm is {number(usual)} from step {step(first)} on, where "
        f"{limit:g} is high already. {name.capitalize()} went from {loss(levels.start)} to "
        f"{loss(levels.end)}.",
        metric="grad_norm",
        onset=Moment(float(first)),
        evidence=(
            Evidence(
                "Median gradient norm",
                usual,
                limit,
                "0.1 to 2 for LoRA, below 1 for GRPO" if small else "0.1 to 10 is healthy",
                "grad_norm",
            ),
            Evidence(f"{name.capitalize()} at the end", levels.end, where=metric, step=float(last)),
        ),
        seen=f"The norm is far beyond the usual range throughout, and the {name} does not "
        f"{'rise' if policy else 'fall'}.",
        fixes=explosion_advice.cures(run, signals, float(first)),
        confidence=Confidence(0.6, "an absolute limit: norms scale with model and loss reduction"),
        chart=Chart("limit", ("grad_norm",), limit=limit),
    )


def _finding(run: Run, signals: Signals, norms: Settled, climb: Climb, limits: Limits) -> Finding:
    onset = int(norms.curve.step[climb.at])
    severity, why = _severity(run, signals, norms, climb, onset, limits)
    back = None if climb.end is None else int(norms.curve.step[climb.end])
    span = f"from step {step(onset)} {'on' if back is None else f'to step {step(back)}'}"
    went = "climbed" if back is None else "was high"
    ratio = climb.top / climb.base
    before = f"{number(climb.base)} before"
    then = "after" if back is None else "there"
    finite = f"Its median was {before} and {number(climb.top)} {then} ({times(ratio)})"
    rise = finite if np.isfinite(ratio) else f"Its median was {before}, and it rose to infinity"
    evidence = [
        Evidence(
            "Median gradient norm since the onset",
            climb.top,
            limits.ratio * climb.base,
            "ten times its own base",
            "grad_norm",
            float(norms.curve.step[-1]),
        ),
        Evidence("Median gradient norm before", climb.base, where="grad_norm"),
        Evidence("Consequence", why),
    ]
    return Finding(
        severity=severity,
        title=f"The gradient norm {went} {span}. {rise}. {capitalised(why)}.",
        metric="grad_norm",
        onset=Moment(float(onset)),
        end=None if back is None else Moment(float(back)),
        evidence=tuple(evidence),
        seen=explosion_advice.bounded(run),
        fixes=explosion_advice.cures(run, signals, float(onset)),
        ruled_out=(RuledOut("A single spike", _NO_SPIKE[climb.kind]),),
        confidence=_confidence(ratio, len(norms.curve), limits),
        chart=Chart(
            "limit",
            tuple(m for m in ("grad_norm", "train_loss") if len(run.curve(m))),
            marks=(Mark(float(onset), limits.climb * climb.base, "onset"),),
            limit=limits.ratio * climb.base,
        ),
    )


_NO_SPIKE = {
    "stays": "the norm stays up to the end",
    "ended": "the run ended up there",
    "came back": "it came back only after a long stretch",
}


def _severity(
    run: Run, signals: Signals, norms: Settled, climb: Climb, onset: int, limits: Limits
) -> tuple[Severity, str]:
    if np.isfinite(norms.lost_at) and climb.kind != "came back":
        kind = not_finite_name(run, norms.lost_at)
        return "critical", f"the loss became {kind} at step {step(norms.lost_at)}"
    if climb.kind == "ended":
        return "critical", f"the run ended there ({run.state.kind})"
    worse = loss_worsened(run, signals, onset)
    if worse:
        told = f"train loss went from {loss(worse[0])} to {loss(worse[1])}"
        return ("critical" if climb.kind == "stays" else "warning"), told
    if climb.top <= limits.healthy:
        return "info", f"the loss did not rise, and norms up to {limits.healthy:g} are healthy"
    return "warning", "the loss did not rise"


def _confidence(ratio: float, points: int, limits: Limits) -> Confidence:
    margin = min(1.0, 0.6 + 0.4 * (ratio / limits.ratio - 1)) if np.isfinite(ratio) else 1.0
    known = min(1.0, 0.6 + points / 250)
    told = f"{times(ratio / limits.ratio)} the threshold" if np.isfinite(ratio) else "infinite"
    return Confidence(round(margin * known, 2), f"the climb is {told}, {points:,} norms")


LOSS = "0:2.2 300:1.3 900:0.9"
BAD = (
    drawn(
        "ten norms in all",
        (30, 70),
        train_loss="0:2.2 50:1.6 90:2.6",
        grad_norm="0:1 40:1 60:60 90:800",
    ),
    drawn(
        "climbs and the loss follows",
        (480, 600),
        0.1,
        severity="critical",
        train_loss="0:2.2 500:1.2 900:3",
        grad_norm="0:1 500:1 700:60 900:80",
    ),
    drawn(
        "before a NaN",
        (500, 550),
        0.1,
        severity="critical",
        train_loss="0:2.2 590:1.2 600:nan 900:nan",
        grad_norm="0:1 500:1 590:5000 600:nan 900:nan",
    ),
    drawn(
        "loss still falls",
        (480, 620),
        0.1,
        severity="warning",
        train_loss=LOSS,
        grad_norm="0:1 500:1 700:60 900:80",
    ),
    drawn(
        "comes back",
        (480, 560),
        0.1,
        severity="warning",
        train_loss=LOSS,
        grad_norm="0:1 500:1 510:50 700:50 710:1 900:1",
    ),
    drawn(
        "infinite before a hidden NaN",
        (490, 500),
        0.1,
        severity="critical",
        train_loss="0:2.2 500:1.2 510:0 900:0",
        grad_norm="0:1 490:1 500:inf 510:nan 900:nan",
    ),
    drawn(
        "an adapter above 10 that does not learn",
        (0, 60),
        0.1,
        severity="info",
        config={"adapter": "lora"},
        train_loss="0:2.2 900:2.2",
        grad_norm="0:30 900:30",
    ),
    drawn(
        "a policy above 10 whose reward does not rise",
        (0, 60),
        0.1,
        task="grpo",
        severity="info",
        reward="0:0.3 900:0.3",
        grad_norm="0:40 900:40",
    ),
    drawn(
        "small norms",
        (480, 620),
        0.1,
        severity="info",
        train_loss=LOSS,
        grad_norm="0:0.02 500:0.02 700:0.6 900:0.8",
    ),
)
GOOD = (
    drawn("healthy", noise=0.3, train_loss=LOSS, grad_norm="0:1 900:1"),
    drawn("first steps", noise=0.2, train_loss=LOSS, grad_norm="0:200 20:60 50:1 900:1"),
    drawn("slow growth", noise=0.2, train_loss=LOSS, grad_norm="0:0.5 900:2.5"),
    drawn("large from the start", noise=0.2, train_loss=LOSS, grad_norm="0:2e5 900:4e5"),
    drawn("one spike", noise=0.2, train_loss=LOSS, grad_norm="0:1 490:1 500:300 510:1 900:1"),
    drawn("zero start", noise=0.2, train_loss=LOSS, grad_norm="0:0 20:0.01 60:1 900:1"),
    drawn("all zero", train_loss=LOSS, grad_norm="0:0 900:0"),
    drawn(
        "a policy above 10 that learns",
        noise=0.1,
        task="grpo",
        reward="0:0.3 900:0.8",
        grad_norm="0:40 900:40",
    ),
)  # fmt: skip

RULE = Rule(
    slug="grad-explosion",
    title="Exploding gradient",
    family="GRD",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(
        soon=(*NAN, "nan-grad", "divergence", "loss-spike"),
        ever=("not-learning", "stuck-at-chance"),
        layer="update",
    ),
    needs=("grad_norm",),
    bad=(*BAD, *steady_climb.BAD),
    good=(*GOOD, *steady_climb.GOOD),
)
