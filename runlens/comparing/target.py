"""How soon B reaches what A reached: steps, tokens or seconds to A's last level.

A run that ends a little lower is often one that gets there sooner: what its change is worth.
The place is the first at which B is as good as A's last level, on medians of five values of a
training curve. Its bounds are those places for a level that is half the noise of the difference
better and worse.
"""

from collections.abc import Iterator

import numpy as np

from runlens.comparing.align import along, unit_of
from runlens.comparing.direction import is_held_out
from runlens.comparison import Align, Measure
from runlens.metrics import spoken
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals.noise import running_median
from runlens.wording import percent

WIDTH = 5  # values of the median of a training curve
UNITS: tuple[Align, ...] = ("step", "tokens", "time")
WORDS = {"step": "Steps", "tokens": "Tokens", "samples": "Samples", "time": "Seconds"}
SAME = 0.02  # of A's own place: nearer is no gain


class Reach(NamedTuple):
    """The place at which a level is reached, and its bounds; infinite where it never is."""

    at: float
    low: float
    high: float


def rows(a: Run, b: Run, deciding: Measure | None) -> Iterator[Measure]:
    """Yield a row a unit that both runs know, where B reaches what A ended with."""
    if deciding is None or deciding.a is None or not deciding.better:
        return
    if not deciding.what.startswith("Last "):
        return
    for kind in UNITS:
        whole, _ = along(a, deciding.metric, kind, (b,))
        found = reach(b, deciding, kind, a)
        if not len(whole) or not np.isfinite(found.at):
            continue
        end = float(whole[-1])
        if abs(found.at - end) <= SAME * end:
            continue
        unit = WORDS[unit_of((a, b), kind) or kind]
        what = f"{unit} to A's last {spoken(deciding.metric)}"
        bounds = None
        if np.isfinite(found.high):
            bounds = (found.low - end, found.high - end)
        note = f"{percent(found.at / end)} of A's" if end else ""
        yield Measure("step" if kind == "step" else kind, what, end, found.at, found.at - end,
                      interval=bounds, better="lower", note=note)  # fmt: skip


def reach(run: Run, deciding: Measure, kind: Align, beside: Run) -> Reach:
    """Return where a run reaches A's last level of the deciding metric."""
    at, curve = along(run, deciding.metric, kind, (beside,))
    sign = 1.0 if deciding.better == "lower" else -1.0
    value = sign * curve.value
    if not is_held_out(deciding.metric) and len(value) > WIDTH:
        value = running_median(value, WIDTH)
    level, slack = sign * (deciding.a or 0.0), (deciding.noise or 0.0) / 2
    places = []
    for wanted in (level, level + slack, level - slack):
        there = np.flatnonzero(value <= wanted)
        places.append(float(at[there[0]]) if len(there) else np.inf)
    return Reach(*places)
