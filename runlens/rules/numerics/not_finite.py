"""Where numbers stop being numbers: what the rules on NaN share.

Each launch is read for itself: a resume discards what the earlier launch logged past it, and a
NaN in the discarded part is still the reason for the resume.
"""

import re

import numpy as np

from runlens.history import BoolArray, Curve, FloatArray
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import duration, loss, step
from runlens.wording import rate as as_rate

# training series that are numbers as long as the weights are; no extremes of groups of one
SERIES = lazy_re(
    r"(^|[/_.])(rewards?|returns?|chosen|rejected|logp|logps|logits?|loss|kl|entropy|advantages?"
    r"|margins?|q|q_values?|values?|obs|observations?|rms|critic|actor|weights?)([/_.]|$)",
    re.IGNORECASE,
)
NOT_A_SERIES = lazy_re(r"^eval|(std|var|min|max|lr|learning_rate)([/_.]|$)", re.IGNORECASE)
FATAL_SHARE = 0.9  # of the points from the onset on: now and then a NaN step logs a number


class Losing(NamedTuple):
    """A launch in which a metric fails."""

    curve: Curve  # of the launch, all points
    bad: BoolArray  # shape (n,)
    last: bool  # whether it is the last launch that logged the metric


def losing(run: Run, metric: str) -> Losing | None:
    """Return the first launch in which a metric has a value that is not finite.

    Step 0 alone is a placeholder: many loops log before the first update. An agent fills its replay
    buffer first: what is not finite before its first finite value was not computed yet.
    """
    with_points = [run.history.segment(metric, k) for k in run.history.segments]
    with_points = [curve for curve in with_points if len(curve)]
    for index, curve in enumerate(with_points):
        bad = ~np.isfinite(curve.value)
        if len(bad) > 1 and curve.step[0] == 0 and bad[0] and not bad[1:].any():
            continue
        if run.task == "rl" and not bad[int(np.argmin(bad)) :].any():
            continue
        if bad.any():
            return Losing(curve, bad, index == len(with_points) - 1)
    return None


def losing_series(run: Run, judged: str) -> tuple[str, Losing] | None:
    """Return the training series besides `judged` that became NaN or infinite first.

    The Trainer's logging_nan_inf_filter hides a NaN of the loss, not that of rewards, logits and
    log-probabilities. What was never a number is not computed, and no fault.
    """
    made: list[tuple[int, str, Losing]] = []
    for name in run.history.metrics:
        if name == judged or not SERIES.search(name) or NOT_A_SERIES.search(name):
            continue
        lost = losing(run, name)
        at = int(np.argmax(lost.bad)) if lost else 0
        if lost and at:
            made.append((int(lost.curve.step[at]), name, lost))
    return min(made, key=lambda one: one[:2])[1:] if made else None


def fatal_from(bad: BoolArray) -> int:
    """Return the first index from which at least 90 % of `bad` is True to the end; -1 for none."""
    if not len(bad) or not bad[-1]:
        return -1
    share = np.cumsum(bad[::-1])[::-1] / np.arange(len(bad), 0, -1)
    lost = np.flatnonzero(bad & (share >= FATAL_SHARE))
    return int(lost[0])


def zero_tail(value: FloatArray) -> int:
    """Return the index from which all values are exactly 0.0; len(value) where the last is not."""
    other = np.flatnonzero(value != 0)
    return int(other[-1]) + 1 if len(other) else 0


def finite_until(run: Run) -> float:
    """Return the step at which training loss is lost for good, by NaN or by hidden zeros.

    Infinity where it never is. Two exact zeros at the end count as lost: see hidden-nan.
    """
    curve = run.curve("train_loss")
    if not len(curve):
        return float("inf")
    lost = ~np.isfinite(curve.value)
    tail = zero_tail(curve.value)
    if len(curve) - tail > 1:
        lost[tail:] = True
    at = fatal_from(lost)
    return float(curve.step[at]) if at >= 0 else float("inf")


def not_finite_name(run: Run, at: float, metric: str = "train_loss") -> str:
    """Return "infinite" or "NaN", as a metric is at a step; zeros that hide it count as NaN."""
    curve = run.curve(metric)
    infinite = np.isinf(curve.value[curve.step == at])
    return "infinite" if infinite.any() else "NaN"


def norm_before(signals: Signals, onset: float) -> tuple[int, float] | None:
    """Return (step, gradient norm) of the last finite norm before a step; None without one."""
    before = signals.curve("grad_norm").before(int(onset))
    return (int(before.step[-1]), float(before.value[-1])) if len(before) else None


def last_finite(curve: Curve, onset: float, count: int = 5) -> str:
    """Spell the last finite values before a step, oldest first; empty where there are none."""
    before = curve.before(int(onset)).finite().value[-count:]
    return ", ".join(loss(float(value)) for value in before)


def phase(signals: Signals, onset: float) -> str:
    """Say at which learning rate, and in which part of the schedule, a step lies."""
    rates = signals.curve("learning_rate").before(int(onset) + 1).value
    if not len(rates):
        return ""
    rate, peak = float(rates[-1]), float(rates.max())
    part = "the highest so far" if rate >= 0.99 * peak else "after the peak"
    if signals.warmup.present and onset <= signals.warmup.end:
        part = "in warm-up"
    return f"learning rate {as_rate(rate)}, {part}"


def spent(run: Run, curve: Curve, onset: float) -> str:
    """Say how many steps, and how much time where it is logged, came after a step."""
    text = f"{step(run.last_step - onset)} of {step(run.last_step)} steps"
    after = curve.after(int(onset)).time
    known = after[np.isfinite(after)]
    if len(known) > 1 and known[-1] > known[0]:
        text += f", {duration(float(known[-1] - known[0]))}"
    return text
