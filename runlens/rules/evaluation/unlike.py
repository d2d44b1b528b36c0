"""An evaluation that shows nothing of what training learns: what that comes of, and what tells."""

from runlens import fixes
from runlens.diagnosis import Fix
from runlens.history import Curve
from runlens.signals import Signals

DIFFER = "Evaluation mode, preprocessing or labels that are not those of training"
EITHER = "Training and evaluation data do not match, or the rows were memorized"
TEST = (
    "Call model.eval() and evaluate ten training rows. If their score is as low, the evaluation "
    "code is at fault. If not, compare preprocessing and class numbers of both sets"
)
KNOWN = "The training rows were memorized, and nothing more of that carries over."
NEW = (
    "The score was as low before any training row came a second time, so memorizing is not the "
    "reason."
)


def words(signals: Signals, evals: Curve) -> tuple[str, str]:
    """Return what is seen, and what it comes of, where a score is low from the first one on.

    An evaluation within the first pass, where that is known, came before rows could be memorized.
    """
    passes = signals.inputs.passes_at(int(evals.step[0]))
    return (NEW, DIFFER) if passes is not None and passes <= 1 else (KNOWN, EITHER)


def cures() -> tuple[Fix, ...]:
    """Say what tells the evaluation code from the data."""
    return (
        fixes.look(
            "Evaluate on ten training rows",
            "a score as low means that evaluation is at fault, a high one that data differ",
        ),
        fixes.look(
            "Compare class numbers and preprocessing of both sets",
            "labels in another order or unscaled inputs look like this",
        ),
    )
