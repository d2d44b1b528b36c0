"""A fine-tune that ends where no trained model is: three losses of 9, and the plan is done."""

from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.knowledge.in_force import MOST_OF_A_TOKEN
from runlens.rules.loss import chance, surroundings
from runlens.rules.loss.falls import LEARNED
from runlens.rules.rule import Case, drawn, found
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import count, loss

POINTS = 3  # not-learning asks for more: fewer are no course
DONE = 0.95  # of the plan


def outcome(run: Run, signals: Signals) -> Outcome | None:
    """Say that a fine-tune did its plan at the loss of an untrained model; None where not.

    So few points show no trend. But all of them lie where no model that was trained before does,
    and none is lower than the first by what counts as learning.
    """
    train, share = signals.curve("train_loss"), run.state.done_share
    done = share is not None and share >= DONE
    if run.task != "sft" or len(train) != POINTS or not done:
        return None
    first, least = float(train.value[0]), float(train.value.min())
    if least < chance.TRAINED_BELOW or first > MOST_OF_A_TOKEN:
        return None
    if first - least >= LEARNED * first:
        return None
    return found(_finding(run, signals, first, least))


def _finding(run: Run, signals: Signals, first: float, least: float) -> Finding:
    train = signals.curve("train_loss")
    values = ", ".join(loss(value) for value in train.value.tolist())
    return Finding(
        severity="warning",
        title=f"Train loss did not fall: {values} is all that was logged, and the plan is done.",
        metric="train_loss",
        onset=Moment(float(train.step[0])),
        evidence=(
            Evidence("Lowest train loss", least, chance.TRAINED_BELOW,
                     "a model that was trained before starts below", "train_loss"),
            Evidence("Fall from the first to the lowest", (first - least) / first, LEARNED,
                     "less than 3 % of its start", "train_loss", above=False, unit="%"),
        ),
        seen="A model of language that was trained before starts lower. Template, tokenizer or "
        "head are not those of its training, or its weights were not loaded.",
        fixes=surroundings.first_checks(run),
        ruled_out=(RuledOut("A run that was cut", "all planned steps were done"),),
        confidence=Confidence(0.6, count(len(train), "point")),
        chart=Chart("curves", ("train_loss",)),
    )  # fmt: skip


def _few(name: str, severity: Severity, *, loss: str, accuracy: str) -> Case:
    """Draw a classifier of few points that stays at a loss and an accuracy."""
    return drawn(
        f"few points, {name}",
        (0, 50),
        0.002,
        task="classification",
        severity=severity,
        train_loss=f"0:{loss} 150:{loss}",
        eval_loss=f"0:{loss} 150:{loss}",
        eval_accuracy=f"0:{accuracy} 150:{accuracy}",
    )


BAD = (
    _few("most answers are wrong", "warning", loss="53", accuracy="0.19"),
    _few("the coin is as good", "warning", loss="0.6", accuracy="0.59"),
    _few("better than a coin", "info", loss="0.6", accuracy="0.62"),
    _few("a guess among three is as good", "warning", loss="1.2", accuracy="0.36"),
    _few("it knows some classes", "info", loss="1.2", accuracy="0.4"),
)
