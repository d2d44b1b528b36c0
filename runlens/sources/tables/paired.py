"""Columns without names that are scores and losses, known by how they go against each other.

A program that writes ``0.56,0.2494,0.5,0.2496`` after each batch measures a score and a loss on two
sets of data. Both of a set are of the same rows: where more answers are right, less is lost.
"""

from collections.abc import Sequence

import numpy as np

from runlens.history import FloatArray
from runlens.sources.tables.axis import counts
from runlens.sources.tables.unnamed import STEP, TIME, TRAINING, is_time

SCORE, LOSS = "accuracy", "loss"
PAIR = (SCORE, LOSS)
SETS = ("train", "val")  # programs write the training first
NAMES = frozenset(f"{data}/{name}" for data in SETS for name in PAIR)
HIGHEST = 1.0  # of a share; a number in percent may be a ratio in decibels as well
SURE = 4.0  # deviations of a correlation of as many numbers by chance: one in 30,000
FEWEST = 20  # rows: of fewer no correlation is so sure


def of_pairs(table: FloatArray) -> tuple[str, ...]:
    """Return the names of two or four columns, shape (rows, columns); nothing of others.

    From row to row a score and its loss go against each other, as no rate or weight does; over the
    whole training the score rises and the loss falls.
    """
    rows, width = table.shape
    if width not in (len(PAIR), len(PAIR) * len(SETS)) or rows < FEWEST:
        return ()
    if not np.isfinite(table).all() or (table < 0).any():
        return ()
    place = np.arange(rows, dtype=np.float64)
    for first, names in ((0, PAIR), (1, PAIR[::-1])):  # where in each pair the score stands
        score, loss = table[:, first], table[:, 1 - first]
        learns = _along(place, score) > SURE and _along(place, loss) < -SURE
        if learns and all(
            _against(table[:, n + first], table[:, n + 1 - first])
            for n in range(0, width, len(PAIR))
        ):
            sets = SETS[: width // len(PAIR)]
            return tuple(f"{data}/{name}" for data in sets for name in names)
    return ()


def named(rows: Sequence[Sequence[float | str]]) -> list[str]:
    """Return the names of the columns of rows of numbers and words; nothing where they are not.

    Beside the scores and losses stand at most a counter, a time, and words, of which those that
    each training says anew name it.
    """
    columns = list(zip(*rows, strict=True))
    numbers = {n: np.array(one) for n, one in enumerate(columns) if not any(map(_is_word, one))}
    beside = {n: TIME for n, one in numbers.items() if is_time(one)}
    beside |= {n: STEP for n, one in numbers.items() if n not in beside and counts(one)}
    measured = [n for n in numbers if n not in beside]
    if len({*beside.values()}) < len(beside) or not measured:
        return []
    names = of_pairs(np.stack([numbers[n] for n in measured], axis=1))
    if not names:
        return []
    words = [n for n, one in enumerate(columns) if n not in numbers and _in_turn(one)]
    found = {
        **beside,
        **dict.fromkeys(words[:1], TRAINING),
        **dict(zip(measured, names, strict=True)),
    }
    return [found.get(n, "") for n in range(len(columns))]


def _is_word(cell: float | str) -> bool:
    return isinstance(cell, str)


def _in_turn(said: Sequence[float | str]) -> bool:
    """Whether rows with the same word lie together, as those of trainings after one another do."""
    begun = [word for n, word in enumerate(said) if n == 0 or word != said[n - 1]]
    return 1 < len(begun) == len({*begun}) and len(said) >= FEWEST * len(begun)


def _against(score: FloatArray, loss: FloatArray) -> bool:
    """Whether one is a share, and falls mostly where the other rises."""
    return bool(score.max() <= HIGHEST) and _along(np.diff(score), np.diff(loss)) < -SURE


def _along(one: FloatArray, other: FloatArray) -> float:
    """Return Spearman's rank correlation of two columns in its deviations by chance.

    Equal values share a rank; a column that is one number goes along with nothing.
    """
    off = [_ranks(some) - (len(one) - 1) / 2 for some in (one, other)]
    scatter = float(np.sqrt((off[0] ** 2).sum() * (off[1] ** 2).sum()))
    return float((off[0] * off[1]).sum()) / scatter * len(one) ** 0.5 if scatter else 0.0


def _ranks(value: FloatArray) -> FloatArray:
    """Return the place of each value among all, shape (n,), the mean of places where some agree."""
    _, which, many = np.unique(value, return_inverse=True, return_counts=True)
    middle = np.cumsum(many) - (many + 1) / 2
    return np.asarray(middle[which], dtype=np.float64)
