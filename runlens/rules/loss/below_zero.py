"""Spikes of a loss that goes below 0: a likelihood has no level, its own fall is the measure.

A point counts as one of a positive loss does (`changes.spikes`), and throws back half or more of
what had been gained by then, as a setback of the evaluation does. What swings about 0, such as the
loss of a policy, has gained nothing beyond its noise: there is no measure, and nothing is said.
"""

import numpy as np

from runlens.arrays import median
from runlens.diagnosis import Chart, Evidence, Finding, Mark, Moment, Outcome, RuledOut
from runlens.history import Curve, FloatArray
from runlens.rules.loss import causes_of_spike, surroundings
from runlens.rules.loss.spike_forms import BACK, Limits
from runlens.rules.loss.spike_words import POINTS
from runlens.rules.rule import drawn, found, passed
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.changes import Spikes, spikes
from runlens.signals.noise import sigma_long
from runlens.wording import loss, step, times

FIRST = 3  # points of the start, of which one may be odd
ALL = 1.0  # of what had been gained: the loss is back where the run began, or above


def outcome(run: Run, signals: Signals, train: Curve, limits: Limits) -> Outcome | None:
    """Judge the spikes of a loss below 0; None where it gained nothing that could be lost."""
    if not surroundings.falls_below_zero(run, signals):
        return None
    value = train.value
    start, noise = float(median(value[:FIRST])), sigma_long(value)
    seen = spikes(value, limits.z, limits.tail)
    gained = start - seen.base
    if start - float(np.min(signals.smooth("train_loss"))) < limits.z * noise:
        return None
    share = (seen.peak - seen.base) / np.maximum(gained, noise)
    steps = train.step[seen.first].tolist()
    known = [surroundings.begins_anew(run, signals, float(at)) for at in steps]
    kept = seen.recovered & (gained > limits.z * noise) & (share >= BACK)
    kept &= ~np.array(known, dtype=bool)
    if not kept.any():
        return passed(f"no point throws back half of the fall from {loss(start)}")
    return found(_finding(run, signals, train, (seen.at(kept), share[kept]), limits))


def _finding(
    run: Run, signals: Signals, train: Curve, found_: tuple[Spikes, FloatArray], limits: Limits
) -> Finding:
    seen, share = found_
    top, many = int(np.argmax(share)), len(share)
    steps, peaks = train.step[seen.first], seen.peak
    young = seen.first[-1] < limits.young * len(train) and many <= limits.many
    wide = float(seen.width.max()) > max(POINTS, limits.wide * len(train))
    loud = not young and (many >= limits.many or wide or float(share[top]) >= ALL)
    again = f" This was the first of {many} spikes. The last was at step {step(steps[-1])}."
    return Finding(
        severity="warning" if loud else "info",
        title=f"Train loss spiked to {loss(float(peaks[0]))} at step {step(steps[0])}, from a "
        f"median of {loss(float(seen.base[0]))} before.{again if many > 1 else ''}",
        metric="train_loss",
        onset=Moment(float(steps[0])),
        end=Moment(float(steps[-1])),
        evidence=(
            Evidence(
                "Highest spike as a share of what had been gained",
                float(share[top]),
                BACK,
                "half of the fall up to there",
                "train_loss",
                float(steps[top]),
            ),
            Evidence("Spikes", float(many), float(limits.many), "repeated", "train_loss"),
            *surroundings.batch_evidence(run),
        ),
        seen=f"{'The peak' if many == 1 else 'The highest'} is {times(float(share[top]))} what had "
        "been gained by then. The loss came down again.",
        fixes=causes_of_spike.cures(
            run, signals, float(steps[top]), again=loud and many > 1, begun=False, lasted=False
        ),
        ruled_out=(
            RuledOut("Divergence", "loss came back after each"),
            RuledOut("Batch noise", "above four times the tail of the noise"),
        ),
        confidence=surroundings.confidence(float(share[top]) / BACK, len(train), 2, 3, "the spike"),
        chart=Chart(
            "zoom",
            ("train_loss",),
            marks=(Mark(float(steps[top]), float(peaks[top]), times(float(share[top]))),),
        ),
    )


def _thrice(shape: str) -> str:
    """Return a fall to 1.4 with an excursion of a shape, a value each 10 steps, at three places."""
    parts = (
        " ".join(f"{at + 10 * index}:{value}" for index, value in enumerate(f"1.4 {shape}".split()))
        for at in (690, 990, 1290)
    )
    return f"0:6 300:1.8 {' '.join(parts)} 1600:1.3"


FALLS = "0:4000 100:1000 300:-6000 600:-9000 {}1500:-11000"
BAD = (
    drawn(
        "a likelihood below 0, thrown back beyond its start",
        (900, 900),
        severity="warning",
        task="other",
        train_loss=FALLS.format("890:-9800 900:26000 910:-9800 "),
    ),
    drawn(
        "a likelihood below 0, thrown back by most of its gain, once",
        (900, 900),
        severity="info",
        task="other",
        train_loss=FALLS.format("890:-9800 900:200 910:-9800 "),
    ),
    drawn(
        "three jumps that fade, a sixth of all points high",
        (690, 710),
        severity="warning",
        task="other",
        train_loss=_thrice("4.2 3.5 3 2.6 2.3 2.1 1.9 1.7 1.6 1.5 1.4"),
    ),
)
GOOD = (
    drawn(
        "three jumps that are learned as slowly as the first",
        noise=0.01,
        task="other",
        train_loss="0:3.2 120:1.3 190:1.2 200:3.1 320:1.3 390:1.2 400:3.1 520:1.3 590:1.2 600:3.1 "
        "720:1.3 800:1.2",
    ),
    drawn(
        "a likelihood below 0, a point a quarter of its gain above",
        task="other",
        train_loss=FALLS.format("890:-9800 900:-6300 910:-9800 "),
    ),
    drawn("a likelihood below 0, no spike", task="other", train_loss=FALLS.format("")),
)
