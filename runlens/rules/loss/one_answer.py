"""One answer for everything: a score that has one and the same value at every evaluation."""

import numpy as np

from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import count, loss, number, step

FEWEST = 4  # evaluations
LAST = 3  # evaluations that tell what the model knows in the end
SAME = 0.75  # share of them at one value: now and then a single answer flips
SCORE = lazy_re(r"^eval_(?!loss|runtime|samples|steps|mem)")
COMMONEST = 0.9  # share of the commonest class from which a good model scores no better
PERCENT_FROM = 1.5  # a score above is logged in percent


class Frozen(NamedTuple):
    """A score that does not move."""

    metric: str
    value: float  # as logged
    same: int  # evaluations at that value
    evals: int
    first: float  # step of the first of them
    loss: float  # median of the last evaluation losses


def frozen(run: Run, signals: Signals) -> Frozen | None:
    """Return the score of a model that gives one answer, whatever it is shown; None for none.

    Whoever answers with the commonest class is right in a share p of cases, and its loss is never
    below the entropy of that share, -p ln p - (1 - p) ln (1 - p): more classes only add to it. A
    model that knows more ends with a lower loss.
    """
    evals = signals.curve("eval_loss").value
    for metric in filter(SCORE.search, run.history.metrics if len(evals) else ()):
        curve = run.curve(metric).finite()
        if len(curve) < FEWEST:
            continue
        values, counts = np.unique(curve.value, return_counts=True)
        at = int(np.argmax(counts))
        value, same = float(values[at]), int(counts[at])
        share = value / 100 if value > PERCENT_FROM else value
        if same < SAME * len(curve) or not 0 < share < COMMONEST:
            continue
        level = float(median(evals[-LAST:]))
        if level >= -share * np.log(share) - (1 - share) * np.log1p(-share):
            first = float(curve.step[int(np.argmax(curve.value == value))])
            return Frozen(metric, value, same, len(curve), first, level)
    return None


def finding(one: Frozen) -> Finding:
    """Tell it; how many classes there are need not be known."""
    name = one.metric.replace("_", " ")
    return Finding(
        severity="warning",
        title=f"The model always gives the same answer from step {step(one.first)} on. {name} is "
        f"{number(one.value, 4)} at {one.same} of {count(one.evals, 'evaluation')}.",
        metric=one.metric,
        onset=Moment(one.first),
        evidence=(
            Evidence("Evaluations with the same score", float(one.same), where=one.metric),
            Evidence("Median of the last evaluation losses", one.loss, where="eval_loss"),
        ),
        seen=f"A model that always gives the most frequent answer scores the same each time. "
        f"The last eval loss, {loss(one.loss)} (median of 3), is no better than that.",
        ruled_out=(RuledOut("A model that knows more", "its loss would be lower"),),
        confidence=Confidence(0.8, "scores that agree to the last digit are no chance"),
        chart=Chart("curves", (one.metric, "eval_loss")),
    )
