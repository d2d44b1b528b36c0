"""Pairs that are memorized: training pairs are ranked right, held-out ones as by a coin.

Who says 50:50 of each pair has a loss of ln 2, whatever the pairs are. A model whose held-out loss
never came below that has at no time known more of them than that. One that overfits did at first.
"""

from math import log

from runlens.diagnosis import Evidence
from runlens.records import NamedTuple
from runlens.rules.rule import drawn
from runlens.signals import Signals
from runlens.wording import loss, percent

COIN = log(2)  # nats
METRICS = ("eval_dpo_acc", "eval_accuracy")


class Memorized(NamedTuple):
    """What is told of it."""

    metric: str
    title: str
    evidence: tuple[Evidence, ...]


def of(signals: Signals, fewest: int, coin: float) -> Memorized | None:
    """Return what is told of such pairs; None where the held-out ones are learned, if slowly."""
    right = signals.curve("dpo_acc").value
    metric = next((name for name in METRICS if len(signals.curve(name)) >= fewest), "")
    held_out, height = signals.curve(metric or METRICS[0]).value, signals.curve("eval_loss").value
    if not metric or len(right) < fewest or len(height) < fewest:
        return None
    half = float(held_out[len(held_out) // 2 :].mean())
    learned = float(right[len(right) // 2 :].mean())
    if learned <= coin or max(half, float(held_out.mean())) > coin or height.min() < COIN:
        return None
    return Memorized(
        metric,
        "Only the training pairs were learned. In the last half of the run "
        f"{percent(learned)} of the training pairs and {percent(half)} of the held-out pairs were "
        f"ranked right, and eval loss was never below {loss(float(height.min()))} (guessing gives "
        "ln 2 = 0.693).",
        (
            Evidence("Held-out pairs ranked right, mean of the last half", half, coin, "a coin",
                     metric, above=False, unit="%"),
            Evidence("Training pairs ranked right, mean of the last half", learned, unit="%",
                     where="dpo_acc"),
            Evidence("Lowest eval loss", float(height.min()), COIN, "ln 2", "eval_loss"),
        ),
    )  # fmt: skip


TRAIN = "/1 1:0.7 2:0.683 3:0.672 8:0.627"
LEARNED = "/1 1:0.5 2:0.55 3:0.59 8:0.68"
BAD = (
    drawn(
        "training pairs memorized, held-out pairs never told apart",
        (1, 2),
        0.0,
        task="reward-model",
        severity="warning",
        train_loss=TRAIN,
        dpo_acc=LEARNED,
        eval_loss="/1 1:0.699 2:0.702 8:0.726",
        eval_dpo_acc="/1 1:0.51 2:0.47 3:0.473 4:0.453 6:0.48 8:0.453",
    ),
)
GOOD = (
    drawn(
        "held-out pairs were told apart before the model overfit",
        noise=0.0,
        task="reward-model",
        train_loss=TRAIN,
        dpo_acc=LEARNED,
        eval_loss="/1 1:0.688 2:0.685 8:0.726",
        eval_dpo_acc="/1 1:0.53 2:0.54 8:0.53",
    ),
    drawn(
        "held-out pairs are ranked right, by a model that is too sure",
        noise=0.0,
        task="reward-model",
        train_loss=TRAIN,
        dpo_acc=LEARNED,
        eval_loss="/1 1:0.699 2:0.702 8:0.726",
        eval_dpo_acc="/1 1:0.56 2:0.58 8:0.62",
    ),
)
