"""How far a run came and how far it was to come: from what its sources and settings say."""

from collections.abc import Mapping, Sequence

from runlens.history import History
from runlens.run import Configured
from runlens.sources.merging import settings
from runlens.sources.merging.align import NUMBERED
from runlens.sources.merging.round_end import axis_of
from runlens.sources.merging.state import Plan
from runlens.sources.reading import STOPPED, SourceReading

TIMESTEPS_OF = "stable-baselines3"
BEYOND = 1.1  # of the plan: rounding and evaluation bars explain less


def planned(
    readings: Sequence[SourceReading], config: Mapping[str, Configured], history: History
) -> Plan:
    """Return what was done and planned; a plan that is told in another unit is none."""
    hints = [reading.hints for reading in readings]
    # the latest state knows the plan that was in force at the end
    order = sorted(readings, key=lambda r: (r.kind != "trainer_state", -(r.hints.done_steps or 0)))
    steps = [r.hints.planned_steps for r in order if r.hints.planned_steps]
    epochs = [hint.planned_epochs for hint in hints if hint.planned_epochs]
    done_epochs = [hint.done_epochs for hint in hints if hint.done_epochs is not None]
    logged = [int(c.step[-1]) for name in history.metrics for c in [history.curve(name)] if len(c)]
    done = [hint.done_steps for hint in hints if hint.done_steps is not None]
    updates = steps[0] if steps else settings.whole(config.get("max_steps"))
    if not updates and any(one.framework == TIMESTEPS_OF for one in readings):
        updates = settings.whole(config.get("total_timesteps"))  # what its rows count
    ended = [r.hints.ended_step for r in readings if _of_this_run(r, updates)]
    last = max([*logged, *done, *(step for step in ended if step is not None)], default=0)
    last = last if done else _closed(readings, history, last, updates)
    passed = max(done_epochs, default=None)
    counts_epochs = passed is not None and last <= passed
    planned_epochs = epochs[0] if epochs else settings.positive(config.get("num_train_epochs"))
    through = passed is not None and planned_epochs is not None and passed >= planned_epochs
    counts_epochs = counts_epochs and (through or not steps)
    numbered = updates and last and updates % last == 0 and _numbered(readings)
    if updates and last < STOPPED * updates and (counts_epochs or numbered):
        updates = None  # what is counted in updates says nothing of it
    return Plan(
        last,
        None if _other_unit(updates, last) else updates,
        passed,
        None if _other_unit(planned_epochs, passed) else planned_epochs,
    )


def _numbered(readings: Sequence[SourceReading]) -> bool:
    """Whether steps are the numbers of rows: how many updates lie between two, nobody says.

    Where the plan is a whole multiple of the rows, each may stand for as many, and none be missing.
    """
    counted = [reading for reading in readings if reading.series]
    return bool(counted) and all(
        any(problem.text.startswith(NUMBERED) for problem in one.problems) for one in counted
    )


def _closed(
    readings: Sequence[SourceReading], history: History, last: int, planned: int | None
) -> int:
    """Return the last step of a run that says it is done: the plan, if its next row came no sooner.

    Of steps counted from 0 and logged each fifth, the last row of 20 is at 15.
    """
    rows = axis_of(history)
    if not (planned and rows and any(reading.hints.closing for reading in readings)):
        return last
    return planned if last == rows.last < planned <= last + rows.spacing else last


def _other_unit(planned: float | None, done: float | None) -> bool:
    """Whether a plan was passed by a tenth and more: it is told in another unit."""
    return bool(planned and done and done > BEYOND * planned)


def _of_this_run(reading: SourceReading, planned: int | None) -> bool:
    """Whether what a log's bar shows may be the run's: another program's has a plan of its own."""
    own = reading.hints.planned_steps
    return bool(reading.series) or planned is None or own is None or own == planned
