"""Colour, width and characters follow the terminal."""

from pathlib import Path

import pytest

from tests.cli.places import SICK, a_run, lens, shell

RED = "\x1b[31m\x1b[1m"


@pytest.mark.parametrize(
    ("env", "args", "colour"),
    [
        ({}, [], False),
        ({"FORCE_COLOR": "1"}, [], True),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, [], False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, [], False),
        ({"FORCE_COLOR": "1"}, ["--no-color"], False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, [], False),
    ],
)
def test_colour_is_asked_for_and_refused(
    env: dict[str, str], args: list[str], *, colour: bool
) -> None:
    """--no-color before NO_COLOR before FORCE_COLOR before what stdout is."""
    shown = lens("diagnose", SICK, "--no-html", *args, **env).stdout
    assert (RED in shown) == colour
    assert ("\x1b" in shown) == colour


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("80", 80), ("120", 120), ("300", 120)])
def test_lines_fit_the_terminal(columns: str, width: int) -> None:
    """Only lines to be pasted may be longer; nothing is wider than 120."""
    shown = lens("diagnose", SICK, "--no-html", COLUMNS=columns).stdout
    lines = [line for line in shown.splitlines() if not line.startswith("       + ")]
    assert max(map(len, lines)) <= width
    assert max(map(len, lines)) > 0.8 * width


@pytest.mark.parametrize("columns", ["1", "20", "0", "-5", "wide"])
def test_odd_widths_are_survived(columns: str) -> None:
    """Terminals lie about their width."""
    assert lens("diagnose", SICK, "--no-html", COLUMNS=columns).exit_code == 0


def test_overview_fits_the_terminal(tmp_path: Path) -> None:
    """Long names are cut in their middle and say so: siblings differ at the end."""
    for seed in range(3):
        a_run(tmp_path / f"{'a-very-long-name-' * 3}{seed}", seed)
    for columns in (60, 80, 120):
        shown = lens("diagnose", tmp_path, "--no-html", COLUMNS=str(columns)).stdout
        assert max(map(len, shown.splitlines())) <= columns
        told = [line for line in shown.splitlines() if line[:1].strip()]
        assert all(f"-{seed} " in line for seed, line in enumerate(told[:3]))
        assert "…" in shown


@pytest.mark.parametrize("args", [["--no-html"], ["--no-html", "-v"], ["-q"]])
def test_plain_terminals_get_plain_characters(args: list[str], tmp_path: Path) -> None:
    """No block, no narrow space, no true minus; and no traceback."""
    run = a_run(tmp_path / "grün×")
    ended = shell("diagnose", SICK, run, "--all", *args, cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.isascii()
    assert b"divergence" in ended.stdout


def test_overview_is_plain_on_plain_terminals(tmp_path: Path) -> None:
    """The overview has sparklines too."""
    for seed in range(2):
        a_run(tmp_path / f"grün{seed}", seed)
    ended = shell("diagnose", tmp_path, cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert (ended.returncode, ended.stdout.isascii()) == (0, True)


@pytest.mark.parametrize("form", [["json"], ["html", "--static", "-o", "-"]])
def test_json_and_pages_are_utf8_whatever_the_terminal_speaks(
    form: list[str], tmp_path: Path
) -> None:
    """A pipe gets the same bytes under every locale."""
    run = a_run(tmp_path / "grün×")
    plain = shell("diagnose", run, "--format", *form, PYTHONIOENCODING="ascii")
    assert (plain.returncode, plain.stderr) == (0, b"")
    assert "grün×" in plain.stdout.decode()
