"""Warm-up shock: loss gets worse as the learning rate reaches its peak.

What is seen
    Training loss rises, by more than its noise, while the learning rate climbs or just after it
    has reached its peak; without a warm-up, in the first steps. Or it never is at its best again.
Why it matters
    The peak rate is too high for these weights: what the model knew is damaged, if not for good.
Looks alike
    Noise: the rise must stand out of it, of what loss had gained so far, and of how far it wanders
    later. A few bad batches are spikes, not a level. A rise at a small part of the peak rate, or at
    a rate of 1e-8, is not the rate's. A first row of fewer steps than the others
    (logging_first_step) is the loss of one batch: it counts where the loss comes back to it. A loss
    that stays up while held-out data get better is lifted by one of its parts. A rise that begins
    long after the peak is divergence. Policy-gradient losses have no such level.
Limits
    fewest: training losses needed. after: share of the points after the end of warm-up that are
    looked at, at least five. errors: standard errors of the difference, more among many points, of
    which the largest difference was picked. gained: share of the fall so far, or doubled: of the
    level, whatever the plunge before was. first_level: share of the level, where the rise begins at
    the first points. rate: the rise must last until this share of the peak rate. sliver: a rise
    undone within this share of the points is a few odd batches, from the first point on the shake
    of a fresh model. A first row further below the rest than by the steps of a row, over which
    others may be summed, is no odd batch. usual: times the median of the rises that the loss shows
    later over stretches as long (2,000 simulated runs with noise of up to 25 %: 11 alarmed without
    it, 4 with it).
Fixes
    A third of the peak rate; warm-up over 5 % of the steps.
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
)
from runlens.history import Curve, FloatArray
from runlens.records import NamedTuple
from runlens.rules.loss import surroundings
from runlens.rules.relations import Relations
from runlens.rules.rule import LOSS_TASKS, Rule, drawn, found, passed, unmet
from runlens.rules.schedule import causes_of_shock, never_back
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.noise import MEDIAN_LOSS, inflation, running_median, sigma
from runlens.wording import loss, percent, step, too_few
from runlens.wording import rate as as_rate

PICKED = 1.5  # standard errors beyond the largest of as many values by chance
WIDTH = 5  # points of a level
FEWEST_STRETCHES = 4  # later ones that show how far this loss wanders


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 20
    after: float = 0.04
    errors: float = 4.5
    gained: float = 0.50
    doubled: float = 1.0
    first_level: float = 0.10
    rate: float = 0.20
    sliver: float = 0.005
    usual: float = 2.0


class Rise(NamedTuple):
    """The largest rise of loss up to shortly after the end of warm-up. Indices into the curve."""

    low: int
    peak: int
    until: int  # last point looked at with half the rise left
    before: float
    height: float
    gained: float  # fall from the first level to the low
    error: float
    searched: int  # points among which it is the largest


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Find the largest rise of training loss around the end of warm-up."""
    train = signals.curve("train_loss")
    if len(train) < limits.fewest:
        return unmet(too_few(len(train), "training loss", limits.fewest))
    if signals.partial:
        return unmet("the start of the run is not recorded")
    warm = signals.warmup
    if warm.how == "assumed" and signals.peak_learning_rate is None:
        return unmet("neither the learning rate nor a warm-up is recorded")
    if surroundings.almost_zero(run, signals):
        return passed(f"a rate of {as_rate(signals.peak_learning_rate or 0.0)} moves no weights")
    rise = _largest_rise(train, signals, warm.end, limits)
    least_rise = 0.0 if rise.low >= WIDTH else limits.first_level * abs(rise.before)
    undone = min(limits.gained * rise.gained, limits.doubled * abs(rise.before))
    needed = max(_chance(limits, rise) * rise.error, undone, least_rise)
    if not rise.height > needed:
        until = f"until shortly after warm-up (step {step(warm.end)})"
        until = until if warm.present else "in the first steps"
        most = f"rose by {loss(rise.height)} at most" if rise.height > 0 else "did not rise"
        quiet = passed(f"{until} train loss {most} (threshold {loss(needed)})")
        return found(told) if (told := never_back.of(run, signals)) else quiet
    rate, peak = signals.learning_rate_at(float(train.step[rise.until])), signals.peak_learning_rate
    if rate is not None and peak and rate < limits.rate * peak:
        return passed(
            f"train loss rose while the learning rate was at {percent(rate / peak)} of its peak"
        )
    onset = _onset(train, rise, limits)
    if _recovered(train, rise) is None and (why := _only_a_part(run, signals, onset)):
        return passed(f"train loss rose by {loss(rise.height)} and stayed up, but {why}")
    usual = _usual_rise(train, rise)
    if rise.height < limits.usual * usual:
        return passed(
            f"train loss rose by {loss(rise.height)}; over stretches as long it rises by "
            f"{loss(usual)} later as well"
        )
    if _at_once(train, rise, limits):
        return passed(
            f"train loss rose by {loss(rise.height)} in the first points and was back by step "
            f"{step(_recovered(train, rise))}"
        )
    return found(_finding(run, signals, train, rise, needed, limits))


def _usual_rise(train: Curve, rise: Rise) -> float:
    """Return the median rise, at the level before, of later stretches as long as the searched one.

    Noise with memory wanders as far later on. 0.0 where the stretches are few.
    """
    stretches = (len(train) - rise.searched) // rise.searched
    if stretches < FEWEST_STRETCHES:
        return 0.0
    level = running_median(train.value[rise.searched :], WIDTH)
    parts = level[: stretches * rise.searched].reshape(stretches, rise.searched)
    lowest = np.maximum(np.minimum.accumulate(parts, axis=1), 1e-12)
    return abs(rise.before) * float(median((parts / lowest - 1).max(axis=1)))


def _at_once(train: Curve, rise: Rise, limits: Limits) -> bool:
    """Whether the rise was over within a sliver of the run: a few odd batches of a fresh model."""
    back = _recovered(train, rise)
    within = max(2 * WIDTH if rise.low == 0 else WIDTH, round(limits.sliver * len(train)))
    few = within < limits.sliver * 10 * len(train)
    over = min(rise.low + within, len(train) - 1)
    return few and back is not None and back <= train.step[over]


def _only_a_part(run: Run, signals: Signals, onset: float) -> str:
    """Say that the model learns all the same, or that one part of the loss lifts it."""
    return held_out.improving(run, signals, onset) or held_out.steady_data_term(run, signals, onset)


def _largest_rise(train: Curve, signals: Signals, end: int, limits: Limits) -> Rise:
    value = train.value
    level = _levels(train, signals, limits)
    inside = int(np.searchsorted(train.step, end, side="right"))
    inside = min(len(value), inside + max(5, round(limits.after * len(value))))
    lowest = np.minimum.accumulate(level[:inside])
    peak = int(np.argmax(level[:inside] - lowest))
    low = int(np.argmin(level[: peak + 1]))
    residual = value - signals.smooth("train_loss")
    near = value[: max(inside, 4 * WIDTH)]
    noise = max(signals.sigma("train_loss"), sigma(near)) * min(inflation(residual), 3.0)
    points = min(WIDTH, low + 2)  # at the very start the level leans on fewer points
    error = MEDIAN_LOSS * noise * (1 / points + 1 / WIDTH) ** 0.5
    before = float(level[low])
    height = float(level[peak]) - before
    until = peak + int(np.flatnonzero(level[peak:inside] >= before + height / 2)[-1])
    gained = max(float(level[0]) - before, 0.0)
    return Rise(low, peak, until, before, height, gained, error, inside)


def _chance(limits: Limits, rise: Rise) -> float:
    """Return the standard errors that are no chance: among many points the largest is larger.

    The largest of n normal values lies at sqrt(2 ln n), and both ends of the rise were picked.
    """
    return max(limits.errors, PICKED + float(np.sqrt(2 * np.log(max(rise.searched, 2)))))


def _levels(train: Curve, signals: Signals, limits: Limits) -> FloatArray:
    """Return the level at each point, without a first row that is the loss of a few batches.

    Such a row counts where the loss comes back to it later, so that others support it.
    """
    value = train.value
    interval = signals.interval("train_loss")
    over = float(value[WIDTH:].min()) / value[0] if value[0] > 0 else 0.0
    one_batch = 1 + limits.first_level < over <= interval
    if train.step[0] < interval and one_batch:
        value = np.concatenate([value[1:2], value[1:]])
    return running_median(value, WIDTH)


def _onset(train: Curve, rise: Rise, limits: Limits) -> float:
    """Return the first step from which loss stays first_level above its level before."""
    level = running_median(train.value, WIDTH)[rise.low : rise.peak + 1]
    below = np.flatnonzero(level < rise.before + limits.first_level * abs(rise.before))
    first = rise.low + int(below[-1]) + 1 if len(below) else rise.low
    return float(train.step[min(first, rise.peak)])


def _recovered(train: Curve, rise: Rise) -> float | None:
    """Return the step at which loss is back at its level before, for good; None if never."""
    level = running_median(train.value[rise.peak :], WIDTH)
    back = np.flatnonzero(level <= rise.before)
    return float(train.step[rise.peak + int(back[0])]) if len(back) else None


def _finding(
    run: Run,
    signals: Signals,
    train: Curve,
    rise: Rise,
    needed: float,
    limits: Limits,
) -> Finding:
    onset, peak = _onset(train, rise, limits), signals.peak_learning_rate
    top = rise.before + rise.height
    at, top_at = train.step[[rise.low, rise.peak]].tolist()
    back = _recovered(train, rise)
    after = f"was back at its old level by step {step(back)}" if back else "never came back"
    broke = "destabilized" if back else "broke"
    rates = signals.curve("learning_rate").before(int(onset) + 1).value
    reached = float(rates[-1]) if len(rates) else peak
    mild = back is not None and rise.height < limits.first_level * abs(rise.before)
    rate = f"A learning rate of {as_rate(reached)}" if reached else "The peak learning rate"
    return Finding(
        severity="info" if mild else "warning",
        harmless=mild,  # no more than noise of batches often shows, and over
        title=f"{rate} {broke} the run at step {step(onset)}. The median train loss rose from "
        f"{loss(rise.before)} around step {step(at)} to {loss(top)} around step {step(top_at)} "
        f"and {after}.",
        metric="train_loss",
        onset=Moment(onset),
        end=Moment(back) if back else None,
        evidence=_evidence(signals, train, rise, needed),
        seen=causes_of_shock.meanwhile(signals, at, top_at),
        fixes=causes_of_shock.cures(run, signals),
        ruled_out=(
            RuledOut(
                "Normal noise",
                f"the rise is {rise.height / max(rise.error, 1e-12):,.1f} of its errors",
            ),
            RuledOut("One bad batch", f"the median of {WIDTH} points rose"),
        ),
        confidence=Confidence(
            round(min(1.0, 0.5 + 0.2 * rise.height / needed), 2),
            "the loss rose far above its noise",
        ),
        chart=Chart(
            "curves",
            ("train_loss", "learning_rate"),
            marks=(Mark(onset, rise.before, f"median before: {loss(rise.before)}"),),
        ),
    )


def _evidence(signals: Signals, train: Curve, rise: Rise, needed: float) -> tuple[Evidence, ...]:
    warm, peak = signals.warmup, signals.peak_learning_rate
    evidence = [
        Evidence(
            "Rise of train loss (medians)",
            rise.height,
            needed,
            "its errors, 5 % of the level, and half the fall so far or twice the level",
            "train_loss",
            float(train.step[rise.peak]),
        ),
        Evidence(
            "Train loss before", rise.before, where="train_loss", step=float(train.step[rise.low])
        ),
    ]
    if warm.present:
        evidence.append(Evidence("Last step of the warm-up", float(warm.end)))
    if peak:
        evidence.append(Evidence("Peak learning rate", peak, where="learning_rate"))
    return tuple(evidence)


WARM = "0:0 50:1e-3 600:0"
BAD = (
    drawn(
        "damaged by warm-up",
        (20, 60),
        severity="warning",
        train_loss="0:1.4 20:1.45 50:2.4 150:1.9 600:1.2",
        learning_rate=WARM,
    ),
    drawn(
        "falls, then jumps at the peak",
        (40, 110),
        severity="warning",
        train_loss="0:9 80:6.8 100:15 200:8 1000:5",
        learning_rate="0:0 100:2e-4 1000:0",
    ),
    drawn(
        "more than twice its level, after a plunge",
        (20, 90),
        0.05,
        severity="warning",
        train_loss="0:1.6 20:0.2 40:0.15 100:0.4 400:0.38 600:0.2",
        learning_rate="0:0 100:1e-4 600:0",
    ),
    drawn(
        "leaves its first row by far",
        (5, 5),
        task="other",
        noise=0.15,
        train_loss="0:7 /5 5:240 10:155 20:118 30:75 230:95",
        learning_rate="0:0.2 230:0.2",
    ),
    drawn(
        "no warm-up",
        (0, 30),
        train_loss="0:2 10:3.2 30:3 100:2 600:1.2",
        learning_rate="0:1e-3 600:1e-4",
        noise=0.01,
    ),
)
GOOD = (
    drawn(
        "the first points of a fresh model",
        train_loss="0:4100 10:158000 20:18000 30:3700 40:12400 50:5100 60:40 3000:2",
        learning_rate="0:5e-4 3000:5e-4",
        task="other",
    ),
    drawn(
        "a penalty grows and evaluation improves",
        task="classification",
        noise=0.004,
        train_loss="0:0.5 10:5 40:10 300:60 600:110 900:95",
        eval_loss="50:0.67 900:0.62",
        learning_rate="0:1e-3 900:1e-3",
    ),
    drawn(
        "less than twice its level, after a plunge",
        noise=0.05,
        train_loss="0:1.6 20:0.2 40:0.15 100:0.22 400:0.22 600:0.1",
        learning_rate="0:0 100:1e-4 600:0",
    ),
    drawn("falls through warm-up", train_loss="0:3 50:2.2 600:1", learning_rate=WARM),
    drawn("noisy", noise=0.15, train_loss="0:2.2 50:1.9 600:1.2", learning_rate=WARM),
    drawn(
        "first row is one batch",
        train_loss="0:1.5 10:2 20:2.5 400:2.5 900:2.4",
        learning_rate="0:0 500:1e-5 900:0",
        noise=0.01,
    ),
    drawn(
        "first row is one batch, without warm-up",
        train_loss="0:1.5 10:2.4 100:2.4 600:2.3",
        learning_rate="0:1e-5 600:0",
        noise=0.01,
    ),
    drawn(
        "three odd batches of a fresh model",
        train_loss="0:3.7 50:3.3 60:5 80:5 90:3.2 20000:1",
        learning_rate="0:1e-5 20000:0",
    ),
    drawn("wanders as far later", train_loss="0:1.5 900:1.4 ~0.8/100", learning_rate=WARM),
    drawn("diverges late", train_loss="0:3 50:2 300:1.2 600:4", learning_rate=WARM),
    drawn(
        "rises at a small rate",
        train_loss="0:2.0 20:2.0 30:2.6 40:2.2 200:1.2 600:1",
        learning_rate="0:0 30:1e-5 40:1e-5 180:1e-3 600:0",
    ),
)

RULE = Rule(
    slug="warmup-shock",
    title="Warm-up shock",
    family="LRS",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(
        at_once=("grad-explosion", "grad-spike", "loss-spike"),
        soon=("divergence",),
        ever=("plateau", "not-learning"),
        layer="input",
    ),
    needs=("train_loss",),
    tasks=LOSS_TASKS,
    bad=(*BAD, *never_back.BAD),
    good=(*GOOD, *never_back.GOOD),
)
