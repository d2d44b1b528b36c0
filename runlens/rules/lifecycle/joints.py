"""Where one launch of a run hands over to the next."""

import numpy as np

from runlens.history import Curve, History
from runlens.records import NamedTuple
from runlens.rules.schedule import shapes
from runlens.run import Run
from runlens.signals import Signals

LEAP = 3.0  # a rate that rises by this factor between two points has left its schedule
BELOW_PEAK = 0.95  # a restart of the schedule goes back to its peak; a new plan does not
OTHER = 0.02  # of the steps of an epoch: epochs are logged with two digits behind the point
ABOVE_NOTHING = 0.20  # of the peak: less is a restart's own warm-up


class Joint(NamedTuple):
    """A step at which a later launch takes over, and how that is known."""

    step: int
    how: str  # "launch", "event", "learning rate"


def joints_of(run: Run, signals: Signals, again: int, match: float) -> list[Joint]:
    """Return the joints of a run: by its launches, its resume events, else by its learning rate.

    The rate shows a joint where it repeats its first `again` rising points within `match` of
    them, jumps once to a level below its peak, or rises once in mid-decay where no restart is
    planned.
    """
    firsts = [_first_step(run.history, number) for number in run.history.segments[1:]]
    made = {at: Joint(at, "launch") for at in firsts if at is not None}
    interval = signals.interval("train_loss")
    for event in run.events_of("resume"):
        at = event.step
        if at is None or at <= run.first_step:
            continue
        if all(abs(at - known) > 2 * interval for known in made):
            made[at] = Joint(at, "event")
    if not made:
        rate = signals.curve("learning_rate")
        at = schedule_again(rate, again, match) or leap(rate) or _in_decay(run, rate)
        if not run.setting("lr_scheduler_type") and shapes.ended(rate.before(at).value):
            at = 0  # of an unknown schedule: a stage after a decay that had come to its end
        made = {at: Joint(at, "learning rate")} if at else {}
    return [made[at] for at in sorted(made)]


def _first_step(history: History, number: int) -> int | None:
    curves = [history.segment(m, number) for m in ("train_loss", "learning_rate", "reward")]
    return min((int(curve.step[0]) for curve in curves if len(curve)), default=None)


def schedule_again(rate: Curve, few: int, match: float) -> int:
    """Return the step at which the rate falls and repeats its first, rising points; 0 if never."""
    value = rate.value
    if len(rate) < 3 * few or not (np.diff(value[:few]) > 0).all():
        return 0
    windows = np.lib.stride_tricks.sliding_window_view(value, few)  # (n - few + 1, few)
    same = (np.abs(windows - value[:few]) <= match * value[:few].max()).all(axis=1)
    fell = np.concatenate([[False], value[1:] < value[:-1] / 2])[: len(same)]
    at = np.flatnonzero(same & fell)
    return int(rate.step[at[0]]) if len(at) else 0


def leap(rate: Curve) -> int:
    """Return the step at which the rate jumps, once in the run, to below its peak; 0 if never."""
    value = rate.value
    if len(rate) < 3:  # noqa: PLR2004 - nothing before and after
        return 0
    peak = float(value.max())
    settled = np.maximum.accumulate(value)[:-1] >= BELOW_PEAK * peak  # the peak came before
    up = (value[1:] > LEAP * value[:-1]) & (value[1:] > ABOVE_NOTHING * peak) & settled
    at = np.flatnonzero(up)
    return int(rate.step[at[0] + 1]) if len(at) == 1 and value[at[0] + 1] < BELOW_PEAK * peak else 0


def _in_decay(run: Run, rate: Curve) -> int:
    at = shapes.rises_in_decay(rate.value) if len(rate) else []
    named = str(run.setting("lr_scheduler_type")).lower()
    planned = any(word in named for word in ("restart", "cycl"))
    return int(rate.step[at[0]]) if len(at) == 1 and not planned else 0


def logged_past(run: Run, joint: Joint, at: float) -> float | None:
    """Return the rate that the earlier launch had at a step which both logged."""
    for number in reversed(run.history.segments[:-1]):
        old = run.history.segment("learning_rate", number).finite()
        if len(old) and old.step[0] < joint.step <= at <= old.step[-1]:
            return float(np.interp(at, old.step, old.value))
    return None


def epochs_apart(curve: Curve, at: int) -> tuple[float, float] | None:
    """Return the steps of an epoch before and after a joint, by the epochs logged, if they differ.

    Other data, or batches of another size: what follows is not what came before.
    """
    sides = [part.at(np.isfinite(part.epoch)) for part in (curve.before(at), curve.after(at))]
    if any(len(side) < 2 or np.ptp(side.epoch) <= 0 for side in sides):  # noqa: PLR2004 - a pace
        return None
    before, after = (float(np.ptp(side.step) / np.ptp(side.epoch)) for side in sides)
    return (before, after) if abs(after - before) > OTHER * before else None


def starts_again(rate: Curve, at: int, few: int) -> bool:
    """Whether the rate climbs after a joint from below what it was, as in a warm-up."""
    before, after = rate.before(at).value, rate.after(at).value[:few]
    climbs = len(after) >= few and bool((np.diff(after) > 0).all())
    return climbs and len(before) > 0 and bool(after[0] < before[-1])


def from_its_peak(rate: Curve, at: int, few: int, match: float) -> bool:
    """Whether a rate falls from a joint on as it did at first, by its `few` first points."""
    first, again = rate.value[:few], rate.after(at).value[:few]
    if len(again) < few or len(rate.before(at)) < few or first[0] <= 0:
        return False
    falls = bool((np.diff(first) <= 0).all()) and first[-1] < (1 - 2 * match) * first[0]
    return falls and bool(np.abs(again - first).max() <= match * first[0])
