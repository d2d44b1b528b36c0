"""One way in which a learning-rate curve is not as configured, and what to do about it."""

import numpy as np

from runlens import fixes
from runlens.diagnosis import Evidence, Fix
from runlens.history import Curve, FloatArray
from runlens.knowledge.in_force import TRAINER_FRAMEWORKS
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.wording import rate, step

SAME = 0.1  # share by which a ratio and a number of accumulated steps may differ
TENTH = 10  # of the points: what takes longer to come down decays
FLAT = 3  # rates, behind the first, that show a constant
ANOTHER = "Something other than the scheduler set the rate"
WARMS = "Warm-up planned for more steps than were run"
PEAK = "Deviation of the peak from the configured rate"


class Mismatch(NamedTuple):
    """One way in which the curve is not as configured."""

    at: float
    text: str  # continues "from step {at}: "
    what: str  # noun phrase of the evidence
    value: float
    limit: float
    cause: str
    jumped: bool = False  # the rate rose where it should have fallen
    back: bool = False  # and came back by itself


def back(rate: Curve, first: int, more: int) -> str:
    """Say whether the rate came back after the leap behind point `first`, and rose again."""
    low = np.flatnonzero(rate.value[first + 2 :] <= rate.value[first])
    told = ""
    if len(low) and int(low[0]) * TENTH < len(rate):
        told = (
            f" and returned to its old value at step {step(float(rate.step[first + 2 + low[0]]))}"
        )
    if more == 1:
        return f"{told}. It jumped once more"
    return f"{told}. It jumped {more:,} more times" if more else told


def planned(run: Run, name: str, before: FloatArray, at: float) -> str:
    """Say which schedule was planned, as far as recorded; `before`: the rates up to step `at`."""
    over = f" over {step(run.state.planned_steps)} steps" if run.state.planned_steps else ""
    flat = name != "constant" and len(before) > FLAT and bool((before[1:] == before[1]).all())
    if not name:
        return ""
    if flat:
        kept = f"It stayed at {rate(float(before[1]))}."
        return (
            f"Before step {step(at)} the rate did not follow the configured {name} "
            f"schedule{over} either. {kept}"
        )
    return f"The configured scheduler, {name}{over}, gives another rate."


def micro_steps(run: Run, ratio: float) -> bool:
    """Whether a ratio is the number of accumulated micro-batches, by any name it is set under."""
    named = [run.number(name) for name in run.config if "accum" in name.lower()]
    return any(steps and steps > 1 and abs(ratio / steps - 1) <= SAME for steps in named)


def evidence(made: list[Mismatch]) -> tuple[Evidence, ...]:
    """Return what was measured of each; a deviation from the configured peak in percent."""
    return tuple(
        Evidence(
            one.what,
            one.value,
            one.limit,
            where="learning_rate",
            step=one.at,
            unit="%" if one.what == PEAK else "",
        )
        for one in made
    )


def cures(run: Run, made: list[Mismatch], name: str) -> tuple[Fix, ...]:
    """Return what to do about the first mismatch; `name` is that of the scheduler."""
    if made[0].what == PEAK:
        what = "Set learning_rate so that its peak after scaling is the one you want"
        return (fixes.action(what, made[0].text, "settings only"),)
    if made[0].cause == WARMS:
        total = run.state.planned_steps or run.last_step
        new = max(1, round(0.1 * total))
        text = f"Set warmup_steps to {step(new)}, a tenth of the run"
        why = "the rate then reaches its peak, and comes down from there"
        return (fixes.action(text, why, "settings only"),)
    kept = fixes.checkpoint_before(run, made[0].at)
    back = fixes.action(
        f"Continue from {kept[1] if kept else ''} with the old schedule",
        "these are the weights from before the jump",
        "one run",
        kind="weights",
    )
    another = made[0].cause == ANOTHER
    if another or run.framework in TRAINER_FRAMEWORKS:  # these plan it for the steps they train
        configured = run.number("learning_rate") if another else None
        put = f", and put it back to {rate(configured)}" if configured and not made[0].back else ""
        find = fixes.look(
            f"{fixes.FIND_SETTER} at step {step(made[0].at)}{put}",
            "possible sources are a callback, a second scheduler and a rebuilt optimizer",
            cures=fixes.SCHEDULE,
        )
        if not made[0].jumped:
            find = fixes.look(
                "Print the class and the total steps of the scheduler when training starts",
                "and count its steps: one per update of the optimizer",
            )
        return (find, back) if kept and (another or made[0].jumped) else (find,)
    total = run.state.planned_steps or run.last_step
    steps = fixes.action(
        f"Build the scheduler for {step(total)} steps, the length of the run",
        "its length is fixed when it is built" + (f" ({name})" if name != "not recorded" else ""),
        "settings only",
    )
    return (back, steps) if kept and made[0].jumped else (steps,)
