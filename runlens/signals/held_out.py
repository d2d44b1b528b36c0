"""Whether held-out data, or the data term of a composite loss, say that a model learns."""

import re

import numpy as np

from runlens.arrays import median
from runlens.history import Curve, FloatArray
from runlens.metrics import base, is_loss, quality, spoken
from runlens.naming.direction import siblings
from runlens.patterns import lazy_re
from runlens.run import Run
from runlens.signals import Signals, noise
from runlens.signals.shape import chance
from runlens.signals.trend import ranked
from runlens.wording import loss, number

FEWEST = 6  # values of a stretch from which a trend can be told
SURE = 0.01  # p of that trend
ERRORS = 2.0  # noise scales that the medians at both ends must lie apart
LEAST = 0.01  # of a loss, and of a score between 0 and 1: less is no gain, however clear
PERCENT = 2.0  # scores above this are written in percent
AGREEING = 2  # evaluations since
FEW = 4  # evaluations from which one change stands out
HALF = 0.5  # of what had been gained
TAKEN = 0.1  # of a loss
SCATTERS = 4.0  # root mean squares of all other changes for the worse
COVERED = 0.5  # of the stretch that the values must span
ROUNDED = 6e-4  # seconds, and samples per second: the Trainer rounds them to 3 or 4 decimals
SLACK = 0.002  # relative, beside it: values are kept as float32 too
HALVED = 0.5  # of a loss, or of the wrong answers: what is no chance of a few rows
SPLIT = 8  # points whose last half is more than those it is compared with
RIGHT = 0.99  # share of answers: a model that is lost does not answer like this
SAME_LOSS = 1e-4  # relative range of evaluations of weights that did not move
SAME = 1.05  # end over start up to which a data term did not rise
DATA_TERM = lazy_re(
    r"(^|[/_.])(nll|ce|cross_?entropy|recon|reconstruction|rec|likelihood|data|mse)(_loss)?"
    r"(_(epoch|step|mean))?$",
    re.IGNORECASE,
)


def as_share(score: FloatArray) -> FloatArray:
    """Return a score, shape (n,), as a share of 1: one that goes above 1 is written in percent."""
    return score / (100.0 if score.max(initial=0.0) > 1 else 1.0)


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

    Empty too where another held-out loss got clearly worse over the same stretch. What only comes
    back to what it was before that step has not improved.
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
        if clear and gain > 0 and not told and not _recovers(signals.curve(metric), curve, sign):
            first, last = float(median(curve.value[:3])), float(median(curve.value[-3:]))
            told = f"{spoken(metric)} improved from {number(first)} to {number(last)} (medians)"
    return told


def _recovers(whole: Curve, stretch: Curve, sign: float) -> bool:
    """Whether a curve ends clearly worse than the best that it had been before a stretch."""
    before = sign * whole.value[: len(whole) - len(stretch)]
    if not len(before):
        return False
    lost = float(before.max()) - sign * float(median(stretch.value[-3:]))
    return lost > ERRORS * noise.sigma_diff(whole.value)


def hurt(run: Run, signals: Signals, at: float) -> str:
    """Say which held-out loss or score was thrown back about step `at`; "" for none.

    Held-out data are the same at each evaluation: what throws them back is the model, not a batch
    or a new stage of the data. A change for the worse at that place counts that takes half of what
    had been gained, a tenth of a loss, and four times what it worsens elsewhere. Scores, which
    move in steps, are asked where no held-out loss is logged.
    """
    metrics = [one for one in run.history.metrics if _sign(one) and len(signals.curve(one)) >= FEW]
    for metric in [one for one in metrics if is_loss(one)] or metrics:
        sign, curve = _sign(metric), signals.curve(metric)
        place = int(np.searchsorted(curve.step, at))
        worse = -sign * np.diff(curve.value)
        near = slice(max(place - 2, 0), place + 1)
        if not len(worse[near]):
            continue
        top = near.start + int(np.argmax(worse[near]))
        if takes_back(-sign * curve.value, top, top + 1, of_loss=is_loss(metric)):
            before, after = (number(float(one)) for one in curve.value[top : top + 2])
            return f"{spoken(metric)} went from {before} to {after} there"
    return ""


def rose_with(signals: Signals, first: float, last: float) -> str:
    """Say that eval loss rose and came back between two steps, with the training loss; or "".

    By a tenth, and four times what it worsens elsewhere, at two evaluations.
    """
    evals = signals.curve("eval_loss")
    within = (evals.step > first) & (evals.step <= last)
    before = evals.value[evals.step <= first]
    if not len(before) or within.sum() < AGREEING:
        return ""
    base, rise = float(before[-1]), np.sort(evals.value[within])[-AGREEING] - float(before[-1])
    elsewhere = np.maximum(np.diff(evals.value)[~within[1:]], 0.0)
    scatter = float(np.sqrt(np.mean(elsewhere**2))) if len(elsewhere) else 0.0
    if rise <= max(TAKEN * abs(base), SCATTERS * scatter):
        return ""
    return f"eval loss rose as well, from {number(base)} to {number(evals.value[within].max())}"


def unmoved(signals: Signals, after: float) -> str:
    """Say that eval loss stayed near its best from step `after` to the end; "" where it did not.

    What lifts a training loss then is what is asked of it: harder batches, augmentation, a penalty.
    """
    evals = signals.curve("eval_loss")
    before, rest = evals.before(int(after)).value, evals.after(int(after)).value
    if not len(before) or len(rest) < AGREEING:
        return ""
    slack = LEAST * abs(float(before[-1]))
    level, end = float(median(rest)), float(median(rest[-3:]))
    if level > float(before[-1]) + slack or end > float(before.min()) + slack:
        return ""
    return f"eval loss was {loss(before[-1])} then and has a median of {loss(level)} since"


def same(signals: Signals, stretch: Curve | None = None) -> bool:
    """Whether all evaluations, or those of a stretch, gave one loss: the weights did not move.

    Losses that differ by little and always in one direction are of weights that do. A loss of
    exactly 0 is of an empty set: it says nothing of the weights.
    """
    evals = signals.curve("eval_loss")
    if stretch is not None:
        evals = evals.after(int(stretch.step[0])).before(int(stretch.step[-1]) + 1)
    value = evals.value
    if len(value) <= AGREEING or np.ptp(value) > SAME_LOSS * abs(float(value[0])):
        return False
    if not value.any():
        return False
    moves = np.diff(value)
    return len(value) < FEWEST or not ((moves < 0).all() or (moves > 0).all())


def takes_back(value: FloatArray, first: int, last: int, *, of_loss: bool) -> bool:
    """Whether a rise from one index to another takes half of the gain, out of the scatter.

    Of a positive loss in orders of magnitude too: it may have fallen over several.
    """
    if of_loss and value.min() > 0 and _stands_out(np.log(value), first, last, np.log1p(TAKEN)):
        return True
    return _stands_out(value, first, last, TAKEN * float(abs(value[first])) if of_loss else 0.0)


def _stands_out(value: FloatArray, first: int, last: int, least: float) -> bool:
    rise = float(value[last] - value[first])
    gained = float(value[: first + 1].max() - value[first])
    ups = np.maximum(np.delete(np.diff(value), slice(first, last)), 0.0)
    scatter = float(np.sqrt(np.mean(ups**2))) if len(ups) else 0.0
    return rise > max(HALF * gained, SCATTERS * scatter, least)


def steady_data_term(run: Run, signals: Signals, after: float) -> str:
    """Say which logged data term did not rise from step `after` on; "" where none is logged.

    Nor may it end above what it had been before that step: it may have come down from a jump.

    What then lifts the sum is a penalty, a regularizer or its weight.
    """
    for metric in run.history.metrics:
        if metric.startswith("eval") or not DATA_TERM.search(metric):
            continue
        value = _stretch(run, signals.curve(metric), after).value
        if len(value) < FEWEST:
            continue
        width = max(3, len(value) // 10)
        first, last = float(median(value[:width])), float(median(value[-width:]))
        before = signals.curve(metric).before(int(after)).value[-width:]
        if 0 < last <= SAME * min(first, float(median(before)) if len(before) else first):
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
    tau, p = ranked(curve.value)
    by_order = chance.either(p, chance.signs(curve.value)) < SURE
    score = 100.0 if first > PERCENT else 1.0
    wrong = abs(first) if of_loss or sign < 0 else score - first
    at_once = abs(gain) > HALVED * wrong and _parted(curve.value)
    agrees = sign * tau * gain > 0 and (by_order or at_once)
    unit = abs(first) if of_loss else score
    least = max(LEAST * unit, ERRORS * noise.sigma_diff(curve.value))
    return gain, bool(agrees and abs(gain) > least)


def _parted(value: FloatArray) -> bool:
    """Whether all of the last half lies on one side of the first three, shape (n,).

    What rises at once and then stands has little order, and its order a long memory; where half of
    the loss or of the wrong answers is gone, it has learned. Of 8 points in any order they part so
    in one of 17, of more in fewer; that the gain is clear of the noise is asked beside it.
    """
    head, rest = value[:3], value[len(value) // 2 :]
    known = len(value) >= SPLIT
    return bool(known and (head.max() < rest.min() or head.min() > rest.max()))


def gained_beside(signals: Signals, metric: str, at: float, sign: float = 1.0) -> bool:
    """Whether the same score of another class gained since a step: answers moved to it.

    ``acc_background`` beside ``acc_tumor``; one that only stays as high as it was gained nothing.
    What tells of the whole, as `quality` knows it, is no class. `sign`: -1 where less is better.
    """
    if quality(metric):
        return False
    for other in siblings(metric, signals.run.history.metrics):
        curve = signals.curve(other).finite()
        share = as_share(curve.value)
        then, end = share[curve.step <= at][-3:], share[-3:]
        if len(then) and sign * float(median(end) - median(then)) >= LEAST:
            return True
    return False


def still_right(run: Run, signals: Signals, onset: float, *, kept: bool = False) -> str:
    """Say that hardly an answer is wrong from step `onset` to the end, in training and evaluation.

    A loss so near to nothing moves by answers that are a little less sure: no model is lost whose
    accuracy never left RIGHT. `kept`: that of the evaluation may also be what it was before. Empty
    where a loss became NaN, or no accuracy is logged.
    """
    if not np.isfinite(run.curve("train_loss").value[-1:]).all():
        return ""
    lowest: list[float] = []
    for name in ("train_accuracy", "eval_accuracy"):
        curve = signals.curve(name)
        score, since = as_share(curve.value), curve.step >= onset
        parted = kept and lowest and name.startswith("eval_") and 0 < since.sum() < len(since)
        if parted and float(median(score[since])) >= float(median(score[~since])):
            continue
        lowest += [float(score[since].min())] if since.any() else []
    if not lowest or min(lowest) < RIGHT:
        return ""
    return f"accuracy never fell below {number(min(lowest))}"
