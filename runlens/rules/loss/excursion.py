"""Evaluations that leave by orders of magnitude, several in a row, and come back.

The same rows are evaluated each time, so no odd batch explains a loss a hundred times its level:
the model itself was lost, and found again. One such evaluation is a jump; several in a row, with
calm ones on both sides, were an excursion of the weights (or of the statistics of the batches).
"""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Mark, Moment
from runlens.history import Curve
from runlens.metrics import quality, spoken
from runlens.records import NamedTuple
from runlens.rules.loss.spike_forms import FEWEST_THROWN, Limits
from runlens.rules.rule import drawn
from runlens.signals import Signals
from runlens.wording import count, loss, number, step, times

FAR = 10.0  # times the level: a decade, which the loss of the same rows does not scatter
BESIDE = 3  # evaluations on each side, whose median is a level that one odd value does not move
LOOK = fixes.look(
    "Compare the learning rate and the gradient norm of the updates before that step with others",
    "a step that is far too large shows there; else evaluate the weights in training mode as well",
)


class Excursion(NamedTuple):
    """Evaluations in a row that are far above those on both sides."""

    evals: Curve
    first: int  # indices
    last: int
    level: float  # the median of those before

    @property
    def top(self) -> int:
        """The index of the highest."""
        return self.first + int(np.argmax(self.evals.value[self.first : self.last + 1]))

    @property
    def ratio(self) -> float:
        """How many times the level the highest is."""
        return float(self.evals.value[self.top]) / self.level


def of(signals: Signals, limits: Limits) -> Excursion | None:
    """Return the only excursion of the evaluation loss; None where there is none, or another."""
    evals = signals.curve("eval_loss")
    value = evals.value
    if len(value) < 2 * BESIDE + FEWEST_THROWN or value.min() <= 0:
        return None
    high = np.flatnonzero(value >= FAR * median(value))
    if len(high) < FEWEST_THROWN or np.ptp(high) != len(high) - 1:  # none, or off and on
        return None
    first, last = int(high[0]), int(high[-1])
    # the way up belongs to it: each step of it is above all that came before
    while first > BESIDE and value[first - 1] >= limits.ratio * value[: first - 1].max():
        first -= 1
    before, after = value[:first], value[last + 1 :]
    if len(before) < BESIDE or len(after) < BESIDE:
        return None
    made = Excursion(evals, first, last, float(median(before[-BESIDE:])))
    # as far above the first value: a young run that falls over decades has been there before
    from_all = float(value[made.top]) / float(max(before.max(), median(after[:BESIDE])))
    return made if min(made.ratio, from_all) >= limits.far else None


def finding(signals: Signals, one: Excursion) -> Finding:
    """Tell it, with the score of the same evaluations."""
    value, at = one.evals.value, one.evals.step
    onset, top = float(at[one.first]), float(value[one.top])
    away, back = one.last + 1 - one.first, one.last + 1
    return Finding(
        severity="warning",
        title=f"Eval loss went from {loss(value[one.first - 1])} to {loss(top)} within "
        f"{count(one.top + 1 - one.first, 'evaluation')}, from step {step(onset)} on. It was "
        f"{loss(value[back])} at step {step(at[back])}.",
        metric="eval_loss",
        onset=Moment(onset),
        end=Moment(float(at[one.last])),
        evidence=(
            Evidence("Highest eval loss relative to those before", one.ratio,
                     where="eval_loss", step=float(at[one.top])),
            Evidence("Evaluations far above the others, in a row", float(away),
                     float(FEWEST_THROWN), "one alone is a jump"),
        ),
        seen="The same rows are evaluated each time, so the model was lost there, not the data."
        + _score(signals, one),
        fixes=(LOOK,),
        confidence=Confidence(0.9, f"{count(away, 'evaluation')}, up to {times(one.ratio)}"),
        chart=Chart("curves", ("eval_loss",), marks=(Mark(onset, top, times(one.ratio)),)),
    )  # fmt: skip


def _score(signals: Signals, one: Excursion) -> str:
    """Say how low a score of these evaluations went; "" where none went below all before."""
    first, last = (float(one.evals.step[at]) for at in (one.first, one.last))
    for name in signals.run.history.metrics:
        score, curve = quality(name), signals.curve(name)
        inside = curve.value[(curve.step >= first) & (curve.step <= last)]
        before = curve.value[curve.step < first]
        if not name.startswith("eval") or score is None or score.sign < 0:
            continue
        if len(inside) and len(before) and inside.min() < before.min():
            best, low = number(float(before.max()), 4), number(float(inside.min()), 4)
            return f" {spoken(name).capitalize()} went from {best} to {low}."
    return ""


ROUNDS = (
    "50:2 100:1.8 150:1.7 200:1.6 250:1.6 300:5.8 350:15 400:125 450:560 500:1500 550:2.5 600:2.6"
)
BAD = (
    drawn(
        "evaluations alone, of which some in a row leave by decades and come back",
        (300, 300),
        noise=0,
        severity="warning",
        eval_loss=f"{ROUNDS} 650:2.9 700:1.2 750:1.2 800:1.1 850:1.2 900:1.3 950:1.2",
    ),
)
GOOD = (
    drawn(
        "evaluations that are a few times as high for a while",
        noise=0,
        train_loss="0:3 300:1.5 800:1.2",
        eval_loss="50:2 100:1.8 150:1.7 200:1.6 250:1.6 300:2.8 350:4 400:6 450:5 500:3 550:1.6 "
        "600:1.5 650:1.4 700:1.4",
    ),
    drawn(
        "evaluations that begin decades above",
        noise=0,
        train_loss="0:3 300:1.5 800:1.2",
        eval_loss="50:900 100:2500 150:1200 200:700 250:80 300:9 350:2 400:1.5 450:1.2 500:1 550:1 "
        "600:0.9 650:0.9 700:0.9 750:0.8 800:0.8",
    ),
)
