"""Ends that no record tells, guessed from the rows: does the run look as if it ended by itself.

At a round number (`round_end`); where its learning rate has come to the end of its schedule; at the
end of an epoch of many rows, where a run that was cut ends by chance alone.
"""

import numpy as np

from runlens.arrays import unique
from runlens.history import Curve, History
from runlens.records import NamedTuple
from runlens.sources.merging.round_end import round_end
from runlens.wording import step as in_words

LOW = 0.05  # of the peak: as low ends a schedule
EVEN = 0.05  # of the way down, by which its halves differ: so much of a plan is left out of account
FLAT = 0.999  # of the peak, up to which a rate is at its peak
FEWEST = 10  # points of a schedule
OFTEN = 20  # rows of an epoch, from which a cut run ends with an epoch once in as many times


class OpenEnd(NamedTuple):
    """What the rows say of the end; `whole`: only those of a log that is there to its last line."""

    why: str = ""
    whole: bool = True


NOTHING = OpenEnd()


def open_end(history: History, done_epochs: float | None) -> OpenEnd:
    """Return why rows look as if the run had ended by itself; empty where they do not."""
    if _schedule_ended(history.curve("learning_rate").finite()):
        return OpenEnd("the learning rate came to the end of its schedule", whole=False)
    if history.metrics and (at := round_end(history, done_epochs)):
        newest = max(int(history.curve(name).step[-1:].max(initial=0)) for name in history.metrics)
        there = at.startswith("epoch") or at == f"step {in_words(newest)}"
        return OpenEnd(
            f"the last row is {'at' if there else 'close to'} {at}, a typical planned end"
        )
    if rows := _whole_epoch(history.curve("train_loss")):
        return OpenEnd(f"the last row ends an epoch of {rows} rows")
    return NOTHING


def _schedule_ended(rate: Curve) -> bool:
    """Whether a rate fell to almost nothing, as far from its half as the half is from its peak.

    So do a line and a cosine at their end. Steps and powers come to their half early.
    """
    peak = float(rate.value.max(initial=0.0))
    if len(rate) < FEWEST or not 0 <= float(rate.value[-1]) <= LOW * peak:
        return False
    begin = int(np.flatnonzero(rate.value >= FLAT * peak)[-1])
    step, value = rate.step[begin:], rate.value[begin:]
    if len(step) < FEWEST or (np.diff(value) > 0).any():
        return False
    half = np.interp(-(value[0] + value[-1]) / 2, -value, step)
    way, apart = float(step[-1] - step[0]), abs(float(step[-1] + step[0] - 2 * half))
    return apart <= max(EVEN * way, float(step[-1] - step[-2]))


def _whole_epoch(loss: Curve) -> int:
    """Return how many rows the last epoch has, as many as those before it; 0 where it has not."""
    known = loss.epoch[np.isfinite(loss.epoch)]
    if not len(known) or len(known) < len(loss) or (np.diff(known) < 0).any():
        return 0
    begins = known[0] % 1.0 == 0  # else a whole number is that of the last row of an epoch
    number = np.floor(known) if begins else np.ceil(known)
    rows = np.unique(number, return_counts=True)[1].tolist()
    if len(rows) < 2 or rows[-1] != max(rows) or rows[-1] < OFTEN:  # noqa: PLR2004 - one epoch is compared with none
        return 0
    return int(rows[-1]) if len(unique(np.array(rows[1:]))) == 1 else 0
