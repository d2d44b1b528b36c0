"""Help that reads like a manual, and what `runlens` alone does."""

import shlex
from pathlib import Path

import click
import pytest

from runlens.cli import COMMANDS, main
from tests.cli.places import a_run, lens, shell

WIDTH = 80


def shown(*command: str) -> str:
    """Return a help text as a terminal of 80 columns shows it."""
    return lens(*command, "--help", COLUMNS=str(WIDTH)).stdout


def examples(command: str) -> list[list[str]]:
    """Return the arguments of each example of a command, with a run for each blank."""
    lines = [line.strip() for line in shown(command).splitlines()]
    found = [line.partition("| ")[2] or line for line in lines if f"runlens {command} " in line]
    cut = [line.split("  ")[0].split(" > ")[0] for line in found if "Usage" not in line]
    return [shlex.split(line)[2:] for line in cut if line.startswith(f"runlens {command} ")]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_terminal_and_says_what_each_option_does(command: str) -> None:
    """No line is broken or cut, no option without a sentence."""
    text = shown(*command.split())
    assert "\\b" not in text
    assert max(map(len, text.splitlines())) <= WIDTH
    context = click.Context(main)
    known = main.get_command(context, command) if command else main
    assert known
    for option in known.params:
        assert isinstance(option, click.Argument) or option.help, option.name


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_of_a_command_are_taken_by_it(command: str) -> None:
    """As the command line parses them."""
    known = main.get_command(click.Context(main), command)
    assert known
    some = examples(command)
    assert some or command == "mcp"
    for arguments in some:
        known.make_context(command, [*arguments])


def test_the_list_of_commands_has_whole_sentences() -> None:
    """What is cut with dots says nothing."""
    listed = shown().partition("Commands:")[2].splitlines()
    assert [line.split()[0] for line in listed if line.strip()] == list(COMMANDS)
    assert not [line for line in listed if line.endswith("...")]


def test_runlens_alone_diagnoses_the_run_that_one_stands_in(tmp_path: Path) -> None:
    """It says so, and leaves the page beside the run and not in it."""
    run = a_run(tmp_path / "my-run")
    ended = shell(cwd=run)
    assert ended.returncode == 0
    assert ended.stdout == shell("diagnose", ".", "--no-html", cwd=run).stdout
    said = ended.stderr.decode().splitlines()
    assert said[0] == "runlens: no command, so: runlens diagnose .  (all: runlens --help)"
    assert [path.name for path in run.iterdir()] == ["trainer_state.json"]
    assert (tmp_path / "runlens-my-run.html").exists()


def test_runlens_alone_says_what_it_looked_for_where_no_run_is(tmp_path: Path) -> None:
    """Exit code 3, as for any place where nothing can be read."""
    ended = shell(cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (3, b"")
    assert b"runlens --help" in ended.stderr
    assert b"trainer_state.json, events.out.tfevents.*" in ended.stderr
