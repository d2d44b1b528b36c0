"""The command line: reads arguments, calls the package, sets the exit code. No logic here.

Imports stand inside the commands, so that `runlens --version` loads neither numpy nor pandas.
"""

import gc
import os
from enum import IntEnum
from importlib import import_module
from typing import Any

import click

from runlens.version import __version__


class ExitCode(IntEnum):
    """What the shell gets."""

    OK = 0  # diagnosed, whatever was found
    REACHED = 1  # a finding of the --fail-on level
    USAGE = 2  # wrong usage (click's own)
    UNREADABLE = 3  # nothing readable
    UNDECIDED = 4  # fix: no setting to change; confirm: the new run does not decide
    FAULT = 70  # of RunLens itself (EX_SOFTWARE of sysexits.h)
    NOT_WRITTEN = 74  # stdout is full or closed (EX_IOERR)
    INTERRUPTED = 130


COMMANDS = {
    "diagnose": "runlens.cli.diagnose",
    "fix": "runlens.cli.fix",
    "confirm": "runlens.cli.confirm",
    "watch": "runlens.cli.watch",
    "similar": "runlens.cli.similar",
    "compare": "runlens.cli.compare",
    "audit": "runlens.cli.audit",
    "rules": "runlens.cli.rules",
    "trust": "runlens.cli.trust",
    "sources": "runlens.cli.sources",
    "export": "runlens.cli.export",
    "demo": "runlens.cli.demo",
    "mcp": "runlens.cli.mcp",
}


SEARCHED = 100_000  # objects, some 10 MB
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class Lazy(click.Group):
    """A group whose commands are imported when they are asked for."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take no arguments at all for the obvious: diagnose the current folder."""
        if not args and not ctx.resilient_parsing:
            click.echo(
                "runlens: no command, so: runlens diagnose .  (all: runlens --help)", err=True
            )
            args = ["diagnose", "."]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which they help."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command; None where there is none of that name."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        if not any(one.name == "traceback" for one in command.params):
            command.params.append(_traceback(hidden=True))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Diagnose what is no command but a place; else suggest a command of a near name."""
        if args and _is_place(args[0]):
            args = ["diagnose", *args]
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}{_meant(args[0])}")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> Any:  # noqa: ANN401 - click's own signature
        """Run and end. No traceback: a fault of ours is one line, and so is a stdout that is full.

        What a closed pipe did not take is dropped, in silence.
        """
        from runlens.cli import ending

        for threads in THREADS:  # for the arrays of a run, more than one only burn CPU
            os.environ.setdefault(threads, "1")
        # ... and pages of 2 MB are cleared for arrays that live for a moment
        os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
        # ... and nothing is worth a search for unused objects after each 700 new ones
        gc.set_threshold(SEARCHED)
        with ending.one_line_each(alone=not args and extra.get("args") is None):
            return super().main(*args, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; an interrupt ends with 130, a closed pipe in silence.

        A package of an extra that is not installed is wrong usage, and says what to install.
        """
        from runlens.errors import MissingPackage
        from runlens.extras import needed_by

        try:
            with needed_by("this command"):
                return super().invoke(ctx)
        except MissingPackage as error:
            raise click.UsageError(str(error)) from None
        except KeyboardInterrupt:
            ctx.exit(ExitCode.INTERRUPTED)
        except BrokenPipeError:
            ctx.exit(ExitCode.OK)


def _is_place(word: str) -> bool:
    """Whether a word that is no command is a path that is there."""
    return word not in COMMANDS and os.path.exists(word)  # noqa: PTH110 - one too long is none


def _meant(word: str) -> str:
    """Return what a word that is no command was meant for: an address comes first."""
    import shlex

    from runlens.errors import nearest, one_line

    if word.startswith(("wandb:", "https://")):  # fetched where that is asked for by name alone
        return f"; did you mean `runlens diagnose {one_line(shlex.quote(word))}`?"
    return nearest(word, list(COMMANDS))


def _traceback(*, hidden: bool = False) -> click.Option:
    """Return the option that each command takes, and that only the group's help names."""
    return click.Option(
        ["--traceback"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        hidden=hidden,
        callback=lambda _ctx, _param, wanted: ending_shows(wanted=wanted),
        help="Show the traceback of an internal fault, to report it.",
    )


def ending_shows(*, wanted: bool) -> None:
    """Let a fault show its traceback, where that is wanted."""
    if wanted:
        from runlens.cli import ending

        ending.show_tracebacks()


@click.group(cls=Lazy, params=[_traceback()])
@click.version_option(__version__, prog_name="runlens")
def main() -> None:
    """Say what went wrong in a training run, at which step, why, and what to change.

    \b
    runlens                          diagnose the current folder
    runlens runs/a runs/b            an overview of several runs
    runlens diagnose runs/my-run     diagnose a run directory
    runlens fix runs/my-run          the patched settings, and how to confirm them
    runlens compare runs/a runs/b    what did the change do?
    runlens watch runs/my-run        judge it again as it trains
    runlens audit runs --store a.db  what is new in all runs since last night?
    runlens demo                     see a diagnosis of a small faulty run

    A run is what a training left behind: a directory (checkpoints, TensorBoard, W&B, console
    logs, CSV...), one such file, - for a log through a pipe, or wandb:ENTITY/PROJECT/RUN. Nothing
    is ever written into it. Results go to stdout, everything else to stderr.

    Exit codes: 0 diagnosed (whatever was found), 1 the --fail-on level was reached, 2 wrong
    usage, 3 nothing readable, 4 undecided (fix, confirm), 70 an internal fault (--traceback
    shows it), 74 stdout is full or closed, 130 interrupted.

    \b
    Completion with TAB in this bash (zsh_source, fish_source likewise):
    eval "$(_RUNLENS_COMPLETE=bash_source runlens)"
    """
