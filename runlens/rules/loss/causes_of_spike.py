"""Why a loss spikes: one batch, the same batch again, the rate, clipping, precision, Adam."""

import numpy as np

from runlens import experiments, fixes
from runlens.diagnosis import Fix
from runlens.knowledge import in_force
from runlens.rules.loss import surroundings
from runlens.rules.rule import LANGUAGE_TASKS
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import step

SMALL_BATCH = 16  # samples of an update
FEWEST_EPOCHS = 5  # a few updates may all be evaluated, in a test of a script
SLOW_BETA2 = 0.99  # 0.95 is usual for language models


def slow_adam(run: Run) -> bool:
    """Whether Adam remembers so long that its steps are too large after a calm stretch."""
    beta2 = run.number("adam_beta2")
    return run.task in LANGUAGE_TASKS and beta2 is not None and beta2 >= SLOW_BETA2


def cures(
    run: Run, signals: Signals, at: float, *, again: bool, begun: bool = False, lasted: bool = False
) -> tuple[Fix, ...]:
    """Return what to do about a spike at a step; `again` where they repeat and do harm.

    `begun`: its top came later; `lasted`: so long that no batch explains it.
    """
    batch = in_force.effective_batch(run)
    stream = run.task == "pretrain"  # its rows are windows, most often drawn at random
    epochs = signals.steps_per_epoch == 1 or _evaluated_each(signals)  # of many batches
    which = f"Look at the {'batches of epoch' if epochs else 'batch at step'} {step(at)}"
    which += ", where the spike began" if begun else ""
    if batch and not stream and not epochs:
        alone = "" if run.number("num_processes") == 1 else ", if the run has a single process"
        which += f" ({_samples(batch, at, signals.steps_per_epoch)}{alone})"
    rate = fixes.learning_rate(run, signals, 1 / 2, "steps are then smaller where the loss spiked")
    mend = [fix for fix in rate if not fix.setting]  # a schedule at fault comes first
    why = "check the length and the labels of its samples"
    made = [*mend, *(() if lasted else (fixes.look(which, why, cures="bad-batch"),))]
    made += fixes.clipping(run, signals, "this bounds a single step")
    made += [fix for fix in rate if fix.setting]
    made += () if lasted else surroundings.warmup_fix(run, at)
    return (*made, *(_against_series(run, batch, at) if again else ()))


def _evaluated_each(signals: Signals) -> bool:
    """Whether each step has an evaluation, as no update has: what is counted are epochs."""
    train, evals = signals.curve("train_loss").step, signals.curve("eval_loss").step
    counted = signals.interval("train_loss") == 1 and len(train) >= FEWEST_EPOCHS
    return counted and bool(np.isin(train, evals).all())


def _samples(batch: float, at: float, per_epoch: float | None) -> str:
    """Return which samples of its epoch the update at a step saw, counted from 0 as drawn."""
    epoch, within = divmod(at - 1, per_epoch) if per_epoch else (0.0, at - 1)
    first, last = step(round(batch * within)), step(round(batch * (within + 1)) - 1)
    which = f"sample {first}" if first == last else f"samples {first} to {last}"
    return f"{which} of epoch {int(epoch) + 1}" if per_epoch and epoch >= 1 else which


def _against_series(run: Run, batch: float | None, at: float) -> tuple[Fix, ...]:
    """Return what helps where spikes come again and again."""
    made: list[Fix] = []
    if batch and batch < SMALL_BATCH:
        made += fixes.more_accumulation(run, 2, "this halves the weight of an outlier sample")
    if run.flag("packing"):
        why = "an experiment: packed samples may be at fault"
        made.append(fixes.setting(run, "packing", False, "Do not pack for a while", why))
    if slow_adam(run):
        made.append(fixes.setting(run, "adam_beta2", 0.95, "Lower Adam's beta2", "reacts sooner"))
    return (*made, *experiments.full_precision(run, at), experiments.check_data(run))
