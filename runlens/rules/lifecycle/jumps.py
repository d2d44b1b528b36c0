"""What jumped where a later launch takes over, and why."""

from runlens.diagnosis import Cause
from runlens.records import NamedTuple
from runlens.rules.lifecycle.joints import Joint
from runlens.run import Run
from runlens.wording import rate as as_rate
from runlens.wording import step


class Jump(NamedTuple):
    """What changed at a joint. A part that did not jump, or is not logged, is None."""

    joint: Joint
    rate: tuple[float, float] | None  # expected, found
    loss: tuple[float, float] | None  # before, after
    norm: tuple[float, float] | None
    new_schedule: bool
    anew: bool = False  # that schedule has no warm-up: it begins at its peak

    @property
    def parts(self) -> int:
        """How many of the signals jumped."""
        return sum(part is not None for part in (self.rate, self.loss, self.norm))


def causes(run: Run, jump: Jump, other: tuple[float, float] | None) -> tuple[Cause, ...]:
    """Return why it jumped; `other`: the steps of an epoch before and after, where they differ."""
    made: list[Cause] = []
    if other:
        why = f"an epoch took {step(other[0])} steps before and {step(other[1])} after"
        what = "Other data or batches after the resume"
        made.append(Cause(what, "most likely", why, kind="resume-state"))
    if jump.new_schedule and jump.rate:
        why = (
            f"the rate fell from {as_rate(jump.rate[0])} to {as_rate(jump.rate[1])} "
            "and climbs again"
        )
        if jump.anew:
            why = f"the rate began again at {as_rate(jump.rate[1])} and repeats its first values"
        made.append(Cause("Scheduler state not restored", "most likely", why, kind="resume-state"))
    elif jump.rate:
        why = f"the rate is {as_rate(jump.rate[1])} where the schedule has {as_rate(jump.rate[0])}"
        made.append(
            Cause("Learning rate or planned steps changed", "most likely", why, kind="resume-state")
        )
    if jump.loss or jump.norm or jump.new_schedule:
        why = "loss or gradient norm rose at once" if jump.loss or jump.norm else ""
        made.append(
            Cause(
                "Optimizer state not restored",
                "likely" if made else "most likely",
                why,
                kind="resume-state",
            )
        )
    if jump.loss:
        made.append(
            Cause(
                "Other data, precision or world size after the resume",
                "possible",
                kind="resume-state",
            )
        )
    if run.flag("ignore_data_skip"):
        why = "ignore_data_skip is set, so the early data are read again"
        made.append(Cause("The data position was not restored", "likely", why, kind="resume-state"))
    return tuple(made)
