"""What the columns of a table without names are, where its file says what was measured.

``loss.csv`` of ``0,1720173596674,973.78``: a column that rises is the step, one of the seconds or
milliseconds since 1970 a time, and the only other one is what the file is called after.
"""

from collections.abc import Sequence

import numpy as np

from runlens.arrays import median
from runlens.history import FloatArray

STEP, EPOCH, TIME, TRAINING = "step", "epoch", "wall_time", "run"
WALL = ((1e9, 4e9), (1e12, 4e12))  # seconds and milliseconds since 1970, of 2001 to 2096
FEWEST = 3  # rows
FALLEN = 0.5  # of what numbers were at first, below which they are of what is minimised


def roles(table: FloatArray, stem: str) -> list[str]:
    """Return the names of the columns of numbers, shape (rows, columns); nothing if unclear.

    `stem` is the metric that the file is called after. ``1, 20, 0.5`` counts epochs and steps;
    where the first goes up and down between the same few, it tells trainings apart: ``client,
    round, loss``.
    """
    rows, width = table.shape
    if rows < FEWEST or width < 2 or np.isnan(table[:, :-1]).any():  # noqa: PLR2004 - one has the name
        return []
    places = range(width)
    times = [n for n in places if is_time(table[:, n])]
    whole = [n for n in places if n not in times and _is_count(table[:, n])]
    values = [n for n in places if n not in times + whole] or [width - 1]
    counters = _counters(table, [n for n in whole if n not in values])
    if len(values) != 1 or len(counters) + len(values) + len(times) != width or not counters:
        return []
    named = {values[0]: stem, **dict.fromkeys(times[:1], TIME), **counters}
    return [named.get(n, "") for n in places]


def is_time(value: FloatArray) -> bool:
    """Whether numbers are seconds or milliseconds since 1970, one after the other."""
    return any(low <= value.min() and value.max() < high for low, high in WALL) and bool(
        (np.diff(value) >= 0).all()
    )


def _is_count(value: FloatArray) -> bool:
    return bool((value == np.floor(value)).all() and value.min() >= 0)


def _counters(table: FloatArray, whole: Sequence[int]) -> dict[int, str]:
    """Return what one or two columns of whole numbers count; nothing where they do not."""
    apart = {n: np.diff(table[:, n]) for n in whole}
    rising = [n for n in whole if (apart[n] >= 0).all() and (apart[n] > 0).any()]
    others = [n for n in whole if n not in rising]
    if len(whole) == 1:
        return dict.fromkeys(rising, STEP)
    if len(whole) != 2 or not rising:  # noqa: PLR2004 - epoch and step
        return {}
    if not others:
        epoch, step = sorted(whole, key=lambda n: (bool((apart[n] > 0).all()), table[-1, n]))
        return {epoch: EPOCH, step: STEP}
    (outer,), (inner,) = rising, others
    if inner < outer and (table[:, inner] == table[0, inner]).all() and table[0, inner] <= 1:
        return {inner: EPOCH, outer: STEP}  # the first has more steps than were looked at
    pairs = set(map(tuple, table[:, [inner, outer]].tolist()))
    if (apart[outer] > 0).all() or len(pairs) < len(table):
        return {}
    within = outer < inner and ((apart[inner] > 0) | (apart[outer] > 0)).all()
    return {outer: EPOCH, inner: STEP} if within else {outer: STEP, inner: TRAINING}


def minimised(values: Sequence[float], share: float = FALLEN) -> bool:
    """Whether numbers that nobody named fell as a loss does: to less than half, none below 0.

    Another `share` is asked for where more is known of them.
    """
    few = max(1, len(values) // 10)
    return min(values) >= 0 and bool(median(values[-few:]) < share * median(values[:few]))
