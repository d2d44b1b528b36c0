"""Fixes of a kind of cause, with the numbers of the run, for where no finding brings its own."""

from collections.abc import Callable, Mapping
from math import isfinite

from runlens import fixes
from runlens.diagnosis import Fix
from runlens.knowledge import in_force
from runlens.knowledge.optimizer_settings import IMPOSSIBLE, UNUSUAL, delays, outside
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import step

OVERSHOT = 1 / 3  # of a rate that nothing usual is known for; 3 to 10 times lower is usual advice
TOO_LOW = 3.0

Builder = Callable[[Run, Signals, float], tuple[Fix, ...]]


def of(kind: str, run: Run, signals: Signals, onset: float) -> tuple[Fix, ...]:
    """Return the fixes of a kind of cause; `onset` is the step of the leading finding."""
    builder = BUILDERS.get(kind)
    return builder(run, signals, onset) if builder else ()


def _lower(run: Run, signals: Signals, onset: float) -> tuple[Fix, ...]:
    made = fixes.learning_rate(run, signals, OVERSHOT, "a rate 3 to 10 times lower is usual")
    if in_force.past_warmup(run, onset):
        return made
    return (*made, *fixes.longer_warmup(run, "the first updates are then smaller"))


def _higher(run: Run, signals: Signals, _: float) -> tuple[Fix, ...]:
    return fixes.learning_rate(run, signals, TOO_LOW, "nothing moved so far")


def _warm_up(run: Run, signals: Signals, _: float) -> tuple[Fix, ...]:
    made = fixes.longer_warmup(run, "the first updates are then smaller")
    return (*made, *fixes.learning_rate(run, signals, 1 / 2, "the peak comes too soon for it"))


def _clip(run: Run, signals: Signals, _: float) -> tuple[Fix, ...]:
    return fixes.clipping(run, signals, "this bounds a single step")


def _widen(run: Run, signals: Signals, _: float) -> tuple[Fix, ...]:
    return fixes.wider_clipping(run, signals)


def _put_back(run: Run, _: Signals, __: float) -> tuple[Fix, ...]:
    """Put what lies outside its bounds back to what is usual, the impossible first."""
    kind = "optimizer-setting"
    made = [
        fixes.setting(
            run, key, bounds.usual, f"Set {key} to its usual value", bounds.why, cures=kind
        )
        for table in (IMPOSSIBLE, UNUSUAL)
        for key, _, bounds in outside(run, table)
    ]
    for key, value in delays(run):
        why = f"each update uses gradients from {value:g} steps ago"
        made.append(fixes.setting(run, key, 0, "Use current gradients", why, cures=kind))
    return tuple(made)


def _larger(run: Run, _: Signals, __: float) -> tuple[Fix, ...]:
    return fixes.more_accumulation(run, 2, "this averages over more samples")


def _stop_at_best(run: Run, signals: Signals, onset: float) -> tuple[Fix, ...]:
    """Stop where the evaluation was best, and keep the best weights."""
    made = list(fixes.shorter(run, signals, onset)) if isfinite(onset) else []
    if not in_force.keeps_best(run) and not fixes.never_better(signals):
        why = ""
        made.append(fixes.setting(run, "load_best_model_at_end", True, "Keep the best model", why))
    made += fixes.more_dropout(run, "single samples are then memorized less")
    made += fixes.more_decay(run, "this keeps the weights small; 0.01 to 0.1 is usual")
    return tuple(made)


def _shuffle(run: Run, _: Signals, onset: float) -> tuple[Fix, ...]:
    if run.flag("shuffle"):
        return ()
    why = f"the loss follows the order of the data from step {step(onset)} on"
    return (fixes.setting(run, "shuffle", True, "Shuffle the training data", why),)


def _wider_range(run: Run, _: Signals, __: float) -> tuple[Fix, ...]:
    return fixes.bf16(run, "bf16 does not overflow at 65,504")


BUILDERS: Mapping[str, Builder] = {
    "rate-too-high": _lower,
    "rate-too-low": _higher,
    "warmup-missing": _warm_up,
    "clip-missing": _clip,
    "clip-too-tight": _widen,
    "optimizer-setting": _put_back,
    "batch-too-small": _larger,
    "memorised": _stop_at_best,
    "data-order": _shuffle,
    "precision": _wider_range,
}
