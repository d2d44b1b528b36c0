"""Whether held-out data, or the data term of a composite loss, say that a model learns."""

import re

import numpy as np

from runlens.arrays import median
from runlens.history import Curve
from runlens.metrics import base, is_loss, quality, spoken
from runlens.patterns import lazy_re
from runlens.run import Run
from runlens.signals import Signals, noise
from runlens.signals.trend import mann_kendall
from runlens.wording import loss, number

FEWEST = 8  # values of a stretch from which a trend can be told
SURE = 0.01  # p of that trend
ERRORS = 2.0  # noise scales that the medians at both ends must lie apart
LEAST = 0.01  # of a loss, and of a score between 0 and 1: less is no gain, however clear
PERCENT = 2.0  # scores above this are written in percent
COVERED = 0.5  # of the stretch that the values must span
ROUNDED = 6e-4  # seconds, and samples per second: the Trainer rounds them to 3 or 4 decimals
SLACK = 0.002  # relative, beside it: values are kept as float32 too
SAME = 1.05  # end over start up to which a data term did not rise
DATA_TERM = lazy_re(
    r"(^|[/_.])(nll|ce|cross_?entropy|recon|reconstruction|rec|likelihood|data|mse)(_loss)?"
    r"(_(epoch|step|mean))?$",
    re.IGNORECASE,
)


def samples(run: Run, metric: str | None = None) -> tuple[float, float] | None:
    """Return the samples of one evaluation, and the relative error of that number.

    Seconds of an evaluation times its samples per second, where both are rounded least; None where
    they are not logged. `metric` names the evaluation set by one of its metrics (`eval_loss:math`);
    None: the first set of which both are known.
    """
    sets = _sets(run) if metric is None else [metric.partition(":")[2]]
    for name in sets:
        stem = f"eval_{name}_" if name else "eval_"
        took = run.curve(f"{stem}runtime").finite()
        pace = run.curve(f"{stem}throughput_samples").finite()
        if not len(pace):  # of a named set
            pace = run.curve(f"{stem}samples_per_second").finite()
        _, first, second = np.intersect1d(took.step, pace.step, return_indices=True)
        seconds, rate = took.value[first], pace.value[second]
        solid = (seconds > 0) & (rate > 0)
        if solid.any():
            seconds, rate = seconds[solid], rate[solid]
            error = ROUNDED / seconds + ROUNDED / rate + SLACK
            return float(median(seconds * rate)), float(error.min())
    return None


def _sets(run: Run) -> list[str]:
    """Return the names of the evaluation sets whose duration is logged; "" for the only one."""
    ends = [name for name in run.history.metrics if name.startswith("eval_")]
    return [name[5:-7].rstrip("_") for name in ends if name.endswith("runtime")]


def improving(run: Run, signals: Signals, after: float) -> str:
    """Say which held-out loss or score got better from step `after` to the end; "" for none.

    Empty too where another held-out loss got clearly worse over the same stretch.
    """
    told = ""
    for metric in run.history.metrics:
        sign = _sign(metric)
        if not sign:
            continue
        curve = _stretch(run, signals.curve(metric), after)
        gain, clear = _gain(curve, sign, of_loss=is_loss(metric))
        if clear and gain < 0 and is_loss(metric):
            return ""
        if clear and gain > 0 and not told:
            first, last = float(median(curve.value[:3])), float(median(curve.value[-3:]))
            told = f"{spoken(metric)} improved from {number(first)} to {number(last)} (medians)"
    return told


def steady_data_term(run: Run, signals: Signals, after: float) -> str:
    """Say which logged data term did not rise from step `after` on; "" where none is logged.

    What then lifts the sum is a penalty, a regulariser or its weight.
    """
    for metric in run.history.metrics:
        if metric.startswith("eval") or not DATA_TERM.search(metric):
            continue
        value = _stretch(run, signals.curve(metric), after).value
        if len(value) < FEWEST:
            continue
        width = max(3, len(value) // 10)
        first, last = float(median(value[:width])), float(median(value[-width:]))
        if 0 < last <= SAME * first:
            return f"{metric} went from {loss(first)} to {loss(last)}: another part lifts the sum"
    return ""


def _sign(metric: str) -> float:
    """Return -1 for a held-out loss, the sign of a held-out score, else 0."""
    if base(metric) == "eval_loss":
        return -1.0
    score = quality(metric)
    return score.sign if score and metric.startswith("eval_") else 0.0


def _stretch(run: Run, curve: Curve, after: float) -> Curve:
    """Return the values from the last one before a step on, if they cover what follows it."""
    at = max(0, len(curve.before(int(after) + 1)) - 1)
    rest = curve.at(slice(at, None))
    enough = len(rest) >= FEWEST
    covered = float(rest.step[-1] - rest.step[0]) if enough else 0.0
    return rest if enough and covered >= COVERED * (run.last_step - after) else curve.at(slice(0))


def _gain(curve: Curve, sign: float, *, of_loss: bool) -> tuple[float, bool]:
    """Return (gain between the ends, whether its trend and size are clear of the noise)."""
    if not len(curve):
        return 0.0, False
    first = float(median(curve.value[:3]))
    gain = sign * (float(median(curve.value[-3:])) - first)
    tau, p = mann_kendall(curve.value)
    agrees = sign * tau * gain > 0 and p < SURE
    score = 100.0 if first > PERCENT else 1.0
    unit = abs(first) if of_loss else score
    least = max(LEAST * unit, ERRORS * noise.sigma_diff(curve.value))
    return gain, bool(agrees and abs(gain) > least)
