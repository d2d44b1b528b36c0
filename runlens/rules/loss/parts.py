"""The parts of a loss, where they are logged: those whose weighted sum it is, row by row."""

import numpy as np

from runlens.arrays import median
from runlens.history import FloatArray
from runlens.metrics import spoken
from runlens.run import Run
from runlens.wording import listed, loss

FEWEST = 20  # rows: so many sums of a few parts agree by no chance
MOST = 8  # parts
FITS = 1e-3  # of the loss: three digits, as parts are often written
NOTHING = 0.01  # of the loss: what a part is that no longer counts


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


def _shares(parts: FloatArray, whole: FloatArray) -> FloatArray | None:
    """Return what each part adds, shape (n, parts), where the whole is their weighted sum."""
    weights, *_ = np.linalg.lstsq(parts, whole, rcond=None)
    if weights.min() <= 0 or np.abs(parts @ weights - whole).max() > FITS * np.abs(whole).max():
        return None
    return np.asarray(parts * weights)
