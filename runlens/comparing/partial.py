"""Which setting of a sweep did it: the partial effect of each, the others held.

An additive linear model of what the runs reached: numbers by their logarithm where they span a
factor of three and are positive, words by one level each. Settings that changed together are one.
What a setting explains is the variance that is lost without it, of all between the runs.
"""

import math
from collections.abc import Sequence

import numpy as np

from runlens.comparing.belief import student_limit
from runlens.comparing.canonical import number, typed
from runlens.comparison import BoardRow, Effect
from runlens.history import FloatArray
from runlens.run import Setting

BY_LOG = 3.0  # times: numbers that span as much are taken by their logarithm
SPARE = 3  # runs beyond the columns of the model: fewer leave no error to judge by
LEAST = 0.01  # share of the variance: less is not told
TOGETHER = 0.999  # correlation of columns that cannot be told apart


def effects(rows: Sequence[BoardRow]) -> tuple[Effect, ...]:
    """Return the partial effect of each setting that differs, the largest first."""
    value = np.array([row.value for row in rows], dtype=np.float64)
    keys = list(dict.fromkeys(key for row in rows for key in row.settings))
    made = {key: _columns([row.settings.get(key) for row in rows]) for key in keys}
    columns = _joined({key: part for key, part in made.items() if part is not None})
    design = [np.ones((len(rows), 1)), *columns.values()]
    width = sum(part.shape[1] for part in design)
    if not columns or len(rows) < width + SPARE or not value.std():
        return ()
    total = float(((value - value.mean()) ** 2).sum())
    whole = _residual(np.hstack(design), value)
    found = []
    for name in columns:
        rest = [part for key, part in columns.items() if key != name]
        lost = _residual(np.hstack([design[0], *rest]), value) - whole
        first = name.split(" + ")[0]
        known = [row.settings.get(first) for row in rows]
        found.append(_effect(name, max(lost, 0.0) / total, known, columns, value, whole))
    told = [one for one in found if one.share >= LEAST]
    return tuple(sorted(told, key=lambda one: -one.share))


def _columns(values: Sequence[Setting]) -> FloatArray | None:
    """Return the columns of one setting, shape (n, 1) for numbers; None where it is constant."""
    numbers = [number(value) for value in values]
    if all(one is not None for one in numbers):
        column = np.array(numbers, dtype=np.float64)
        if column.min() > 0 and column.max() >= BY_LOG * column.min():
            column = np.log(column)
        return (column - column.mean())[:, None] if np.ptp(column) else None
    words = [str(typed(value)) for value in values]
    levels = sorted(set(words))[1:]
    if not levels or len(levels) > len(values) // 2:
        return None
    return np.array([[float(word == level) for level in levels] for word in words])


def _joined(columns: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the columns with those in one that changed together."""
    kept: dict[str, FloatArray] = {}
    for key, made in columns.items():
        twin = next((name for name, other in kept.items() if _alike(made, other)), "")
        if twin:
            kept = {f"{n} + {key}" if n == twin else n: part for n, part in kept.items()}
        else:
            kept[key] = made
    return kept


def _alike(one: FloatArray, two: FloatArray) -> bool:
    if one.shape != two.shape or one.shape[1] > 1:
        return False
    return abs(float(np.corrcoef(one[:, 0], two[:, 0])[0, 1])) >= TOGETHER


def _residual(design: FloatArray, value: FloatArray) -> float:
    """Return the sum of squares that a model leaves."""
    weights = np.linalg.lstsq(design, value, rcond=None)[0]
    return float(((value - design @ weights) ** 2).sum())


def _effect(
    name: str,
    share: float,
    known: Sequence[Setting],
    columns: dict[str, FloatArray],
    value: FloatArray,
    whole: float,
) -> Effect:
    """Return the effect from the lowest to the highest value, of numbers with its interval."""
    numbers = [number(one) for one in known]
    if columns[name].shape[1] > 1 or any(one is None for one in numbers):
        words = sorted({str(typed(one)) for one in known})
        return Effect(name, share, words[0], words[-1])
    design = np.hstack([np.ones((len(value), 1)), columns[name],
                        *(part for key, part in columns.items() if key != name)])  # fmt: skip
    weights = np.linalg.lstsq(design, value, rcond=None)[0]
    freedom = len(value) - design.shape[1]
    spread = np.linalg.pinv(design.T @ design)[1, 1] * whole / freedom
    reach = float(np.ptp(columns[name]))
    effect = float(weights[1]) * reach
    width = student_limit(freedom) * math.sqrt(max(float(spread), 0.0)) * reach
    low, high = min(n for n in numbers if n is not None), max(n for n in numbers if n is not None)
    return Effect(name, share, low, high, effect, (effect - width, effect + width))
