"""What a loss of zero means by its kind, what brought it there, and what to do."""

from math import ceil

import numpy as np

from runlens import fixes
from runlens.diagnosis import Cause, Fix
from runlens.metrics import quality
from runlens.rules.loss.kind_of_zero import Kind, Zero, reached
from runlens.rules.rule import LANGUAGE_TASKS
from runlens.run import Run, Task
from runlens.signals import Signals

USUAL_EPOCHS = 3  # num_train_epochs of TrainingArguments, transformers 5.23.0
SEEN: dict[Kind, str] = {
    "masked": "From there on no batch had a token to learn from.",
    "leaked": "No model memorizes its data so soon. The answer is in the input, the rows follow "
    "one template, or all answers are the same.",
    "shared": "Nothing is left to learn, not even on the evaluation set. Either it holds rows of "
    "the training set, or the task has one exact answer.",
    "memorised": "The training set is memorized, so later steps add nothing.",
    "rehearsed": "After so many passes the training set is memorized, or its text is very "
    "regular. An evaluation would tell which.",
    "separable": "The classes are separable, and training and evaluation are both solved. An input "
    "that is made from the answer looks the same.",
    "sanity": "The model can overfit a few batches, which is what such a test should show.",
}

OF_KIND: dict[Kind, tuple[str, str]] = {  # what brought it there, and the kind of that cause
    "masked": ("All labels masked with -100", "labels-masked"),
    "leaked": ("The input gives the answer away", "leak"),
    "shared": ("Training and evaluation share their data", "leak"),
    "rehearsed": ("Too many passes over too little data", "memorised"),
    "memorised": ("Too many passes over too little data", "memorised"),
}


# of another task than language, whose labels are no tokens
ALIKE = "All targets are the same, masked or weighted by 0"


def seen(zero: Zero, task: Task) -> str:
    """Return what a zero of this kind means."""
    if zero.kind == "masked" and task not in LANGUAGE_TASKS:
        return "From there on no batch had anything to learn from."
    return SEEN[zero.kind]


def causes(zero: Zero, task: Task) -> tuple[Cause, ...]:
    """Return what a zero of this kind shows by itself."""
    named = OF_KIND.get(zero.kind)
    if zero.kind == "masked" and task not in LANGUAGE_TASKS:
        named = ALIKE, "labels-masked"
    return (Cause(named[0], "most likely", zero.why, kind=named[1]),) if named else ()


def cures(run: Run, signals: Signals, zero: Zero, onset: float) -> tuple[Fix, ...]:
    """Return what to do, the quickest first."""
    if zero.kind == "masked" and run.task not in LANGUAGE_TASKS:
        return (
            fixes.look("Print targets and outputs of one batch", "some targets must differ"),
            fixes.look("Check the masks and weights of the loss", "a factor of 0 removes it"),
        )
    if zero.kind == "masked":
        return (
            fixes.look(
                "Count the labels that are not -100 in 20 samples",
                "every sample needs some",
            ),
            fixes.look("Check what masks labels: chat template, prompt masking, truncation"),
        )
    look = fixes.look("Decode 20 samples and look for the target in the input")
    drop = fixes.action("Remove training rows from the evaluation set")
    if zero.kind == "leaked":
        count = fixes.look("Count the different targets of all rows", "they may all be the same")
        return look, count
    if zero.kind == "shared":
        return drop, look
    if zero.kind == "separable":
        what = (
            "Train on each input alone. If one is enough, ask whether it is known before the answer"
        )
        return (fixes.look(what, "such an input would not be there in use"),)
    if zero.kind not in {"memorised", "rehearsed"}:
        return ()
    return (
        *_fewer_epochs(run, signals, onset, zero),
        *fixes.more_dropout(run, "this regularizes the model"),
        fixes.action(
            "Remove duplicates and add data", "the model then sees each sample less often", "days"
        ),
    )


def _fewer_epochs(run: Run, signals: Signals, onset: float, zero: Zero) -> tuple[Fix, ...]:
    """Stop at the best evaluation; where there is none evaluate, and stop before zero at least."""
    made: list[Fix] = []
    evals = signals.curve("eval_loss")
    known = len(evals) > 0
    last = _best_at(signals) if known else onset
    scored = any(name.startswith("eval_") for name in run.history.metrics)
    if not known and not scored:
        why = "stop at the best eval loss; training loss alone does not show where that is"
        made.append(fixes.action("Evaluate on held-out data, at least once per epoch", why))
    epochs, wanted = run.number("num_train_epochs"), reached(run, signals, last).epoch
    if not known and wanted and wanted > USUAL_EPOCHS:  # zero is reached long after the best
        wanted = USUAL_EPOCHS
    stops = run.number("early_stopping_patience")  # by itself
    if zero.kind == "memorised" and epochs and wanted and ceil(wanted) < epochs and not stops:
        usual = f"the Trainer's default is {USUAL_EPOCHS}; add epochs only while eval loss falls"
        why = "no evaluation was better later" if known else usual
        made.append(
            fixes.setting(run, "num_train_epochs", ceil(wanted), "Train for fewer epochs", why)
        )
    return tuple(made)


def _best_at(signals: Signals) -> float:
    """Return the step from which on neither the evaluation loss nor a score of it was better.

    An over-confident model may go on gaining score: a run is not cut before that.
    """
    signs = {"eval_loss": -1.0}
    for name in signals.run.history.metrics:
        if name.startswith("eval_") and (kind := quality(name)):
            signs[name] = kind.sign
    curves = {name: signals.curve(name) for name in signs}
    bests = [
        one.step[int(np.argmax(signs[name] * one.value))]
        for name, one in curves.items()
        if len(one)
    ]
    return float(max(bests))
