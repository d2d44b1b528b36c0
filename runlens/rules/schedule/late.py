"""A rate that stands at its configured peak where the schedule has come down: one row tells."""

import numpy as np

from runlens.history import Curve
from runlens.rules.schedule import shapes
from runlens.rules.schedule.mismatch import Mismatch
from runlens.run import Run
from runlens.wording import percent
from runlens.wording import rate as as_rate

MUCH = 0.5  # share of the peak between plan and log: no warm-up and no rounding explains it
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
