"""The latest results of a function of an array, found again by what the array holds.

Several rules ask for the same running median of one curve. To hash a long curve takes a tenth of
what its median does; whether it is the array of before, or begins and ends as that did, is told at
once.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from runlens.history import FloatArray

Made = TypeVar("Made")


def latest(most: int) -> "Callable[[Callable[..., Made]], Latest[Made]]":
    """Keep the results for the `most` arrays and further arguments that were asked for last."""
    return partial(Latest, most)


class Latest(Generic[Made]):
    """A function that keeps its latest results."""

    def __init__(self, most: int, make: Callable[..., Made]) -> None:
        """Keep nothing yet."""
        self._most = most
        self._make = make
        self._kept: list[tuple[FloatArray, tuple[Any, ...], Made]] = []

    def __call__(self, value: FloatArray, *more: Any) -> Made:  # noqa: ANN401 - what `make` takes
        """Return what the function makes of values, shape (n,), and of the other arguments."""
        same = (one for one in self._kept if one[1] == more and _same(one[0], value))
        one = next(same, None)
        if one is None:
            one = (value if _fixed(value) else value.copy(), more, self._make(value, *more))
        self._kept = [one, *(other for other in self._kept if other is not one)][: self._most]
        return one[2]

    def clear(self) -> None:
        """Forget all."""
        self._kept = []


def _fixed(value: FloatArray) -> bool:
    """Whether nobody can write into an array: neither through it nor through what it is part of."""
    part: Any = value
    while isinstance(part, np.ndarray):
        if part.flags.writeable:
            return False
        part = part.base
    return part is None or isinstance(part, bytes)


def _same(one: FloatArray, other: FloatArray) -> bool:
    """Whether two arrays, shape (n,), hold the same numbers."""
    if one is other and not one.flags.writeable:
        return True
    if len(one) != len(other) or (len(one) and (one[0] != other[0] or one[-1] != other[-1])):
        return False
    return np.array_equal(one, other)
