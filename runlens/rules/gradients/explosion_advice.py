"""Why a gradient norm climbs, and what to do about it."""

from runlens import experiments, fixes
from runlens.diagnosis import Fix
from runlens.knowledge import in_force
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import number

SMALLEST_EPSILON = 1e-6  # Adam's epsilon at which steps of tiny second moments are bounded


def cures(run: Run, signals: Signals, onset: float) -> tuple[Fix, ...]:
    """Return what to change, the fastest first, then what separates the causes."""
    warm = fixes.longer_warmup(run, "the first updates are then smaller")
    made = [
        *fixes.learning_rate(run, signals, 1 / 3, "3 to 10 times lower is usual"),
        *fixes.clipping(run, signals, "this bounds a single step"),
        *(() if in_force.past_warmup(run, onset) else warm),
    ]
    epsilon = run.number("adam_epsilon")
    if epsilon is not None and epsilon < SMALLEST_EPSILON:
        why = "this bounds steps where the second moment is small"
        what = "Raise Adam's epsilon"
        made.append(fixes.setting(run, "adam_epsilon", SMALLEST_EPSILON, what, why))
    made += fixes.bf16(run, "bf16 does not overflow at 65,504")
    made += fixes.more_accumulation(run, 2, "this averages over more samples")
    return (*made, *experiments.one_process(run))


def bounded(run: Run) -> str:
    """Say whether clipping bounds the steps that so large a norm makes."""
    limit = in_force.clip_limit(run)
    if limit is None:
        return "The log does not say whether gradients are clipped."
    if limit <= 0:
        return "Clipping is off, so nothing bounds the step."
    return f"The logged norm is the one before clipping, which limits it to {number(limit)}."
