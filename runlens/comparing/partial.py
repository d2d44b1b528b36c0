"""Which setting of a sweep did it: the partial effect of each, the others held.

An additive linear model of what the runs reached: numbers by their logarithm where they span a
factor of three and are positive, bent where that is sure (a rate has a best in the middle); words
by one level each. Settings that changed together are one. What a setting explains is the variance
that is lost without it, of all between the runs.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from runlens.comparing.canonical import number, typed
from runlens.comparison import Effect
from runlens.history import FloatArray
from runlens.run import Setting
from runlens.signals.student import student_limit

BY_LOG = 3.0  # times: numbers that span as much are taken by their logarithm
SPARE = 3  # runs beyond the columns of the model: fewer leave no error to judge by
LEAST = 0.01  # share of the variance: less is not told
TOGETHER = 0.999  # correlation of columns that cannot be told apart
FEWEST_LEVELS = 4  # values of a setting of which a bend is asked
SURE = 0.99  # that a bend is one


def effects(settings: Sequence[Mapping[str, Setting]], value: FloatArray) -> tuple[Effect, ...]:
    """Return the partial effect of each setting that differs, the largest first.

    Of what each run reached, shape (n,), with the settings of each.
    """
    keys = list(dict.fromkeys(key for one in settings for key in one))
    made = {key: columns_of([one.get(key) for one in settings]) for key in keys}
    columns = _joined({key: part for key, part in made.items() if part is not None})
    design = [np.ones((len(value), 1)), *columns.values()]
    width = sum(part.shape[1] for part in design)
    if not columns or len(value) < width + SPARE or not value.std():
        return ()
    total = float(((value - value.mean()) ** 2).sum())
    columns = _bent(columns, value)
    design = [np.ones((len(value), 1)), *columns.values()]
    whole = _residual(np.hstack(design), value)
    found = []
    for name in columns:
        rest = [part for key, part in columns.items() if key != name]
        lost = _residual(np.hstack([design[0], *rest]), value) - whole
        first = name.split(" + ")[0]
        known = [one.get(first) for one in settings]
        found.append(_effect(name, max(lost, 0.0) / total, known, columns, value, whole))
    told = [one for one in found if one.share >= LEAST]
    return tuple(sorted(told, key=lambda one: -one.share))


def columns_of(values: Sequence[Setting]) -> FloatArray | None:
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


def _bent(columns: dict[str, FloatArray], value: FloatArray) -> dict[str, FloatArray]:
    """Return the columns with the square of each number whose effect is surely bent (t test)."""
    made = dict(columns)
    for name, part in columns.items():
        if part.shape[1] > 1 or len(np.unique(part)) < FEWEST_LEVELS:
            continue
        tried = {**made, name: np.hstack([part, part**2])}
        before, after = (
            _residual(np.hstack([np.ones((len(value), 1)), *some.values()]), value)
            for some in (made, tried)
        )
        freedom = len(value) - 1 - sum(some.shape[1] for some in tried.values())
        if freedom < SPARE or not after:
            continue
        t = math.sqrt(max(before - after, 0.0) / after * freedom)
        if t > student_limit(freedom, SURE):
            made = tried
    return made


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
    """Return the effect between the values that lie farthest apart, of numbers with its interval.

    That is from the lowest to the highest value, but where the effect is bent.
    """
    numbers = [number(one) for one in known]
    if any(one is None for one in numbers):
        words = sorted({str(typed(one)) for one in known})
        return Effect(name, share, words[0], words[-1])
    own = columns[name]
    rest = [part for key, part in columns.items() if key != name]
    design = np.hstack([own, np.ones((len(value), 1)), *rest])
    weights = np.linalg.lstsq(design, value, rcond=None)[0][: own.shape[1]]
    freedom = len(value) - design.shape[1]
    spread = np.linalg.pinv(design.T @ design)[: own.shape[1], : own.shape[1]] * whole / freedom
    told = own @ weights
    one, two = sorted((int(told.argmin()), int(told.argmax())), key=lambda i: own[i, 0])
    moved = own[two] - own[one]
    effect = float(moved @ weights)
    width = student_limit(freedom) * math.sqrt(max(float(moved @ spread @ moved), 0.0))
    low, high = numbers[one] or 0.0, numbers[two] or 0.0
    return Effect(name, share, low, high, effect, (effect - width, effect + width))
