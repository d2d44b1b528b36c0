"""Numbers read the same everywhere, whatever the machine's locale."""

import math

import pytest

from runlens import wording
from runlens.wording import MINUS, NARROW


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.34521, "0.3452"), (2400.0, "2,400"), (2e-4, "2e-4"), (6.7e-5, "6.7e-5"), (0.0, "0"),
        (1.0, "1"), (-3.5, f"{MINUS}3.5"), (1.13e6, "1,130,000"), (2e7, "2e7"), (math.nan, "NaN"),
        (-math.inf, f"{MINUS}Inf"), (99.996, "100"),
    ],
)  # fmt: skip
def test_number_has_four_significant_digits(value: float, shown: str) -> None:
    """Thousands have commas, extremes powers of ten."""
    assert wording.number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.3449, "0.345"), (12.3456, "12.35"), (0.0004, "4e-4"), (0.0, "0.000"), (8.7e10, "8.7e10")],
)
def test_loss_has_three_decimals_below_ten(value: float, shown: str) -> None:
    """Two decimals from ten on; tiny losses as powers of ten."""
    assert wording.loss(value) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.051, "5.1"), (0.5, "50"), (0.0996, "10"), (4.76, "476"), (0.0, "0"), (123_456.0, "1.2e7")],
)
def test_percent_has_one_decimal_below_ten(share: float, shown: str) -> None:
    """The sign stands behind a narrow no-break space."""
    assert wording.percent(share) == f"{shown}{NARROW}%"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(6.31, "6.3 s"), (2520, "42 min"), (12_000, "3 h 20 min"), (7200, "2 h"), (181_440, "2.1 d")],
)
def test_duration_has_the_unit_that_reads_best(seconds: float, shown: str) -> None:
    """Seconds, minutes, hours with minutes, days."""
    assert wording.duration(seconds) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(2e-3, "2e-3"), (1.4587e-3, "1.46e-3"), (0.1, "0.1"), (0.0, "0")]
)
def test_rate_is_written_as_papers_write_it(value: float, shown: str) -> None:
    """Powers of ten below a tenth."""
    assert wording.rate(value) == shown
