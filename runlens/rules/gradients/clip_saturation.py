"""Clip saturation: gradients are clipped at nearly every step.

What is seen
    After warm-up the gradient norm, which is logged before clipping, lies above max_grad_norm
    on most points and far above it in the middle.
Why it matters
    Clipping is meant for rare outliers. Where it cuts every step, the step is no longer the
    gradient's: a step of SGD is that many times shorter. Adam and its kin divide the scale of the
    gradient out, so alone it is harmless while the loss falls; with a loss that is lost, stuck or
    unsteady it is the sign of a rate too high.
Looks alike
    A third to half of the fault-free runs have norms above the default limit of 1.0, with
    ratios up to 17 where the loss falls: info; that clipping all the time means a learning rate
    too high, as guides say, does not hold by itself. Pretraining with norms near the limit is
    normal. Small limits of QLoRA (0.3) and RL recipes are meant. A norm that is summed over
    tokens, or not unscaled, is large from the first row while the loss falls well: info. A norm
    logged after clipping piles up at the limit: its true size is unknown.
Limits
    share and many: points above the limit for info and for a warning. ratio: median norm over
    the limit that is a warning where the loss does not fall, or where the optimizer is SGD, of
    which each step is that many times shorter; tiny_ratio where the limit was set to tiny or
    less, which is below all recipes but those of QLoRA and RL; companion_ratio together with an
    unsteady or lost loss (from ratio on also with a stuck one), or with norms that grow by growth
    while the loss does not fall (norms double in many good runs). near: below this ratio
    pretraining is normal. scaled: from here the norm is no true norm if the loss falls. piled and
    pile: share of points within that distance of the highest. fewest and fewest_info: points
    after warm-up for a warning and for info. window: points, or 5 %, that keep the share.
Fixes
    None where the loss falls, or a limit of twice the median norm. Else half the learning rate.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, Outcome
from runlens.history import BoolArray, Curve
from runlens.knowledge import in_force
from runlens.records import NamedTuple
from runlens.rules.gradients import after_clipping, clip_advice
from runlens.rules.gradients.norms import loss_fell, settled
from runlens.rules.relations import Relations
from runlens.rules.rule import LOSS_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import counts
from runlens.wording import number, percent, step, times

COMPANIONS = ("sawtooth", "oscillation", "loss-spike", "divergence", "nan-loss", "hidden-nan")
STUCK = ("plateau", "not-learning")  # companions of norms far above the limit
# in these tasks the size of the norm is known well enough to warn; elsewhere it needs a companion
KNOWN_SIZE = frozenset({"sft", "pretrain", "classification", "dpo", "reward-model"})
UNSCALED = 655_360.0  # times the limit: the scale that fp16 starts with, 65,536, times `ratio`


class Limits(Struct, frozen=True):
    """What may be tuned."""

    share: float = 0.50
    many: float = 0.80
    ratio: float = 10.0
    tiny: float = 0.2
    tiny_ratio: float = 4.0
    companion_ratio: float = 2.0
    growth: float = 2.0
    near: float = 1.5
    scaled: float = 100.0
    piled: float = 0.50
    pile: float = 0.002
    fewest: int = 5
    fewest_info: int = 4
    window: int = 20


class Clipped(NamedTuple):
    """How much clipping does."""

    curve: Curve  # of the norm, after warm-up
    early: Curve  # of the norm, in warm-up or the first steps
    limit: float
    over: BoolArray
    share: float
    ratio: float  # median norm over the limit


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Count the norms above the limit after warm-up, or read the share where it is logged."""
    shares = signals.curve("clip_share").after(signals.settled_from)
    if len(shares) >= limits.fewest_info:
        return _by_share(signals, shares, limits)
    curve = (norms := settled(run, signals)).curve.finite()
    if len(curve) < limits.fewest_info:
        return unmet(norms.too_few(len(curve), limits.fewest_info))
    if top := after_clipping.limit_of(curve, limits.fewest, limits.piled, limits.pile):
        return found(_after_clipping(curve, top, limits))
    limit = in_force.clip_limit(run)
    if limit is None:
        return unmet("max_grad_norm is not known, and the framework has no default for it")
    if limit <= 0:
        return passed("max_grad_norm is 0: clipping is off")
    over = curve.value > limit
    share, ratio = float(over.mean()), float(median(curve.value)) / limit
    if share < limits.share:
        told = f"{percent(share)} of the norms are above {number(limit)}"
        return passed(f"{told} (threshold {percent(limits.share)})")
    if run.task == "pretrain" and ratio < limits.near:
        return passed(f"norms lie near the limit, {times(ratio)}: usual in pretraining")
    early = run.curve("grad_norm").finite().before(int(curve.step[0]))
    return found(_finding(run, signals, Clipped(curve, early, limit, over, share, ratio), limits))


def _by_share(signals: Signals, told: Curve, limits: Limits) -> Outcome:
    """Judge the share of clipped updates that fairseq logs; how far above they were is unknown."""
    share = float(median(np.clip(told.value, 0.0, 1.0)))
    if share < limits.share:
        return passed(f"{percent(share)} of the updates were clipped")
    first = int(told.step[0])
    return found(
        Finding(
            severity="info",
            title=f"Gradients were clipped at most steps from step {step(first)} on. The median "
            f"share of clipped updates was {percent(share)}.",
            metric="clip_share",
            onset=Moment(float(first)),
            evidence=(
                Evidence(
                    "Share of updates clipped",
                    share,
                    limits.share,
                    "half of the updates",
                    "clip_share",
                    unit="%",
                ),
            ),
            seen="How far the norms were above the limit is not logged here.",
            confidence=Confidence(0.7, f"{len(told):,} records of the share"),
            chart=Chart("limit", ("clip_share",), limit=limits.share),
            louder_with=COMPANIONS if share >= limits.many else (),
            harmless=signals.learns and not in_force.scale_matters(signals.run),
        )
    )


def _after_clipping(curve: Curve, top: float, limits: Limits) -> Finding:
    share = float((curve.value >= (1 - limits.pile) * top).mean())
    first = float(curve.step[0])
    return Finding(
        severity="info",
        title=f"The gradient norm is logged after clipping from step {step(first)} on. "
        f"{percent(share)} of {len(curve):,} points lie at the highest value, {number(top)}.",
        metric="grad_norm",
        onset=Moment(first),
        evidence=(
            Evidence(
                "Norms at the highest value",
                share,
                limits.piled,
                "clipped norms all equal the limit",
                unit="%",
            ),
        ),
        seen="The true size of the gradient is unknown. It is above the limit on these points.",
        fixes=(fixes.look("Log the norm before clipping", "the true size decides"),),
        confidence=Confidence(0.8, "the values all equal the limit"),
        chart=Chart("limit", ("grad_norm",), limit=top),
        louder_with=COMPANIONS,
    )


def _loud(
    run: Run, clipped: Clipped, limits: Limits, *, fell: bool, learns: bool, fell_all_along: bool
) -> tuple[bool, str]:
    """Return whether the share and ratio are a warning by themselves, and why or why not."""
    usual = f"ratios up to {limits.ratio:g} are common in good runs"
    if clipped.share < limits.many or len(clipped.curve) < limits.fewest:
        return False, usual
    configured = run.number("max_grad_norm") is not None
    if in_force.scale_matters(run) and configured and clipped.ratio >= limits.ratio:
        return True, f"each step of SGD is {times(clipped.ratio)} shorter than its gradient"
    if run.task not in KNOWN_SIZE:
        return False, f"the size of the norm means little in {run.task}"
    if fell and clipped.ratio >= limits.scaled:
        return False, "the norm is summed or not unscaled, and the loss falls"
    meant = run.flag("load_in_4bit") or run.adapter == "qlora"
    if clipped.ratio >= limits.tiny_ratio and configured and clipped.limit <= limits.tiny:
        return (not meant), f"median norm {times(clipped.ratio)} a limit of {clipped.limit:g}"
    if clipped.ratio >= limits.ratio:
        if (learns or (fell_all_along and not configured)) and not in_force.scale_matters(run):
            return False, "Adam divides the scale out, and the loss falls"
        return True, f"median norm {times(clipped.ratio)} the limit"
    if (
        not fell
        and clipped.ratio >= limits.companion_ratio
        and clip_advice.grow(clipped.curve, limits.growth)
    ):
        return True, f"norms grew {limits.growth:g} times or more and the loss does not fall"
    return False, usual


def _onset(clipped: Clipped, least: float, limits: Limits, *, warmed: bool) -> tuple[float, str]:
    """Return the first step after warm-up from which a window keeps the share, and since when."""
    width = min(len(clipped.over), max(limits.window, len(clipped.over) // 20))
    kept = np.flatnonzero(counts(clipped.over, width) / width >= least - 1e-9)
    first, early = int(kept[0]) if len(kept) else 0, clipped.early
    if first or not len(early) or (early.value > clipped.limit).mean() < least:
        at = float(clipped.curve.step[first])
        return at, f" from step {step(at)} on"
    late = float(clipped.curve.step[0])
    at = float(early.step[0])
    return (
        (late, f" after warm-up, from step {step(late)} on")
        if warmed
        else (at, f" from step {step(at)} on")
    )


def _finding(run: Run, signals: Signals, clipped: Clipped, limits: Limits) -> Finding:
    curve = clipped.curve
    fell = loss_fell(run, signals, int(curve.step[0]), int(curve.step[-1]))
    scaled = fell and clipped.ratio >= limits.scaled
    levels = signals.levels("train_loss")
    # a loss that came down again from a shock is no reason to leave clipping as it is
    learns, overall = fell and levels.fell, signals.learns and levels.fell
    loud, why = _loud(run, clipped, limits, fell=fell, learns=learns, fell_all_along=overall)
    least = limits.many if clipped.share >= limits.many else limits.share
    onset, since = _onset(clipped, least, limits, warmed=signals.warmup.present)
    known = run.number("max_grad_norm") is not None  # an assumed limit is not made louder
    middle = clipped.ratio * clipped.limit
    usual_ratio = clipped.ratio < limits.ratio or scaled
    enough = clipped.ratio >= limits.companion_ratio and len(curve) >= limits.fewest
    louder = (*COMPANIONS, *(() if usual_ratio else STUCK)) if enough and not scaled else ()
    return Finding(
        severity="warning" if loud else "info",
        title=clip_advice.headline(run, curve, clipped.share, middle, clipped.limit, since),
        heading=clip_advice.heading(clipped.share),
        metric="grad_norm",
        onset=Moment(onset),
        evidence=_evidence(
            run, clipped, why, limits, clip_advice.meanwhile(learns=learns, fell=fell)
        ),
        seen=clip_advice.seen(run, learns=learns, fell=fell, loud=loud),
        fixes=clip_advice.cures(run, signals, clipped.limit, clipped.ratio, fell=learns, loud=loud),
        confidence=clip_advice.confidence(len(curve), known=known),
        chart=Chart("limit", ("grad_norm",), limit=clipped.limit),
        louder_with=louder if known and not loud else (),
        harmless=(learns or signals.learns)
        and (usual_ratio or not known)  # of a limit that is assumed the ratio is, too
        and clipped.ratio < UNSCALED  # beyond, it is large however it is scaled
        and not in_force.scale_matters(run),
    )


def _evidence(
    run: Run, clipped: Clipped, why: str, limits: Limits, meanwhile: str
) -> tuple[Evidence, ...]:
    return (
        Evidence(
            "Norms above max_grad_norm",
            clipped.share,
            limits.share,
            "half of the points after warm-up",
            "grad_norm",
            unit="%",
        ),
        Evidence(
            "Median norm as a multiple of the limit", clipped.ratio, limits.ratio, why, "grad_norm"
        ),
        Evidence("Median share of the gradient kept", min(1.0, 1 / clipped.ratio), unit="%"),
        Evidence(
            "max_grad_norm",
            clipped.limit,
            where="config" if "max_grad_norm" in run.config else "default of the framework",
        ),
        Evidence("Train loss meanwhile", meanwhile, where="train_loss"),
    )


LOSS = "0:2.2 300:1.3 900:0.9"
NOISE = {"train_loss": 0.02, "grad_norm": 0.2}
BAD = (
    drawn(
        "far above",
        (0, 100),
        NOISE,
        severity="warning",
        train_loss="0:2.2 900:2.2",
        grad_norm="0:20 900:20",
    ),
    drawn(
        "far above, and the loss falls",
        (0, 100),
        NOISE,
        severity="info",
        config={"max_grad_norm": 0.3},
        train_loss=LOSS,
        grad_norm="0:3.5 900:6",
    ),
    drawn(
        "SGD on targets that are not scaled",
        (0, 100),
        NOISE,
        task="regression",
        severity="warning",
        config={"optim": "sgd", "max_grad_norm": 0.5},
        train_loss="0:390 900:74",
        grad_norm="0:200 900:200",
    ),
    drawn(
        "tiny limit",
        (0, 100),
        NOISE,
        severity="warning",
        config={"max_grad_norm": 0.1},
        train_loss=LOSS,
        grad_norm="0:0.8 900:0.8",
    ),
    drawn(
        "above the default",
        (0, 100),
        NOISE,
        severity="info",
        train_loss=LOSS,
        grad_norm="0:4 900:4",
    ),
    drawn(
        "grows",
        (0, 100),
        NOISE,
        severity="warning",
        train_loss="0:1.8 900:1.8",
        grad_norm="0:1.5 100:1.5 900:6",
    ),
    drawn(
        "logged after clipping",
        (0, 100),
        0.0,
        severity="info",
        train_loss=LOSS,
        grad_norm="0:1 900:1 ~1e-9/40",
    ),
    drawn(
        "not unscaled",
        (0, 100),
        NOISE,
        severity="info",
        task="classification",
        train_loss="0:0.7 900:0.2",
        grad_norm="0:2e5 900:3e5",
    ),
)
GOOD = (
    drawn("healthy", noise=NOISE, train_loss=LOSS, grad_norm="0:0.5 900:0.5"),
    drawn("first steps", noise=NOISE, train_loss=LOSS, grad_norm="0:9 40:9 50:0.5 900:0.5"),
    drawn(
        "near the limit in pretraining",
        noise=NOISE,
        task="pretrain",
        train_loss="0:9 300:5 900:4",
        grad_norm="0:1.2 900:1.1",
    ),
    drawn(
        "wide limit",
        noise=NOISE,
        config={"max_grad_norm": 10.0},
        train_loss=LOSS,
        grad_norm="0:4 900:4",
    ),
    drawn(
        "switched off",
        noise=NOISE,
        config={"max_grad_norm": 0.0},
        train_loss=LOSS,
        grad_norm="0:4 900:4",
    ),
)

RULE = Rule(
    slug="clip-saturation",
    title="Constant gradient clipping",
    family="GRD",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=("sawtooth", "oscillation", "divergence"), layer="update"),
    needs=("grad_norm|clip_share",),
    tasks=LOSS_TASKS,
    bad=(*BAD, *after_clipping.BAD),
    good=(*GOOD, *after_clipping.GOOD),
)
