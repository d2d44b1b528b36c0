"""Why no evaluation is a finite number: a mean over nothing, or more than a float can hold."""

import numpy as np

from runlens.history import FloatArray
from runlens.records import NamedTuple
from runlens.rules.rule import LANGUAGE_TASKS, PREFERENCE_TASKS
from runlens.run import Run


class Mean(NamedTuple):
    """What went wrong with a mean, what to do, and why."""

    what: str
    action: str
    why: str


INFINITE = Mean(
    "An overflow: exp of a summed loss instead of its mean, or the logarithm of 0 for one sample",
    "Print the loss of each evaluation batch beside the number of its targets",
    "exp of more than 709 is infinite; a mean over nothing is 0 / 0, which is NaN",
)


def of(run: Run, values: FloatArray) -> Mean:
    """Return which mean an evaluation of this task may have got wrong.

    What is infinite each time is no mean over nothing: 0 / 0 is NaN.
    """
    if np.isposinf(values).all():
        return INFINITE
    if run.task in LANGUAGE_TASKS | PREFERENCE_TASKS:
        return Mean(
            "An evaluation sample whose labels are all masked",
            "Filter out evaluation samples whose labels are all -100 after truncation",
            "a mean over no tokens is 0 / 0",
        )
    return Mean(
        "An evaluation batch without samples or without targets",
        "Print the loss of each evaluation batch, and look at the first that is NaN",
        "one NaN makes their mean NaN, and a mean over nothing is 0 / 0",
    )
