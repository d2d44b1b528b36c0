"""Errors are one line: what, where, what to do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runlens.errors import (
    NoSuchRun,
    NothingReadable,
    RunLensError,
    SeveralRuns,
    nearest,
    one_line,
)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (NothingReadable("runs/x", "is empty"), "runs/x: is empty"),
        (NothingReadable("a\nb", "is\x1b[2J empty"), "a\\nb: is\\x1b[2J empty"),
        (SeveralRuns("runs", ["a", "b"]), "runs: 2 runs lie here (a, b); point at one"),
        (
            SeveralRuns("runs", [str(n) for n in range(11)]),
            "runs: 11 runs lie here (0, 1, 2, 3, 4, 5, 6, 7 and 3 more); point at one",
        ),
        (NoSuchRun("alpa", ["alpha", "beta"]), "no run 'alpa' here; did you mean 'alpha'?"),
        (NoSuchRun("x", ["alpha", "beta"]), "no run 'x' here"),
    ],
)
def test_errors_say_what_where_and_what_to_do(error: RunLensError, told: str) -> None:
    """On one line, whatever the names hold."""
    assert str(error) == told


def test_names_and_problems_are_at_hand() -> None:
    """For programs that catch the error."""
    assert SeveralRuns("runs", ["a", "b"]).names == ("a", "b")
    assert NothingReadable("x", "y", [("f", "is cut")]).problems == (("f", "is cut"),)


def test_nearest_suggests_only_what_is_near() -> None:
    """Nothing rather than nonsense."""
    assert nearest("hokey", ["hockey-stick", "hockey"]) == "; did you mean 'hockey'?"
    assert nearest("zzz", ["hockey"]) == ""
    assert nearest("x", []) == ""


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    """No line break, no control character; readable text stays as it is."""
    shown = one_line(text)
    assert shown.isprintable()
    assert shown == text or not text.isprintable()
