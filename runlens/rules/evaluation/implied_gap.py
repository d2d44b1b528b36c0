"""A gap that a training loss and an evaluation accuracy show, where neither has its counterpart.

A wrong answer has a probability of one half at most, and so a cross-entropy of ln 2 and more: of a
mean of 0.061 at most 8.8 % of the rows are wrong. With 53 % right in evaluation that is a gap. Of
many labels a row each is an answer of its own: such a loss begins near ln 2 or below, and whoever
has them logs areas or F1 as well.
"""

from math import log

from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, Outcome, RuledOut
from runlens.metrics import quality
from runlens.rules.evaluation import score_gap
from runlens.rules.loss.chance import COIN
from runlens.rules.rule import drawn, found, passed
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.sample_counts import samples_on_grid
from runlens.wording import count, loss, number, percent, step

FEWEST = 4  # evaluations, so that two are in its end
BEGINS = 1.3  # times the loss of a coin: a mean over labels of yes and no begins below
FEW_ROWS = 100  # of an evaluation: one of them moves the accuracy by a point and more


def of(run: Run, signals: Signals, apart: float) -> Outcome | None:
    """Return the finding of such a gap; None where there is none or nobody can tell."""
    train, evals = signals.curve("train_loss"), signals.curve("eval_accuracy")
    if run.task != "classification" or len(evals) < FEWEST or len(train) < FEWEST:
        return None
    if train.value[0] < BEGINS * COIN and _of_labels(run):
        return None
    last = score_gap.last_of(len(evals))
    ends = train.value[train.step >= evals.step[-last]]
    level = float(median(ends)) if len(ends) else 0.0
    held = float(median(held_out.as_share(evals.value)[-last:]))
    wrong = level / log(2)
    if 1 - held < apart:
        return passed(f"accuracy ends at {number(held, 3)}: at most {number(1 - held, 2)} apart")
    if level <= 0 or train.value.min() < 0 or 1 - wrong - held < apart:
        return None
    onset = float(evals.step[0])
    rows = samples_on_grid(held_out.as_share(evals.value))
    few = rows is not None and rows <= FEW_ROWS
    counts = f" Eval accuracy counts {rows:g} rows: each is {percent(1 / rows)} of it." if (
        rows and few
    ) else ""  # fmt: skip
    return found(
        Finding(
            severity="info",
            title=f"Evaluation is far worse than training at step {step(float(evals.step[-1]))}: "
            f"accuracy ends at {number(held, 3)}{score_gap.of_last(len(evals))}, and a mean "
            f"cross-entropy of {loss(level)} leaves at most {percent(wrong)} of the training rows "
            "wrong.",
            metric="eval_accuracy",
            onset=Moment(onset),
            evidence=(
                Evidence("Distance at the end", 1 - wrong - held, apart, "of 1", "eval_accuracy"),
                Evidence("Train loss at the end", level, where="train_loss"),
            ),
            seen=f"Neither eval loss nor train accuracy is logged.{counts}",
            fixes=(score_gap.SAME_PREPROCESSING, score_gap.SAME_SOURCE),
            ruled_out=(RuledOut("Training rows that are not learned", "their loss is low"),),
            confidence=Confidence(0.7, count(len(evals), "evaluation")),
            chart=Chart("curves", ("train_loss", "eval_accuracy")),
        )
    )


def _of_labels(run: Run) -> bool:
    """Whether areas or F1 are logged, as of rows that have several labels each."""
    kinds = (quality(name) for name in run.history.metrics)
    return any(one is not None and one.kind not in {"accuracy", "acc"} for one in kinds)


BAD = (
    drawn(
        "a low training loss beside half of the answers, neither with its counterpart",
        (1, 1), noise=0, task="classification", severity="info",
        train_loss="/1 1:2.8 6:0.3 30:0.06", eval_accuracy="/1 1:0.44 6:0.54 30:0.5",
    ),
)  # fmt: skip
GOOD = (
    drawn(
        "a low training loss beside most of the answers",
        noise=0, task="classification",
        train_loss="/1 1:2.8 6:0.3 30:0.06", eval_accuracy="/1 1:0.44 6:0.7 30:0.85",
    ),
)  # fmt: skip
