"""One gradient norm that needs no trend: no language model that learns has such a one."""

import numpy as np

from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment
from runlens.rules.rule import LANGUAGE_TASKS
from runlens.run import Run
from runlens.wording import count, loss, number, step


def finding(run: Run, huge: float) -> Finding | None:
    """Tell a norm of a language model that no row before or after makes usual."""
    curve = run.curve("grad_norm").finite()
    if run.task not in LANGUAGE_TASKS or not len(curve) or curve.value.max() < huge:
        return None
    at = int(np.argmax(curve.value))
    top, where = float(curve.value[at]), float(curve.step[at])
    train = run.curve("train_loss").finite().value
    beside = f" Train loss was {loss(float(train.max()))} at its highest." if len(train) else ""
    return Finding(
        severity="warning",
        title=f"The gradient norm was {number(top)} at step {step(where)}, the highest of "
        f"{count(len(curve), 'logged norm')}.{beside}",
        metric="grad_norm",
        onset=Moment(where),
        evidence=(Evidence("Highest norm", top, huge, "0.1 to 10", "grad_norm", where),),
        seen="No language model that learns has norms this large.",
        confidence=Confidence(0.7, "an absolute limit: norms scale with model and loss reduction"),
        chart=Chart("limit", ("grad_norm",), limit=huge),
    )
