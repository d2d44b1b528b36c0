"""A rate that is late: it stands at its peak where it should have come down, or still warms up."""

import numpy as np

from runlens.history import Curve
from runlens.rules.schedule import shapes
from runlens.rules.schedule.mismatch import WARMS, Mismatch
from runlens.run import Run
from runlens.signals.phases import rises_throughout
from runlens.wording import percent
from runlens.wording import rate as as_rate

MUCH = 0.5  # share of the peak between plan and log: no warm-up and no rounding explains it
DECAYS = ("linear", "cosine")  # shapes that end at zero and are known exactly
FULL_FROM = 0.99  # share of the planned steps from which a run counts as complete
BEGINS = 0.1  # of the last rate: a line through 0 has come so far within a tenth of the run
EVEN = 0.01  # of the last rate, by which points of a line differ from it: what rounding leaves
AT_PEAK = 0.01  # share of the configured rate by which a peak may differ


def standing(run: Run, name: str, rate: Curve) -> list[Mismatch]:
    """Return the first logged rate at the peak, by epochs, after a decay named `name`; or none.

    A table of few rows tells it too: 1e-5 at epoch 2.95 of 4, as 1e-5 with cosine was configured,
    of which 16 % are left there.
    """
    peak, epochs = run.number("learning_rate"), run.number("num_train_epochs")
    if not peak or not epochs or epochs <= 0 or not len(rate):
        return []
    done = np.clip(np.nan_to_num(rate.epoch) / epochs, 0.0, 1.0)
    planned = shapes.left(name, done)
    if planned is None:
        return []
    stands = np.abs(rate.value / peak - 1) <= AT_PEAK
    late = np.flatnonzero(stands & (1 - planned >= MUCH))
    if not len(late):
        return []
    at = int(late[0])
    text = (
        f"the learning rate was still {as_rate(float(rate.value[at]))} after "
        f"{percent(float(done[at]))} of the planned epochs, but a {name} schedule has "
        f"{as_rate(float(planned[at]) * peak)} there"
    )
    what = f"Deviation from {name}, share of the peak"
    cause = "Schedule not stepped, or another scheduler than configured"
    return [Mismatch(float(rate.step[at]), text, what, float(1 - planned[at]), MUCH, cause)]


def undone(run: Run, name: str, rate: Curve, limit: float) -> list[Mismatch]:
    """Say that the run finished and its decay did not, by the share `limit`; or its warm-up."""
    done = run.state.done_share
    finished = run.state.settled == "finished" and (done is None or done >= FULL_FROM)
    peak, last = float(rate.value.max()), float(rate.value[-1])
    if not finished or rate.step[-1] < 0.9 * run.last_step:
        return []
    if _warms_up(run, rate):
        return [
            Mismatch(
                float(rate.step[-1]),
                f"the run finished in its warm-up: the learning rate had risen along a line up to "
                f"{as_rate(last)}",
                "Rise of the rate over the run, share of its last value",
                1 - float(rate.value[0]) / last,
                1 - BEGINS,
                WARMS,
            )
        ]
    if name not in DECAYS or last <= limit * peak:
        return []
    return [
        Mismatch(
            float(rate.step[-1]),
            f"the run finished at a learning rate of {as_rate(last)}, "
            + ("its peak" if last >= peak else f"{percent(last / peak)} of its peak"),
            "Rate at the end, share of the peak",
            last / peak,
            limit,
            "Scheduler built for more steps than were run",
        )
    ]


def _warms_up(run: Run, rate: Curve) -> bool:
    """Whether a rate rises from about 0 along one line to its last point, as in a warm-up.

    A range test rises by a factor a row, and a schedule of cycles along a line that comes back.
    """
    value, steps = rate.value, rate.step.astype(float)
    if not rises_throughout(run) or value[0] > BEGINS * value[-1]:
        return False
    share = (steps - steps[0]) / max(steps[-1] - steps[0], 1.0)
    line = value[0] + share * (value[-1] - value[0])
    return bool(np.abs(value - line).max() <= EVEN * value[-1])
