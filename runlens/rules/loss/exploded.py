"""A loss that begins beyond what any fit could undo, and stays where it came down to.

The mean of a first epoch may hold a blow-up that ended before its row: the row after it looks as if
the loss had fallen, by twenty orders of magnitude. Numbers of float32 have 24 bits: outputs fit
their targets to 2^-24 of the targets at best, and the square of that is 2^-48. A loss that became
smaller by more was no untrained model's: it had blown up. A fit that goes on falling, or gets
better by a logged score, is left alone: it came back.
"""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, Outcome
from runlens.metrics import quality
from runlens.rules.loss import runs_off
from runlens.rules.rule import drawn, found
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.trend import ranked
from runlens.wording import count, loss, number, step

NO_FIT = 2.0**48  # of a loss over what it came down to: see above
FEWEST = 5  # points after it: one order of five in 120 only falls
FALLS = 0.05  # chance of an order from which the rest of the loss is on its way down
GAINED = 0.02  # of a score: two answers of a hundred


def judge(run: Run, signals: Signals) -> Outcome | None:
    """Return what is found of a loss that blew up at once, or runs off below 0; else None."""
    blown = _finding(run, signals)
    return found(blown) if blown else runs_off.judge(run, signals)


def _finding(run: Run, signals: Signals) -> Finding | None:
    """Return what is found of a loss that blew up in its first rows and came to nothing."""
    train = signals.curve("train_loss")
    if len(train) <= FEWEST or train.value.min() <= 0:
        return None
    level = float(median(train.value[len(train) // 2 :]))
    if train.value[0] < NO_FIT * level:
        return None
    down = int(np.argmax(train.value <= 2 * level))  # scatter about a level: no leg of the descent
    rest = train.value[down:]
    tau, p = ranked(rest)
    if len(rest) < FEWEST or (tau < 0 and p < FALLS) or _gets_better(run, signals):
        return None
    onset, began = float(train.step[0]), float(train.value[0])
    low, high = loss(float(rest.min())), loss(float(rest.max()))
    since = step(float(train.step[down]))
    return Finding(
        severity="warning",
        title=f"Train loss blew up within the first logged point: it was {number(began, 3)} at "
        f"step {step(onset)}. From step {since} on it lay between {low} and {high}, and no longer "
        "fell.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence(
                "First train loss relative to that of the second half",
                began / level,
                NO_FIT,
                "no fit in float32 becomes smaller by more",
                "train_loss",
                onset,
            ),
            Evidence("Median train loss of the second half", level, where="train_loss"),
        ),
        seen="The weights were thrown far off before the first point was logged, and nothing was "
        "learned after that.",
        fixes=(
            *fixes.learning_rate(run, signals, 0.1, "the first updates were too large"),
            fixes.action(
                "Clip the gradient norm at 1, and warm up over the first epoch",
                "a blow-up in the first steps comes from updates that are too large",
            ),
        ),
        confidence=Confidence(0.9, f"{count(len(rest), 'point')} after it without a fall"),
        chart=Chart("curves", ("train_loss",)),
    )


def _gets_better(run: Run, signals: Signals) -> bool:
    """Whether a logged score rose: then the model learns, whatever its loss began at."""
    for name in run.history.metrics:
        kind, value = quality(name), signals.curve(name).value
        if kind and len(value) >= FEWEST:
            gain = kind.sign * (float(median(value[-3:])) - float(value[0]))
            if gain > GAINED * max(1.0, float(np.abs(value).max())):
                return True
    return False


AFTER = "20:52 30:58 40:54 50:57 60:69 70:56 80:63 90:66 /10"
BAD = (
    *runs_off.BAD,
    drawn(
        "blown up within the first row, and never learned",
        (0, 0),
        task="other",
        severity="warning",
        noise=0,
        train_loss=f"0:4e24 10:2e6 {AFTER}",
    ),
)
GOOD = (
    *runs_off.GOOD,
    drawn(
        "targets of millions, fitted within an epoch",
        task="other",
        noise=0,
        train_loss=f"0:4e13 10:2e6 {AFTER}",
    ),
    drawn(
        "blown up at first, and learned since",
        task="classification",
        noise=0,
        train_loss=f"0:4e24 10:2e6 {AFTER}",
        eval_accuracy="0:0.1 10:0.1 20:0.2 30:0.3 40:0.5 50:0.6 60:0.7 90:0.8 /10",
    ),
    drawn(
        "blown up at first, and on its way down",
        task="other",
        noise=0,
        train_loss="0:4e17 10:400 20:350 30:300 40:250 50:200 60:150 70:120 80:100 90:80 /10",
    ),
)
