"""A score that was best long before the end, where no evaluation loss is logged.

``val_acc`` 0.83 at epoch 19 and 0.72 at epoch 59, while training goes on to 1.00: the same
overfitting that an evaluation loss would show, told by what is right instead of how surely.
"""

import re
from math import isfinite

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Mark, Moment, RuledOut
from runlens.history import Curve, FloatArray
from runlens.metrics import base, is_loss, quality, spoken
from runlens.naming import direction
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.rules.evaluation import overfit_advice
from runlens.rules.evaluation.score import WHOLE
from runlens.rules.evaluation.sets import ON_TRAINING_DATA, evaluations
from runlens.rules.numerics.not_finite import finite_until
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.noise import MEDIAN_LOSS, inflation, odd, running_median, sigma_bend, smooth
from runlens.signals.trend import mann_kendall
from runlens.wording import count, number, step

FEWEST = 10  # evaluations: fewer have no level at their top and at their end,
TWO = 2
IN_A_ROW = 3  # but may fall from one to the next up to the last
SHARE = 0.2  # of the evaluations that follow the best: what is lost in the last few may come back
LEAST = 0.02  # of 1, and of an error rate: two answers of a hundred
NOTED = 0.01  # of 1, where training loss halved meanwhile: one of a hundred, a note
HALF, SOME = 0.5, 0.05  # of the lowest look before; of 1: half of less is within a few answers
PROVED = 1e-3  # chance of the order behind the best that asks no noise, beside training so low
HALVED = 0.5  # of a training loss: what is better by so much for its rows was learned by heart
RISEN = 0.05  # of the best of an error without bounds, as of an evaluation loss
LOST = 0.05  # of what had been gained
ERRORS = 4.0  # standard errors of the difference of two levels, as of divergence
FALLS, BY_CHANCE = -0.3, 0.01  # Kendall's tau behind the best, and its chance
IN_ORDER = -0.6  # of a fall that bends, whose chance about a straight line tells too little
TRAINING = lazy_re(r"train|batch|running", re.IGNORECASE)
# a part of a loss, and what a policy or a generator is measured by: other rules judge them
OTHERS = lazy_re(r"loss|nll|elbo|reward|return|likelihood|recon|fid|kid", re.IGNORECASE)
TRAINED = 0.02  # of a training score: so much lower at the end is no memorising


class Lost(NamedTuple):
    """How far a score came down from its best level."""

    metric: str
    at: int  # index of the best
    best: float  # level there, as logged
    end: float
    drop: float  # positive, of the smooth course
    needed: float
    little: bool = False  # less than two answers of a hundred, or than its noise: a note
    at_once: bool = False  # at the last evaluation alone


def of(run: Run, signals: Signals) -> Finding | None:
    """Return the finding of the first score of a whole set that came down; None where none did."""
    gone = finite_until(run)  # the scores of weights that are NaN are none of overfitting
    for metric in run.history.metrics:
        evals = evaluations(signals, metric)
        evals = evals.before(int(gone)) if isfinite(gone) else evals
        if not len(evals) or not (sign := _sign(metric)):
            continue
        lost = (_lost if len(evals) >= FEWEST else _lost_by_few)(metric, evals, sign)
        if not lost and (fell := _gone(metric, evals, sign)):
            return _finding(run, signals, evals, fell)
        if not lost or _unlearned(signals, evals, lost):
            continue
        if lost.little and not _by_heart(signals, evals, lost):
            continue
        at = float(evals.step[lost.at])
        if _part_of_loss(signals, evals, lost) or held_out.gained_beside(
            signals, lost.metric, at, sign
        ):
            continue
        return _finding(run, signals, evals, lost)
    return None


def _sign(metric: str) -> float:
    """Return 1 or -1 for a score or an error of a whole set that is held out, else 0."""
    kind, of_set = quality(metric), metric.partition(":")[2]
    if of_set in ON_TRAINING_DATA or TRAINING.match(metric) or is_loss(metric):
        return 0.0
    if kind:
        return kind.sign if WHOLE.fullmatch(kind.of) and "best" not in kind.of else 0.0
    return direction.better(metric) if not OTHERS.search(metric) else 0.0


def _lost(metric: str, evals: Curve, sign: float) -> Lost | None:
    bounded = quality(metric) is not None
    better: FloatArray = sign * evals.value * _unit(metric, evals)
    course = running_median(better, odd(max(3, len(better) // 8)))
    at = _best(better, course)
    behind = better[at:]
    if len(better) - 1 - at < max(3, SHARE * len(better)):
        return None
    width = max(3, len(better) // 10)
    around = better[max(0, at - width // 2) : at + width // 2 + 1]
    drop = float(median(around) - median(better[-width:]))
    gained = float(course[at] - median(better[: max(1, width // 3)]))
    scale = sigma_bend(better) * inflation(better - smooth(better))
    error = MEDIAN_LOSS * scale * (1 / len(around) + 1 / width) ** 0.5
    least = NOTED if bounded else RISEN * abs(float(course[at]))
    tau, chance = mann_kendall(behind)
    proved = bounded and tau < 0 and chance <= PROVED
    needed = max(least, LOST * gained, 0.0 if proved else ERRORS * error)
    little = bounded and drop < max(LEAST, ERRORS * error)
    falls = tau <= IN_ORDER or (tau <= FALLS and chance <= BY_CHANCE)
    if drop < needed or not falls:
        return None
    return Lost(metric, at, float(evals.value[at]), float(evals.value[-1]), drop, needed, little)


def _lost_by_few(metric: str, evals: Curve, sign: float) -> Lost | None:
    """Return what falls at each of the last few, by four times all that it did before its best."""
    better: FloatArray = sign * evals.value * _unit(metric, evals)
    at = int(np.argmax(better))
    if at == 0 or len(better) - 1 - at < IN_A_ROW or (np.diff(better[at:]) >= 0).any():
        return None
    drop, before = float(better[at] - better[-1]), float(np.abs(np.diff(better[: at + 1])).max())
    least = LEAST if quality(metric) else RISEN * abs(float(better[at]))
    needed = max(least, ERRORS * before)
    if drop < needed:
        return None
    return Lost(metric, at, float(evals.value[at]), float(evals.value[-1]), drop, needed)


def _gone(metric: str, evals: Curve, sign: float) -> Lost | None:
    """Return a score whose last value is less than half of each before it.

    It has a scale that is known, so that no noise need be: two looks tell it.
    """
    if sign < 0 or not quality(metric) or len(evals) < TWO:
        return None
    share = held_out.as_share(evals.value)
    least = float(share[:-1].min())
    if least < SOME or share[-1] >= HALF * least:
        return None
    before, last = (float(one) for one in evals.value[-2:])
    drop = float(share[-2] - share[-1])
    return Lost(metric, len(evals) - 2, before, last, drop, HALF * least, little=True, at_once=True)


def _unit(metric: str, evals: Curve) -> float:
    """Return what makes a share of a bounded score; 1 for others, whose own level is the scale."""
    if not quality(metric) or not evals.value.any():
        return 1.0
    return float(held_out.as_share(evals.value).max() / evals.value.max())


def _best(better: FloatArray, course: FloatArray) -> int:
    """Return the index of the best evaluation where the smooth course is highest."""
    top = int(np.argmax(course))
    reach = max(1, len(better) // 16)
    first = max(0, top - reach)
    return first + int(np.argmax(better[first : top + reach + 1]))


def _unlearned(signals: Signals, evals: Curve, lost: Lost) -> bool:
    """Whether training got worse over the same steps: then something else is lost."""
    at = int(evals.step[lost.at])
    train = signals.curve("train_loss")
    if len(train):
        then, end = train.before(at + 1).value[-3:], train.value[-3:]
        if len(then) and float(median(end)) > float(median(then)):
            return True
    name, error = base(lost.metric), _sign(lost.metric) < 0
    if not name.startswith("eval"):  # nothing says of which data it is, but for the loss beside it
        return not len(train) and not error
    right = signals.curve(name.replace("eval", "train", 1))
    then, end = right.before(at + 1).value[-3:], right.value[-3:]
    if not len(then):
        return False
    if error:  # without bounds
        return float(median(end)) > (1 + RISEN) * float(median(then))
    share = held_out.as_share(right.value)
    return float(median(share[-3:]) - median(share[: len(right.before(at + 1))][-3:])) < -TRAINED


def _by_heart(signals: Signals, evals: Curve, lost: Lost) -> bool:
    """Whether training loss halved while a score came down by little."""
    train = signals.curve("train_loss")
    then, end = train.before(int(evals.step[lost.at]) + 1).value[-3:], train.value[-3:]
    return bool(len(then)) and 0 < float(median(end)) < HALVED * float(median(then))


def _part_of_loss(signals: Signals, evals: Curve, lost: Lost) -> bool:
    """Whether a column is a part of the loss that is named after its score: ``ms_ssim``, 1 - SSIM.

    It names no split, has a value at each training loss, was never better than at first, and falls
    in the order of that loss. Nothing is overfitted before anything was learned.
    """
    train = signals.curve("train_loss")
    if lost.metric.startswith("eval") or lost.at or not np.array_equal(evals.step, train.step):
        return False
    return mann_kendall(evals.value)[0] <= IN_ORDER and mann_kendall(train.value)[0] <= IN_ORDER


def _finding(run: Run, signals: Signals, evals: Curve, lost: Lost) -> Finding:
    onset, name = float(evals.step[lost.at]), spoken(lost.metric)
    beside = _beside(signals, lost)
    if lost.at_once:
        return _finding_of_gone(signals, evals, lost)
    said = f"{name.capitalize()} was best at step {step(onset)} and got worse from there on"
    return Finding(
        severity="info" if lost.little else "warning",
        heading="" if beside else "Worsening evaluation",
        title=f"{said}. It went from {number(lost.best)} to {number(lost.end)}{beside}.",
        metric=lost.metric,
        onset=Moment(onset),
        evidence=(
            Evidence(
                f"Loss of {name} since its best (medians)",
                lost.drop,
                lost.needed,
                "one of 100 of a score, a twentieth of the gain, or four standard errors",
                lost.metric,
                float(evals.step[-1]),
            ),
            Evidence("Evaluations after the best", float(len(evals) - lost.at - 1)),
        ),
        seen="No eval loss is logged." if not len(signals.curve("eval_loss")) else "",
        fixes=overfit_advice.fixes_of(run, signals, onset, lost.metric),
        ruled_out=(RuledOut("One bad evaluation", "it falls in order from its best on"),),
        confidence=Confidence(
            round(min(0.9, 0.5 * lost.drop / lost.needed), 2), count(len(evals), "evaluation")
        ),
        chart=Chart(
            "curves",
            ("train_loss", lost.metric) if len(signals.curve("train_loss")) else (lost.metric,),
            marks=(Mark(onset, lost.best, f"best {number(lost.best)}"),),
        ),
    )


def _finding_of_gone(signals: Signals, evals: Curve, lost: Lost) -> Finding:
    """Tell of a score that is lost at the last evaluation: whether for good is not known."""
    name, since, last = spoken(lost.metric), evals.step[lost.at], evals.step[-1]
    beside = _beside(signals, lost)
    again = "one that is as low again is the weights', any other that of the evaluation"
    return Finding(
        severity="info",
        heading="Worsening evaluation",
        title=f"{name.capitalize()} was {number(lost.best)} at step {step(float(since))} and is "
        f"{number(lost.end)} at step {step(float(last))}, the last look"
        f"{beside and f',{beside}'}.",
        metric=lost.metric,
        onset=Moment(float(last)),
        evidence=(
            Evidence(
                f"Fall of {name} at the last evaluation, as a share of 1",
                lost.drop,
                lost.needed,
                "half of the lowest before",
                lost.metric,
                float(last),
            ),
        ),
        fixes=(fixes.look("Evaluate the weights before and the last ones once more", again),),
        confidence=Confidence(0.6, count(len(evals), "evaluation")),
        chart=Chart("curves", (lost.metric,)),
    )


def _beside(signals: Signals, lost: Lost) -> str:
    """Say what training came to meanwhile; empty where nothing of it is logged."""
    for metric in ("train_loss", lost.metric.partition(":")[0].replace("eval", "train", 1)):
        value = signals.curve(metric).value
        if len(value) and metric != lost.metric:
            return f" while {spoken(metric)} ended at {number(float(value[-1]))}"
    return ""
