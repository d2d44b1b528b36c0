"""Why a loss rises as the learning rate reaches its peak, and what to do about it."""

from runlens import fixes
from runlens.diagnosis import Fix
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import rate as as_rate
from runlens.wording import step


def cures(run: Run, signals: Signals) -> tuple[Fix, ...]:
    """Return what to do, the rate first."""
    warm, total = signals.warmup, run.state.planned_steps or run.last_step
    short = not warm.present or warm.end < 0.05 * total  # from there on a longer one is no cure
    return (
        *fixes.learning_rate(run, signals, 1 / 3, ""),
        *(fixes.longer_warmup(run, "the optimizer settles before the peak") if short else ()),
        *fixes.clipping(run, signals, "this bounds a single step"),
    )


def meanwhile(signals: Signals, first: float, last: float) -> str:
    """Say what the learning rate did between two steps, and whether it was warmed up at all."""
    before, after = signals.learning_rate_at(first), signals.learning_rate_at(last)
    if before is None or after is None:
        return "" if signals.warmup.present else "The run has no warm-up."
    if after > before:
        rise = (
            f"from {as_rate(before)} at step {step(first)} to {as_rate(after)} at step {step(last)}"
        )
        return f"The learning rate climbed {rise}."
    return f"The learning rate was {as_rate(before)} at that time."
