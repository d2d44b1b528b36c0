"""Columns without a name that became NaN or infinite for good, where no loss is known.

Whatever such a column is: it was a number in each row up to then, and in none since. One that is
filled now and then, as an evaluation is, has gaps before; one that was never a number is not
computed.
"""

from dataclasses import replace

import numpy as np

from runlens.diagnosis import Finding
from runlens.records import NamedTuple
from runlens.rules.numerics.not_finite import Losing, losing
from runlens.run import Run
from runlens.wording import listed, step

NAMELESS = "column "  # how readers call a column without a name
SOLID, GONE = 2, 2  # values before it is lost, and rows without one behind that


class Column(NamedTuple):
    """A column without a name that is lost."""

    name: str
    lost: Losing
    onset: int  # step


def of(run: Run) -> list[Column]:
    """Return the columns that are lost, the first in front."""
    made = []
    for name in (one for one in run.history.metrics if one.startswith(NAMELESS)):
        lost = losing(run, name)
        if lost is None or not lost.last:
            continue
        at = int(np.argmax(lost.bad))
        if at >= SOLID and len(lost.bad) - at >= GONE and lost.bad[at:].all():
            made.append(Column(name, lost, int(lost.curve.step[at])))
    return sorted(made, key=lambda one: one.onset)


def told(first: Finding, rest: list[Column]) -> Finding:
    """Tell the other columns with the first; one alone may be a figure that nothing rests on."""
    if not rest:
        return replace(first, severity="warning")
    others = listed([f"{one.name} at step {step(one.onset)}" for one in rest])
    return replace(first, title=f"{first.title} So did {others}.")
