"""Completion with TAB: what each shell loads, and what it then offers.

A shell that is not installed is skipped with its name.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runlens.cli import COMMANDS
from runlens.rules import RULES
from tests.cli.places import shell

PAGE = Path(__file__).parents[2] / "docs" / "where-you-work.md"
SHELLS = ("bash", "zsh", "fish")


def script(name: str) -> str:
    """Return what `_RUNLENS_COMPLETE=NAME_source runlens` prints."""
    ended = shell(_RUNLENS_COMPLETE=f"{name}_source")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.decode()


def offered(line: str) -> list[str]:
    """Return what is offered at the end of a line, by the words that bash's script hands over."""
    words = line.split(" ")
    ended = shell(
        _RUNLENS_COMPLETE="bash_complete",
        COMP_WORDS="\n".join(words),
        COMP_CWORD=f"{len(words) - 1}",
    )
    assert ended.stderr == b""
    return ended.stdout.decode().splitlines()


def installed(name: str) -> str:
    """Return the path of a shell; skip the test where it is not installed."""
    found = shutil.which(name)
    if not found:
        pytest.skip(f"no {name} on PATH")
    return found


@pytest.fixture
def path(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which `runlens` is this one, and an empty home."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "runlens"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m runlens "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return {"PATH": f"{command.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}


def said(arguments: list[str], env: dict[str, str]) -> list[str]:
    """Run a shell and return its lines; nothing may come on stderr."""
    ended = subprocess.run(arguments, env=env, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.splitlines()


def test_commands_options_and_choices_are_offered() -> None:
    """At each place what can stand there."""
    assert offered("runlens ") == [f"plain,{name}" for name in COMMANDS]
    assert offered("runlens dia") == ["plain,diagnose"]
    assert "plain,--fail-on" in offered("runlens diagnose --f")
    assert "plain,markdown" in offered("runlens diagnose --format m")


def test_rules_are_offered_by_name() -> None:
    """With the title where the shell shows one."""
    known = [f"plain,{rule.slug}" for rule in RULES if rule.slug.startswith("nan-")]
    assert set(known) <= set(offered("runlens rules nan-"))


@pytest.mark.parametrize("command", ["diagnose", "compare", "audit", "sources", "export"])
def test_runs_are_completed_as_files(command: str) -> None:
    """By the shell itself."""
    assert offered(f"runlens {command} run") == ["file,run"]


def test_mcp_is_completed_with_folders() -> None:
    """It takes no files."""
    assert offered("runlens mcp run") == ["dir,run"]


@pytest.mark.parametrize("name", SHELLS)
def test_the_script_is_one_that_the_shell_reads(name: str, tmp_path: Path) -> None:
    """Its syntax, as the shell itself checks it."""
    program = installed(name)
    file = tmp_path / "completion"
    file.write_text(script(name), encoding="utf-8")
    ended = subprocess.run([program, "-n", str(file)], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_bash_completes_with_the_line_that_is_documented(path: dict[str, str]) -> None:
    """The line of the page is run, then the function that it defined is asked."""
    line = 'eval "$(_RUNLENS_COMPLETE=bash_source runlens)"'
    assert line in PAGE.read_text(encoding="utf-8")
    asked = 'COMP_WORDS=(runlens com); COMP_CWORD=1; _runlens_completion runlens; echo "$COMPREPLY"'
    said_by_bash = said([installed("bash"), "--norc", "-c", f"{line}; {asked}"], path)
    assert said_by_bash == ["compare"]


def test_fish_completes_with_the_line_that_is_documented(path: dict[str, str]) -> None:
    """With the sentence of the command beside it."""
    line = "_RUNLENS_COMPLETE=fish_source runlens | source"
    assert line in PAGE.read_text(encoding="utf-8")
    asked = 'complete --do-complete "runlens com"'
    [one] = said([installed("fish"), "--no-config", "-c", f"{line}; {asked}"], path)
    assert one.split("\t")[0] == "compare"


def test_zsh_registers_with_the_lines_that_are_documented(path: dict[str, str]) -> None:
    """What TAB runs behind `runlens` is the function of the script."""
    lines = (
        "autoload -Uz compinit && compinit",
        'eval "$(_RUNLENS_COMPLETE=zsh_source runlens)"',
    )
    text = PAGE.read_text(encoding="utf-8")
    assert all(line in text for line in lines)
    asked = 'echo "$_comps[runlens]"'
    shown = said([installed("zsh"), "-f", "-c", "; ".join([*lines, asked])], path)
    assert shown == ["_runlens_completion"]
