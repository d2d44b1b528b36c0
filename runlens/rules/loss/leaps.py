"""A jump that is not over, or that only evaluations show: no spike yet, and nothing to pass over.

A training loss that jumps at its last points may come back or not. A median of the last tenth does
not show it, and no trend does. One evaluation that is far above those beside it tells that single
updates undo what many had gained, or that its batch statistics do not hold.
"""

import numpy as np

from runlens import fixes
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Mark, Moment, Outcome
from runlens.history import Curve
from runlens.records import NamedTuple
from runlens.rules.loss import excursion, surroundings
from runlens.rules.loss.spike_forms import BACK, SHORT, Limits
from runlens.rules.rule import drawn, found, unless
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.noise import sigma_diff
from runlens.wording import count, loss, step, times

FAR = 10.0  # times all rows before: rows of one loss do not scatter so far, however few they are
LAST = 3  # points that may not be over: a stretch that falls back in order needs as many
FEWEST = 6  # evaluations whose scatter can be told
TOLD_BY = (
    *("divergence", "hockey-stick", "warmup-shock", "resume-jump", "nan-loss", "eval-gap"),
    *("oscillation", "eval-flat", "sawtooth", "schedule-mismatch", "grad-explosion"),
)

OF_BATCHES = (
    "Look at the batches from there on",
    "if they are as others, the update before them did it",
)
OF_WEIGHTS = (
    "Evaluate the weights of that step once more, and in training mode as well",
    "far less there means that the statistics of the batches do not hold",
)


class Leap(NamedTuple):
    """One rise from a point to the next."""

    metric: str
    curve: Curve
    at: int  # index of the first high point
    over: bool  # it came back

    @property
    def ratio(self) -> float:
        """How many times the value before it is."""
        return float(self.curve.value[self.at] / self.curve.value[self.at - 1])


def outcome(run: Run, signals: Signals, limits: Limits) -> Outcome | None:
    """Return an excursion of evaluations, else the note of one leap; None for neither."""
    if away := excursion.of(signals, limits):
        return found(excursion.finding(signals, away))
    leap = _of_training(run, signals, limits) or _of_evaluation(signals, limits)
    return unless(TOLD_BY, "another rule tells it", _finding(leap)) if leap else None


def _of_training(run: Run, signals: Signals, limits: Limits) -> Leap | None:
    """Return a leap within the last points that is not over."""
    train = surroundings.judged(signals)
    value, points = train.value, len(train)
    if points < 2 or value.min() <= 0:  # noqa: PLR2004 - a pair
        return None
    last = range(max(1, points - LAST), points)
    if points < SHORT:
        far = (at for at in last if value[at:].min() >= FAR * value[:at].max())
        first = next(far, None)
        return None if first is None else Leap("train_loss", train, first, over=False)
    at = max(last, key=lambda one: float(value[one] - value[one - 1]))
    base, onset = float(value[at - 1]), float(train.step[at])
    ratio = limits.other_ratio if run.task == "other" else limits.ratio
    stays = value[at:].min() >= max(ratio * base, base + BACK * (value[at] - base))
    high = stays and value[at] - base > limits.z * sigma_diff(value)
    if not high or not held_out.takes_back(value, at - 1, at, of_loss=True):
        return None
    anew = surroundings.begins_anew(run, signals, onset)
    return None if anew else Leap("train_loss", train, at, over=False)


def _of_evaluation(signals: Signals, limits: Limits) -> Leap | None:
    """Return the largest leap of the evaluation loss, where it came back or is the last one."""
    evals = signals.curve("eval_loss")
    value = evals.value
    if len(value) < FEWEST or value.min() <= 0:
        return None
    at = 1 + int(np.argmax(np.diff(value)))
    rise, rest = float(value[at] - value[at - 1]), value[at + 1 :]
    far = value[at] >= limits.alone * max(value[at - 1], value[at - 2])
    if at < 2 or not far or not held_out.takes_back(value, at - 1, at, of_loss=True):  # noqa: PLR2004
        return None
    if len(rest) and rest[0] > value[at] - BACK * rise:
        return None  # it stands: a rise
    return Leap("eval_loss", evals, at, over=len(rest) > 0)


def _finding(leap: Leap) -> Finding:
    """Tell it: as harmless where it came back."""
    value, at, of_training = leap.curve.value, leap.at, leap.metric == "train_loss"
    onset, left = float(leap.curve.step[at]), len(value) - at
    name = "Train loss" if of_training else "Eval loss"
    came = f", and was {loss(value[at + 1])} at the next evaluation" if leap.over else ""
    end = f", {left} points before the end" if left > 1 else ", the last logged point"
    what, why = OF_BATCHES if of_training else OF_WEIGHTS
    return Finding(
        severity="info",
        harmless=leap.over,
        heading="Jump",
        title=f"{name} jumped from {loss(value[at - 1])} to {loss(value[at])} at step "
        f"{step(onset)}{came or end}.",
        metric=leap.metric,
        onset=Moment(onset),
        evidence=(
            Evidence(
                "Jump relative to the point before",
                leap.ratio,
                where=leap.metric,
                step=onset,
            ),
        ),
        seen="It came back at once." if leap.over else "Whether it comes back is not known.",
        fixes=(fixes.look(what, why),),
        confidence=Confidence(0.6, count(len(value), "point")),
        chart=Chart(
            "curves",
            ("train_loss", "eval_loss") if not of_training else ("train_loss",),
            marks=(Mark(onset, float(value[at]), times(leap.ratio)),),
        ),
    )


BAD = (
    *excursion.BAD,
    drawn(
        "jumps at the last point",
        (900, 900),
        severity="info",
        train_loss="0:3 300:1.5 890:1.2 900:9",
    ),
    drawn(
        "jumps at the last of two points",
        (10, 10),
        noise=0,
        severity="info",
        train_loss="0:2e4 10:3e5",
    ),
    drawn(
        "one evaluation jumps",
        (450, 450),
        noise=0.01,
        severity="info",
        train_loss="0:3 300:1.5 900:1.2",
        eval_loss="50:2.9 250:1.6 400:1.5 450:9 500:1.5 900:1.3",
    ),
)
GOOD = (
    *excursion.GOOD,
    drawn(
        "evaluations that swing at other times as well",
        noise=0,
        train_loss="0:3 300:1.5 900:1.2",
        eval_loss="50:1.9 100:1.6 150:6 200:1.5 250:1.6 300:7 350:1.4 400:1.5 450:8 500:1.4",
    ),
    drawn(
        "a third above its level at the last point",
        noise=0.01,
        train_loss="0:3 300:1.5 890:1.2 900:1.6",
    ),
)
