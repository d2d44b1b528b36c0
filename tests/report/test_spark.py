"""Curves in one line of text."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runlens.report.spark import ASCII, BLOCKS, GONE, LOG_FROM, spark

ANY = st.lists(st.floats(), max_size=60)


@given(ANY, st.integers(1, 40), st.booleans())
def test_any_curve_is_drawn_in_as_many_cells(values: list[float], cells: int, plain: bool) -> None:
    """At most one a value, of the known characters."""
    drawn = spark("train_loss", values, cells, ascii_only=plain)
    assert len(drawn) == min(cells, len(values))
    assert set(drawn) <= set(ASCII + "x" if plain else BLOCKS + GONE)


def test_lowest_and_highest_are_the_lowest_and_highest_block() -> None:
    """A straight line climbs through all eight."""
    assert spark("train_loss", [float(n) for n in range(8)], 8) == BLOCKS
    assert spark("train_loss", [float(n) for n in range(8)], 8, ascii_only=True) == ASCII
    assert spark("train_loss", [8.0 - n for n in range(8)], 8) == BLOCKS[::-1]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_no_number_is_a_cross(bad: float) -> None:
    """In its cell, also among others; the rest keeps its height."""
    assert spark("train_loss", [0.0, bad, 1.0], 3) == f"▁{GONE}█"
    assert spark("train_loss", [0.0, 0.0, bad, 1.0, 1.0, 1.0], 3) == f"▁{GONE}█"
    assert spark("train_loss", [bad, bad], 2, ascii_only=True) == "xx"


def test_a_cell_shows_its_median() -> None:
    """A single spike does not paint the cell."""
    assert spark("train_loss", [0.0, 0.0, 99.0, 1.0, 1.0, 1.0], 2) == "▁█"


def test_a_jump_of_the_learning_rate_is_seen() -> None:
    """A rate has no noise: one high record among many is what the report tells of."""
    assert spark("learning_rate", [1.0] * 5 + [25.0] + [1.0] * 6, 2) == "█▁"


def test_wide_ranges_are_logarithmic() -> None:
    """A loss that explodes keeps its shape before it."""
    assert spark("train_loss", [1.0, 10.0, 100.0, 1000.0], 4) == "▁▃▆█"
    assert spark("train_loss", [1.0, 1.0 + LOG_FROM / 2, LOG_FROM], 3)[1] == "▅"


def test_what_is_no_loss_is_drawn_as_it_is() -> None:
    """An entropy that ends at almost nothing is low, however far its smallest points lie below."""
    assert spark("entropy", [0.6, 1e-16, 0.02, 0.02], 4) == "█▁▁▁"
    assert spark("grad_norm", [1.0, 10.0, 100.0, 1000.0], 4) == "▁▃▆█"


def test_a_learning_rate_is_drawn_from_zero() -> None:
    """A rate that falls by a hundredth has not fallen to the ground; zero is the ground."""
    assert spark("learning_rate", [4.20e-4, 4.18e-4, 4.13e-4], 3) == "███"
    assert spark("learning_rate", [0.0, 4e-4, 2e-4, 0.0], 4) == "▁█▅▁"
    assert spark("learning_rate", [0.0, 0.0], 2) == "▁▁"


def test_flat_and_empty_curves_have_a_picture() -> None:
    """The lowest block; nothing for nothing."""
    assert spark("train_loss", [5.0] * 4, 4) == "▁▁▁▁"
    assert spark("train_loss", [], 10) == ""


def test_the_ends_are_drawn_as_logged() -> None:
    """The numbers beside a curve are its first and last values; between them medians count."""
    values = [50.0, *[3.0 - n / 30 for n in range(58)], 6.0]
    drawn = spark("g_loss", values, 10)
    assert (drawn[0], drawn[-1]) == ("█", "█")
    assert drawn[1:-1] == "".join(sorted(drawn[1:-1], reverse=True))
    assert len(set(drawn[1:-1])) > 4  # the first row flattens nothing
    assert spark("g_loss", [1.0, 1.0, 9.0, 1.0, 1.0, 1.0], 2) == "▁▁"
