"""What a curve did between its ends, in the numbers as logged, and what a verdict must not omit."""

import numpy as np

from runlens.arrays import median
from runlens.history import Curve, FloatArray
from runlens.rules.loss import chance
from runlens.signals import Signals, noise
from runlens.wording import loss, step

FEWEST_POINTS = 4  # the fewest on which a rank test can say anything
UNDONE = 0.3  # share of what was gained that may be lost again without a word
ABOVE_BEST = "but eval loss ends at"  # how a doubt about the evaluation begins
WORSE_EVAL = 0.2  # rise of the last evaluations over the best that no verdict leaves unsaid
ERRORS = 3.0  # noise scales: less is no rise
FEW_RETURNS = 200  # from which a tenth has 20 points, and its mean an error
TENTH = 10


def ends(value: FloatArray, *, rewards: bool) -> tuple[float, float]:
    """Return the levels at both ends: the logged first value counts, a reward scatters.

    One that lies farther below all others than they span is that of the untrained policy; a loss
    that is below its first tenth by no more than noise is of an easy row.
    """
    width, rest, first = max(1, len(value) // TENTH), value[1:], float(value[0])
    begins = float(median(value[:width]))
    untrained = len(rest) > 0 and first < rest.min() - np.ptp(rest)
    easy = 0 < begins - first < ERRORS * noise.sigma(value)
    first = begins if (easy or rewards) and not untrained else first
    return first, float(median(value[-width:]))


def span(curve: Curve, first: float, last: float) -> str:
    """Write both ends as logged; as medians where single points would tell another story."""
    value = curve.value
    logged = float(value[0]), float(value[-1])
    tenths = len(value) >= 2 * TENTH  # else a tenth is a single point, which is as logged
    if (tenths and first != logged[0]) or (logged[1] > logged[0]) != (last > first):
        return f"from {loss(first)} to {loss(last)} (medians of the first and the last tenth)"
    steps = step(int(curve.step[0])), step(int(curve.step[-1]))
    return f"from {loss(logged[0])} (step {steps[0]}) to {loss(logged[1])} (step {steps[1]})"


def _undone(value: FloatArray) -> str:
    """Say that the mean return of the last tenth lies far below that of a tenth before.

    A return is a mean: what medians leave out, episodes that fail, is a part of it.
    """
    tenths = np.array_split(value, TENTH)
    means = np.array([float(tenth.mean()) for tenth in tenths])
    errors = [float(part.std()) * noise.inflation(part) / len(part) ** 0.5 for part in tenths]
    best = int(np.argmax(means))
    lost, error = means[best] - means[-1], (errors[best] ** 2 + errors[-1] ** 2) ** 0.5
    if lost <= UNDONE * (means[best] - means[0]) or lost <= ERRORS * error:
        return ""
    return f"but the mean of a tenth had been {loss(means[best])}, and ends at {loss(means[-1])}"


def doubt(signals: Signals, metric: str, first: float, last: float) -> str:
    """Say what no rule named: most of a gain lost again, or a last evaluation far from the best."""
    value, sign = signals.curve(metric).value, -1.0 if metric == "reward" else 1.0
    if metric == "train_loss" and (near := chance.hardly_left(signals.run, first, last)):
        return near
    if metric == "reward" and len(value) >= FEW_RETURNS:
        return _undone(value)
    best = sign * float((sign * signals.smooth(metric)).min())
    lost, gained = sign * (last - best), sign * (first - best)
    if lost > UNDONE * gained and lost > ERRORS * noise.sigma(value):
        return f"but it had been at {loss(best)} before (smoothed)"
    evals = signals.curve("eval_loss").value
    if len(evals) >= FEWEST_POINTS:
        last_two, lowest = float(evals[-2:].min()), float(evals.min())
        if lowest > 0 and last_two > (1 + WORSE_EVAL) * lowest + ERRORS * noise.sigma_bend(evals):
            return f"{ABOVE_BEST} {loss(float(evals[-1]))}, above its best of {loss(lowest)}"
    return ""
