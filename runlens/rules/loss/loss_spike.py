"""Loss spike: training loss jumps far out of its noise and comes back.

What is seen
    Training loss leaps to a multiple of its level within a few points, once or again and again,
    and returns, wholly or mostly.
Why it matters
    Each spike is an update that did harm. A batch that does it once does it again in the next
    epoch; spikes that grow or repeat come before divergence.
Looks alike
    The first points of a run are steep. Small batches are noisy: a spike must stand out of the
    tail of the noise. One high point at each end of an epoch is the partial last batch: info. A
    jump at a resume belongs to the resume. A rise that stays is divergence.
Limits
    fewest: points. Tall form: ratio to the level under it (above 2), z local noise
    scales, tail times the 95th percentile of the upward noise. Where doubling is out of reach
    (losses near ln of a vocabulary): sharp_ratio with sharp_z and sharp_tail. Long form: a block
    of 1 % of the points above long_ratio of the four before it, the next above long_next, by
    long_z scales of the blocks, and back below half of the rise later. early: first share of the
    run that is not judged, besides warm-up. quiet_ratio: below the ratio but above this: info,
    at averaged_ratio too where averaged points or more are averaged in each and the gradient
    norm spikes. alone: a single, recovered spike is loud from this ratio on. many: spikes that
    are loud whatever their height, or many_share of all points; wide: share of the run from
    which one is loud. kept: of its height left over after it, loud. other_ratio: where the task
    is not known.
    Measured: 1.8 % of simulated healthy runs (all with heavy-tailed noise of at least 10 %),
    0.15 % for the long form; power 96 % for 2.5 to 8 times.
Fixes
    Look at the batch; clip at 1.0 or tighter; learning rate to a half; warm-up 5 %; more
    accumulation where the batch is small (a larger batch lowers the noise); where spikes come
    again: no packing for a while, beta2 0.95, and once fp32 to tell the precision apart.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from runlens.diagnosis import (
    Chart,
    Evidence,
    Finding,
    Mark,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import BoolArray, Curve, FloatArray, IntArray
from runlens.rules.loss import causes_of_spike, surroundings
from runlens.rules.rule import LOSS_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.changes import Spikes, spikes
from runlens.signals.noise import MEDIAN_LOSS, mad, sigma_diff
from runlens.wording import loss, step, times

FLOOR = 0.05  # of the start: a spike of a loss near zero is judged against this level
BLOCKS = 100  # of the long form
FEW = 2  # a pair is no series


@dataclass(frozen=True)
class Limits:
    """What may be tuned."""

    fewest: int = 20
    ratio: float = 2.0
    z: float = 8.0
    tail: float = 4.0
    sharp_ratio: float = 1.4
    sharp_z: float = 20.0
    sharp_tail: float = 8.0
    long_ratio: float = 1.75
    long_next: float = 1.4
    long_z: float = 6.0
    early: float = 0.02
    quiet_ratio: float = 1.5
    averaged_ratio: float = 1.3
    averaged: int = 5
    alone: float = 3.0
    many: int = 3
    many_share: float = 0.005
    wide: float = 0.01
    kept: float = 0.1
    other_ratio: float = 5.0


class Seen(NamedTuple):
    """The spikes of a run, tall and long, in order; arrays of shape (k,)."""

    first: FloatArray  # index of the first point
    ratio: FloatArray  # peak over the level under it
    peak: FloatArray
    base: FloatArray
    width: FloatArray  # points
    left: FloatArray  # share of the height left over after it


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look for points, and for blocks of points, far above what surrounds them."""
    train = surroundings.judged(signals)
    if len(train) < limits.fewest:
        return unmet(f"only {len(train)} of the {limits.fewest} training losses that are needed")
    from_point = _judged_from(run, signals, train, limits)
    loud = run.task != "other"
    tall = _tall(train.value, limits.ratio if loud else limits.other_ratio, limits, sharp=loud)
    long = _long(train.value, limits.long_ratio if loud else limits.other_ratio, limits)
    seen = _joined(run, signals, train, (tall, long), from_point)
    if len(seen.first):
        return found(_finding(run, signals, train, seen, limits))
    quiet = _quiet(run, signals, train, from_point, limits) if loud else None
    if quiet is not None:
        return found(_finding(run, signals, train, quiet, limits, quiet=True))
    top = train.value[from_point:].max(initial=0.0)
    return passed(f"no point stands out of the noise; the highest after warm-up is {loss(top)}")


def _judged_from(run: Run, signals: Signals, train: Curve, limits: Limits) -> int:
    """Return the index of the first point that is judged."""
    early = max(2, int(limits.early * len(train)))
    warm = signals.warmup.end if signals.warmup.present else run.first_step
    return max(early, int(np.searchsorted(train.step, warm)))


def _level(value: FloatArray, base: FloatArray) -> FloatArray:
    """Return the level against which a spike is judged, never near zero."""
    start = abs(float(np.median(value[: max(3, len(value) // 20)])))
    level: FloatArray = np.maximum(np.maximum(base, FLOOR * start), 1e-12)
    return level


def _seen(value: FloatArray, one: Spikes) -> Seen:
    level = _level(value, one.base)
    after = np.minimum(one.first + one.width, len(value) - 1)
    span = np.minimum(after[:, None] + np.arange(5)[None, :], len(value) - 1)
    rest = np.median(value[span], axis=1) - one.base if len(after) else one.base
    left = rest / np.maximum(one.peak - one.base, 1e-12)
    first = one.first.astype(float)
    return Seen(first, one.peak / level, one.peak, one.base, one.width.astype(float), left)


def _kept(seen: Seen, mask: BoolArray) -> Seen:
    return Seen._make(column[mask] for column in seen)


def _tall(value: FloatArray, ratio: float, limits: Limits, *, sharp: bool) -> Seen:
    """Return the recovered spikes of single points."""
    plain = spikes(value, limits.z, limits.tail)
    wide = _seen(value, plain.at(plain.recovered))
    wide = _kept(wide, wide.ratio > ratio)
    if not sharp:
        return wide
    steep = spikes(value, limits.sharp_z, limits.sharp_tail)
    high = _seen(value, steep.at(steep.recovered))
    new = (high.ratio >= limits.sharp_ratio) & ~np.isin(high.first, wide.first)
    return Seen._make(np.concatenate(pair) for pair in zip(wide, _kept(high, new), strict=True))


def _long(value: FloatArray, ratio: float, limits: Limits) -> Seen:
    """Return excursions of several hundredths of the run that came back."""
    size = max(3, len(value) // BLOCKS)
    used = len(value) // size
    blocks = np.median(value[: used * size].reshape(used, size), axis=1)
    if used < BLOCKS // 5:
        return Seen(*[np.zeros(0)] * 6)
    scale = max(sigma_diff(value) * MEDIAN_LOSS / size**0.5, mad(np.diff(blocks)) / 2**0.5, 1e-12)
    at = np.arange(4, used - 3)
    before = np.median(np.lib.stride_tricks.sliding_window_view(blocks, 4)[at - 4], axis=1)
    level = _level(value, before)
    hit = (blocks[at] > ratio * level) & (blocks[at + 1] > limits.long_next * level)
    hit &= blocks[at] - before > limits.long_z * scale
    rows: list[tuple[float, ...]] = []
    free = 0
    for place in np.flatnonzero(hit).tolist():  # blocks, at most 100
        first, base = int(at[place]), float(before[place])
        back = np.flatnonzero(blocks[first + 1 :] < base + 0.5 * (blocks[first] - base))
        if first < free or not len(back):
            continue
        free = first + 1 + int(back[0])
        peak = float(value[first * size : free * size].max())
        over = float(blocks[first] - base)
        left = float(np.median(blocks[free : free + 4]) - base) / over
        width = float((free - first) * size)
        rows.append((first * size, peak / float(level[place]), peak, base, width, left))
    return Seen(*(np.array(rows).T if rows else [np.zeros(0)] * 6))


def _joined(
    run: Run, signals: Signals, train: Curve, parts: tuple[Seen, Seen], from_point: int
) -> Seen:
    """Join both forms, without the first points and the resumes; a tall spike leads a long one."""
    tall, long = parts
    inside = np.abs(long.first[:, None] - tall.first[None, :]) <= long.width[:, None]
    long = _kept(long, inside.sum(axis=1) == 0)
    both = Seen._make(np.concatenate(pair) for pair in zip(tall, long, strict=True))
    both = _kept(both, both.first >= from_point)
    steps = train.step[both.first.astype(np.int64)]
    resumed = [surroundings.launch_near(run, signals, float(at)) is not None for at in steps]
    both = _kept(both, ~np.array(resumed, dtype=bool))
    return Seen._make(column[np.argsort(both.first)] for column in both)


def _quiet(
    run: Run, signals: Signals, train: Curve, from_point: int, limits: Limits
) -> Seen | None:
    """Return spikes that are only worth a note: low ones, and averaged ones."""
    none = Seen(*[np.zeros(0)] * 6)
    low = _tall(train.value, limits.quiet_ratio, limits, sharp=False)
    low = _joined(run, signals, train, (low, none), from_point)
    if len(low.first):
        return low
    if (run.number("logging_steps") or signals.interval("train_loss")) <= limits.averaged:
        return None
    low = _tall(train.value, limits.averaged_ratio, limits, sharp=False)
    low = _joined(run, signals, train, (low, none), from_point)
    steps = train.step[low.first.astype(np.int64)]
    climbs = [surroundings.norm_climb(signals, float(at)) or 0.0 for at in steps]
    low = _kept(low, np.array(climbs, dtype=float) >= surroundings.CLIMBED)
    return low if len(low.first) else None


def _finding(
    run: Run, signals: Signals, train: Curve, seen: Seen, limits: Limits, *, quiet: bool = False
) -> Finding:
    at = train.step[seen.first.astype(np.int64)]
    onset = float(at[0])
    top = int(np.argmax(seen.ratio))
    climb = surroundings.norm_climb(signals, float(at[top]))
    severity, out = _severity(signals, train, seen, limits, quiet=quiet)
    many = len(at)
    again = f", the first of {many} spikes up to step {step(at[-1])}" if many > 1 else ""
    return Finding(
        severity=severity,
        title=f"Train loss spiked at step {step(onset)}: {loss(float(seen.peak[0]))} against "
        f"{loss(float(seen.base[0]))} before{again}.",
        metric="train_loss",
        onset=Moment(onset),
        end=Moment(_end(train, seen)),
        evidence=_evidence(run, signals, seen, at, climb, limits),
        seen=f"The highest reached {loss(float(seen.peak[top]))} at step {step(at[top])}, "
        f"{times(float(seen.ratio[top]))} its level, and the loss came back.",
        causes=causes_of_spike.causes(run, signals, at, climb),
        fixes=causes_of_spike.cures(
            run, signals, float(at[top]), again=severity != "info" and many > FEW
        ),
        ruled_out=out,
        confidence=surroundings.confidence(
            float(seen.ratio[top]) / (limits.quiet_ratio if quiet else limits.sharp_ratio),
            len(train),
            len(out),
            3,
            "the spike",
        ),
        chart=Chart(
            "zoom",
            ("train_loss", "grad_norm") if len(signals.curve("grad_norm")) else ("train_loss",),
            marks=(Mark(float(at[top]), float(seen.peak[top]), times(float(seen.ratio[top]))),),
        ),
    )


def _evidence(
    run: Run, signals: Signals, seen: Seen, at: IntArray, climb: float | None, limits: Limits
) -> tuple[Evidence, ...]:
    top = int(np.argmax(seen.ratio))
    where, ratio = float(at[top]), float(seen.ratio[top])
    met = _limit_met(ratio, limits.other_ratio if run.task == "other" else limits.ratio, limits)
    why = "more than twice the level, or 1.4 times and 20 noise scales"
    evidence = [
        Evidence("Highest spike over the level under it", ratio, met, why, "train_loss", where),
        Evidence("Spikes", float(len(at)), float(limits.many), "repeated", "train_loss"),
        Evidence("Longest spike in logged points", float(seen.width.max()), where="train_loss"),
    ]
    if climb is not None:
        what = "Gradient norm over its level"
        evidence.append(Evidence(what, climb, None, "", "grad_norm", where))
    rate = signals.learning_rate_at(where)
    if rate is not None:
        evidence.append(Evidence("Learning rate there", rate, where="learning_rate", step=where))
    return (*evidence, *surroundings.batch_evidence(run))


def _limit_met(ratio: float, plain: float, limits: Limits) -> float:
    """Return the limit that this ratio passed."""
    if ratio >= plain:
        return plain
    return limits.sharp_ratio if ratio >= limits.sharp_ratio else limits.averaged_ratio


def _end(train: Curve, seen: Seen) -> float:
    last = min(int(seen.first[-1] + seen.width[-1]), len(train) - 1)
    return float(train.step[last])


def _severity(
    signals: Signals, train: Curve, seen: Seen, limits: Limits, *, quiet: bool
) -> tuple[Severity, tuple[RuledOut, ...]]:
    steps = train.step[seen.first.astype(np.int64)].tolist()
    edges = [surroundings.boundary_near(signals, float(at), 1) for at in steps]
    if len(steps) > 1 and all(edges) and float(seen.width.max()) <= 2:  # noqa: PLR2004 - one odd batch
        return "info", (RuledOut("Instability", "all lie at the end of an epoch: partial batch"),)
    out = [RuledOut("Divergence", "loss came back after each")]
    if signals.steps_per_epoch:
        share = f"{sum(edges)} of {len(edges)} lie at the end of an epoch"
        out.append(RuledOut("Partial last batches", share))
    out.append(RuledOut("Noise of small batches", "above four times the tail of the noise"))
    repeated = len(steps) >= limits.many or len(steps) > max(1, limits.many_share * len(train))
    wide = float(seen.width.max()) > max(2.0, limits.wide * len(train))
    high = float(seen.ratio.max()) >= limits.alone
    left = bool((seen.left > limits.kept).any()) and float(seen.ratio.max()) >= limits.ratio
    loud = not quiet and (repeated or wide or high or left)
    return ("warning" if loud else "info"), tuple(out)


SPIKE = "0:3 300:1.5 500:1.4 510:5 520:1.4 900:1.2"
BAD = (
    drawn("single and tall", (510, 510), severity="warning", train_loss=SPIKE),
    drawn(
        "single and low", (510, 510), severity="info", train_loss=SPIKE.replace("510:5", "510:3.3")
    ),
    drawn("near the vocabulary", (510, 510), train_loss="0:6 500:4.6 510:7.4 520:4.6 900:4.3"),
    drawn(
        "hump",
        (480, 560),
        severity="warning",
        train_loss="0:3 300:1.5 500:1.4 520:3.8 600:3.6 700:1.4 1500:1.2",
    ),
    drawn(
        "again and again",
        (400, 400),
        severity="warning",
        train_loss="0:3 390:1.5 400:3.6 410:1.5 590:1.4 600:3.4 610:1.4 790:1.4 800:3.5 810:1.4 "
        "900:1.3",
    ),
)
GOOD = (
    drawn("steep start", train_loss="0:11 20:4 100:2 900:1.5"),
    drawn("noise of small batches", noise=0.25, train_loss="0:2 200:1.2 2000:1"),
    drawn("stays up", train_loss="0:3 400:1.5 410:4 900:4"),
    drawn("falls by epochs", train_loss="0:2 299:1.8 300:1.3 599:1.25 600:0.9 900:0.85"),
    drawn(
        "one point of a known size", task="other", train_loss="0:3 500:1.4 510:4.2 520:1.4 900:1"
    ),
)

RULE = Rule(
    slug="loss-spike",
    title="Loss spike",
    family="LOS",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("train_loss",),
    tasks=LOSS_TASKS,
    bad=BAD,
    good=GOOD,
)
