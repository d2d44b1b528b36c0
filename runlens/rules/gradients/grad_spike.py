"""Gradient spike: single steps with a gradient norm ten times above their surroundings.

What is seen
    The gradient norm jumps to ten times its local level for one to three points and is back.
Why it matters
    One spike is an odd batch and does no harm where clipping is on. Spikes that come again and
    again, or that the loss reacts to, are bad data or a learning rate at its edge.
Looks alike
    The first steps are no signal. A batch that is short at the end of each epoch has a large
    norm: that is its size. Norms with heavy tails have peaks in health, and where every tenth or
    twentieth point is a peak the norm has two levels (two kinds of batches): that is its
    distribution, and passes unless the loss reacts to most of them. RL norms have heavy tails as
    well, and are not judged. A norm that stays high is grad-explosion.
Limits
    ratio: ten times the running median of 51 points. tail: so many noise scales above the median of
    the logarithm; without it 3.7 % of healthy norms have a spike, with it 0.2 % where the logarithm
    scatters by less than 0.3. width: points until it is back; one of ratio squared that is the last
    norm needs no return. fewest: norms needed. many: number from which spikes are a warning, if the
    loss reacts to as many. crowd: share of points from which they are the distribution, if the loss
    reacts to less than half.
Fixes
    Clip at 1.0, at 0.5 where that is set; look at the batches of these steps; where they are many,
    half of the learning rate and twice the accumulation.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median, stretches_of
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Fix, Mark, Moment, Outcome
from runlens.history import BoolArray, Curve, FloatArray, IntArray
from runlens.rules.gradients.norms import settled
from runlens.rules.relations import Relations
from runlens.rules.rule import LOSS_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import mad, odd, running_median, sigma
from runlens.wording import listed, number, step, times

WINDOW = 51
REACTS = WINDOW // 5  # points of the loss on which a jump can be seen
SHOWN = 5


class Limits(Struct, frozen=True):
    """What may be tuned."""

    ratio: float = 10.0
    tail: float = 6.0
    width: int = 3
    fewest: int = 8
    many: int = 3
    crowd: float = 0.05


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare each norm with the median around it."""
    norms = settled(run, signals)
    curve = norms.curve.finite()
    if len(curve) < limits.fewest:
        return unmet(norms.too_few(len(curve), limits.fewest))
    log = np.log(np.maximum(curve.value, _least(curve.value)))
    width = odd(min(WINDOW, max(5, len(log) // 3)))
    base = running_median(log, width).copy()
    base[-1] = median(log[-width - 1 : -1])  # at the end the window repeats what is judged
    starts = _spikes(log, base, limits)
    if not len(starts):
        top = float(np.exp((log - base).max()))
        return passed(
            f"the largest norm is {times(top)} its surroundings (threshold {limits.ratio:g})"
        )
    per_epoch = signals.steps_per_epoch
    if per_epoch and len(starts) > 1 and _at_boundaries(curve, starts, per_epoch, signals):
        return passed(f"all {len(starts)} spikes lie at epoch boundaries: a short last batch")
    felt = int(_felt(run, signals, curve, starts).sum())
    if len(starts) > max(1, limits.crowd * len(curve)) and 2 * felt < len(starts):
        high = f"{len(starts):,} of {len(curve):,} norms are {limits.ratio:g} times their neighbors"
        return passed(f"{high}, and the loss reacted to {felt}: a norm of two levels")
    return found(_finding(run, signals, curve, np.exp(base), starts, felt, limits))


def _least(value: FloatArray) -> float:
    positive = value[value > 0]
    return float(positive.min()) if len(positive) else 1.0


def _spikes(log: FloatArray, base: FloatArray, limits: Limits) -> IntArray:
    """Return the first index of each stretch above the limit that is short and not at the end."""
    heavy = float(median(log)) + limits.tail * mad(log - base)
    high = (log > base + np.log(limits.ratio)) & (log > heavy)
    starts, ends = stretches_of(high).T
    peak = log[starts] - base[starts]
    over = (ends < len(log)) | (peak > 2 * np.log(limits.ratio))  # a hundredfold needs no return
    back = (ends - starts <= limits.width) & over
    kept: IntArray = starts[back]
    return kept


def _tops(curve: Curve, starts: IntArray, limits: Limits) -> IntArray:
    """Return the index of the highest norm of each spike, of which `starts` are the first."""
    reach = [curve.value[at : at + limits.width] for at in starts]
    tops: IntArray = starts + np.array([int(np.argmax(value)) for value in reach])
    return tops


def _at_boundaries(curve: Curve, starts: IntArray, per_epoch: float, signals: Signals) -> bool:
    at = curve.step[starts] / per_epoch
    slack = signals.interval("grad_norm") / per_epoch
    near = np.abs(at - np.round(at)) <= slack
    return bool(slack < 0.25 and near.all())  # noqa: PLR2004 - wider, all steps are near


def _felt(run: Run, signals: Signals, curve: Curve, starts: IntArray) -> BoolArray:
    """Whether training loss jumps at the step of a spike or at the next log, shape of starts."""
    train = signals.curve("train_loss")
    if len(train) < REACTS or run.task not in LOSS_TASKS:
        return np.zeros(len(starts), dtype=bool)
    over = train.value - running_median(train.value, odd(min(WINDOW, max(5, len(train) // 3))))
    jump = over > 6 * max(sigma(train.value), 0.01 * abs(float(median(train.value))))
    at = np.searchsorted(train.step, curve.step[starts])
    last = len(train) - 1
    felt: BoolArray = jump[np.minimum(at, last)] | jump[np.minimum(at + 1, last)]
    return felt


def _finding(
    run: Run,
    signals: Signals,
    curve: Curve,
    base: FloatArray,
    starts: IntArray,
    felt: int,
    limits: Limits,
) -> Finding:
    share = len(starts) / len(curve)
    loud = felt >= limits.many
    tops = _tops(curve, starts, limits)
    worst = int(tops[int(np.argmax(curve.value[tops] / base[tops]))])
    top, under = float(curve.value[worst]), float(base[worst])
    onset = float(curve.step[starts[0]])
    told = _effect(len(starts), felt)
    at_end = bool(curve.value[-1] > limits.ratio * base[-1])
    return Finding(
        severity="warning" if loud else "info",
        title=_title(curve, starts, worst, under),
        metric="grad_norm",
        onset=Moment(onset),
        evidence=(
            Evidence(
                "Gradient norm at the largest spike",
                top,
                limits.ratio * under,
                "ten times the local median",
                "grad_norm",
                float(curve.step[worst]),
            ),
            Evidence("Spikes", float(len(starts)), where="grad_norm"),
            Evidence("Share of points that are spikes", share, unit="%"),
            Evidence("Effect on the loss", told, where="train_loss"),
            *_rate(signals, onset),
        ),
        seen=f"{_back(limits, at_end=at_end)}. {told[0].upper()}{told[1:]}.",
        end=Moment(float(curve.step[starts[-1]])),
        fixes=(
            *fixes.clipping(run, signals, "this bounds a single step"),
            fixes.look(
                f"Look at the {'batch' if len(starts) == 1 else 'batches'} at "
                f"{_places(curve, starts)}",
                "check lengths, duplicates and odd values",
            ),
            *(_calmer(run, signals) if loud else ()),
        ),
        harmless=not felt and not at_end and len(signals.curve("train_loss")) >= REACTS,
        confidence=Confidence(0.8 if len(curve) >= 2 * WINDOW else 0.6, f"{len(curve):,} norms"),
        chart=Chart(
            "limit", ("grad_norm",), marks=_marks(curve, starts), limit=limits.ratio * under
        ),
    )


def _back(limits: Limits, *, at_end: bool) -> str:
    if at_end:
        return "The last finite norm is a spike"
    return f"The norm returned to normal within {limits.width} logged points"


def _rate(signals: Signals, onset: float) -> tuple[Evidence, ...]:
    rate = signals.learning_rate_at(onset)
    if rate is None:
        return ()
    return (Evidence("Learning rate at the first spike", rate, where="learning_rate", step=onset),)


def _calmer(run: Run, signals: Signals) -> tuple[Fix, ...]:
    """Return what helps against spikes that come again and again."""
    return (
        *fixes.learning_rate(run, signals, 1 / 2, "updates are then smaller"),
        *fixes.more_accumulation(run, 2, "this halves the weight of an outlier batch"),
    )


def _marks(curve: Curve, starts: IntArray) -> tuple[Mark, ...]:
    return tuple(
        Mark(float(curve.step[at]), float(curve.value[at]), number(float(curve.value[at])))
        for at in starts[:SHOWN]
    )


def _places(curve: Curve, starts: IntArray) -> str:
    """Name the spikes' steps, the first three of many."""
    told = starts if len(starts) <= SHOWN else starts[:3]
    steps = [step(int(curve.step[at])) for at in told]
    if len(starts) == 1:
        return f"step {steps[0]}"
    more = len(starts) > len(steps)
    return f"steps {', '.join(steps)} and others" if more else f"steps {listed(steps)}"


def _title(curve: Curve, starts: IntArray, worst: int, under: float) -> str:
    top, at = number(float(curve.value[worst])), step(int(curve.step[worst]))
    around = f"a median of {number(under)} around it"
    if len(starts) == 1:
        return f"The gradient norm spiked to {top} at step {at}, against {around}."
    return (
        f"The gradient norm spiked at {len(starts):,} of {len(curve):,} points, first at step "
        f"{step(int(curve.step[starts[0]]))}. The highest spike was {top} at step {at}, "
        f"against {around}."
    )


def _effect(spikes: int, felt: int) -> str:
    if spikes == 1:
        return "the loss rose as well" if felt else "the loss did not react"
    if not felt:
        return "the loss did not react to any spike"
    some = f"the loss rose at {felt} of the {spikes} spikes"
    return "the loss rose each time" if felt >= spikes else some


LOSS = "0:2.2 300:1.3 900:0.9"
TRAIN = {"train_loss": 0.02, "grad_norm": 0.1}
BAD = (
    drawn(
        "one",
        (490, 500),
        TRAIN,
        severity="info",
        train_loss=LOSS,
        grad_norm="0:1 490:1 500:40 510:1 900:1",
    ),
    drawn(
        "a thousandfold at the last of nine",
        (80, 80),
        TRAIN,
        severity="info",
        train_loss="0:1.5 80:1.4",
        grad_norm="0:8 70:8 80:11000",
    ),
    drawn(
        "three that the loss reacts to",
        (300, 300),
        TRAIN,
        severity="warning",
        train_loss="0:2.2 290:1.3 300:3 310:1.3 490:1.2 500:3 510:1.2 690:1 700:3 710:1 900:0.9",
        grad_norm="0:1 290:1 300:40 310:1 490:1 500:40 510:1 690:1 700:40 710:1 900:1",
    ),
)
TWO_LEVELS = " ".join(f"{at}:0.05 {at + 10}:3 {at + 20}:0.05" for at in range(40, 880, 50))
GOOD = (
    drawn("two levels", noise=TRAIN, train_loss=LOSS, grad_norm=f"0:0.05 {TWO_LEVELS} 900:0.05"),
    drawn("healthy", noise=TRAIN, train_loss=LOSS, grad_norm="0:1 900:1"),
    drawn("heavy noise", noise={"grad_norm": 0.6}, train_loss=LOSS, grad_norm="0:1 900:1"),
    drawn("first steps", noise=TRAIN, train_loss=LOSS, grad_norm="0:60 20:60 30:1 900:1"),
    drawn("stays", noise=TRAIN, train_loss=LOSS, grad_norm="0:1 490:1 500:40 900:40"),
    drawn("wide", noise=TRAIN, train_loss=LOSS, grad_norm="0:1 490:1 500:40 600:40 610:1 900:1"),
    drawn(
        "short last batch of an epoch",
        noise=TRAIN,
        steps_per_epoch=300,
        train_loss=LOSS,
        grad_norm="0:1 290:1 300:40 310:1 590:1 600:40 610:1 900:1",
    ),
)

RULE = Rule(
    slug="grad-spike",
    title="Gradient spikes",
    family="GRD",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(at_once=("loss-spike",), layer="update"),
    needs=("grad_norm",),
    tasks=LOSS_TASKS,
    bad=BAD,
    good=GOOD,
)
