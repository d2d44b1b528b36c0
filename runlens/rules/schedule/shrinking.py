"""A rate that is multiplied by one factor again and again: StepLR, MultiStepLR, ExponentialLR.

Such a schedule has no length. Where it is gone too early, it falls too often, or by too much.
"""

from math import log

from runlens import fixes
from runlens.diagnosis import Cause, Fix
from runlens.naming import classify
from runlens.run import Run
from runlens.signals.inputs.rate import Rate
from runlens.wording import number, step

FULL = 0.01  # of its peak, which a decay reaches at its end: cosine to a tenth, others to 0
DIGITS = 5  # of a factor
PLATEAU = "plateau"
WATCHED = ("monitor", "metric", "watch")
WRONG_WAYS = (("max", "loss"), ("min", "accuracy"))
WRONG_WAY = "A scheduler that takes each gain for none, as its mode is the wrong way round"
FACTORS = ("gamma", "lr_gamma", "lr_decay", "decay_rate")
EVERY = ("step_size", "lr_step_size", "decay_steps", "lr_decay_steps")  # steps or epochs between


def upside_down(run: Run) -> str:
    """Say that a scheduler takes what gets better for what does not; empty where it does not.

    ReduceLROnPlateau lowers the rate where what it watches stands: in mode "max" a loss that falls
    never reaches its best again, in mode "min" no accuracy that rises does.
    """
    if PLATEAU not in str(run.setting("lr_scheduler_type") or "").lower():
        return ""
    for key, known in run.config.items():
        group, _, last = key.rpartition(".")
        mode = run.setting(f"{group}.mode" if group else "mode") if last in WATCHED else None
        if (mode, classify(str(known.value)).quantity) in WRONG_WAYS:
            return f"the scheduler watches {known.value} in mode {mode}"
    return ""


def cause(rate: Rate) -> Cause | None:
    """Name the schedule that was gone early; None where the rate fell in another way."""
    if not (shrinks := rate.shrinks):
        return None
    said = (
        f"the rate is multiplied by {number(shrinks.factor, 2)} every {step(round(shrinks.every))} "
    )
    said += "steps" if round(shrinks.every) > 1 else "step"
    return Cause("A schedule that decays too fast", "most likely", said, kind="rate-zero")


def slower(run: Run, rate: Rate) -> tuple[Fix, ...]:
    """Space the falls so that a hundredth of the peak is left at the end of the plan."""
    if not (shrinks := rate.shrinks):
        return ()
    total = float(run.state.planned_steps or run.last_step)
    stretch = total * log(shrinks.factor) / log(FULL) / shrinks.every
    why = f"{100 * FULL:g} % of the peak is then left at the end"
    if stretch <= 1:
        return ()
    what = "Decay more slowly"
    for key in EVERY:
        if old := run.number(key):
            return (Fix(what, key, old, round(old * stretch), why, cures="rate-zero"),)
    for key in FACTORS:
        if (old := run.number(key)) and old < 1:
            new = round(old ** (1 / stretch), DIGITS)
            return (Fix(what, key, old, new, why, cures="rate-zero"),)
    what = f"Let the rate fall to {100 * FULL:g} % of its peak over all {step(total)} steps"
    return (fixes.action(what, "the factor is then nearer to 1", cures="rate-zero"),)
