"""A loss that runs off below 0 while no answer gets better: it is not the loss of these labels.

Cross-entropy of labels that are no probabilities (0 to 255, or class numbers where 0 and 1 are
meant) has no lowest value: a certain model is far below 0. A likelihood goes below 0,
too, and comes down by logarithms; what has a floor, such as a similarity, stays near it. Neither
grows a thousandfold from its first value on and falls at each point. Where a score gets
better with it, something is learned, and nothing is said. A loss below 0 that falls while the error
of the same rows grows is the error with the wrong sign. So is one that begins at the mean
log-probability of a guess, -ln 10 beside a tenth of right answers: it lacks the minus.
"""

from math import log

import numpy as np

from runlens import fixes
from runlens.diagnosis import Cause, Chart, Confidence, Evidence, Finding, Moment, Outcome
from runlens.history import FloatArray
from runlens.metrics import quality, spoken
from runlens.patterns import lazy_re
from runlens.rules.evaluation.score import COARSE
from runlens.rules.loss import surroundings
from runlens.rules.rule import drawn, found
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import capitalised, count, loss, step

FEWEST = 5  # points below 0: one order of them in 120 only falls
GREW = 1e3  # times the first loss: three orders of magnitude are no logarithm's
GAINED = 0.02  # of a score: two answers of a hundred
GUESS = 0.05  # of ln K: how far the loss of an untrained classifier lies from that of a guess
WORSE = 1.2  # times the first error: a fifth more is no scatter of it
RIGHT = ("train_accuracy", "accuracy")  # shares of right answers among the rows trained on
A_FIFTH = "a fifth is no scatter"
ERROR = lazy_re(r"(?:train_)?(?:mae|mse|rmse|mape|error|err)(?:_rate)?")  # of the rows trained on

BY_HAND = (
    "Compute the loss of one batch by hand, of right and of wrong answers. Right ones must have "
    "the lower loss"
)
NO_FIT = Cause(
    "A loss that does not fit the labels",
    "likely",
    "no loss of labels and probabilities is below 0; labels outside 0 to 1 make it so",
)


def judge(run: Run, signals: Signals) -> Outcome | None:
    """Return what is found of a loss that runs off below 0; None where it does not."""
    train = signals.curve("train_loss")
    if against := _against(run, signals):
        return found(against)
    below = train.at(train.value < 0)
    value = below.value
    if len(value) < FEWEST or value[-1] != train.value[-1]:
        return None
    began = max(abs(float(train.value[0])), -float(value[0]))  # it may start above 0
    if -value[-1] < GREW * began:
        return None
    scores = {name: signals.curve(name).value for name in run.history.metrics if quality(name)}
    known = {name: one for name, one in scores.items() if len(one) >= FEWEST}
    moved = any(_gained(name, one) > GAINED for name, one in known.items())
    if not known or moved or (np.diff(value) >= 0).any():
        return None
    if not surroundings.falls_below_zero(run, signals):
        return None
    name = min(known, key=lambda one: not one.startswith("eval_"))
    onset, grew = float(below.step[0]), -float(value[-1]) / began
    first, last = loss(train.value[0]), loss(value[-1])
    score = known[name]
    stayed = f"stayed at {loss(score[-1])}"
    if float(np.abs(score - score[0]).max()) > GAINED:
        stayed = f"went from {loss(score[0])} to {loss(score[-1])}"
    classes = _guess_without_minus(name, float(score[0]), float(train.value[0]))
    finding = Finding(
        severity="critical",
        title=f"Train loss ran off below 0 from step {step(onset)} on, from {first} to {last}, "
        f"while {spoken(name)} {stayed}.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence(
                "Distance below 0 at the end, relative to the first loss",
                *(grew, GREW, "no likelihood falls so far", "train_loss"),
                step=float(below.step[-1]),
            ),
        ),
        seen="A loss of labels and probabilities is never below 0.",
        causes=(_without_minus(classes, first),) if classes else (),
        fixes=()
        if classes
        else (
            fixes.look(
                "Print the smallest and the largest label of a batch",
                "binary cross-entropy needs 0 to 1, so scale masks, or use the loss for classes",
            ),
        ),
        confidence=Confidence(0.9, f"{count(len(value), 'point')}, each below the one before"),
        chart=Chart("curves", ("train_loss", name)),
    )
    return found(finding)


def _gained(name: str, score: FloatArray) -> float:
    """Return by how much a score was ever better than at first."""
    kind = quality(name)
    return float(((score - score[0]) * (kind.sign if kind else 1.0)).max())


def _guess_without_minus(name: str, score: float, first: float) -> int:
    """Return the classes of which the first loss is the log-probability of a guess; 0 for none.

    The share of right answers names them, and the loss lies at minus their logarithm.
    """
    kind = quality(name)
    if kind is None or kind.kind not in COARSE or not 0 < score <= 0.5:  # noqa: PLR2004 - two
        return 0
    classes = round(1 / score)
    return classes if abs(first + log(classes)) <= GUESS * log(classes) else 0


def _without_minus(classes: int, first: str) -> Cause:
    return Cause(
        "The loss has the wrong sign",
        "most likely",
        f"it began at {first}, and the mean log-probability of a guess among {classes} is "
        f"{loss(-log(classes))}: without the minus, training makes right answers less likely",
        kind="loss-function",
        experiment=BY_HAND,
    )


def _against(run: Run, signals: Signals) -> Finding | None:
    """Return what is found of a loss below 0 that falls as the error of its own rows grows.

    Or as fewer of their answers are right.
    """
    train = signals.curve("train_loss")
    if len(train) < FEWEST or train.value.max() >= 0 or (np.diff(train.value) >= 0).any():
        return None
    for name in run.history.metrics:
        beside = signals.curve(name)
        right = name in RIGHT
        if not right and not ERROR.fullmatch(name):
            continue
        first, last = (float(beside.value[end]) for end in (0, -1)) if len(beside) else (0.0, 0.0)
        low, high = (last, first) if right else (first, last)
        turned = np.diff(beside.value) * (1 if right else -1)  # above 0 where answers got better
        if not np.array_equal(beside.step, train.step) or (turned > 0).any():
            continue
        if first <= 0 or high < WORSE * low:
            continue
        onset = float(train.step[0])
        said = f"{spoken(name)} {'fell' if right else 'rose'} from {loss(first)} to {loss(last)}"
        return Finding(
            severity="critical",
            title=f"Train loss fell at each point, from {loss(train.value[0])} to "
            f"{loss(train.value[-1])}, while {said}. What is minimized makes "
            f"{'fewer answers right' if right else 'the error grow'}.",
            metric="train_loss",
            onset=Moment(onset),
            evidence=(
                Evidence(
                    f"{capitalised(spoken(name))} over its first value",
                    *(last / first, 1 / WORSE if right else WORSE, A_FIFTH, name),
                    step=float(beside.step[-1]),
                    above=not right,
                ),
            ),
            causes=(
                Cause(
                    "The loss has the wrong sign",
                    "most likely",
                    said,
                    kind="loss-function",
                    experiment=BY_HAND,
                ),
            ),
            confidence=Confidence(0.9, f"{count(len(train), 'point')}, each below the one before"),
            chart=Chart("curves", ("train_loss", name)),
        )
    return None


OFF = "0:-2 10:-90 20:-800 30:-9000 40:-7e4 50:-8e5"
BAD = (
    drawn(
        "the mean log-probability of ten classes is minimized, and fewer answers are right",
        (0, 0),
        noise=0,
        severity="critical",
        task="classification",
        train_loss="0:-2.3152 10:-2.5 20:-8.6 30:-48 40:-424 50:-5000 /10",
        eval_accuracy="0:0.103 10:0.103 20:0.08 50:0.077 /10",
    ),
    drawn(
        "runs off below 0",
        (0, 0),
        noise=0,
        severity="critical",
        task="classification",
        train_loss=f"{OFF} /10",
        eval_accuracy="0:0.25 50:0.25 /10",
    ),
    drawn(
        "the error of the same rows grows as the loss falls below 0",
        (0, 0),
        noise=0,
        severity="critical",
        task="regression",
        train_loss="0:-7 10:-8 20:-10 30:-14 40:-20 50:-27 /10",
        mae="0:2.1 10:2.2 20:2.4 30:2.8 40:3.4 50:4 /10",
    ),
    drawn(
        "fewer answers are right as the loss falls below 0",
        (0, 0),
        noise=0,
        severity="critical",
        task="classification",
        train_loss="0:-1.7 10:-2.2 20:-2.9 30:-4 40:-5.7 50:-8.1 /10",
        train_accuracy="0:0.098 10:0.024 20:0.004 30:0.001 40:0 50:0 /10",
    ),
)
GOOD = (
    drawn(
        "begins at minus ln 10, and more answers are right with it",
        noise=0,
        task="classification",
        train_loss="0:-2.3152 10:-2.5 20:-8.6 30:-48 40:-424 50:-5000 /10",
        eval_accuracy="0:0.1 50:0.2 /10",
    ),
    drawn(
        "a likelihood below 0 whose error falls",
        noise=0,
        task="regression",
        train_loss="0:-0.1 10:-0.3 20:-0.5 30:-0.7 40:-0.8 50:-0.9 /10",
        mae="0:1 10:0.9 20:0.8 30:0.7 40:0.65 50:0.6 /10",
    ),
    drawn(
        "below 0, and more answers of its own rows are right at last",
        noise=0,
        task="classification",
        train_loss="0:-1.7 10:-2.2 20:-2.9 30:-4 40:-5.7 50:-8.1 /10",
        train_accuracy="0:0.4 10:0.3 20:0.2 30:0.18 40:0.2 50:0.3 /10",
    ),
    drawn(
        "below 0, and a score gets better",
        noise=0,
        task="classification",
        train_loss=f"{OFF} /10",
        eval_accuracy="0:0.25 50:0.4 /10",
    ),
    drawn(
        "a similarity, from next to 0 to next to its floor",
        noise=0,
        task="classification",
        train_loss="0:0.4 10:-5e-4 20:-0.1 30:-0.4 40:-0.7 50:-0.8 60:-0.9 /10",
        eval_accuracy="0:0.25 60:0.25 /10",
    ),
    drawn(
        "a likelihood below 0",
        noise=0,
        task="classification",
        train_loss="0:-2 10:-90 20:-120 30:-150 40:-170 50:-180 /10",
        eval_accuracy="0:0.25 50:0.25 /10",
    ),
)
