"""The command as a shell sees it: exit codes, streams, versions, interrupts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runlens import __version__, sources
from tests.cli.places import SICK, WELL, lens, shell


def test_version_and_help_say_what_and_how() -> None:
    """Help names the exit codes; the version is the package's."""
    assert __version__ in lens("--version").stdout
    shown = lens("--help").stdout
    assert "Exit codes: 0 diagnosed" in shown
    assert [name for name in ("diagnose", "rules", "sources", "export", "demo") if name in shown]


def test_unknown_command_suggests_the_nearest() -> None:
    """A typing error costs one look, not a search."""
    result = lens("diagnos", "x")
    assert result.exit_code == 2
    assert "did you mean 'diagnose'?" in result.stderr


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ([SICK, "--no-html"], 0),
        ([WELL, "--no-html"], 0),
        ([SICK, "--no-html", "--fail-on", "critical"], 1),
        ([WELL, "--no-html", "--fail-on", "warning"], 0),
        ([SICK, "--no-such-option"], 2),
        ([SICK, "--format", "pdf"], 2),
        ([SICK, "--fail-on", "disaster"], 2),
        (["no/such/run"], 3),
    ],
)
def test_exit_codes(args: list[str | Path], code: int) -> None:
    """0 diagnosed, 1 level reached, 2 wrong usage, 3 nothing readable."""
    assert lens("diagnose", *args).exit_code == code


def test_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is neither a success nor a traceback."""

    def interrupted(_place: str, **_columns: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sources, "read_all", interrupted)
    assert lens("diagnose", SICK).exit_code == 130


def test_a_closed_pipe_ends_in_silence() -> None:
    """`runlens ... | head` must not print a traceback."""
    command = [sys.executable, "-m", "runlens", "diagnose", "--format", "json", str(SICK)]
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize(
    "args", [["rules"], ["rules", "hockey-stick"], ["--help"], ["diagnose", SICK, "--no-html"]]
)
def test_any_command_may_lose_its_reader(args: list[str | Path]) -> None:
    """What Python could not write at its end is no error of ours: `runlens rules | head`."""
    command = [sys.executable, "-m", "runlens", *map(str, args)]
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(writer)
    assert ended.stderr == b""


def test_runs_in_place_of_a_command_are_diagnosed() -> None:
    """`runlens ../run` is what many try first; an address is fetched by the command alone."""
    assert lens(SICK, "--no-html").stdout.startswith("CRITICAL  divergence")
    several = lens(SICK, SICK, "--no-html")
    assert "2 runs: 2 critical" in several.stdout
    for word, meant in (
        ("wandb:acme/llm/abc", "`runlens diagnose wandb:acme/llm/abc`"),
        ("diagnos", "'diagnose'"),
    ):
        result = lens(word)
        assert result.exit_code == 2
        assert result.stderr.endswith(f"No such command {word!r}; did you mean {meant}?\n")
    assert lens("x" * 5000).exit_code == 2


def test_stdout_has_the_result_and_stderr_the_rest(tmp_path: Path) -> None:
    """Where the page went is no part of the result."""
    ended = shell("diagnose", SICK, cwd=tmp_path)
    assert ended.returncode == 0
    assert ended.stdout.startswith(b"CRITICAL  divergence")
    assert ended.stderr == b"Report: runlens-divergence.html\n"


def test_errors_are_one_line_on_stderr() -> None:
    """What, where, what to do; nothing on stdout."""
    result = lens("diagnose", "no/such/run")
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("runlens: no/such/run: does not exist; ")


def test_the_readme_shows_what_the_demo_prints(tmp_path: Path) -> None:
    """Word by word: it is the first thing that a reader compares."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"```text\n{lens('demo', '-o', tmp_path / 'page.html').stdout}```" in readme


def test_demo_needs_no_input(tmp_path: Path) -> None:
    """A finding with its page, from packaged data."""
    result = lens("demo", "-o", tmp_path / "page.html")
    assert result.exit_code == 0
    assert result.stdout.startswith(("CRITICAL", "WARNING"))
    assert "<!doctype html>" in (tmp_path / "page.html").read_text()[:100].lower()
