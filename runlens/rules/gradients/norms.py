"""The part of the gradient norm that may be judged, and what the loss did beside it."""

import numpy as np

from runlens.arrays import median
from runlens.history import Curve, FloatArray
from runlens.records import NamedTuple
from runlens.rules.rule import LOSS_TASKS
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import running_median
from runlens.wording import count, too_few

SETTLE = 0.05  # of the points: the norm of the first steps is no signal
LATEST_SETTLE = 0.5  # a warm-up that ends later leaves nothing to judge
STEADY = 4  # points, of which each is lower than the one before
CAP = 1e300  # stands for infinity in logarithms
WORSE = 0.05  # of the level: a loss that rose by less did not worsen
NOISE_MULTIPLE = 3.0


class Settled(NamedTuple):
    """Gradient norms from warm-up until the loss became NaN; infinities kept, NaN left out."""

    curve: Curve
    lost_at: float  # step at which the training loss is no number any more; infinity where never
    became: str  # what it became there: 0, NaN

    @property
    def log(self) -> FloatArray:
        """The natural logarithm, infinity capped, zero at the smallest norm that is not zero."""
        value = np.minimum(self.curve.value, CAP)
        positive = value[value > 0]
        return np.log(np.maximum(value, positive.min() if len(positive) else 1.0))

    def too_few(self, amount: int, needed: int) -> str:
        """Say how many norms are left to judge; of a loss that became NaN or 0, before that."""
        if np.isfinite(self.lost_at):
            many = f"only {count(amount, 'gradient norm')}" if amount else "no gradient norm"
            return f"{many} from before the loss became {self.became}; {needed} needed"
        return too_few(amount, "gradient norm", needed, of="after the first steps")


def settled(run: Run, signals: Signals) -> Settled:
    """Leave out warm-up, or 5 % of the points where that ends late, and all after a lost loss."""
    lost_at = _lost_at(run)
    whole = run.curve("grad_norm")
    if np.isfinite(lost_at):
        whole = whole.before(int(lost_at))
    whole = whole.at(~np.isnan(whole.value))
    later = whole.after(signals.settled_from)
    guessed = np.isfinite(lost_at) and not signals.warmup.present  # 5 % of a run that was lost
    if guessed or len(later) < LATEST_SETTLE * len(whole):
        later = whole.at(slice(int(SETTLE * len(whole)), None))
    lost = run.curve("train_loss").at(slice(-1, None)).value
    return Settled(later, lost_at, "NaN" if np.isnan(lost).any() else "0")


def _lost_at(run: Run) -> float:
    """Return the first step of the last stretch in which training loss is NaN or exactly 0."""
    curve = run.curve("train_loss")
    alive = np.flatnonzero(np.isfinite(curve.value) & (curve.value != 0))
    last = int(alive[-1]) + 1 if len(alive) else 0
    return float(curve.step[last]) if last < len(curve) else float("inf")


def smooth_log(log: FloatArray) -> FloatArray:
    """Return the running median over 5 points: keeps the edges of a climb."""
    return running_median(log, 5)


def loss_worsened(run: Run, signals: Signals, onset: int) -> tuple[float, float] | None:
    """Return (loss before, loss after) where training loss rose after a step, else None.

    None as well where the loss means nothing (RL) or is not logged on both sides.
    """
    if run.task not in LOSS_TASKS:
        return None
    curve = signals.curve("train_loss")
    width = max(5, len(curve) // 20)
    before, after = curve.before(onset).value[-width:], curve.after(onset).value
    if len(before) < 3 or len(after) < 3:  # noqa: PLR2004 - a level needs three points
        return None
    was, now = float(median(before)), float(median(after[-width:]))
    slack = max(WORSE * abs(was), NOISE_MULTIPLE * signals.sigma("train_loss") / width**0.5)
    return (was, now) if now > was + slack else None


def loss_fell(run: Run, signals: Signals, start: int, end: int) -> bool:
    """Whether training loss fell by more than its noise between two steps."""
    if run.task not in LOSS_TASKS:
        return False
    curve = signals.curve("train_loss").after(start).before(end + 1)
    width = max(3, len(curve) // 10)
    if len(curve) < 2 * width:
        return len(curve) >= STEADY and bool((np.diff(curve.value) < 0).all())
    fall = float(median(curve.value[:width]) - median(curve.value[-width:]))
    noise = NOISE_MULTIPLE * signals.sigma("train_loss") * 1.25 * (2 / width) ** 0.5
    return bool(fall > max(noise, 0.01 * abs(float(median(curve.value)))))
