"""The parts of a loss, where they are logged: those whose weighted sum it is, row by row.

A weight that grows lifts the sum while each part may fall: under the weight of the end the model of
the start would have had the higher loss. So the sum is asked under one weight, that of the end.
"""

import numpy as np

from runlens.arrays import median
from runlens.history import FloatArray
from runlens.metrics import spoken
from runlens.naming import words
from runlens.run import Run
from runlens.wording import listed, loss, number

FEWEST = 20  # rows: so many sums of a few parts agree by no chance
MOST = 8  # parts
FITS = 1e-3  # of the loss: three digits, as parts are often written
NOTHING = 0.01  # of the loss: what a part is that no longer counts
# of a column that says how much a part counts: ``beta``, ``kl_weight``, ``lambda_adv``
WEIGHTS = frozenset(("beta", "weight", "coef", "coeff", "lambda", "lam", "anneal", "annealing"))
ABOVE = 1.05  # times the lowest, under one weight: as of a data term that did not rise


def gone(run: Run) -> str:
    """Say which part came down to nothing while the sum stands; "" for none."""
    train = run.curve("train_loss").finite()
    if len(train) < FEWEST:
        return ""
    held = {
        name: run.curve(name).value
        for name in run.history.metrics
        if name != "train_loss"
        and not name.startswith("eval")
        and np.array_equal(run.curve(name).step, train.step)
    }
    held = {
        name: value
        for name, value in held.items()
        if np.isfinite(value).all() and value.min() >= 0 and np.ptp(value)
    }
    if not 2 <= len(held) <= MOST:  # noqa: PLR2004 - one is no sum
        return ""
    shares = _shares(np.stack(list(held.values()), axis=1), train.value)
    if shares is None:
        return ""
    last = max(3, len(train) // 5)
    ends = {name: float(median(one[-last:])) for name, one in zip(held, shares.T, strict=True)}
    first = {name: float(one[0]) for name, one in zip(held, shares.T, strict=True)}
    level = float(median(train.value[-last:]))
    none = [name for name in held if ends[name] < NOTHING * level < NOTHING * train.value[0]
            and first[name] >= NOTHING * train.value[0]]  # fmt: skip
    left = [spoken(name.rpartition("/")[2]) for name in held if ends[name] >= NOTHING * level]
    if len(none) != 1 or not left:
        return ""
    name, end = spoken(none[0].rpartition("/")[2]), float(median(held[none[0]][-last:]))
    began = loss(float(held[none[0]][0]))
    return f"Its part {name} went from {began} to {loss(end)}; what is left is {listed(left)}."


def lifted(run: Run, metric: str = "train_loss") -> str:
    """Say which growing weight lifts a loss that did not rise under the last weight; or "".

    Asked is the sum itself, row by row: a weight that grows beside a loss explains nothing of it.
    """
    whole = run.curve(metric).finite()
    if len(whole) < FEWEST:
        return ""
    held = {
        name: run.curve(name).value
        for name in run.history.metrics
        if name != metric
        and np.array_equal(run.curve(name).step, whole.step)
        and np.isfinite(run.curve(name).value).all()
    }
    side = "eval" if metric.startswith("eval") else ""
    parts = {name: one for name, one in held.items() if name.startswith("eval") == bool(side)}
    for name, weight in held.items():
        if not WEIGHTS.intersection(words(name)) or weight[-1] <= weight[0] or weight.min() < 0:
            continue
        for part in parts.keys() - {name}:
            level = _at_its_end(whole.value, weight, parts, part, name)
            if level is not None and float(median(level[-3:])) <= ABOVE * float(level.min()):
                began, end = (number(float(one)) for one in weight[[0, -1]])
                return (
                    f"{spoken(name)}, the weight of {spoken(part)}, grew from {began} to {end}; at "
                    f"{end} throughout, the sum would have fallen from {loss(float(level[0]))} to "
                    f"{loss(float(level[-1]))}"
                )
    return ""


def _at_its_end(
    whole: FloatArray,
    weight: FloatArray,
    parts: dict[str, FloatArray],
    part: str,
    name: str,
) -> FloatArray | None:
    """Return the sum as it would be under the last weight; None where it is no such sum."""
    others = [one for key, one in parts.items() if key not in {part, name} and one.min() >= 0]
    if not 1 <= len(others) < MOST:
        return None
    columns = np.stack([weight * parts[part], *others], axis=1)
    factors, *_ = np.linalg.lstsq(columns, whole, rcond=None)
    off = np.abs(columns @ factors - whole)
    if factors[0] <= 0 or factors.min() < -FITS or (off > FITS * np.abs(whole)).any():
        return None
    level: FloatArray = whole + factors[0] * (weight[-1] - weight) * parts[part]
    return level


def _shares(parts: FloatArray, whole: FloatArray) -> FloatArray | None:
    """Return what each part adds, shape (n, parts), where the whole is their weighted sum."""
    weights, *_ = np.linalg.lstsq(parts, whole, rcond=None)
    if weights.min() <= 0 or np.abs(parts @ weights - whole).max() > FITS * np.abs(whole).max():
        return None
    return np.asarray(parts * weights)
