"""What stood around a moment of the loss: launches, learning rate, gradient norm, epochs."""

import re
from math import log2

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Confidence, Evidence, Fix
from runlens.history import Curve, FloatArray
from runlens.knowledge import in_force
from runlens.knowledge.in_force import reads_text
from runlens.patterns import lazy_re
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import sigma_long
from runlens.usual_rates import ALMOST_NOTHING, least
from runlens.wording import step, times

ADVERSARIES = lazy_re(
    r"(^|[/_.])(d|g|disc|discriminator|gen|generator|critic)_?loss|D\(x\)|loss_?[dg]$",
    re.IGNORECASE,
)
POLICY_LOSSES = {"policy_loss", "surrogate_loss", "actor_loss", "value_loss"}
OF_POLICIES = {"reward", "entropy", "advantage", "approx_kl", "explained_variance"}
NEAR_POINTS = 3  # logged points within which two moments count as one
GAP = 10.0  # logging intervals without a row within which a change cannot be dated
ESCAPED = 5.0  # times what had been gained: a loss below 0 that rises further was lost
GAINED = 8.0  # noise scales, as of a spike: a fall below 0 that is one
NORMS = 5  # gradient norms of a level

LEAST_WARMUP = 0.03  # of the steps; 3 to 10 % are usual
FULL_POINTS = 100  # from which the number of points no longer lowers the confidence


def launches(run: Run) -> list[int]:
    """Return the first steps of all launches but the first, and the steps of resumes."""
    starts = {segment.first_step for segment in run.segments if segment.number > 0}
    return sorted(starts | {event.step for event in run.events_of("resume") if event.step})


def launch_near(run: Run, signals: Signals, at: float) -> int | None:
    """Return a later launch within three logged points of a step, if there is one."""
    reach = NEAR_POINTS * signals.interval("train_loss")
    near = [start for start in launches(run) if abs(start - at) <= reach]
    return near[0] if near else None


def begins_anew(run: Run, signals: Signals, at: float, top: float | None = None) -> bool:
    """Whether a launch, new weights, or a restart of the rate lie within three points of a rise.

    Or another part of the loss begins there. It begins at a step; a slow one has its `top` later.
    """
    reach = NEAR_POINTS * signals.interval("train_loss")
    last = at if top is None else top
    warm = any(
        at - reach <= start <= last + reach for start in (*signals.restarts, *signals.begun_anew)
    )
    return warm or launch_near(run, signals, at) is not None or bool(_new_stage(run, signals, at))


def _new_stage(run: Run, signals: Signals, at: float, rows: int = NEAR_POINTS) -> str:
    from runlens.rules.loss import stages  # asked where a loss rises

    train = judged(signals)
    return stages.begins(run, train, int(np.searchsorted(train.step, at, side="right")) - 1, rows)


def new_stage(run: Run, signals: Signals, at: float) -> str:
    """Say that a rise is of weights initialized again or of another sum; empty if it is none."""
    reach = NEAR_POINTS * signals.interval("train_loss")
    near = [start for start in signals.begun_anew if abs(start - at) <= reach]
    anew = f"weights were initialized again at step {step(near[0])}" if near else ""
    return anew or _new_stage(run, signals, at, len(signals.curve("train_loss")))


def boundary_near(signals: Signals, at: float, points: float = 2) -> bool:
    """Whether a whole epoch lies within some logged points of a step; the start is none."""
    per_epoch = signals.steps_per_epoch
    if not per_epoch or at < 0.5 * per_epoch:
        return False
    off = abs(at / per_epoch - round(at / per_epoch)) * per_epoch
    reach = points * signals.interval("train_loss")
    return bool(off <= reach < 0.25 * per_epoch)


def since(train: Curve, at: int) -> str:
    """Say from where something holds; behind a gap of the log it may have begun within it."""
    begins, apart = step(float(train.step[at])), np.diff(train.step)
    if at > 0 and apart[at - 1] > GAP * float(median(apart)):
        return f"by step {begins} at the latest"
    return f"from step {begins} on"


def norm_climb(signals: Signals, at: float) -> float | None:
    """Return the highest gradient norm around a step over the usual one before it."""
    norms = signals.curve("grad_norm")
    reach = NEAR_POINTS * max(signals.interval("grad_norm"), signals.interval("train_loss"))
    before = norms.before(int(at - reach)).value[-4 * NORMS :]
    around = norms.value[(norms.step >= at - reach) & (norms.step <= at + reach)]
    if len(before) < NORMS or not len(around):
        return None
    base = float(median(before))
    return float(around.max()) / base if base > 0 else None


def confidence(margin: float, points: int, tested: int, known: int, what: str) -> Confidence:
    """Combine margin over the limit, points, and look-alikes tested.

    `margin` is value over limit: 1.0 counts 0.6, 2.0 and more counts 1. From 40 points on (0.7)
    to 100 (1.0). `tested` of `known` look-alikes could be tested.
    """
    by_margin = float(np.clip(0.6 + 0.4 * (margin - 1), 0.6, 1.0))
    missing = log2(max(points, 1) / FULL_POINTS) if points < FULL_POINTS else 0.0
    by_points = max(0.4, 1 + 0.23 * missing)
    by_tests = 0.8 + 0.2 * tested / max(known, 1)
    size = (
        f"{what} is {times(margin)} the threshold" if margin >= 1 else f"{what} lies in the noise"
    )
    tests = f"{tested} of {known} alternatives tested"
    reason = f"{size}, {points:,} points, {tests}"
    return Confidence(round(by_margin * by_points * by_tests, 2), reason)


def norm_evidence(signals: Signals) -> tuple[Evidence, ...]:
    """Return the median gradient norm of the run, where it is logged."""
    norms = signals.curve("grad_norm").value
    if not len(norms):
        return ()
    return (Evidence("Median gradient norm", float(median(norms)), where="grad_norm"),)


def batch_evidence(run: Run) -> tuple[Evidence, ...]:
    """Return the samples of an update as the product that they are, where it is known."""
    size, steps = run.number("per_device_train_batch_size"), in_force.accumulation(run)
    if not size or not steps:
        return ()
    devices = run.number("num_processes")
    whole = size * steps * (devices or 1.0)
    words = f"{size:g} a device × {steps:g} accumulated × "
    words += f"{devices:g} devices" if devices else "devices that are not recorded"
    return (Evidence("Samples per update", whole, source=words),)


def warmup_fix(run: Run, onset: float = 0) -> tuple[Fix, ...]:
    """Warm up longer where the settings give it less than the usual share of the steps.

    Nothing against what began long after a warm-up would be over.
    """
    if in_force.past_warmup(run, onset):
        return ()
    if (run.number("warmup_ratio") or 0.0) >= LEAST_WARMUP:
        return ()
    return fixes.longer_warmup(run, "the first updates are then smaller")


def first_checks(run: Run) -> tuple[Fix, ...]:
    """Return what to try first when a model does not learn."""
    text = run.task == "sft" and reads_text(run)
    what = "decoded samples with their label mask" if text else "samples with their labels"
    what = "decoded samples" if run.task == "pretrain" else what  # each token is a label
    what = "decoded pairs, chosen and rejected" if run.task in {"dpo", "reward-model"} else what
    how = " (axolotl preprocess CONFIG --debug)" if run.framework == "axolotl" else ""
    return (
        fixes.look(
            "Overfit one batch of 8 samples",
            "if the loss does not approach 0 within 100 steps, suspect the code, the labels or the "
            "learning rate",
        ),
        fixes.look(
            f"Print 20 {what}, as the model sees them{how}",
            "look for shifted or wrongly masked labels; each sample needs a label that is not -100"
            if text
            else "look for garbled or wrongly split text"
            if run.task == "pretrain"
            else "look for shifted or mixed-up labels",
        ),
    )


def too_low(run: Run, signals: Signals, factor: float) -> bool:
    """Whether the peak learning rate is below the usual range divided by `factor`."""
    low, peak = least(run), signals.peak_learning_rate
    return low is not None and peak is not None and peak < low / factor


def almost_zero(run: Run, signals: Signals) -> bool:
    """Whether the rate never was above what moves nothing, where no usual range is known."""
    peak = signals.peak_learning_rate
    return least(run) is None and peak is not None and 0 < peak <= ALMOST_NOTHING


def no_level(run: Run, signals: Signals) -> str:
    """Say why a training loss has no level that a rise could be a multiple of; empty if it has.

    A policy-gradient loss moves with the advantages, whatever the task was taken for. Judged on
    the smooth curve: single values below 0 do not count. A likelihood that is lost many times over
    has its own fall for a measure. What is written with one digit moves by its rounding.
    """
    if reason := _no_direction(run):
        return reason
    if _below_zero(signals):
        return "the loss goes below 0, where ratios of losses mean nothing"
    from runlens.signals import digits  # asked of a loss without a level

    return digits.one_digit(signals.curve("train_loss").value)


def _no_direction(run: Run) -> str:
    """Say why a training loss is not to fall; empty if it is."""
    logged = set(run.history.metrics)
    if run.task == "gan-diffusion" and any(ADVERSARIES.search(name) for name in logged):
        return "an adversarial loss has no direction"
    if logged & POLICY_LOSSES and logged & OF_POLICIES:
        return "a policy-gradient loss has no level: see reward and KL"
    return ""


def _below_zero(signals: Signals) -> bool:
    smooth = signals.smooth("train_loss")
    return bool(len(smooth) and float(smooth.min()) < 0 and not _escaped(smooth))


def falls_below_zero(run: Run, signals: Signals) -> bool:
    """Whether a loss that is to fall goes below 0, and only its fall can be a measure."""
    return not _no_direction(run) and _below_zero(signals)


def _escaped(smooth: FloatArray) -> bool:
    """Whether a loss below 0 was lost: it ends above it by more than its lowest lay below.

    And far above all, by a multiple of what it had gained, which no loss that swings about 0 does;
    or no lower than it began, after it had gained more than its noise and wandering explain.
    """
    best = int(np.argmin(smooth))
    lowest, end = float(smooth[best]), float(smooth[-1])
    gained = float(smooth[: best + 1].max()) - lowest
    if best == 0 or end <= -lowest:
        return False
    gone = end >= smooth[0] and smooth[0] - lowest > GAINED * sigma_long(smooth)
    return bool(gone or end - lowest > ESCAPED * gained)


def no_update(signals: Signals) -> str:
    """Say by which curve nothing was ever trained: what the loss does is the choice of batches."""
    for metric in ("grad_norm", "learning_rate"):
        value = signals.curve(metric).value
        if len(value) >= NEAR_POINTS and not value.any():
            return f"{metric.replace('_', ' ')} is 0 at all {len(value):,} points: nothing moved"
    return ""


def judged(signals: Signals) -> Curve:
    """Return the training loss without exact zeros at its end.

    The Trainer logs 0.0 in place of NaN: those zeros are no loss (rule hidden-nan).
    """
    train = signals.curve("train_loss")
    solid = np.flatnonzero(train.value)
    return train.at(slice(0, int(solid[-1]) + 1)) if len(solid) else train


CLIMBS = "0:2.2 300:0.28 400:0.28 410:0.97 600:0.9 900:0.85"
LEVELS = "0:1 300:1 310:2 600:2 610:3 900:3"
BAD = (
    drawn(
        "two levels of a task, on the last of which the loss rises on",
        (290, 310),
        task="other",
        noise={"train_loss": 0.01},
        train_loss="0:0.24 300:0.005 310:0.1 600:0.03 610:0.4 900:1.2",
        niveau=LEVELS,
    ),
    drawn(
        "a length that went up long before the loss did",
        (400, 410),
        task="other",
        noise={"train_loss": 0.01},
        train_loss=CLIMBS,
        len="0:4 200:4 210:7 900:7",
    ),
    drawn(
        "a longer task, at which the loss climbs on and on",
        (400, 420),
        task="other",
        noise={"train_loss": 0.01},
        train_loss="0:2.2 300:0.28 400:0.28 410:0.97 600:2 900:4",
        len="0:4 400:4 410:7 900:7",
    ),
    drawn(
        "few answers are wrong at the best, and more from there on",
        (250, 500),
        0.001,
        task="classification",
        train_loss="0:0.4 100:0.0031 300:0.0031 900:0.09",
        train_accuracy="0:0.9 100:1 300:1 900:0.97",
    ),
    drawn(
        "fewer answers of the evaluation are right, if hardly one of training is wrong",
        (300, 900),
        noise=0.001,
        task="classification",
        train_loss="0:0.4 100:3e-4 300:3e-4 900:0.009",
        train_accuracy="0:0.9 100:0.996 300:0.996 900:0.995",
        eval_accuracy="50:0.95 300:0.95 900:0.8",
    ),
)
GOOD = (
    drawn(
        "hardly an answer is wrong, before and behind",
        noise=0.001,
        task="classification",
        train_loss="0:0.4 100:0.0031 300:0.0031 900:0.0039",
        train_accuracy="0:0.9 100:0.996 300:0.996 900:0.9955",
        eval_accuracy="50:0.996 900:0.9955",
    ),
    drawn(
        "hardly an answer of training is wrong, and as many of the evaluation are right as before",
        noise=0.001,
        task="classification",
        train_loss="0:0.4 100:3e-4 300:3e-4 900:0.009",
        train_accuracy="0:0.9 100:0.996 300:0.996 900:0.995",
        eval_accuracy="50:0.95 300:0.95 900:0.955",
    ),
    drawn(
        "a sum over more steps than the first row",
        task="other",
        train_loss="0:2.3 10:460 300:300 900:250",
    ),
    drawn(
        "a curriculum of three levels: the second begins above all of the first",
        task="other",
        noise={"train_loss": 0.01},
        train_loss="0:0.24 300:0.005 310:0.1 600:0.08 610:0.4 900:0.25",
        niveau=LEVELS,
    ),
    drawn(
        "a curriculum: a longer task from the row of the jump on",
        task="other",
        noise={"train_loss": 0.01},
        train_loss=CLIMBS,
        len="0:4 400:4 410:7 900:7",
    ),
)
