"""Evaluations alone that tell of a guess: a loss of ln 3, and no more answers right than a third.

Where no training loss is logged a classifier's evaluations are all there is. Loss and accuracy
agree then: the loss is that of equal chances, and so are the answers.
"""

from math import log

import numpy as np

from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.rules.loss import near_guess, one_answer, surroundings
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.wording import count, loss, percent, step

FEWEST = 4  # evaluations
SHARE = 0.01  # of the loss, as of stuck-at-chance
MOST = 10  # classes: of more the logarithms lie so close that some loss is near one
LAST = 3  # evaluations at the end, none of them with more right answers than the one before


def of_answers(run: Run, signals: Signals) -> Finding | None:
    """Return the finding of one answer for all, of such evaluations, or of a guess; else None."""
    if same := one_answer.frozen(run, signals):
        return one_answer.finding(same)
    return finding(run, signals) or near_guess.finding(run, signals)


def finding(run: Run, signals: Signals) -> Finding | None:
    """Return the finding of such evaluations; None where training or an answer says more."""
    evals, right = signals.curve("eval_loss"), signals.curve("eval_accuracy")
    alone = run.task == "classification" and not len(signals.curve("train_loss"))
    if not alone or len(evals) < FEWEST or not np.array_equal(evals.step, right.step):
        return None
    half = evals.value[len(evals) // 2 :]
    level, share = float(median(half)), held_out.as_share(right.value)
    classes = round(float(np.exp(level)))
    if not 2 <= classes <= MOST or np.abs(half - log(classes)).max() > SHARE * log(classes):  # noqa: PLR2004 - one class is no choice
        return None
    if share.max() > 1 / classes or (np.diff(share[-LAST:]) > 0).any():
        return None
    onset = float(evals.step[0])
    guess = f"ln {classes} = {loss(log(classes))}"
    return Finding(
        severity="warning",
        title=f"Evaluation never got better than a guess from step {step(onset)} on. Eval loss is "
        f"{loss(level)} (median of the second half), guessing among {classes} gives {guess}, and "
        f"at most {percent(float(share.max()))} of the answers are right.",
        metric="eval_loss",
        onset=Moment(onset),
        evidence=(
            Evidence("Distance from the loss at chance", abs(level - log(classes)),
                     SHARE * log(classes), guess, "eval_loss", above=False),
            Evidence("Highest accuracy", float(share.max()), 1 / classes, "one of the classes",
                     "eval_accuracy", above=False),
        ),
        seen="No training loss is logged, so it is not known whether training fits its own rows.",
        fixes=surroundings.first_checks(run),
        ruled_out=(RuledOut("Accuracy above chance", "it is no higher at any evaluation"),),
        confidence=Confidence(0.6, count(len(evals), "evaluation")),
        chart=Chart("curves", ("eval_loss", "eval_accuracy")),
    )  # fmt: skip


BAD = (
    *near_guess.BAD,
    drawn(
        "evaluations alone, at ln 3", (4, 4), noise=0, task="classification", severity="warning",
        eval_loss="/4 4:1.128 8:1.113 12:1.103 16:1.097 20:1.093 24:1.092",
        eval_accuracy="/4 4:0.143 8:0.286 24:0.286",
    ),
    drawn(
        "one answer for all, by its correlation", (5, 5), noise=0, task="classification",
        severity="warning", eval_loss="/5 5:0.6186 10:0.6162",
        eval_accuracy="/5 5:0.6912 10:0.6912", eval_mcc="/5 5:0 10:0",
    ),
)  # fmt: skip
GOOD = near_guess.GOOD
