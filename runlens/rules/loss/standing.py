"""A loss that stands at no alarming level, beside what shows that nothing more is learned.

Answers of which the same share is right at each evaluation, while the loss is no lower than so many
right answers leave to whoever gives each of them that chance: a constant answer, or a model of too
few weights. That it fell from a far higher start is no sign of health. Too little for a warning, as
a small model at its best on a few rows looks the same.
"""

from dataclasses import replace
from math import log
from typing import Any

from runlens import fixes
from runlens.diagnosis import Finding, RuledOut
from runlens.history import Curve
from runlens.metrics import spoken
from runlens.rules.loss.shelf import EVALS, FEW_WRONG, Bound, Still
from runlens.rules.rule import drawn
from runlens.signals import Signals, held_out
from runlens.wording import capitalised, number

ACCURACIES = ("train_accuracy", "eval_accuracy")
DOUBT = RuledOut(
    "A fault of the training", "not shown: a small model at its best on a few rows looks the same"
)
COUNT = fixes.look(
    "Count how often each class is predicted in one evaluation",
    "if only one is, the inputs do not reach the outputs: check their scale first",
)


def told(flat: Finding, same: Bound) -> Finding:
    """Tell of a flat loss with the answers that do not change."""
    seen = f"{flat.seen} {capitalised(same.source)}.".lstrip()
    return replace(flat, severity="info", seen=seen, ruled_out=(DOUBT,), fixes=(COUNT, *flat.fixes))


def by_answers(signals: Signals, train: Curve, still: Still) -> Bound | None:
    """Return the loss of answers that are all as sure as the share of right ones that stands."""
    for metric in ACCURACIES:
        curve = signals.curve(metric).after(int(train.step[len(train) // 4]))
        shares = held_out.as_share(curve.value)
        if len(shares) < EVALS or shares.min() != shares.max():
            continue
        right = float(shares[0])
        if 0 < right < 1 - FEW_WRONG and still.level >= -log(right):
            as_logged = number(float(curve.value[0]), 4)
            same = f"{spoken(metric)} was {as_logged} at each of the last {len(shares)} points"
            return Bound(-log(right), same)
    return None


TEXT: dict[str, Any] = {"train_loss": "0:4.26 30:3.12 900:3"}
LETTERS = "0:1e-3 120:0.15 900:3e-4"
TWO_THIRDS = "/1 0:0.3333 1:0.6667 2:0.3333 3:0.6667 49:0.6667"
BAD = (
    drawn(
        "pretraining, of an unknown vocabulary",
        (20, 200),
        severity="warning",
        task="pretrain",
        train_loss="0:6.2 60:4.5 900:4.45",
    ),
    drawn(
        "letters at a rate that no model bears: they come to be as frequent as they are",
        (20, 200),
        severity="warning",
        task="pretrain",
        config={"optim": "adamw"},
        learning_rate=LETTERS,
        **TEXT,
    ),
    drawn(
        "two of three answers right at each epoch, and the loss stands",
        (3, 8),
        {"train_loss": 0.003},
        task="other",
        severity="info",
        train_loss="/1 0:55 1:48 2:24.5 3:0.617 6:0.58 49:0.58",
        train_accuracy=TWO_THIRDS,
    ),
)
GOOD = (
    drawn(
        "text of a trained model at a rate that is usual",
        task="pretrain",
        config={"optim": "adamw"},
        learning_rate="0:1e-5 120:1e-3 900:3e-5",
        **TEXT,
    ),
    drawn(
        "two of three answers right at each epoch, of a model that is sure of them",
        noise={"train_loss": 0.003},
        task="other",
        train_loss="/1 0:55 1:48 2:24.5 3:0.4 6:0.35 49:0.35",
        train_accuracy=TWO_THIRDS,
    ),
    drawn(
        "nearly all of a few rows right at each epoch",
        noise={"train_loss": 0.003},
        task="other",
        train_loss="/1 0:2.3 1:1.1 2:0.5 3:0.2 6:0.15 49:0.15",
        train_accuracy="/1 0:0.4 1:0.8 2:0.9333 3:0.9667 49:0.9667",
    ),
)
