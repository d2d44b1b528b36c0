"""Rows that come in the same order in each epoch: the loss repeats its swings, epoch by epoch.

A shuffled epoch has its hard batches elsewhere than the last one. Where the same places are high in
each, far beyond chance, the order is fixed: that is proved by the repeat, and its size says what it
costs. Swings as tall as the level come of rows that are sorted, by class or by source: the model
learns one block and loses it in the next. Lower ones are those of batches that differ by nature:
worth a word where they are taller than all that was learned.
"""

import numpy as np

from runlens import fixes
from runlens.arrays import median, quantile
from runlens.diagnosis import (
    Cause,
    Chart,
    Confidence,
    Evidence,
    Finding,
    Moment,
    RuledOut,
    Severity,
)
from runlens.history import Curve, FloatArray
from runlens.knowledge import in_force
from runlens.records import NamedTuple
from runlens.rules.loss import repeats, surroundings
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.shape.swings import turning
from runlens.wording import count, loss, number, percent, step

FEWEST_EPOCHS, FEWEST_POINTS = 3, 10  # two repeats, each of so many places that 1 in 300 is chance
FREE = (FEWEST_EPOCHS - 1) * (FEWEST_POINTS - 2)  # places beside their lines, of all repeats
FEWEST_PLACES = 8  # of an epoch: two swings of four points, fewer are no fall to be seen
ALIKE = 0.8  # mean correlation of one epoch with the next: of ten points 1 in 300 by chance
# swings an epoch: what begins anew with each (a rate, a mean so far, a cache) makes one alone
FEWEST_TURNS = 4
# of the range that a turn must go back: three deviations and more of a mean of three such epochs,
# which is less than half of their spread, and that a third of their range
BACK = 0.3
TALL = 1.0  # of the level: a block that was lost costs as much as all that is left
TOLD = 0.5  # of it: below this, batches of other rows explain the swings, and nobody is told
SEEN = 0.1  # of it, as of warmup-shock's first_level: lower swings are the looks of batches
FEWEST_PASSES = 5  # where nobody counts them: four repeats in a row, at some width of up to 200
LONGEST = 200  # points of such a pass
LOOK = fixes.look(
    "Print the labels of the first ten batches in two passes",
    "if they are the same, shuffle the rows; data sets that come in turn are no fault",
)
# of the median of its epoch: of a block that is known, down to the 0.000 that is printed of it, no
# digit says more than that nothing is left, and a logarithm must not make places of them
NOTHING = 0.01
SMALL = 8  # samples of a batch, below which single rows swing as far, whatever their order


class Repeat(NamedTuple):
    """Epochs whose losses go up and down at the same places."""

    onset: float
    epochs: int
    alike: float  # mean correlation of one epoch with the next
    low: float  # of the first epoch: tenth and ninth tenth
    high: float
    level: float
    every: float = 0.0  # steps of a pass that the losses alone tell; 0 where epochs are known

    @property
    def share(self) -> float:
        """The height of the swings over the level."""
        return (self.high - self.low) / self.level


def of(signals: Signals, *, counted: bool = True) -> Repeat | None:
    """Return the swings that repeat with each epoch; None where they do not, or hardly swing.

    Not `counted`: with each pass that the losses alone tell, where no epoch is known.
    """
    train = surroundings.judged(signals)
    if signals.restarts or signals.epoch_means is not None or train.value.min(initial=1.0) < 0:
        return None
    if repeats.period(signals, train):  # digit for digit: no update is kept, which says more
        return None
    known = bool(signals.steps_per_epoch) or bool(np.isfinite(train.epoch).any())
    epochs = _epochs(train, signals.steps_per_epoch) if known else None
    if not (known or counted):
        epochs = _passes(signals, train)
    if epochs is None:
        return None
    first, rows = epochs
    shape = _shapes(rows)
    alike, mean = _alike(shape, most=known), shape.mean(axis=0)
    if alike < ALIKE or _rounds(mean):
        return None
    usual = np.tile(mean, 3)
    turns = turning(usual, BACK * float(np.ptp(usual)))
    width = rows.shape[1]
    inside = int(((turns >= width) & (turns < 2 * width)).sum())
    # of a pass that nobody counts the middle one: as the repeat tells it, it has to have begun
    early = rows[0 if known else len(rows) // 2]
    low, high = quantile(early, 0.1), quantile(early, 0.9)
    length = 0.0 if known else float(train.step[width] - train.step[0])
    made = Repeat(first, len(rows), alike, low, high, float(median(early)), length)
    # a run that moved more with the place in its epoch than from the first epoch to the last
    gained = float(median(rows[0]) - median(rows[-1]))
    least = SEEN if known and gained < high - low else TOLD
    return made if inside >= FEWEST_TURNS and made.share >= least else None


def _epochs(train: Curve, per_epoch: float | None) -> tuple[float, FloatArray] | None:
    """Return the first step and the losses of the whole epochs, one row each; None for too few."""
    known = bool(len(train)) and bool(np.isfinite(train.epoch).all())
    if not known and not per_epoch:
        return None
    place = train.epoch if known else train.step / (per_epoch or 1.0)
    edges = np.flatnonzero(np.diff(np.ceil(place - 1e-9))) + 1
    parts = np.split(train.value, edges)
    widths = [len(part) for part in parts]
    usual = max(set(widths), key=widths.count)
    whole = [part for part in parts if len(part) == usual]
    # an epoch of another length in the midst shifts the places
    in_a_row = all(width == usual for width in widths[1:-1])
    if usual < FEWEST_PLACES or len(whole) < FEWEST_EPOCHS or not in_a_row:
        return None
    if (len(whole) - 1) * (usual - 2) < FREE:
        return None
    begins = 0 if widths[0] == usual else int(edges[0])
    return float(train.step[begins]), np.array(whole)


def _passes(signals: Signals, train: Curve) -> tuple[float, FloatArray] | None:
    """Return the losses of the passes that repeat each other most, where no epoch is known."""
    rate = signals.curve("learning_rate").value
    evenly = len(train) > 1 and int(np.ptp(np.diff(train.step))) == 0
    if not evenly or (np.diff(rate) > 0).sum() > len(rate) / FEWEST_PASSES:  # a rate that cycles
        return None
    made: list[tuple[float, FloatArray]] = []
    for width in range(FEWEST_POINTS, min(len(train) // FEWEST_PASSES, LONGEST) + 1):
        rows = train.value[: len(train) // width * width].reshape(-1, width)
        made.append((_alike(_shapes(rows)), rows))
    alike, rows = max(made, key=lambda one: one[0], default=(0.0, train.value[:0]))
    return (float(train.step[0]), rows) if alike >= ALIKE else None


def _shapes(rows: FloatArray) -> FloatArray:
    """Return what the logarithms of rows, shape (n, width), have beside their lines.

    Flat where most of a row is 0.
    """
    least = NOTHING * np.median(rows, axis=1, keepdims=True)
    known = np.where(least > 0, np.maximum(rows, least), 1.0)
    return np.array([_level(row) for row in np.log(known)])


def _alike(shape: FloatArray, *, most: bool = False) -> float:
    """Return the mean correlation of one row with the next; -1 where one is flat.

    Or that of `most`, their median: a first epoch that still learns has another shape, and a last
    one that gets away from it. Where the width of a row was picked among many, all must agree.
    """
    scale = shape.std(axis=1)
    if scale.min() <= 0:
        return -1.0
    both = (shape[1:] * shape[:-1]).mean(axis=1)
    each = both / (scale[1:] * scale[:-1])
    return float(max(median(each), each.mean()) if most else each.mean())


def _rounds(mean: FloatArray) -> bool:
    """Whether the mean epoch repeats itself within: a round of data sets, which is meant."""
    lags = range(2, len(mean) // 2 + 1)
    return any(float(np.corrcoef(mean, np.roll(mean, lag))[0, 1]) >= ALIKE for lag in lags)


def _level(row: FloatArray) -> FloatArray:
    """Return a row without its line: what falls all along is no place of an epoch."""
    at = np.arange(len(row)) - (len(row) - 1) / 2
    row = row - row.mean()
    return np.asarray(row - at * float(at @ row) / float(at @ at))


def finding(run: Run, one: Repeat) -> Finding:
    """Tell it: loud where the swings are as tall as the level, and of no tiny batches."""
    batch = in_force.effective_batch(run) or run.number("per_device_train_batch_size")
    tiny = batch is not None and batch < SMALL
    tall = one.share >= TALL and not tiny and not one.every  # several data sets in turn do so too
    severity: Severity = "warning" if tall else "info"
    a_pass = "pass" if one.every else "epoch"
    said = f"one {a_pass} goes up and down as the next (correlation {number(one.alike, 2)})"
    each = f"each of {count(one.epochs, 'epoch')}"
    where, one_of_them = "In the first it", "the first epoch"
    if one.every:
        each = f"each stretch of {step(one.every)} steps, {one.epochs} times"
        where, one_of_them = "In the middle one it", "the middle pass"
    return Finding(
        severity=severity,
        title=f"Train loss swung in the same way in {each}, from "
        f"step {step(one.onset)} on. {where} went between {loss(one.low)} and "
        f"{loss(one.high)} (10th and 90th percentile).",
        metric="train_loss",
        onset=Moment(one.onset),
        evidence=(
            Evidence(f"Correlation of one {a_pass} with the next", one.alike, ALIKE,
                     "shuffled rows have none", "train_loss"),
            Evidence(f"Swings of {one_of_them} over its median", one.share, TOLD,
                     "below it, batches differ as much", "train_loss", unit="%"),
        ),
        seen=f"The rows come in the same order in each {a_pass}: a shuffled order repeats nothing.",
        causes=(
            Cause(
                "The rows are not shuffled, and sorted or in blocks"
                if severity == "warning"
                else "The rows are not shuffled",
                "most likely",
                said,
                kind="data-order",
            ),
        ),
        fixes=(LOOK,) if one.every or severity == "info" else (),
        ruled_out=(
            RuledOut("Steps that are too large", "they would not swing at the same rows each time"),
            RuledOut("A cycle of the learning rate", "it does not restart"),
        ),
        confidence=Confidence(
            round(min(0.95, one.alike), 2),
            f"{one.epochs} times, {percent(one.alike)} alike",
        ),
        chart=Chart("curves", ("train_loss",)),
    )  # fmt: skip


PLACES = (0.1, -1, 0.9, -0.4, 0.2, 1, -0.7, 0.8, -0.1, -0.9, 0.6, -0.5)


# the losses of blocks: of one that is known 0.000 is printed
BLOCKS = (1, -0.6, 0.2, -1, 0.9, 0.5, -0.8, -1, 0.7, -0.2)


def _pattern(
    height: float,
    epochs: int = 5,
    *,
    moved: int = 0,
    places: tuple[float, ...] = PLACES,
    kept: float = 0.8,
) -> str:
    """Draw batches of some places an epoch, in an order that moves on by some places each time."""
    marks = []
    for epoch in range(epochs):
        for at in range(len(places)):
            part = places[(at + epoch * moved) % len(places)]
            value = kept**epoch * (1 + height * part)
            marks.append(f"{10 * (len(places) * epoch + at) + 10}:{value:.4f}")
    return " ".join(marks)


SORTED = (1, -0.5, -0.6, -0.9, 0.8, -0.2, -0.5, -0.3)  # places of two classes, one behind the other
BAD = (
    drawn(
        "two classes one behind the other, eight losses an epoch",
        (10, 10),
        0.05,
        severity="warning",
        task="other",
        steps_per_epoch=80,
        train_loss=_pattern(0.95, 6, places=SORTED),
    ),
    drawn(
        "sorted rows: the same swings in each epoch",
        (10, 10),
        0.05,
        severity="warning",
        task="other",
        steps_per_epoch=120,
        train_loss=_pattern(0.8),
    ),
    drawn(
        "blocks of which nothing is left until the next one is learned",
        (10, 10),
        0.05,
        severity="warning",
        task="other",
        steps_per_epoch=100,
        train_loss=_pattern(1.0, 6, places=BLOCKS),
    ),
    drawn(
        "the same swings every 120 steps, and no epoch is known",
        (10, 10),
        0.05,
        severity="info",
        task="other",
        train_loss=_pattern(0.8),
    ),
    drawn(
        "rows sorted by class, which move the loss by a fifth, and nothing is learned",
        (10, 10),
        0.005,
        severity="info",
        task="other",
        steps_per_epoch=120,
        train_loss=_pattern(0.12, kept=1.0),
    ),
    drawn(
        "the same order of single rows",
        (10, 10),
        0.05,
        severity="info",
        task="other",
        config={"per_device_train_batch_size": 1},
        steps_per_epoch=120,
        train_loss=_pattern(0.8),
    ),
)
GOOD = (
    drawn(
        "three epochs of nine losses: a likeness that chance has now and then",
        noise=0.05,
        task="other",
        steps_per_epoch=90,
        train_loss=_pattern(0.95, 3, places=(*SORTED, -0.6)),
    ),
    drawn(
        "eight losses an epoch that start again with each, as a mean so far does",
        noise=0.02,
        task="other",
        steps_per_epoch=80,
        train_loss=_pattern(0.95, 6, places=(1, 0.6, 0.3, 0.1, -0.1, -0.2, -0.3, -0.35)),
    ),
    drawn(
        "nothing is learned, and the batches hardly differ, in the same order",
        noise=0.001,
        task="other",
        steps_per_epoch=120,
        train_loss=_pattern(0.03, kept=1.0),
    ),
    drawn(
        "nothing is learned, and the batches come in another order each time",
        noise=0.005,
        task="other",
        steps_per_epoch=120,
        train_loss=_pattern(0.12, kept=1.0, moved=5),
    ),
    drawn(
        "no epoch is known, and the order moves on from one pass to the next",
        noise=0.05,
        task="other",
        train_loss=_pattern(0.8, moved=5),
    ),
    drawn(
        "no epoch is known, and three data sets come in turn",
        noise=0.05,
        task="other",
        train_loss=_pattern(0.8, places=(1, -1, 0.1) * 4),
    ),
    drawn(
        "a fixed order of batches that hardly differ",
        noise=0.01,
        task="other",
        steps_per_epoch=120,
        train_loss=_pattern(0.15),
    ),
    drawn(
        "losses of which some are printed as 0, in another order each time",
        noise=0.05,
        task="other",
        steps_per_epoch=100,
        train_loss=_pattern(1.0, 6, moved=3, places=BLOCKS),
    ),
    drawn(
        "batches that differ, in another order each time",
        noise=0.05,
        task="other",
        steps_per_epoch=120,
        train_loss=_pattern(0.8, moved=5),
    ),
    drawn(
        "three data sets in turn",
        noise=0.05,
        task="other",
        steps_per_epoch=120,
        train_loss=_pattern(0.8, places=(1, -1, 0.1) * 4),
    ),
    drawn(
        "a loss that starts again with each epoch",
        noise=0.02,
        task="other",
        steps_per_epoch=120,
        train_loss=" ".join(f"{at * 120 + 10}:2 {at * 120 + 120}:0.5" for at in range(5)),
    ),
)
