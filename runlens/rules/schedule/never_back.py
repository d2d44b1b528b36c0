"""A loss that was at its best while a rate still climbed, and never again once it had arrived.

The rate climbs, record by record, and then stands at its peak to the end: so long a climb may be no
warm-up by name. What the loss had reached below the peak it never sees again at the peak. A rate
that comes down again takes the loss with it, and is judged by the rise itself.
"""

import numpy as np

from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Mark, Moment, RuledOut
from runlens.rules.rule import drawn
from runlens.rules.schedule import causes_of_shock
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import running_median
from runlens.signals.shape import above
from runlens.wording import count, loss, rate, step

FEWEST = 20  # points, as of warmup-shock
WIDTH = 5  # points of a level
HIGHER = 0.10  # of the best level, as of warmup-shock's first_level
CHANCE = 0.005  # that ranks fall so: 1 in 200, as of a divergence of few points
LOWER = 0.5  # of the peak: a rate at the best that is higher is not told from the peak's
LASTS = 0.25  # of the points at the peak, so that it is not the end that is odd


def of(run: Run, signals: Signals) -> Finding | None:
    """Return the finding of a level that the peak rate lost for good; else None."""
    rates, train = signals.curve("learning_rate"), signals.curve("train_loss")
    steps = np.diff(rates.value)
    if len(train) < FEWEST or len(rates) < FEWEST or (steps < 0).any() or signals.partial:
        return None
    peak = float(rates.value[-1])
    arrived = float(rates.step[int(np.argmax(rates.value))])
    level = running_median(train.value, WIDTH)
    held = train.step >= arrived
    if not LASTS <= held.mean() < 1 or rates.value[0] > LOWER * peak:
        return None
    at = int(np.argmin(level))
    best, later = float(level[at]), float(median(train.value[held]))
    below = signals.learning_rate_at(float(train.step[at]))
    first, last = level[held][: len(level[held]) // 2], level[held][len(level[held]) // 2 :]
    stays = min(float(first.min()), float(last.min())) > best and median(last) >= median(first)
    if held[at] or below is None or below > LOWER * peak or best <= 0 or not stays:
        return None
    low = rates.step[rates.value <= LOWER * peak][-1]
    near = train.value[max(at - WIDTH, 0) :][train.step[max(at - WIDTH, 0) :] <= low]
    if later - best < HIGHER * best or above(near, train.value[held]) > CHANCE:
        return None
    crossed = np.flatnonzero(level[: len(level) - int(held.sum())] <= (best + later) / 2)
    onset = float(train.step[min(int(crossed[-1]) + 1, len(train) - 1)])
    return Finding(
        severity="warning",
        title=f"A learning rate of {rate(peak)} kept train loss above its best from step "
        f"{step(onset)} on. The median was {loss(best)} around step {step(float(train.step[at]))}, "
        f"at a rate of {rate(below)}, and {loss(later)} at the peak rate.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=(
            Evidence("Rise of train loss (medians)", later - best,
                     HIGHER * best, "a tenth of the level",
                     "train_loss", float(train.step[-1])),
            Evidence("Learning rate at the best", below, where="learning_rate"),
            Evidence("Peak learning rate", peak, where="learning_rate"),
        ),
        seen=f"The rate stood at its peak for {count(int(held.sum()), 'point')}, and the loss "
        "never came back.",
        fixes=causes_of_shock.cures(run, signals),
        ruled_out=(RuledOut("One bad batch", f"the median of {WIDTH} points stays up"),),
        confidence=Confidence(0.8, count(len(train), "point")),
        chart=Chart("curves", ("train_loss", "learning_rate"), marks=(Mark(onset, best, "best"),)),
    )  # fmt: skip


CLIMBS = "0:0 50:2e-3 100:3e-2 150:1e-1 400:1e-1"
FALLS = "0:4.7 50:3.1 80:2.45 100:2.45 150:2.7 190:2.95 400:2.95"
BAD = (
    drawn(
        "never back at the peak of a long climb",
        (120, 190),
        0.04,
        task="other",
        severity="warning",
        train_loss=FALLS,
        learning_rate=CLIMBS,
    ),
)
GOOD = (
    drawn(
        "falls on at the peak of a long climb",
        noise=0.04,
        task="other",
        train_loss="0:4.7 50:3.1 110:2.5 150:2.6 400:2.1",
        learning_rate=CLIMBS,
    ),
    drawn(
        "stands at the peak of a long climb",
        noise=0.04,
        task="other",
        train_loss="0:4.7 50:3.1 110:2.5 150:2.5 400:2.5",
        learning_rate=CLIMBS,
    ),
    drawn(
        "thrown up at the peak of a long climb, and on its way down",
        noise=0.02,
        task="other",
        train_loss="0:4.7 50:3.1 110:2.4 160:3.1 400:2.55",
        learning_rate=CLIMBS,
    ),
    drawn(
        "the rate stood long before",
        noise=0.04,
        task="other",
        train_loss=FALLS,
        learning_rate="0:0 50:1e-1 400:1e-1",
    ),
)
