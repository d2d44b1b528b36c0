"""Where the learning rate stood at a step, in numbers and in words."""

from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import percent, step, times
from runlens.wording import rate as as_rate

ABOVE_PLAN = 1.5  # logged over configured learning rate from which the schedule is named


def share_at(signals: Signals, at: float) -> float | None:
    """Return the learning rate at a step over its highest so far; None where it is not logged."""
    rate, now = signals.curve("learning_rate"), signals.learning_rate_at(at)
    if now is None:
        return None
    peak = max(float(rate.before(int(at) + 1).value.max(initial=0.0)), now)
    return now / peak if peak > 0 else None


def words_at(run: Run, signals: Signals, at: float) -> str:
    """Say where the learning rate stood: ``3e-4 at step 120, 98 % of its highest so far``."""
    share, rate = share_at(signals, at), signals.learning_rate_at(at)
    if share is None or not rate:
        return ""
    words = f"{as_rate(rate)} at step {step(at)}, {percent(share)} of its highest so far"
    configured = run.number("learning_rate")
    if configured and rate > ABOVE_PLAN * configured:
        words += f" and {times(rate / configured)} the configured {as_rate(configured)}"
    return words


def beyond_plan(run: Run, signals: Signals, at: float) -> bool:
    """Whether the logged learning rate at a step is far above the configured peak."""
    configured, rate = run.number("learning_rate"), signals.learning_rate_at(at)
    return bool(configured and rate and rate > ABOVE_PLAN * configured)
