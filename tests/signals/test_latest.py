"""What was made of an array is found again as long as the array says the same."""

import numpy as np

from runlens.history import FloatArray
from runlens.signals.latest import Latest


def totals() -> tuple[Latest[float], list[int]]:
    """Return a sum that keeps two results, and the lengths of what it has added up."""
    asked: list[int] = []

    def total(value: FloatArray, factor: int) -> float:
        asked.append(len(value))
        return factor * float(value.sum())

    return Latest(2, total), asked


def test_equal_arrays_are_added_up_once() -> None:
    """The same one, a copy, a view; not where another argument differs."""
    total, asked = totals()
    value = np.arange(5.0)
    assert [total(value, 1), total(value.copy(), 1), total(value[:], 1)] == [10.0] * 3
    assert total(value, 2) == 20.0
    assert asked == [5, 5]


def test_an_array_that_was_written_to_is_another() -> None:
    """Also in its middle, and through what a read-only view shows."""
    total, _ = totals()
    value = np.arange(5.0)
    shown = value[:]
    shown.flags.writeable = False
    assert total(shown, 1) == 10.0
    value[2] = 7.0
    assert total(shown, 1) == 15.0


def test_the_latest_stay() -> None:
    """Asked for again counts as late."""
    total, asked = totals()
    for length in (3, 4, 3, 5, 3, 4):
        total(np.ones(length), 1)
    assert asked == [3, 4, 5, 4]
