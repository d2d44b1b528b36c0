"""An error of the evaluation that stands while its loss moves: ``eval_mse 521.5`` at each.

Where the loss moves the outputs do, and so would an error that is measured on them.
"""

import numpy as np

from runlens import fixes
from runlens.arrays import unique
from runlens.history import Curve
from runlens.naming import words
from runlens.records import NamedTuple
from runlens.rules.evaluation.sets import evaluations
from runlens.run import Run
from runlens.signals import Signals

NAMES = frozenset(("mse", "rmse", "mae", "mape", "r2"))  # of outputs that are numbers
SEEN = "The loss of the same evaluations moves, so the outputs do."
WHY = "The code of this metric does not use the outputs that the loss is of"
LOOK = fixes.look("Print what the metric is given, at two evaluations", "it must differ")


class Still(NamedTuple):
    """Such an error."""

    metric: str
    evals: Curve


def of(run: Run, signals: Signals, fewest: int) -> Still | None:
    """Return the first such error; None where there is none, or the loss stands as well.

    It takes `fewest` evaluations, and as many losses of them that differ.
    """
    losses = signals.curve("eval_loss").value
    for metric in run.history.metrics if len(unique(losses)) >= fewest else ():
        evals = evaluations(signals, metric).finite()
        named = metric.startswith("eval_") and NAMES & set(words(metric))
        if named and len(evals) >= fewest and evals.value.all() and not np.ptp(evals.value):
            return Still(metric, evals)
    return None
